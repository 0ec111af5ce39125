"""Laws that hold for every statistic: of rows and files, of reads without a score, of names, and of a fair judge."""

import functools
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import whole_study
from factories import simulated_reads
from whole_study import READS, Statistics

from rubric_order import catalogue

NAMES = [*catalogue.STATISTICS]
IDS = ("item_id", "unit_id", "group_id", "source_id")
NEW_JUDGES = {"zz_one": "yy_first", "zz_two": "yy_third", "zz_three": "yy_second"}  # in the same alphabetical order
DEAD = "zz_one"
# Numbers that do not come from a resampling or from the size of a family of tests.
VALUES = ["estimate", "difference", "averaged", "win_rate", "position_consistency", "share", "score", "of_one"]
VALUES += ["disagreement", "consistent", "sum_of_squares", "ours"]
# What draws groups, items or orderings at random, by their places among sorted names.
DRAWN = {
    **dict.fromkeys(("manipulability", "calibration", "ordering_subsets", "adaptive_budget", "advice"), "folds, draws"),
    "anchors": "rows of named groups",
    "golden_scores": "rows of named items",
    "hard_instances": "rows of named comparisons",
}
DRAWN_QUANTITIES = ("rank_share", "chosen_share", "heldout_")
# What another read of the same ordering adds: chance is known, halves and sets of reads are larger.
REPEATS_MATTER = {
    **dict.fromkeys(("order_spread", "manipulability", "within_item_deviation", "generalisability"), "repeats"),
    "halo": "noise of reads",
    **dict.fromkeys(("ordering_subsets", "budget_curve", "advice", "rank_reversal", "rerun"), "more reads"),
    **dict.fromkeys(("paired_reads", "position_consistency", "mitigations"), "rows of repeats"),
    **dict.fromkeys(("position_preference", "judge_comparison", "scoring_causes"), "Firth's penalty weighs half"),
    **dict.fromkeys(("preference_summary", "order_tests", "equivalence", "power", "replication"), "made from these"),
}
# Rows in which several judges meet: pairs and panels of judges, and golden scores by one judge for all.
OF_SEVERAL_JUDGES = ("judge_agreement", "judges_compared", "judge_comparison", "hard_instances", "bias_factors")
OF_SEVERAL_JUDGES += ("quality_gap", "quality_cells", "scoring_tendency", "scoring_accuracy", "scoring_averages")
COUNTS_OF_READS = ("chi2", "design_effect", "discordant_share", "discordant_pairs", "cramers_v_corrected_reads")


def failed(table: pd.DataFrame) -> pd.DataFrame:
    """Reads without a score."""
    numbers = [name for name in ("score", "position", "first_verdict", "expected_score") if name in table]
    others = [name for name in ("position_probabilities", "pattern", "ranking") if name in table]
    table = table.assign(**{name: table[name].mask(np.ones(len(table), dtype=bool)) for name in numbers})
    return table.assign(**dict.fromkeys(others), failure="no_score")


def without_people(table: pd.DataFrame) -> pd.DataFrame:
    """Reads of items that nobody rated."""
    nobody = {"human_score": np.nan, "human_scores": None}
    return table.assign(**{name: value for name, value in nobody.items() if name in table})


def without_scores(table: pd.DataFrame) -> pd.DataFrame:
    """The first judge's reads without a score; the place of the choice is still there."""
    dead = table["judge"] == DEAD
    return table.assign(score=table["score"].mask(dead), expected_score=table["expected_score"].mask(dead))


def shuffled() -> Statistics:
    """Statistics of the study with its rows in a random order under one index, and its files in the opposite one."""
    inputs = whole_study.inputs()
    rows = {name: [table.sample(frac=1, random_state=1) for table in inputs[name][::-1]] for name in READS}
    rows = {
        name: [table.set_axis(np.zeros(len(table), dtype=int)) for table in tables] for name, tables in rows.items()
    }
    return Statistics(inputs | rows)


