"""From scores to statistics, tables and figures.

The record of a result, in our catalogue or in another package, says which files the result reads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order import catalogue, registry
from rubric_order.base import gold, of_cards
from rubric_order.base.errors import InputError
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.prompts import conditions
from rubric_order.run import rehearsal
from rubric_order.run.core import Run, Stage, Wildcards, untracked
from rubric_order.settings.base import Settings
from rubric_order.settings.judges import Recorded
from rubric_order.settings.statistics import with_packages

Block = Mapping[str, Any]


def one_of(names: Any) -> str:
    """A regular expression for a wildcard. It matches each of some names, and nothing if there are no names."""
    return "|".join(names) or "(?!)"


class Derived(Stage):
    """Arguments of results that are derived from their block of config and from other parts of config."""

    def bases(self, block: Block) -> dict[str, list[str]]:
        """Base of each study, with which its other variants are compared: its first condition and first strategy."""
        return {name: [study.conditions[0], study.strategies[0]] for name, study in self.config.studies.items()}

    def call_prices(self, block: Block) -> dict[str, float | None]:
        """Price of a call with the tokens of `statistics/advice`, by live judge; None without prices or tokens."""
        tokens = self.config.statistics.advice.tokens
        prices = {name: self.config.judges[name].capabilities.prices for name in self.run.live}
        return {
            name: None if price is None or tokens is None else price.cost(tokens[0], tokens[1])
            for name, price in prices.items()
        }

    def conditions(self, block: Block) -> dict[str, dict[str, Any]]:
        """Wording of each condition of studies of rubrics, for each number of levels."""
        by_name: dict[str, dict[str, Any]] = {}
        for study in self.config.studies.values():
            for name in study.conditions if study.probe in catalogue.SCORE_ORDER else ():
                for n in study.scales:
                    chosen = conditions.read(name, n)
                    wording = {"ids": chosen.labels(n), "text": chosen.reference, "shown": chosen.shown}
                    by_name.setdefault(name, {})[str(n)] = wording
        return by_name

    def golds(self, block: Block) -> dict[str, str]:
        """Kind of label of each dataset that is judged or described, if its labels are not people's."""
        read = {*self.run.used_datasets, *Statistics(self.run).described_datasets}
        kinds = {name: self.config.datasets[name].gold for name in sorted(read)}
        return {name: kind for name, kind in kinds.items() if kind != gold.HUMAN}

    def human_scales(self, block: Block) -> dict[str, list[float]]:
        """Least and greatest human score of each dataset that is judged."""
        judged = sorted({name for study in self.config.studies.values() for name in study.datasets})
        return {name: self.config.datasets[name].human_scale for name in judged}

    def judge_names(self, block: Block) -> dict[str, str]:
        """Names of the judges of the studies that a table shows."""
        shown = [name for study in (block["study"], *block["also"]) for name in self.config.studies[study].judges]
        names: dict[str, str] = block["judge_names"]
        return {name: self.config.judges[name].label for name in shown} | names

    def prompt_styles(self, block: Block) -> dict[str, list[str]]:
        """Model and prompt style of each recorded judge that has a prompt style."""
        judges = {name: judge for name, judge in self.config.judges.items() if isinstance(judge, Recorded)}
        return {
            name: [judge.model, judge.prompt_style] for name, judge in judges.items() if judge.prompt_style is not None
        }

    def sampling_temperatures(self, block: Block) -> dict[str, dict[str, float | None]]:
        """Temperature of answers, for each judge and profile. Recorded judges are left out: theirs is not known."""
        live = {name: self.config.judges[name] for name in self.run.live}
        return {
            name: {key: judge.under(key).sampling.temperature for key in (DEFAULT_PROFILE, *judge.profiles)}
            for name, judge in live.items()
        }

    def setting(self, block: Block) -> dict[str, dict[str, object]]:
        """The values of the setting that a figure is about, for each judge and profile of the figure's study."""
        study = self.config.studies[block["study"]]
        return {name: self.config.judges[name].varied(study.profiles, block["setting"]) for name in study.judges}

    def temperatures(self, block: Block) -> dict[str, dict[str, float | None]]:
        """Temperature for each judge and profile; None if scores are not drawn from the option probabilities."""
        by_judge: dict[str, dict[str, float | None]] = {}
        for study in self.config.studies.values():
            for name in study.judges:
                judge = self.config.judges[name]
                for profile in judge.profiles_of(study.profiles):
                    by_judge.setdefault(name, {})[profile] = judge.under(profile).draws_at
        return by_judge

    def of(self, names: tuple[str, ...], block: Block) -> dict[str, Any]:
        """Dictionary from names to derived arguments, for the given names."""
        return {name: getattr(self, name)(block) for name in names}


