"""Every table of the catalogue prints labels of judges and datasets, and no id of config."""

import functools
import importlib

import numpy as np
import pandas as pd
import pytest
from factories import ROOT, blocks_of_all_results, comparison_table, criteria_table, draw_criteria, simulated_reads

from rubric_order import catalogue, datasets, tables
from rubric_order.base.conditions import of_condition
from rubric_order.base.keys import BASELINE
from rubric_order.base.labels import Labels, in_order, with_labels
from rubric_order.datasets.rubrics import Rubric

JUDGES = {"zz_one": "Judge One", "zz_two": "Judge Two"}
DATASETS = {"zz_tides": "High Tides", "zz_moon": "The Moon"}
PUBLISHED = {"hanna": "The HANNA set"}  # a dataset of a paper, for the table of published numbers
LABELS = Labels({**JUDGES, "zz_three": "Judge Three"}, DATASETS | PUBLISHED)
EACH = [{"judge": judge, "dataset": dataset} for judge in JUDGES for dataset in DATASETS]
# They name neither a judge nor a dataset of config: means over all, single comparisons, a paper's numbers.
WITHOUT_NAMES = {"preference_summary", "published_shifts"}
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


@functools.cache
def scores(probe: str) -> list[pd.DataFrame]:
    """Reads of two judges of two datasets; of comparisons, of three judges."""
    if probe == "pair_order":
        return [compared(judge, dataset) for judge in LABELS.judges for dataset in DATASETS]
    found = []
    for seed, about in enumerate(EACH):
        if probe == "score_order":
            how = {"groups": 4, "candidates": 2, "preference": np.arange(5) / 4} | about
            parts = [simulated_reads(seed=seed % 2, **how)]
            parts.append(simulated_reads(condition="letter", strategies=["balanced"], seed=2 + seed, **how))
            for profile in ("warm", "hot") if seed == 0 else ():
                parts.append(simulated_reads(profile=profile, strategies=["balanced"], seed=seed, **how))
            found.append(pd.concat(parts, ignore_index=True))
        elif probe == "criterion_order":
            rng, groups = np.random.default_rng(seed), [f"g{text // 2}" for text in range(8)]
            for strategy in ("balanced", "random", "fixed"):
                values, shown = draw_criteria(8, 3, rng=rng, strategy=strategy, position=[0.2, 0, 0])
                levels = [[[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]][read % 2] for read in range(len(shown))]
                crossed = {"levels": [levels] * 8} if strategy == "balanced" else {}
                found.append(criteria_table(values, shown, strategy=strategy, groups=groups, **crossed, **about))
    return [part.assign(question="") if probe == "score_order" else part for part in found]


def compared(judge: str, dataset: str) -> pd.DataFrame:
    """Pairs of four candidates with a baseline in two tasks, by one judge; a benchmark is named like its dataset."""
    rng = np.random.default_rng(len(judge) + len(dataset))
    worth = np.tile(np.linspace(-1, 1, 4), 12)
    verdicts = np.where(rng.random((48, 2)) < 1 / (1 + np.exp([-worth, worth])).T, 1, 2).tolist()
    part = comparison_table(verdicts, per_group=4, task=[*"aaaabbbb"] * 6, judge=judge, dataset=dataset)
    unit = part["unit_id"].str[1:].astype(int)
    part["human_scores"] = [[1.0 + k % 3, 2.0 + k % 2] for k in unit]
    part["lengths"] = [[100 + 7 * (k % 5), 120 + 11 * (k % 3)] for k in unit]
    return part.assign(benchmark=DATASETS[dataset])


@functools.cache
def data() -> dict[str, pd.DataFrame]:
    """The items behind the scores of `score_order`, and no pairs."""
    rubric = Rubric("quality", "quality", "Is it good?", tuple(f"level {k}" for k in range(1, 6)))
    made = []
    for name in DATASETS:
        reads = next(part for part in scores("score_order") if part["dataset"].iloc[0] == name)
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
        made.append(datasets.prepare(name, items))
    return {
        "items": pd.concat([each.items for each in made], ignore_index=True),
        "pairs": pd.concat([each.pairs for each in made], ignore_index=True),
    }


