"""A small study with all inputs of all statistics, and all statistics of it: two judges of two datasets."""

import functools
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from factories import ROOT, blocks_of_all_results, comparison_table, criteria_table, draw_criteria, simulated_reads

from rubric_order import catalogue, datasets
from rubric_order.base.keys import BASELINE
from rubric_order.datasets.rubrics import Rubric

JUDGES = ("zz_one", "zz_two")
COMPARING_JUDGES = (*JUDGES, "zz_three")
DATASETS = {"zz_tides": "High Tides", "zz_moon": "The Moon"}
PUBLISHED = "hanna"  # a dataset of a paper, for the table of published numbers
# The first judge reads both datasets, the others one: what is computed of each costs more than what is in it.
EACH = [{"judge": judge, "dataset": dataset} for judge in JUDGES for dataset in DATASETS][:3]
COMPARED = [(judge, dataset) for dataset in DATASETS for judge in COMPARING_JUDGES][:4]
READS = ("score_order", "criterion_order", "pair_order", "golden", "alone")  # inputs that are tables of reads
FEW = {
    "bootstrap": {"resamples": 40},
    "paired": {"resamples": 40},
    "score_effects": {"sign_changes": 49},
    "rank_reversal": {"halvings": 2},
    "bias_cost": {"splits": 1},
    "scales": {"studies": ["s"]},
    "replication": {"studies": ["s"], "judges": {"zz_one": "gpt_oss_20b"}},
    "judge_comparison": {"sweeps": {"size": {"zz_one": 1.0, "zz_two": 2.0}}},
}


@functools.cache
def settings() -> dict:
    """All statistics and tables with their defaults, but for sizes that take long."""
    config = blocks_of_all_results()
    for name, block in FEW.items():
        config["statistics"][name] |= block
    return config


def _scored(seed: int, about: Mapping[str, str], groups: int, effect: float) -> pd.DataFrame:
    """Reads of `score_order`: two conditions and, of the first judge, several profiles."""
    how = {"groups": groups, "candidates": 2, "preference": effect * np.arange(5) / 4} | about
    parts = [simulated_reads(seed=seed % 2, **how)]
    parts.append(simulated_reads(condition="letter", strategies=["balanced"], seed=2 + seed, **how))
    for profile in ("warm", "hot") if seed == 0 else ():
        parts.append(simulated_reads(profile=profile, strategies=["balanced"], seed=seed, **how))
    human = parts[0].drop_duplicates("item_id").set_index("item_id")["human_score"]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(question="", human_score=table["item_id"].map(human))


def _criteria(seed: int, about: Mapping[str, str], groups: int, effect: float) -> list[pd.DataFrame]:
    """Reads of `criterion_order` under three strategies."""
    rng, texts, tables = np.random.default_rng(seed), 2 * groups, []
    names = [f"g{text // 2:03d}" for text in range(texts)]
    for strategy in ("balanced", "random", "fixed"):
        values, shown = draw_criteria(texts, 3, rng=rng, strategy=strategy, position=[0.2 * effect, 0, 0])
        levels = [[[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]][read % 2] for read in range(len(shown))]
        crossed = {"levels": [levels] * texts} if strategy == "balanced" else {}
        tables.append(criteria_table(values, shown, strategy=strategy, groups=names, **crossed, **about))
    return tables


