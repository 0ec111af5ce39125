"""Inputs and settings of the pages that a reader opens: single reads, the summary, and the methods."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order import catalogue, probes, registry
from rubric_order.base import gold, of_cards
from rubric_order.run import rehearsal
from rubric_order.run.core import Stage, Wildcards
from rubric_order.run.references import References
from rubric_order.run.results import IN_PAGES, Shown, criterion_file, labels
from rubric_order.run.stages import Records
from rubric_order.settings.base import Role, Settings, extra

CARDS: tuple[str, ...] = (*of_cards.REQUIRED, *of_cards.OPTIONAL, of_cards.ANCHORS)
OF_CRITERIA = ("criterion_order",)  # statistics of the cards of prompts that ask for several criteria
ENDINGS = {"figures": ("svg", "png", "pdf"), "tables": ("csv", "md", "tex", "html")}


@dataclass(frozen=True)
class Pages(Stage):
    """Pages of a run."""

    def named_results(self, wildcards: Wildcards) -> list[str]:
        """Figures and tables that config names, in each form; once there is a summary, also missing pages to which it
        links.
        """
        named = [
            f"{self.run.results}/{kind}/{name}.{ending}"
            for kind, endings in ENDINGS.items()
            for name in getattr(self.config, kind)
            for ending in endings
        ]
        if not Path(self.run.results, "summary.html").exists():
            return named
        pages = (f"{self.run.results}/reads/{study}/index.html" for study in self.config.studies)
        return [*named, *(path for path in (*pages, *self.all_reads(wildcards)) if not Path(path).exists())]

    def parts(self, *names: str) -> list[str]:
        return [self.run.source(f"workflow/scripts/rubric_order/pages/{name}") for name in names]

    def named(self, files: Callable[[Wildcards], list[str]]) -> Callable[[Wildcards, Any], list[str]]:
        """Untracked params function: the files of an input function, as name=path."""

        def pairs(wildcards: Wildcards, output: Any) -> list[str]:
            return [f"{Path(path).stem}={path}" for path in files(wildcards)]

        return pairs

    def requests(self, wildcards: Wildcards) -> list[str]:
        """Requests of a judge that a study needs; recorded answers have none."""
        live = wildcards.judge in self.run.live
        studies = self.run.studies_until(wildcards.study, wildcards.judge) if live else []
        return [f"{self.run.results}/requests/{study}/{wildcards.judge}.parquet" for study in studies]

    def items_with_raters(self, wildcards: Wildcards) -> list[str]:
        """Items of a dataset, for the scores of single people; none for recorded comparisons."""
        if wildcards.judge in self.run.recorded:
            return Records(self.run).items(wildcards)
        return [f"{self.run.results}/items/{wildcards.dataset}.parquet"]

    def reads_about(self, wildcards: Wildcards) -> str:
        """Study, dataset and judge whose reads are chosen from, and the name of the labels if they are not people's."""
        wanted = {"study": wildcards.study, "dataset": wildcards.dataset, "judge": wildcards.judge}
        kind = self.config.datasets[wildcards.dataset].gold
        return self.run.settings_file(wanted | ({} if kind == gold.HUMAN else {"gold": gold.NAMES[kind]}))

    def reads_settings(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self.config.reads.block())

    def reads_of_study(self, wildcards: Wildcards) -> list[str]:
        judged = self.run.judged(wildcards.study)
        return [f"{self.run.results}/reads/{wildcards.study}/{dataset}/{judge}.js" for dataset, judge in judged]

    def study(self, wildcards: Wildcards) -> str:
        sets = [
            {
                "dataset": dataset,
                "judge": judge,
                "dataset_label": self.config.datasets[dataset].label,
                "judge_label": self.config.judges[judge].label,
            }
            for dataset, judge in self.run.judged(wildcards.study)
        ]
        facts = {"permutes": self.run.probe(wildcards).PERMUTES, "rehearsal": rehearsal.note(self.config)}
        return self.run.settings_file({"study": wildcards.study, "sets": sets} | facts)

    def reads(self, wildcards: Wildcards) -> str:
        """Each study's page of reads, relative to the folder of the summary."""
        return self.run.settings_file({study: f"reads/{study}/index.html" for study in self.config.studies})

    def card_files(self, wildcards: Wildcards) -> list[str]:
        """Statistics of bias cards, where a study has the scores that these read."""
        by_cards = (CARDS, OF_CRITERIA)
        needed = [name for names in by_cards if self._any_study(registry.probes(names)) for name in names]
        return [f"{self.run.results}/statistics/{name}.parquet" for name in needed]

    def all_scores(self, wildcards: Wildcards) -> list[str]:
        """Scores of all studies; their metadata hold the tokens that the answers took."""
        return self.run.score_files([*self.config.studies])

    def all_reads(self, wildcards: Wildcards) -> list[str]:
        return [
            f"{self.run.results}/reads/{study}/{dataset}/{judge}.js"
            for study in self.config.studies
            for dataset, judge in self.run.judged(study)
        ]

    def prices(self, wildcards: Wildcards) -> str:
        priced = {name: self.config.judges[name].capabilities.prices for name in self.run.used_judges}
        return self.run.settings_file({name: prices.block() for name, prices in priced.items() if prices is not None})

    def criterion_card_files(self, wildcards: Wildcards) -> list[str]:
        """Statistics of bias cards of single criteria, if config asks for them."""
        asked = self.config.cards_by_criterion and self._any_study(registry.probes(CARDS))
        return [criterion_file(self.run, name) for name in of_cards.REQUIRED] if asked else []

    def _any_study(self, of_probes: Collection[str]) -> bool:
        return any(catalogue.fits(study.probe, of_probes) for study in self.config.studies.values())

    def margin(self, wildcards: Wildcards) -> float:
        """Margin of equivalence in points, with which cards of criteria compare shifts."""
        return float(self.config.statistics.equivalence.points)

    def shown(self, wildcards: Wildcards) -> str:
        return self.run.settings_file({kind: Shown(self.run, kind).listed(self.run.results) for kind in IN_PAGES})

    def labels(self, wildcards: Wildcards) -> str:
        return labels(self.run)

    def statistics(self, wildcards: Wildcards) -> list[str]:
        """Statistics behind the figures and tables that config names, and behind bias cards."""
        named = {name for kind in IN_PAGES for name in Shown(self.run, kind).statistics}
        return sorted({*named, *(Path(path).stem for path in self.card_files(wildcards))})

    def answer_files(self, wildcards: Wildcards) -> list[str]:
        """Metadata of the shards of each live judge that is used."""
        return [f"{self.run.results}/responses/{name}.json" for name in self.run.used_judges if name in self.run.live]

    def facts(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self.run_facts())

    def run_facts(self) -> dict[str, Any]:
        """Parts of config that results depend on, without settings that only say where and how judges run."""
        config = self.config
        used: dict[str, dict[str, Settings]] = {
            "judges": {name: config.judges[name] for name in self.run.used_judges},
            "datasets": {name: config.datasets[name] for name in self.run.used_datasets},
            "studies": dict(config.studies),
        }
        facts: dict[str, Any] = {
            kind: {name: _facts_of(settings) for name, settings in blocks.items()} for kind, blocks in used.items()
        }
        note = rehearsal.note(config)
        facts |= {"rehearsal": note} if note else {}
        return facts | {"statistics": {"bootstrap": config.statistics.bootstrap.block()}}

    def methods(self, wildcards: Wildcards) -> str:
        """`run_facts`, facts about each probe, and settings of reference answers and of results of other packages."""
        facts = self.run_facts()
        used = [name for name in self.run.used_datasets if name in self.config.references]
        for study in facts["studies"].values():
            probe = probes.load(study["probe"])
            study |= {"permutes": probe.PERMUTES, "source": probe.SOURCE}
        references = References(self.run)
        for name in references.makers():
            maker = references.facts(name, used[0]) | {"label": self.config.judges[name].label}
            facts["judges"].setdefault(name, maker)
        for name, judge in facts["judges"].items():
            kind = self.config.judges[name]
            judge |= {"run_by": kind.RUN_BY or f"by engine `{kind.engine}`", "cited": kind.CITED, "loaded": kind.LOADED}
        facts["references"] = {name: self.config.references[name].block() for name in used}
        facts["described"] = {name: statistic_facts(name) for name in self.statistics(wildcards)}
        facts["packages"] = {
            name: {"package": record.package, "version": record.version, "references": record.value.references}
            for name in self.statistics(wildcards)
            if registry.is_other(name)
            for record in [registry.load(name)]
        }
        return self.run.settings_file(facts)


def statistic_facts(statistic: str) -> dict[str, Any]:
    """Facts about a statistic for the text of methods, see `methods.text`."""
    entry = registry.statistic(statistic)
    draws = "bootstrap" in entry.settings and "paired" not in entry.settings and not registry.is_other(statistic)
    return {"methods": entry.methods, "resampled": draws}


# Untracked settings of a judge that are reported nevertheless.
TOLD = ("template", "profiles")


def _facts_of(settings: Settings) -> dict[str, Any]:
    fields = type(settings).model_fields
    unused = {name for name, field in fields.items() if extra(field, "tracked") is False and name not in TOLD}
    unused |= {name for name, field in fields.items() if extra(field, "role") is Role.WIRE}
    return {name: value for name, value in settings.block().items() if name not in unused}