@functools.cache
def other_inputs() -> dict[str, object]:
    """Inputs of statistics beside scores and other statistics."""
    paths = sorted((ROOT / "resources/published").glob("*.csv"))
    written = [
        {
            "group_id": f"g{k}",
            "criterion": "quality",
            "rubric_id": "q",
            "dataset": dataset,
            "n": 5,
            "level": 1 + k % 5,
            "round": 1,
        }
        | {"writer": list(JUDGES)[k % 2], "reviewer": list(JUDGES)[1 - k % 2], "text": "So it is.", "verdict": "yes"}
        | {"blind_score": 1 + k % 4, "blind_failure": None, "accepted": k % 3 > 0}
        for dataset in DATASETS
        for k in range(12)
    ]
    return data() | {
        "published": {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths},
        "references": pd.DataFrame(written),
        "answers": {name: {"versions": {"version of the engine": {"1.0": 7}}} for name in JUDGES},
        "golden": [
            part[part["strategy"] == "fixed"] for part in scores("score_order") if "fixed" in set(part["strategy"])
        ],
        "alone": [part.assign(read_index=0) for part in scores("criterion_order") if "fixed" in set(part["strategy"])],
    }


@functools.cache
def statistic(name: str) -> pd.DataFrame:
    """A statistic of these reads, with the arguments that the catalogue names."""
    entry = catalogue.STATISTICS[name]
    given: dict = {}
    for path in entry.settings:
        block = functools.reduce(lambda found, key: found[key], path.split("/"), settings()["statistics"])
        given |= {path.rpartition("/")[2]: block} if "/" in path else block
    temperatures = {name: {"default": 0.5, "warm": 1.0, "hot": 1.5} for name in JUDGES}
    derived = {
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
    given |= {argument: derived[argument] for argument in entry.derived}
    for other in entry.reads:
        given[other] = statistic(other) if other in catalogue.STATISTICS else other_inputs()[other]
    if name == "replication":  # the paper is about one of the two
        about = {"dataset": dict(zip(DATASETS, PUBLISHED, strict=False))}
        given |= {other: found.replace(about) for other, found in given.items() if isinstance(found, pd.DataFrame)}
    if entry.probes:
        given["scores"] = scores("score_order" if entry.probes == catalogue.ANY_PROBE else entry.probes[0])
    return importlib.import_module(catalogue.module("statistics", name)).estimate(**given)


@pytest.mark.parametrize("name", catalogue.TABLES)
def test_a_printed_table_has_labels_and_no_id(name, tmp_path):
    module, given = importlib.import_module(catalogue.module("tables", name)), dict(settings()["tables"][name])
    condition = given.pop("condition", BASELINE)
    read = {
        each: in_order(of_condition(statistic(each), condition), LABELS) for each in catalogue.TABLES[name].statistics
    }
    study = next((found["study"].iloc[0] for found in read.values() if "study" in found), "s")
    given |= {key: study if key == "study" else [study] for key in ("study", "studies") if key in given}
    rows, printed = tables.of_studies(module.TABLE, read, given)
    tables.write(rows, with_labels(printed, LABELS), tmp_path / name, "caption")
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
    assert text.count("\n") > 2, "no row"
    assert not any(each in text for each in ("zz_", *PUBLISHED)), text
    assert any(label in text for label in [*LABELS.judges.values(), *LABELS.datasets.values()]) != (
        name in WITHOUT_NAMES
    ), text


@pytest.mark.parametrize("name", [name for name in catalogue.TABLES if "also" in settings()["tables"][name]])
def test_rows_of_further_studies_follow_and_say_whose_they_are(name):
    module, given = importlib.import_module(catalogue.module("tables", name)), dict(settings()["tables"][name])
    condition = given.pop("condition", BASELINE)
    alone = {each: of_condition(statistic(each), condition) for each in catalogue.TABLES[name].statistics}
    study = next(found["study"].iloc[0] for found in alone.values() if "study" in found)
    both = {
        each: pd.concat([found, found.assign(study="further")]) if "study" in found else found
        for each, found in alone.items()
    }
    rows, printed = tables.of_studies(module.TABLE, alone, given | {"study": study})
    twice, printed_twice = tables.of_studies(module.TABLE, both, given | {"study": study, "also": ["further", study]})
    assert twice["study"].tolist() == [study] * len(rows) + ["further"] * len(rows)
    assert printed_twice["study"].tolist() == [study] * len(printed) + ["further"] * len(printed)
    same = [column for column in rows if column != "study"]
    pd.testing.assert_frame_equal(twice[same].tail(len(rows)).reset_index(drop=True), rows[same].reset_index(drop=True))
