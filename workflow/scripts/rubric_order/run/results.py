"""From scores to statistics, tables and figures: the catalogue says what each reads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order import catalogue
from rubric_order.base.code_hash import constant
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.prompts import conditions
from rubric_order.run import rehearsal
from rubric_order.run.core import Run, Stage, Wildcards, untracked
from rubric_order.settings.base import Settings
from rubric_order.settings.judges import Recorded

Block = Mapping[str, Any]


def one_of(names: Any) -> str:
    """A regular expression for a wildcard: one of some names, perhaps none."""
    return "|".join(names) or "(?!)"


class Derived(Stage):
    """Arguments of results that are made from their block of config and from other parts of it."""

    def bases(self, block: Block) -> dict[str, list[str]]:
        """Base that each study's conditions and orders are compared with: its first condition and strategy."""
        return {name: [study.conditions[0], study.strategies[0]] for name, study in self.config.studies.items()}

    def conditions(self, block: Block) -> dict[str, dict[str, Any]]:
        """Wording of the conditions of studies of rubrics, by name and number of levels."""
        by_name: dict[str, dict[str, Any]] = {}
        for study in self.config.studies.values():
            for name in study.conditions if study.probe in catalogue.SCORE_ORDER else ():
                for n in study.scales:
                    chosen = conditions.read(name, n)
                    wording = {"ids": chosen.labels(n), "text": chosen.reference, "shown": chosen.shown}
                    by_name.setdefault(name, {})[str(n)] = wording
        return by_name

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
        """Temperature of each judge's answers, by judge and profile; that of recorded answers is not known."""
        live = {name: self.config.judges[name] for name in self.run.live}
        return {
            name: {key: judge.under(key).sampling.temperature for key in (DEFAULT_PROFILE, *judge.profiles)}
            for name, judge in live.items()
        }

    def setting(self, block: Block) -> dict[str, dict[str, object]]:
        """The values of the setting that a figure is about, by judge and profile of the study that it draws."""
        study = self.config.studies[block["study"]]
        return {name: self.config.judges[name].varied(study.profiles, block["setting"]) for name in study.judges}

    def temperatures(self, block: Block) -> dict[str, dict[str, float | None]]:
        """Temperature of judges whose scores are draws from their option probabilities, by judge and profile."""
        by_judge: dict[str, dict[str, float | None]] = {}
        for study in self.config.studies.values():
            for name in study.judges:
                judge = self.config.judges[name]
                for profile in judge.profiles_of(study.profiles):
                    by_judge.setdefault(name, {})[profile] = judge.under(profile).draws_at
        return by_judge

    def of(self, names: tuple[str, ...], block: Block) -> dict[str, Any]:
        """Some of these arguments."""
        return {name: getattr(self, name)(block) for name in names}


class Statistics(Stage):
    """From scores to estimates."""

    def module(self, wildcards: Wildcards) -> str:
        """The module that makes a statistic."""
        return catalogue.module("statistics", wildcards.statistic)

    def module_file(self, wildcards: Wildcards) -> str:
        """Path of the module in the library."""
        return catalogue.module_file("statistics", wildcards.statistic)

    def files(self, wildcards: Wildcards) -> list[str]:
        """Files that a statistic reads."""
        return [path for paths in self.inputs(wildcards.statistic).values() for path in paths]

    @untracked
    def options(self, wildcards: Wildcards) -> list[str]:
        """Files that a statistic reads, as options; the files are tracked."""
        return [word for name, paths in self.inputs(wildcards.statistic).items() for word in ("--inputs", name, *paths)]

    def settings(self, wildcards: Wildcards) -> str:
        """The arguments of a statistic beside its files, as the catalogue says."""
        entry = catalogue.STATISTICS[wildcards.statistic]
        chosen: dict[str, Any] = {}
        for path in entry.settings:
            block, slash, key = path.partition("/")
            values = self._block(block)
            chosen |= {key: values[key]} if slash else values
        return self.run.in_file(chosen | Derived(self.run).of(entry.derived, chosen))

    def _block(self, statistic: str) -> dict[str, Any]:
        settings = getattr(self.config.statistics, statistic, None)
        return settings.block() if isinstance(settings, Settings) else {}

    def inputs(self, statistic: str) -> dict[str, list[str]]:
        """Files that a statistic reads by the catalogue: paths by argument of `estimate`."""
        entry, block = catalogue.STATISTICS[statistic], self._block(statistic)
        inputs = {}
        if entry.probes:
            inputs["scores"] = self.run.score_files(
                name for name, study in self.config.studies.items() if catalogue.fits(study.probe, entry.probes)
            )
        sources: dict[str, Callable[[], list[str]]] = {
            "items": lambda: [f"results/items/{name}.parquet" for name in self.described_datasets],
            "pairs": lambda: [f"results/pairs/{name}.parquet" for name in self.described_datasets],
            "alone": lambda: self.run.score_files(block["alone"]),
            "golden": lambda: self.run.score_files(self.config.statistics.golden_scores.studies),
            "references": lambda: [f"results/references/{name}.parquet" for name in self.config.references],
            "published": self._published_tables,
            "answers": lambda: [f"results/responses/{judge}.json" for judge in self.run.used_judges],
        }
        for name in entry.reads:
            if name in sources:
                inputs[name] = sources[name]()
            elif not (statistic == "replication" and not self._replicated(name)) and self._compared(name, block):
                inputs[name] = [f"results/statistics/{name}.parquet"]
        return inputs

    @functools.cached_property
    def described_datasets(self) -> list[str]:
        """The datasets that are described: those that config names, or those that studies use."""
        return self.config.statistics.datasets.datasets or self.run.used_datasets

    def _published_tables(self) -> list[str]:
        """The tables of the paper that config compares with."""
        folder = self.run.project / "resources" / "published"
        return [
            self.run.source(path)
            for path in sorted(folder.glob(f"{self.config.statistics.replication.paper}_table[0-9]*.csv"))
        ]

    def _compared(self, statistic: str, block: Block) -> bool:
        """True if one of the studies that a block names, if it names any, is behind a statistic."""
        if "golden" in catalogue.STATISTICS[statistic].reads:
            return bool(self.config.statistics.golden_scores.studies)
        behind = catalogue.probes((statistic,))
        if not behind:  # it is made of items, not of a study's scores
            return True
        studies = block.get("studies", self.config.studies)
        return any(catalogue.fits(self.config.studies[study].probe, behind) for study in studies)

    def _replicated(self, statistic: str) -> bool:
        """True if a statistic is what the paper that config compares with printed."""
        paper = self.config.statistics.replication.paper
        every = {name for names in catalogue.REPLICATED.values() for name in names}
        return statistic in catalogue.REPLICATED[paper] if paper in catalogue.REPLICATED else statistic not in every


