"""Levels of a scale from 0 as cards, tables and figures show them: 0 to 4, and positions from 1."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import criteria_table, draw_criteria, score_table, simulated_reads
from test_scoring_bias import conditions, tendency

import rubric_order as ro
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.analyses.overview.parse_failures import estimate as parse_failures
from rubric_order.analyses.position.bias_cost import estimate as bias_cost
from rubric_order.analyses.position.bias_cost import table as cost_table
from rubric_order.analyses.position.decisiveness import estimate as decisiveness
from rubric_order.analyses.position.score_effects import estimate as score_effects
from rubric_order.analyses.position.score_effects import figure as effects_figure
from rubric_order.analyses.position.score_effects import table as effects_table
from rubric_order.analyses.position.score_position import estimate as score_position
from rubric_order.analyses.position.score_position import figure as position_figure
from rubric_order.analyses.position.score_position import table as position_table
from rubric_order.analyses.scoring.condition_comparison import estimate as condition_comparison
from rubric_order.analyses.scoring.scoring_tendency import table as tendency_table
from rubric_order.base import levels
from rubric_order.base.labels import Labels
from rubric_order.cards.card import facts
from rubric_order.contracts import inputs
from rubric_order.figures import view
from rubric_order.prompts import orderings

BOOTSTRAP = {"resamples": 20, "confidence": 0.95, "seed": 3}
EFFECTS = {"confidence": 0.95, "seed": 1, "sign_changes": 20}
SHOWN = {"study": "s", "profile": "default", "strategy": "balanced", "n": 5, "cluster": "group", "dataset": "d"}
SHAPE = {"width_in": 6.5, "columns": 2, "labels": Labels({}, {})}
FROM_0 = ["0", "1", "2", "3", "4"]


@pytest.fixture(scope="module")
def reads():
    """Reads of a judge that prefers the first place, counted from 1, as files of scores have them."""
    return simulated_reads(groups=6, strategies=["balanced"], preference=[2, 0, 0, 0, 0], human=True)


@pytest.fixture(scope="module")
def from_0(reads):
    return reads.assign(lowest=np.int8(0))


@pytest.fixture(autouse=True)
def _figures():
    mpl.use("agg")
    yield
    plt.close("all")


def without(table, *columns):
    return table.drop(columns=[*columns])


def test_scales_that_begin_with_different_numbers_are_counted_from_1(reads, from_0):
    assert levels.lowest_of(reads) == 1
    assert levels.lowest_of(from_0) == 0
    assert levels.lowest_of(pd.concat([from_0, from_0.assign(lowest=1)])) == 1
    mixed = [from_0, reads.assign(dataset="other")]
    found = score_effects.estimate(mixed, **EFFECTS).query("quantity == 'level_position'")
    scores = found.groupby("dataset")["score"].agg(["min", "max"])
    assert scores.loc[["d", "other", "all"]].to_numpy().tolist() == [[0, 4], [1, 5], [1, 5]]


def test_effects_on_scores_have_orderings_and_mean_scores_as_written_and_the_same_shifts(reads, from_0):
    usual, moved = (score_effects.estimate(table, **EFFECTS) for table in (reads, from_0))
    pd.testing.assert_frame_equal(
        without(moved, "ordering", "score", "mean_score"), without(usual, "ordering", "score", "mean_score")
    )
    assert (moved["mean_score"] - usual["mean_score"]).dropna().unique() == pytest.approx(-1)
    of_orderings = moved.query("quantity == 'ordering'")
    assert {"01234", "43210", "12340"} <= {*of_orderings["ordering"]}
    shifts = usual.set_index(["dataset", "readout", "cluster", "ordering"])["estimate"]
    at = ("d", "hard", "group")
    moved_shifts = of_orderings.set_index(["dataset", "readout", "cluster", "ordering"])["estimate"]
    assert moved_shifts[*at, "01234"] == shifts[*at, "12345"]
    tests = pd.DataFrame(
        columns=["judge", "profile", "dataset", "strategy", "n", "readout", "test", "finding", "p_card"]
    )
    rows = [effects_table.TABLE.table(found, tests, study="s") for found in (usual, moved)]
    assert rows[1]["mean_score"].tolist() == pytest.approx((rows[0]["mean_score"] - 1).tolist())


@pytest.mark.parametrize(
    ("n", "lowest", "first"),
    [
        (5, 0, "0 1 2 3 4"),
        (10, 0, "0 1 2 3 4 5 6 7 8 9"),
        (11, 0, "0 1 2 3 4 5 6 7 8 9 10"),
        (10, 1, "1 2 3 4 5 6 7 8 9 10"),
    ],
)
def test_the_figure_of_effects_writes_orderings_as_prompts_have_them(n, lowest, first):
    rng = np.random.default_rng(1)
    table = score_table(rng.integers(1, n + 1, (8, 2 * n)).tolist(), n=n, soft=False).assign(lowest=lowest)
    found = score_effects.estimate(table, **EFFECTS)
    shown = SHOWN | {"n": n, "readouts": ["hard"], "row_height_in": 0.2}
    figure = view.draw(effects_figure, found, **shown, **SHAPE)
    (axis,) = figure.axes
    assert axis.get_yticklabels()[0].get_text() == first
    filled = [line for line in axis.lines if line.get_linestyle() == "None" and len(line.get_ydata()) == 1]
    assert [line.get_ydata().tolist() for line in filled] == [[0.0]]  # the usual ordering


def test_positions_of_scores_have_the_scores_as_written_and_positions_from_1(reads, from_0):
    usual, moved = (score_position.estimate(table, **BOOTSTRAP) for table in (reads, from_0))
    assert moved["score"].tolist() == (usual["score"] - 1).tolist()
    pd.testing.assert_frame_equal(without(moved, "score"), without(usual, "score"))
    rows = position_table.TABLE.table(moved, study="s", n=5)
    assert sorted(rows["score"].unique()) == [0, 1, 2, 3, 4]
    assert "pos1" in rows
    assert "pos0" not in rows
    figure = view.draw(position_figure, moved, **SHOWN, readout="hard", panel_height_in=1.8, **SHAPE)
    axis = figure.axes[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == FROM_0
    assert [label.get_text()[0] for label in axis.get_xticklabels()] == ["1", "2", "3", "4", "5"]


def test_the_cheapest_and_the_canonical_ordering_are_as_written(reads, from_0):
    usual, moved = (bias_cost.estimate(table, **BOOTSTRAP, splits=2) for table in (reads, from_0))
    pd.testing.assert_frame_equal(without(moved, "ordering"), without(usual, "ordering"))
    tables = [cost_table.TABLE.table(found, study="s", n=5, strategy="balanced") for found in (usual, moved)]
    expected = [" ".join(str(int(score) - 1) for score in text.split()) for text in tables[0]["ordering"]]
    assert tables[1]["ordering"].tolist() == expected
    assert tables[1]["cost_canonical"].notna().all()
    pd.testing.assert_frame_equal(without(tables[1], "ordering"), without(tables[0], "ordering"))


def test_failures_are_counted_by_the_score_as_written():
    table = score_table([[1, None], ["truncated", 2]], n=2, shown=[[1, 2], [2, 1]]).assign(lowest=0)
    found = parse_failures.estimate(table)
    assert set(found["option"]) == {"0", "1", "all"}
    assert set(found["position"]) == {"1", "2", "all"}


def test_frequencies_of_scores_have_a_column_for_0():
    scores = conditions({"baseline": [1, 2, 3, 4], "letter": [2, 2, None, 5]})
    usual, moved = tendency(scores), tendency(scores.assign(lowest=0))
    assert sorted(moved["score"].unique()) == [-1, 0, 1, 2, 3, 4]
    assert moved["score"].tolist() == [score if score < 0 else score - 1 for score in usual["score"]]
    pd.testing.assert_frame_equal(without(moved, "score"), without(usual, "score"))
    printed = tendency_table.TABLE.printout(tendency_table.TABLE.table(moved, study="s"))
    assert [name for name in printed if name in {"none", "5", *FROM_0}] == ["none", *FROM_0]


def test_means_under_two_conditions_are_as_written_and_their_difference_the_same():
    tables = [score_table([[2, 3], [4, 4], [5, 3]], condition=name) for name in ("letter", "baseline")]
    tables[1]["score"] -= 1
    usual, moved = (
        condition_comparison.estimate(pd.concat(tables).assign(lowest=lowest), confidence=0.95) for lowest in (1, 0)
    )
    points = (usual["quantity"] == "points") & (usual["readout"] == "hard")
    for name in ("of_one", "of_other"):
        assert (usual[name] - moved[name])[points].tolist() == pytest.approx([1.0] * int(points.sum()))
    assert moved["estimate"].tolist() == pytest.approx(usual["estimate"].tolist())


def test_means_of_criteria_are_as_written_and_shifts_the_same():
    values, shown = draw_criteria(8, 3, rng=np.random.default_rng(1))
    reads = criteria_table(values, shown)
    usual, moved = (criterion_order.estimate(table, **BOOTSTRAP) for table in (reads, reads.assign(lowest=0)))
    means = usual["quantity"] == "mean"
    for name in ("estimate", "ci_low", "ci_high"):
        assert (usual[name] - moved[name])[means].tolist() == pytest.approx([1.0] * int(means.sum()))
    pd.testing.assert_frame_equal(moved[~means], usual[~means])


def test_a_card_says_the_commonest_score_as_written(from_0):
    (row,) = decisiveness.estimate(from_0).to_dict("records")
    assert row["commonest_score"] == from_0["score"].mode()[0] - 1
    rows = [
        {"item": item, "ordering": ordering, "score": 2 if item % 4 else ordering[0]}
        for item in range(12)
        for ordering in (orderings.balanced(5) - 1).tolist()
    ]
    made = ro.bias_card(pd.DataFrame(rows))[0]
    assert made.to_dict()["commonest_score"] == 2
    assert "score 2 in" in dict(facts(made.evidence))["Commonest score"]


def test_reads_count_as_before_where_a_scale_begins_with_1(tmp_path, reads):
    """The column is read where files have it, and no file needs it."""
    for name, table in (("with", reads.assign(lowest=0)), ("without", reads)):
        table.assign(pattern=None, option_mass=np.nan).to_parquet(tmp_path / f"{name}.parquet")
        (table,) = inputs.read({"scores": ["judge", "score"]}, {"scores": [tmp_path / f"{name}.parquet"]})["scores"]
        assert table.columns.tolist() == ["judge", "score", *(["lowest"] if name == "with" else [])]