# Module that makes calibrated scores, for statistics that show these scores if config asks for them.
CALIBRATED, CALIBRATED_FILE = "rubric_order.methods.calibration.scores", "methods/calibration/scores.py"


def by_criterion(run: Run, statistic: str) -> str:
    """File of a statistic that is estimated for each criterion separately."""
    return f"{run.results}/statistics/by_criterion/{statistic}.parquet"


class Statistics(Stage):
    """From scores to estimates."""

    def module(self, wildcards: Wildcards) -> str:
        """The module that makes a statistic."""
        return registry.module("statistics", wildcards.statistic)

    def module_file(self, wildcards: Wildcards) -> list[str]:
        """Modules whose code is hashed for a statistic. If it shows calibrated scores, their module is among them."""
        own = registry.code("statistics", wildcards.statistic)
        return [own, CALIBRATED_FILE] if self._calibrates(wildcards.statistic) else [own]

    def files(self, wildcards: Wildcards) -> list[str]:
        """Files that a statistic reads."""
        self._entry(wildcards.statistic)
        return [path for paths in self.inputs(wildcards.statistic).values() for path in paths]

    @untracked
    def options(self, wildcards: Wildcards) -> list[str]:
        """Files that a statistic reads, as options; the files are tracked."""
        return [word for name, paths in self.inputs(wildcards.statistic).items() for word in ("--inputs", name, *paths)]

    def files_by_criterion(self, wildcards: Wildcards) -> list[str]:
        """Files that a statistic reads if it is estimated for the cards of single criteria."""
        return [path for paths in self._inputs_by_criterion(wildcards.statistic).values() for path in paths]

    @untracked
    def options_by_criterion(self, wildcards: Wildcards) -> list[str]:
        """The files of `files_by_criterion`, as options; the files are tracked."""
        inputs = self._inputs_by_criterion(wildcards.statistic)
        return [word for name, paths in inputs.items() for word in ("--inputs", name, *paths)]

    def _inputs_by_criterion(self, statistic: str) -> dict[str, list[str]]:
        """Dictionary from argument to files of `files_by_criterion`.

        For an argument that is a statistic of cards, the file holds this statistic for single criteria.
        """
        inputs = self.inputs(statistic)
        return inputs | {name: [by_criterion(self.run, name)] for name in inputs if name in of_cards.REQUIRED}

    def settings(self, wildcards: Wildcards) -> str:
        """The arguments of a statistic besides its files, as its record names them."""
        return self.run.in_file(self.arguments(wildcards.statistic))

    def arguments(self, statistic: str) -> dict[str, Any]:
        """The arguments of a statistic besides its files."""
        entry = self._entry(statistic)
        chosen: dict[str, Any] = {}
        for path in entry.settings:
            block, slash, key = path.partition("/")
            values = self._block(block)
            chosen |= {key: values[key]} if slash else values
        if self._calibrates(statistic):
            learning = self.config.statistics.calibration
            options: dict[str, Any] = {"folds": learning.folds, "interactions": learning.interactions}
            options["seed"] = self.config.statistics.bootstrap.seed
            chosen["calibrated"] = {"module": CALIBRATED, "options": options}
        return chosen | Derived(self.run).of(entry.derived, chosen)

    def _calibrates(self, statistic: str) -> bool:
        """True if a statistic shows calibrated scores too."""
        return self.config.statistics.calibration.as_readout and self._entry(statistic).calibrates

    def _entry(self, statistic: str) -> catalogue.Statistic:
        try:
            return registry.statistic(statistic)
        except InputError as error:
            raise self.run.refuse(str(error)) from None

    def _block(self, statistic: str) -> dict[str, Any]:
        settings = getattr(self.config.statistics, statistic, None)
        if settings is None and registry.is_other(statistic):  # requested by its file, without a block of config
            settings = getattr(with_packages([statistic])(), statistic, None)
        return settings.block() if isinstance(settings, Settings) else {}

    def blocks(self, statistics: Iterable[str]) -> dict[str, Any]:
        """Dictionary from block to settings, for our statistics and for those of other packages behind `statistics`."""
        others = {name: self._block(name) for name in registry.behind(statistics) if registry.is_other(name)}
        return self.config.statistics.block() | others

    def inputs(self, statistic: str) -> dict[str, list[str]]:
        """Files that a statistic reads according to its record: a dictionary from argument of `estimate` to paths."""
        entry, block = self._entry(statistic), self._block(statistic)
        inputs = {}
        if entry.probes:
            inputs["scores"] = self.run.score_files(
                name for name, study in self.config.studies.items() if catalogue.fits(study.probe, entry.probes)
            )
        sources: dict[str, Callable[[], list[str]]] = {
            "items": lambda: [f"{self.run.results}/items/{name}.parquet" for name in self.described_datasets],
            "pairs": lambda: [f"{self.run.results}/pairs/{name}.parquet" for name in self.described_datasets],
            "alone": lambda: self.run.score_files(block["alone"]),
            "golden": lambda: self.run.score_files(self.config.statistics.golden_scores.studies),
            "references": lambda: [f"{self.run.results}/references/{name}.parquet" for name in self.config.references],
            "published": self._published_tables,
            "answers": lambda: [f"{self.run.results}/responses/{judge}.json" for judge in self.run.used_judges],
        }
        for name in entry.reads:
            if name in sources:
                inputs[name] = sources[name]()
            elif not (statistic == "replication" and not self._replicated(name)) and self._compared(name, block):
                inputs[name] = [f"{self.run.results}/statistics/{name}.parquet"]
        return inputs

    @functools.cached_property
    def described_datasets(self) -> list[str]:
        """The datasets that are described: those that config names for this or, if there are none, those of studies."""
        return self.config.statistics.datasets.datasets or self.run.used_datasets

    def _published_tables(self) -> list[str]:
        """Files of the published tables of the paper with which config compares."""
        folder = self.run.project / "resources" / "published"
        return [
            self.run.source(path)
            for path in sorted(folder.glob(f"{self.config.statistics.replication.paper}_table[0-9]*.csv"))
        ]

    def _compared(self, statistic: str, block: Block) -> bool:
        """True if a statistic reads one of the studies that a block names, or any study if the block names none."""
        if "golden" in registry.statistic(statistic).reads:
            return bool(self.config.statistics.golden_scores.studies)
        behind = registry.probes((statistic,))
        if not behind:  # it is computed from items, not from scores of a study
            return True
        studies = block.get("studies", self.config.studies)
        return any(catalogue.fits(self.config.studies[study].probe, behind) for study in studies)

    def _replicated(self, statistic: str) -> bool:
        """True if the paper with which config compares printed the values of a statistic."""
        paper = self.config.statistics.replication.paper
        every = {name for names in catalogue.REPLICATED.values() for name in names}
        return statistic in catalogue.REPLICATED[paper] if paper in catalogue.REPLICATED else statistic not in every


