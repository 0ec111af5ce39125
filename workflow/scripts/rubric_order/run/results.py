"""From scores to statistics, tables and figures; the record of a result names the files that it reads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from rubric_order import catalogue, registry
from rubric_order.base import gold, of_cards, plugins
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.prompts import conditions
from rubric_order.run import rehearsal
from rubric_order.run.core import Run, Stage, Wildcards, untracked
from rubric_order.settings.base import Settings
from rubric_order.settings.judges.recorded import Recorded
from rubric_order.settings.statistics import registered_statistics

Block = Mapping[str, Any]
IN_PAGES: dict[registry.Kind, str] = {"tables": "html", "figures": "svg"}  # ending of the file that pages show


def one_of(names: Any) -> str:
    """Regular expression of a wildcard that matches each of `names`, or nothing."""
    return "|".join(names) or "(?!)"


class Derived(Stage):
    """Arguments of results that are derived from their block and from other parts of config."""

    def bases(self, block: Block) -> dict[str, list[str]]:
        """First condition and strategy of each study, with which its others are compared."""
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
        """Wording of each condition of studies of rubrics, by number of levels."""
        by_name: dict[str, dict[str, Any]] = {}
        for study in self.config.studies.values():
            for name in study.conditions if study.probe in catalogue.SCORE_ORDER else ():
                for n in study.scales:
                    chosen = conditions.read(name, n)
                    wording = {"ids": chosen.labels(n), "text": chosen.reference, "shown": chosen.id_level}
                    by_name.setdefault(name, {})[str(n)] = wording
        return by_name

    def golds(self, block: Block) -> dict[str, str]:
        """Kind of label of each dataset that is judged or described, if its labels are not people's."""
        names = {*self.run.used_datasets, *Statistics(self.run).described_datasets}
        kinds = {name: self.config.datasets[name].gold for name in sorted(names)}
        return {name: kind for name, kind in kinds.items() if kind != gold.HUMAN}

    def human_scales(self, block: Block) -> dict[str, list[float]]:
        judged = sorted({name for study in self.config.studies.values() for name in study.datasets})
        return {name: self.config.datasets[name].human_scale for name in judged}

    def judge_names(self, block: Block) -> dict[str, str]:
        judges = [name for study in (block["study"], *block["also"]) for name in self.config.studies[study].judges]
        names: dict[str, str] = block["judge_names"]
        return {name: self.config.judges[name].label for name in judges} | names

    def prompt_styles(self, block: Block) -> dict[str, list[str]]:
        """Model and prompt style of recorded judges that have a style."""
        judges = {name: judge for name, judge in self.config.judges.items() if isinstance(judge, Recorded)}
        return {
            name: [judge.model, judge.prompt_style] for name, judge in judges.items() if judge.prompt_style is not None
        }

    def sampling_temperatures(self, block: Block) -> dict[str, dict[str, float | None]]:
        """Temperature by live judge and profile; that of recorded answers is not known."""
        live = {name: self.config.judges[name] for name in self.run.live}
        return {
            name: {key: judge.under(key).sampling.temperature for key in (DEFAULT_PROFILE, *judge.profiles)}
            for name, judge in live.items()
        }

    def setting(self, block: Block) -> dict[str, dict[str, object]]:
        """Values of the setting that a figure varies, by judge and profile."""
        study = self.config.studies[block["study"]]
        return {name: self.config.judges[name].varied(study.profiles, block["setting"]) for name in study.judges}

    def temperatures(self, block: Block) -> dict[str, dict[str, float | None]]:
        """Temperature by judge and profile; None if scores are not drawn from the option probabilities."""
        by_judge: dict[str, dict[str, float | None]] = {}
        for study in self.config.studies.values():
            for name in study.judges:
                judge = self.config.judges[name]
                for profile in judge.profiles_of(study.profiles):
                    by_judge.setdefault(name, {})[profile] = judge.under(profile).draws_at
        return by_judge

    def of(self, names: tuple[str, ...], block: Block) -> dict[str, Any]:
        return {name: getattr(self, name)(block) for name in names}