@dataclass(frozen=True)
class Shown(Stage):
    """Tables, or figures, each with a block of config of its own.

    Attributes:
        kind: ``tables`` or ``figures``, as config and the library call them; the wildcard is that without its ``s``.
    """

    kind: str

    @property
    def _results(self) -> Mapping[str, catalogue.Shown]:
        return {"tables": catalogue.TABLES, "figures": catalogue.FIGURES}[self.kind]

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
        return catalogue.module(self.kind, self._name(wildcards))

    def module_file(self, wildcards: Wildcards) -> str:
        """Path of the module in the library."""
        return catalogue.module_file(self.kind, self._name(wildcards))

    def files(self, wildcards: Wildcards) -> list[str]:
        """The statistics that are shown."""
        return [f"results/statistics/{name}.parquet" for name in self._results[self._name(wildcards)].statistics]

    @untracked
    def named_files(self, wildcards: Wildcards) -> list[str]:
        """The statistics that are shown, as name=path; the files are tracked."""
        return [f"{Path(path).stem}={path}" for path in self.files(wildcards)]

    def settings(self, wildcards: Wildcards) -> str:
        """The block of config, with what is derived from it."""
        name = self._name(wildcards)
        block = self._block(name)
        return self.run.in_file(block | Derived(self.run).of(self._results[name].derived, block))

    def known_labels(self, wildcards: Wildcards) -> str:
        """The labels of judges and datasets, in the order in which studies use them."""
        shown = self._results[self._name(wildcards)].statistics
        described = any("items" in catalogue.STATISTICS[name].reads for name in shown)
        return labels(self.run, Statistics(self.run).described_datasets if described else ())

    def caption(self, wildcards: Wildcards) -> str:
        """The module's caption with the settings filled in, for report, LaTeX and HTML alike."""
        return self.caption_of(self._name(wildcards))

    def caption_of(self, name: str) -> str:
        """The caption of one result."""
        path = self.run.project / "workflow/scripts/rubric_order" / catalogue.module_file(self.kind, name)
        values = self.config.statistics.block() | self._block(name)
        text = str(constant(path, "CAPTION")).format(**values)
        return f"{rehearsal.note(self.config)} {text}".lstrip()

    def category(self, wildcards: Wildcards) -> str:
        """Category of the result in the report."""
        return self._results[self._name(wildcards)].category

    def labels(self, wildcards: Wildcards) -> dict[str, str]:
        """Labels of the result in the report."""
        return {"result": self._results[self._name(wildcards)].title}

    def note(self, wildcards: Wildcards) -> str:
        """Word across a figure of a rehearsal; empty in any other run."""
        return "rehearsal" if self.config.rehearse else ""

    def listed(self, pattern: str) -> list[dict[str, str]]:
        """Title, caption and file of each result that config names."""
        names: list[str] = list(getattr(self.config, self.kind))
        return [
            {"title": self._results[name].title, "caption": self.caption_of(name), "path": pattern.format(name)}
            for name in names
        ]

    @property
    def statistics(self) -> set[str]:
        """The statistics behind the results that config names."""
        return {statistic for name in getattr(self.config, self.kind) for statistic in self._results[name].statistics}


def labels(run: Run, also: Any = ()) -> str:
    """The labels of judges and datasets, in the order in which studies use them, and of further datasets."""
    datasets = list(dict.fromkeys([*run.used_datasets, *also]))
    by_kind = {
        "judges": {name: run.config.judges[name].label for name in run.used_judges},
        "datasets": {name: run.config.datasets[name].label for name in datasets},
    }
    return run.in_file(by_kind, sort_keys=False)