def twice(table: pd.DataFrame) -> pd.DataFrame:
    """Every read twice, the second time with a new index."""
    again = table.assign(read_index=table["read_index"] + table["read_index"].max() + 1)
    if "repeat" in table:
        again["repeat"] = table["repeat"] + table["repeat"].max() + 1
    both = pd.concat([table, again], ignore_index=True)
    by = ["study", "judge", "profile", "condition", "dataset", "strategy", "n", "item_id"]
    return both.assign(read_index=both.groupby(by, sort=False)["read_index"].rank(method="dense").astype(int) - 1)


def renamed(table: pd.DataFrame) -> pd.DataFrame:
    """Items and groups under names in another alphabetical order, judges under others."""
    ids = {name: [f"q{text[::-1]}" for text in table[name].astype(str)] for name in IDS if name in table}
    return table.assign(**ids).replace({name: NEW_JUDGES for name in ("judge", "writer", "reviewer") if name in table})


def changed(reads: Callable[[pd.DataFrame], pd.DataFrame]) -> Statistics:
    """Statistics of the study with other reads."""
    inputs = whole_study.inputs()
    return Statistics(inputs | {name: [reads(table) for table in inputs[name]] for name in READS})


def of_new_names() -> Statistics:
    inputs = whole_study.inputs()
    tables = {name: [renamed(table) for table in inputs[name]] for name in READS}
    tables |= {"items": renamed(inputs["items"]), "references": renamed(inputs["references"])}
    tables["answers"] = {NEW_JUDGES[judge]: versions for judge, versions in inputs["answers"].items()}
    return Statistics(inputs | tables, NEW_JUDGES)


WORLDS: dict[str, Callable[[], Statistics]] = {
    "as it is": lambda: Statistics(whole_study.inputs()),
    "no file": lambda: Statistics(whole_study.inputs() | dict.fromkeys(READS, ())),
    "no row": lambda: changed(lambda table: table.iloc[:0]),
    "no human score": lambda: changed(without_people),
    "all failed": lambda: changed(failed),
    "one dead judge": lambda: changed(without_scores),
    "one group": lambda: changed(lambda table: table.assign(group_id="g", source_id="g")),
    "rows shuffled, files turned round": shuffled,
    "reads twice": lambda: changed(twice),
    "new names": of_new_names,
    "fair judges": lambda: Statistics(whole_study.inputs(groups=12, effect=0.0, seed=1)),
}


@functools.cache
def world(name: str) -> Statistics:
    return WORLDS[name]()


def texts_of(table: pd.DataFrame) -> list[str]:
    """Columns that name a row."""
    return [name for name in table if table[name].dtype == "str" and name not in (*IDS, "items", "suite")]