# Module that makes calibrated scores, for statistics that show these scores if config asks for them.
CALIBRATED = plugins.ours(plugins.EXTRAS)["calibrated_scores"].module


def _as_options(inputs: Mapping[str, Iterable[str]]) -> list[str]:
    return [word for name, paths in inputs.items() for word in ("--inputs", name, *paths)]


def criterion_file(run: Run, statistic: str) -> str:
    return f"{run.results}/statistics/by_criterion/{statistic}.parquet"


class Statistics(Stage):
    """Stage from scores to estimates."""

    def module(self, wildcards: Wildcards) -> str:
        return registry.module("statistics", wildcards.statistic)

    def module_file(self, wildcards: Wildcards) -> list[str]:
        """Modules whose code is hashed for a statistic."""
        file = registry.code("statistics", wildcards.statistic)
        return [file, CALIBRATED] if self._calibrates(wildcards.statistic) else [file]

    def files(self, wildcards: Wildcards) -> list[str]:
        self._entry(wildcards.statistic)
        return [*chain(*self.inputs(wildcards.statistic).values())]

    @untracked
    def options(self, wildcards: Wildcards) -> list[str]:
        """Files that a statistic reads, as options; the files are tracked."""
        return _as_options(self.inputs(wildcards.statistic))

    def files_by_criterion(self, wildcards: Wildcards) -> list[str]:
        """Files of a statistic that is estimated for the cards of single criteria."""
        return [*chain(*self._inputs_by_criterion(wildcards.statistic).values())]

    @untracked
    def options_by_criterion(self, wildcards: Wildcards) -> list[str]:
        return _as_options(self._inputs_by_criterion(wildcards.statistic))

    def _inputs_by_criterion(self, statistic: str) -> dict[str, list[str]]:
        """Files by argument; a statistic of cards is read as it is for single criteria."""
        inputs = self.inputs(statistic)
        return inputs | {name: [criterion_file(self.run, name)] for name in inputs if name in of_cards.REQUIRED}

    def settings(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self.arguments(wildcards.statistic))

    def arguments(self, statistic: str) -> dict[str, Any]:
        """The arguments of a statistic besides its files, as its record names them."""
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
        return self.config.statistics.calibration.as_readout and self._entry(statistic).calibrates

    def _entry(self, statistic: str) -> catalogue.Statistic:
        return self.run.look_up(registry.statistic, statistic)

    def _block(self, statistic: str) -> dict[str, Any]:
        settings = getattr(self.config.statistics, statistic, None)
        if settings is None and registry.is_other(statistic):  # requested by its file, without a block of config
            settings = getattr(registered_statistics([statistic])(), statistic, None)
        return settings.block() if isinstance(settings, Settings) else {}

    def blocks(self, statistics: Iterable[str]) -> dict[str, Any]:
        """Settings of our statistics, and of those of other packages behind `statistics`."""
        others = {name: self._block(name) for name in registry.behind(statistics) if registry.is_other(name)}
        return self.config.statistics.block() | others

    def inputs(self, statistic: str) -> dict[str, list[str]]:
        """Files that a statistic reads, by argument of `estimate`, as its record names them."""
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
        """Datasets that config describes; without any, those of studies."""
        return self.config.statistics.datasets.datasets or self.run.used_datasets

    def _published_tables(self) -> list[str]:
        folder = self.run.project / "resources" / "published"
        return [
            self.run.source(path)
            for path in sorted(folder.glob(f"{self.config.statistics.replication.paper}_table[0-9]*.csv"))
        ]

    def _compared(self, statistic: str, block: Block) -> bool:
        """True if a statistic reads one of the studies that a block names, or any study if it names none."""
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
    """Tables, or figures; the wildcard lacks the ``s`` of `kind`."""

    kind: registry.Kind

    def _entry(self, name: str) -> catalogue.Shown:
        return self.run.look_up(registry.shown, self.kind, name)

    def _name(self, wildcards: Wildcards) -> str:
        name: str = getattr(wildcards, self.kind.removesuffix("s"))
        return name

    def _block(self, name: str) -> dict[str, Any]:
        blocks: Mapping[str, Settings] = getattr(self.config, self.kind)
        if name not in blocks:
            raise self.run.refuse(f"config: {self.kind}/{name}: not there; name it ({{}} takes its defaults)")
        return blocks[name].block()

    def module(self, wildcards: Wildcards) -> str:
        return registry.module(self.kind, self._name(wildcards))

    def module_file(self, wildcards: Wildcards) -> str:
        return registry.code(self.kind, self._name(wildcards))

    def files(self, wildcards: Wildcards) -> list[str]:
        return [
            f"{self.run.results}/statistics/{name}.parquet" for name in self._entry(self._name(wildcards)).statistics
        ]

    @untracked
    def named_files(self, wildcards: Wildcards) -> list[str]:
        return [f"{Path(path).stem}={path}" for path in self.files(wildcards)]

    def settings(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self.arguments(self._name(wildcards)))

    def arguments(self, name: str) -> dict[str, Any]:
        block = self._block(name)
        return block | Derived(self.run).of(self._entry(name).derived, block)

    def statistics_of(self, name: str) -> tuple[str, ...]:
        return self._entry(name).statistics

    def known_labels(self, wildcards: Wildcards) -> str:
        """Labels of judges and datasets, in the order in which studies use them."""
        statistics = self._entry(self._name(wildcards)).statistics
        described = any("items" in registry.statistic(name).reads for name in statistics)
        return labels(self.run, Statistics(self.run).described_datasets if described else ())

    def caption(self, wildcards: Wildcards) -> str:
        return self.caption_of(self._name(wildcards))

    def caption_of(self, name: str) -> str:
        """Caption with its settings filled in, the note of a rehearsal, and the kind of the datasets' labels."""
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
        kind = gold.common_kind(kinds.values())
        parts = (rehearsal.note(self.config), gold.worded(text, kind), gold.note(text, kinds, kind))
        return " ".join(part for part in parts if part)

    def _golds(self) -> dict[str, str]:
        used = [*self.run.used_datasets, *Statistics(self.run).described_datasets]
        return {self.config.datasets[name].label: self.config.datasets[name].gold for name in used}

    def title_of(self, name: str) -> str:
        return gold.worded(self._entry(name).title, gold.common_kind(self._golds().values()))

    def category(self, wildcards: Wildcards) -> str:
        return gold.worded(self._entry(self._name(wildcards)).category, gold.common_kind(self._golds().values()))

    def labels(self, wildcards: Wildcards) -> dict[str, str]:
        return {"result": self.title_of(self._name(wildcards))}

    def note(self, wildcards: Wildcards) -> str:
        """Word printed across the figures of a rehearsal."""
        return "rehearsal" if self.config.rehearse else ""

    def listed(self, folder: str | Path) -> list[dict[str, str]]:
        """Title, caption and file of each result that config names; the kind's folder is in `folder`."""
        path = f"{folder}/{self.kind}/"
        return [
            {
                "title": self.title_of(name),
                "caption": self.caption_of(name),
                "path": f"{path}{name}.{IN_PAGES[self.kind]}",
            }
            for name in getattr(self.config, self.kind)
        ]

    @property
    def statistics(self) -> set[str]:
        return {statistic for name in getattr(self.config, self.kind) for statistic in self._entry(name).statistics}


def labels(run: Run, also: Any = ()) -> str:
    return run.settings_file(labels_of(run, also), sort_keys=False)


def labels_of(run: Run, also: Any = ()) -> dict[str, Any]:
    """Names to show of judges and datasets, in the order in which studies use them, then of `also`; `gold` if no labels
    are people's.
    """
    datasets = {name: run.config.datasets[name] for name in dict.fromkeys([*run.used_datasets, *also])}
    kind = gold.common_kind([dataset.gold for dataset in datasets.values()])
    return {
        "judges": {name: run.config.judges[name].label for name in run.used_judges},
        "datasets": {name: dataset.label for name, dataset in datasets.items()},
    } | ({} if kind == gold.HUMAN else {"gold": kind})