@dataclass(frozen=True)
class Shown(Stage):
    """Tables, or figures, each with a block of config of its own.

    Attributes:
        kind: ``tables`` or ``figures``, as config and the library call them. The wildcard lacks the ``s``.
    """

    kind: registry.Kind

    def _entry(self, name: str) -> catalogue.Shown:
        try:
            return registry.shown(self.kind, name)
        except InputError as error:
            raise self.run.refuse(str(error)) from None

    def _name(self, wildcards: Wildcards) -> str:
        name: str = getattr(wildcards, self.kind.removesuffix("s"))
        return name

    def _block(self, name: str) -> dict[str, Any]:
        blocks: Mapping[str, Settings] = getattr(self.config, self.kind)
        if name not in blocks:
            raise self.run.refuse(f"config: {self.kind}/{name}: not there; name it ({{}} takes its defaults)")
        return blocks[name].block()

    def module(self, wildcards: Wildcards) -> str:
        """The module that makes the result."""
        return registry.module(self.kind, self._name(wildcards))

    def module_file(self, wildcards: Wildcards) -> str:
        """The module whose code is hashed."""
        return registry.code(self.kind, self._name(wildcards))

    def files(self, wildcards: Wildcards) -> list[str]:
        """The statistics that are shown."""
        return [
            f"{self.run.results}/statistics/{name}.parquet" for name in self._entry(self._name(wildcards)).statistics
        ]

    @untracked
    def named_files(self, wildcards: Wildcards) -> list[str]:
        """The statistics that are shown, as name=path; the files are tracked."""
        return [f"{Path(path).stem}={path}" for path in self.files(wildcards)]

    def settings(self, wildcards: Wildcards) -> str:
        """The block of config, with the arguments that are derived from it."""
        return self.run.in_file(self.arguments(self._name(wildcards)))

    def arguments(self, name: str) -> dict[str, Any]:
        """The block of config of one result, with the arguments that are derived from it."""
        block = self._block(name)
        return block | Derived(self.run).of(self._entry(name).derived, block)

    def statistics_of(self, name: str) -> tuple[str, ...]:
        """The statistics that one result shows."""
        return self._entry(name).statistics

    def known_labels(self, wildcards: Wildcards) -> str:
        """The labels of judges and datasets, in the order in which studies use them."""
        shown = self._entry(self._name(wildcards)).statistics
        described = any("items" in registry.statistic(name).reads for name in shown)
        return labels(self.run, Statistics(self.run).described_datasets if described else ())

    def caption(self, wildcards: Wildcards) -> str:
        """The module's caption with the settings filled in, for report, LaTeX and HTML alike."""
        return self.caption_of(self._name(wildcards))

    def caption_of(self, name: str) -> str:
        """The caption of one result, with the settings filled in."""
        text = registry.caption(self.kind, name)
        values = Statistics(self.run).blocks(self._entry(name).statistics) | self._block(name)
        try:
            text = text.format(**values)
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            if not registry.is_other(name):
                raise
            where = f"{registry.load(name).where}: CAPTION of its {self.kind.removesuffix('s')}"
            raise self.run.refuse(f"{where}: {type(error).__name__}: {error}; expected fields of settings") from None
        kinds = self._golds()
        kind = gold.of_all(kinds.values())
        parts = (rehearsal.note(self.config), gold.worded(text, kind), gold.note(text, kinds, kind))
        return " ".join(part for part in parts if part)

    def _golds(self) -> dict[str, str]:
        """Dictionary from label of a dataset to kind of its gold label, for each dataset that is used or described."""
        used = [*self.run.used_datasets, *Statistics(self.run).described_datasets]
        return {self.config.datasets[name].label: self.config.datasets[name].gold for name in used}

    def title_of(self, name: str) -> str:
        """Title of one result."""
        return gold.worded(self._entry(name).title, gold.of_all(self._golds().values()))

    def category(self, wildcards: Wildcards) -> str:
        """Category of the result in the report."""
        return gold.worded(self._entry(self._name(wildcards)).category, gold.of_all(self._golds().values()))

    def labels(self, wildcards: Wildcards) -> dict[str, str]:
        """Labels of the result in the report."""
        return {"result": self.title_of(self._name(wildcards))}

    def note(self, wildcards: Wildcards) -> str:
        """Word that is printed across the figures of a rehearsal; empty in any other run."""
        return "rehearsal" if self.config.rehearse else ""

    def listed(self, pattern: str) -> list[dict[str, str]]:
        """Title, caption and file of each result that config names."""
        listed: list[str] = list(getattr(self.config, self.kind))
        return [
            {"title": self.title_of(name), "caption": self.caption_of(name), "path": pattern.format(name)}
            for name in listed
        ]

    @property
    def statistics(self) -> set[str]:
        """The statistics behind the results that config names."""
        return {statistic for name in getattr(self.config, self.kind) for statistic in self._entry(name).statistics}


def labels(run: Run, also: Any = ()) -> str:
    """The labels of judges and datasets, in the order in which studies use them, then those of the datasets `also`."""
    return run.in_file(labels_of(run, also), sort_keys=False)


def labels_of(run: Run, also: Any = ()) -> dict[str, Any]:
    """Dictionaries from the ids of judges and datasets to the names to show, see `labels`.

    Key `gold` is added if no dataset has scores of people.
    """
    datasets = {name: run.config.datasets[name] for name in dict.fromkeys([*run.used_datasets, *also])}
    kind = gold.of_all([dataset.gold for dataset in datasets.values()])
    return {
        "judges": {name: run.config.judges[name].label for name in run.used_judges},
        "datasets": {name: dataset.label for name, dataset in datasets.items()},
    } | ({} if kind == gold.HUMAN else {"gold": kind})