def sorted_rows(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values(texts_of(table), kind="stable", ignore_index=True)


def values_by_name(table: pd.DataFrame, left_out: tuple[str, ...] = ()) -> pd.DataFrame:
    """Estimates by the names of their rows, without quantities that begin so."""
    if left_out and "quantity" in table:
        table = table[~table["quantity"].str.startswith(left_out).fillna(False)]
    numbers = [name for name in VALUES if name in table]
    where = [name for name in ("position", "k", "orderings", "repeats", "bin", "number", "level") if name in table]
    columns = {*texts_of(table), *where, *numbers} - {"flag", "label", "verdict", "method"}
    return sorted_rows(table[sorted(columns)])


@pytest.mark.filterwarnings("ignore:invalid value encountered in less_equal:RuntimeWarning:pandas")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("study", ["no file", "no row", "no human score", "all failed", "one dead judge", "one group"])
def test_columns_and_types_do_not_depend_on_what_was_read(study, name):
    whole = world("as it is")[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.filterwarnings("ignore", "invalid value encountered in less_equal")  # pandas, of Int64
        table = world(study)[name]
    assert table.dtypes.to_dict() == whole.dtypes.to_dict()
    assert [*table] == [*whole]
    assert "object" not in set(map(str, table.dtypes))


# Reads in which a statistic has nothing to count.
WITHOUT_ROWS = {
    "condition_comparison": {},
    "paired_reads": {},
    "score_position": {"strategies": ["fixed", "single"]},
    "position_selection": {"strategies": ["fixed", "single"]},
    "bias_cost": {"strategies": ["random", "fixed"]},
    "strategy_comparison": {"strategies": ["balanced"]},
    "human_agreement": {"human": False},
    "rank_reversal": {"candidates": 1},
}


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_reads_of_which_a_statistic_can_say_nothing_give_no_row(name):
    reads = simulated_reads(groups=3, **WITHOUT_ROWS[name]).assign(question="")
    table = Statistics(whole_study.inputs() | {"score_order": [reads]})[name]
    assert table.empty
    assert table.dtypes.to_dict() == world("as it is")[name].dtypes.to_dict()


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_and_files_changes_nothing(name):
    one, other = (sorted_rows(world(each)[name]) for each in ("as it is", "rows shuffled, files turned round"))
    pd.testing.assert_frame_equal(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DRAWN])
def test_names_of_judges_items_and_groups_do_not_matter(name):
    back = {new: old for old, new in NEW_JUDGES.items()}
    new = world("new names")[name].replace(back, regex=True)
    one, other = (values_by_name(table, DRAWN_QUANTITIES) for table in (world("as it is")[name], new))
    if name == "quality_cells":  # halves are drawn
        one, other = (table[table["kind"] != "crossed"].reset_index(drop=True) for table in (one, other))
    pd.testing.assert_frame_equal(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REPEATS_MATTER])
def test_reads_that_stand_twice_leave_the_estimates(name):
    tables = (world(each)[name] for each in ("as it is", "reads twice"))
    tables = (table.drop(columns="causes", errors="ignore") for table in tables)  # among them copies
    one, other = (values_by_name(table, COUNTS_OF_READS) for table in tables)
    pd.testing.assert_frame_equal(one, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if catalogue.STATISTICS[name].probes and name not in OF_SEVERAL_JUDGES]
)
def test_a_dead_judge_leaves_the_others_as_they_are(name):
    tables = (world(each)[name] for each in ("as it is", "one dead judge"))
    one, other = (values_by_name(table[table["judge"].isin([*NEW_JUDGES][1:])]) for table in tables)
    pd.testing.assert_frame_equal(one, other, rtol=1e-6, atol=1e-9)


# Differences that are 0 where neither order nor condition matters and all judges are alike: quantities by statistic.
NOTHING: dict[str, tuple[str, ...]] = {
    "score_effects": ("usual_minus_balanced", "ascending_minus_descending", "ordering", "level_position"),
    "position_preference": ("preference", "first_last", "ends_middle", "interaction"),
    "preference_summary": ("preference", "first_last", "ends_middle", "interaction"),
    "judge_comparison": ("first_last", "ends_middle", "usual_minus_balanced", "ascending_minus_descending"),
    "strategy_comparison": ("pearson", "spearman", "order"),
    "paired_reads": ("trend",),
    "score_shifts": ("mean_shift",),
    "criterion_order": ("shift",),
    "carry_over": ("carry_over", "position"),
    "judges_compared": ("position_consistency", "preference_fairness"),
    "length_control": ("first_place",),
    "strengths": ("first_last", "place_preference"),
}
HELD = 0.7  # of the intervals of one study, which depend on each other; tests/recovery measures coverage


@pytest.mark.parametrize("name", NOTHING)
def test_intervals_of_a_fair_judge_hold_0(name):
    table = world("fair judges")[name]
    table = table[table["quantity"].isin(NOTHING[name]) & table["ci_low"].notna()]
    held = ((table["ci_low"] <= 0) & (table["ci_high"] >= 0)).groupby(table["quantity"]).mean()
    assert {*held.index} == {*NOTHING[name]}
    assert (held >= HELD).all(), held