def _compared(seed: int, judge: str, dataset: str, groups: int) -> pd.DataFrame:
    """Pairs of four candidates with a baseline in two tasks, by one judge; a benchmark is named like its dataset."""
    rng = np.random.default_rng([len(judge) + len(dataset), seed] if seed else len(judge) + len(dataset))
    worth = np.tile(np.linspace(-1, 1, 4), 3 * groups)
    verdicts = np.where(rng.random((len(worth), 2)) < 1 / (1 + np.exp([-worth, worth])).T, 1, 2).tolist()
    tasks = [*"aaaabbbb"] * (len(worth) // 8)
    part = comparison_table(verdicts, per_group=4, task=tasks, judge=judge, dataset=dataset)
    unit = part["unit_id"].str[1:].astype(int)
    part["human_scores"] = [[1.0 + k % 3, 2.0 + k % 2] for k in unit]
    part["lengths"] = [[100 + 7 * (k % 5), 120 + 11 * (k % 3)] for k in unit]
    return part.assign(benchmark=DATASETS[dataset])


def _items(reads: pd.DataFrame) -> datasets.Tables:
    """The items behind the scores of a dataset."""
    rubric = Rubric("quality", "quality", "Is it good?", tuple(f"level {k}" for k in range(1, 6)))
    items = [
        datasets.Item(
            where=row.item_id,
            item_id=row.item_id,
            group_id=row.group_id,
            candidate=row.candidate,
            instruction="Explain.",
            response="So it is.",
            rubric=rubric,
            human_scores=[row.human_score, round(row.human_score)],
        )
        for row in reads.drop_duplicates("item_id").itertuples()
    ]
    return datasets.prepare(reads["dataset"].iloc[0], items)


def _references() -> pd.DataFrame:
    """Attempts of two writers at reference answers."""
    same = {"criterion": "quality", "rubric_id": "q", "n": 5, "round": 1, "text": "So it is.", "verdict": "yes"}
    return pd.DataFrame(
        {"group_id": f"g{k}", "dataset": dataset, "level": 1 + k % 5}
        | {"writer": JUDGES[k % 2], "reviewer": JUDGES[1 - k % 2]}
        | {"blind_score": 1 + k % 4, "blind_failure": None, "accepted": k % 3 > 0}
        | same
        for dataset in DATASETS
        for k in range(12)
    )


@functools.cache
def inputs(*, groups: int = 4, effect: float = 1.0, seed: int = 0) -> dict[str, Any]:
    """All inputs of statistics: reads by probe, file by file, and the others by argument. Not to be changed.

    Args:
        groups: of each dataset; an even number.
        effect: size of the effects of order; 0 is a fair judge.
        seed: of all that is drawn.
    """
    scored = [_scored(100 * seed + place, about, groups, effect) for place, about in enumerate(EACH)]
    criteria = [
        table for place, about in enumerate(EACH) for table in _criteria(100 * seed + place, about, groups, effect)
    ]
    described = [_items(table) for table in scored[: len(DATASETS)]]
    paths = sorted((ROOT / "resources/published").glob("*.csv"))
    return {
        "score_order": scored,
        "criterion_order": criteria,
        "pair_order": [_compared(seed, judge, dataset, groups) for judge, dataset in COMPARED],
        "golden": [table[table["strategy"] == "fixed"] for table in scored],
        "alone": [table[table["read_index"] == 0] for table in criteria if set(table["strategy"]) == {"fixed"}],
        "items": pd.concat([each.items for each in described], ignore_index=True),
        "pairs": pd.concat([each.pairs for each in described], ignore_index=True),
        "references": _references(),
        "answers": {name: {"versions": {"version of the engine": {"1.0": 7}}} for name in JUDGES},
        "published": {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths},
    }


class Statistics:
    """All statistics of some inputs, with the arguments that the catalogue names; each is made once.

    Attributes:
        inputs: like those of function `inputs`.
        judges: new names of judges in settings.
    """

    def __init__(self, inputs: Mapping[str, Any], judges: Mapping[str, str] | None = None) -> None:
        self.inputs, self.judges, self._tables = inputs, judges or {}, dict[str, pd.DataFrame]()

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            module = importlib.import_module(catalogue.module("statistics", name))
            self._tables[name] = module.estimate(**self._arguments(name))
        return self._tables[name]

    def _arguments(self, name: str) -> dict[str, Any]:
        entry, arguments = catalogue.STATISTICS[name], dict[str, Any]()
        for path in entry.settings:
            block = functools.reduce(lambda found, key: found[key], path.split("/"), settings()["statistics"])
            arguments |= {path.rpartition("/")[2]: block} if "/" in path else block
        arguments |= {argument: _derived()[argument] for argument in entry.derived}
        arguments = self._renamed(arguments)
        arguments |= {
            other: self[other] if other in catalogue.STATISTICS else self.inputs[other] for other in entry.reads
        }
        if name == "replication":  # the paper is about one of the two
            about = {"dataset": {next(iter(DATASETS)): PUBLISHED}}
            frames = {other: table for other, table in arguments.items() if isinstance(table, pd.DataFrame)}
            arguments |= {other: table.replace(about) for other, table in frames.items()}
        if entry.probes:
            probe = "score_order" if entry.probes == catalogue.ANY_PROBE else entry.probes[0]
            arguments["scores"] = self.inputs[probe]
        return arguments

    def _renamed(self, value: Any) -> Any:
        """A value in which keys that are judges have their new names."""
        if not isinstance(value, dict):
            return value
        return {self.judges.get(key, key): self._renamed(inner) for key, inner in value.items()}


def _derived() -> dict[str, Any]:
    temperatures = {name: {"default": 0.5, "warm": 1.0, "hot": 1.5} for name in JUDGES}
    return {
        "bases": {"s": ["baseline", "balanced"]},
        "call_prices": dict.fromkeys(JUDGES, 0.001),
        "golds": {},
        "human_scales": {name: [1, 5] for name in DATASETS},
        "sampling_temperatures": temperatures,
        "temperatures": temperatures,
        "prompt_styles": {name: ["A model", style] for name, style in zip(JUDGES, ("mcq", "rts"), strict=True)},
        "conditions": {
            name: {"5": {"ids": list("12345") if name == BASELINE else list("ABCDE"), "text": None, "shown": True}}
            for name in (BASELINE, "letter")
        },
    }
