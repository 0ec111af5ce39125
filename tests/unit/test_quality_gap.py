"""The quality gap: Shi et al.'s own rises with consistency at any judge, the cross-fitted one does not."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import comparison_table
from matplotlib.markers import CARETDOWN, CARETUP
from scipy import special

from rubric_order.analyses.comparisons.quality_cells import estimate as quality_cells
from rubric_order.analyses.comparisons.quality_gap import estimate as statistic
from rubric_order.analyses.comparisons.quality_gap import table
from rubric_order.base.labels import Labels
from rubric_order.figures import quality_cells as figure
from rubric_order.figures import view
from rubric_order.methods.comparisons import quality_gap

A, B, TIE = 1, 2, 0
STUDY = "judging_the_judges"
BLOCK = {"study": STUDY, "profile": "default", "width_in": 6.5, "columns": 3}


def judged(judge="j", *, quality, consistency=None, beta=0.5, questions=40, candidates=6, seed=0):
    """Pairs of a judge whose candidates differ in quality; or one that is consistent with a given probability."""
    rng = np.random.default_rng(seed)
    worth = np.linspace(-quality, quality, candidates)
    shape = (questions, candidates)
    if consistency is None:
        chance = special.expit(np.stack([beta - worth, beta + worth], axis=1))
        rows = np.where(rng.random((questions, *chance.shape)) < chance, A, B)
    else:
        same = rng.random(shape) < consistency
        winner = rng.random(shape) < special.expit(worth)
        rows = np.where(same[..., None], np.where(winner[..., None], [B, A], [A, B]), [A, A])
    return comparison_table(rows.reshape(-1, 2).tolist(), per_group=candidates, tie=False, judge=judge)


def slopes(tables, quantity="slope_consistency"):
    found = statistic.estimate(tables, confidence=0.95, forms={})
    return found[found["quantity"] == quantity].set_index(["judge", "kind"])


def test_gaps_by_hand():
    rows = [(A, B), (A, A), (B, A), (B, A)]  # of one candidate: the baseline wins, nobody, and the candidate twice
    one = comparison_table(rows, judge="x")
    other = comparison_table([(B, A)] * 4, judge="y")
    ((about, found),) = quality_gap.settings([one, other], {})
    x = found[found["judge"] == "x"]
    assert about["benchmark"] == "B"
    assert x["won"].tolist() == [0, 0.5, 1, 1]
    assert x["consistent"].tolist() == [1, 0, 1, 1]
    assert x["rate_own"].tolist() == [0.625] * 4
    assert x["rate_crossed"].tolist() == pytest.approx([2.5 / 3, 2 / 3, 1.5 / 3, 1.5 / 3])
    assert x["rate_others"].tolist() == [1] * 4
    assert x["crossed"].tolist() == pytest.approx([1 / 3, 1 / 6, 0, 0])


def test_a_list_is_a_comparison_of_each_of_its_candidates_by_hand():
    """Figure 2 (f) of Shi et al.: the first list has one winner in all orders, the second another one in each."""
    lists = comparison_table([(1, 3, 2), (1, 1, 1)], n=3, judge="x")
    assert list(quality_gap.settings([lists], {})) == []  # none has a baseline
    ((about, found),) = quality_gap.settings([lists], {}, lists=True)
    assert about["n"] == 3
    assert found["candidate"].tolist() == ["base", "c01", "c02"] * 2
    assert found["won"].tolist() == pytest.approx([1, 0, 0, 1 / 3, 1 / 3, 1 / 3])
    assert found["consistent"].tolist() == [1, 1, 1, 0, 0, 0]
    cells = quality_cells.estimate([lists], seed=1, forms={}).query("kind == 'own'").set_index("candidate")
    assert cells["win_rate"].to_dict() == pytest.approx({"base": 2 / 3, "c01": 1 / 6, "c02": 1 / 6})
    assert cells["position_consistency"].tolist() == [0.5] * 3
    assert statistic.estimate([lists], confidence=0.95, forms={}).empty  # slopes count a comparison once


def test_a_judge_whose_consistency_has_nothing_to_do_with_quality_has_a_parabola_by_its_own_gap_alone():
    # Cells of five questions, as small as the paper's.
    tables = [
        pd.concat(
            [
                judged(f"j{k}", quality=0, consistency=0.6, questions=5, candidates=20, seed=100 * k + task).assign(
                    task=f"t{task}",
                    unit_id=lambda part, task=task: part["unit_id"] + f"t{task}",
                    group_id=lambda part, task=task: part["group_id"] + f"t{task}",
                )
                for task in range(8)
            ],
            ignore_index=True,
        )
        for k in range(4)
    ]
    found = slopes(tables)
    assert (found.xs("own", level="kind")["ci_low"] > 0).all()
    for kind in ("crossed", "others"):
        rows = found.xs(kind, level="kind")
        assert ((rows["ci_low"] < 0) & (rows["ci_high"] > 0)).sum() >= 3
        assert abs(rows["estimate"].mean()) < 0.25


def test_where_quality_matters_all_gaps_show_it():
    found = slopes([judged(f"j{k}", quality=2.5, seed=k, candidates=24, questions=20) for k in range(3)])
    for kind in ("own", "crossed", "others"):
        assert (found.xs(kind, level="kind")["ci_low"] > 0).all()


def test_the_bound_holds_and_is_reached():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (400, 2)).tolist()
    cells = quality_cells.estimate(comparison_table(rows, per_group=40, tie=True), seed=1, forms={}).query(
        "kind == 'own'"
    )
    least = figure.least_consistency(cells["win_rate"].to_numpy(dtype=float), 2)
    assert (cells["position_consistency"] >= least - 1e-12).all()
    assert (cells["preference_fairness"].abs() <= 1 - cells["position_consistency"] + 1e-12).all()
    assert figure.least_consistency(np.array([0.0, 0.25, 0.5, 1.0]), 2).tolist() == [1, 0.5, 0, 1]
    assert figure.least_consistency(np.array([0.0, 1 / 3, 1.0]), 3) == pytest.approx([1, 0, 1])


def test_the_curve_is_what_such_a_judge_gives():
    rate, consistency, fairness = (values[0] for values in quality_gap.implied(0.7, np.array([0.4])))
    rng = np.random.default_rng(2)
    first = rng.random(200_000) < special.expit(0.4 + 0.7)
    last = rng.random(200_000) < special.expit(0.4 - 0.7)
    assert consistency == pytest.approx(np.mean(first == last), abs=0.005)
    assert rate == pytest.approx(np.mean((first.astype(float) + last) / 2), abs=0.005)
    # First in the first order and not in the second: the first place, twice.
    assert fairness == pytest.approx(np.mean(~first & last) - np.mean(first & ~last), abs=0.005)
    even = quality_gap.implied(0.0, np.zeros(1))
    assert [values[0] for values in even] == [0.5, 0.5, 0.0]


def test_beta_of_bins_does_not_depend_on_the_gap_where_it_is_one():
    found = statistic.estimate(judged(quality=2, beta=0.6, questions=60, candidates=20), confidence=0.95, forms={})
    rows = found[(found["quantity"] == "first_last") & (found["kind"] == "crossed")].sort_values("bin")
    assert ((rows["ci_low"] < 0.6) & (rows["ci_high"] > 0.6)).sum() >= 3
    assert rows["gap"].is_monotonic_increasing
    consistency = found[(found["quantity"] == "position_consistency") & (found["kind"] == "crossed")]
    assert consistency["estimate"].iloc[-1] > consistency["estimate"].iloc[0] + 0.1


def test_bins_by_hand():
    assert quality_gap.bins(np.zeros(40), 4).tolist() == [0] * 40
    assert quality_gap.bins(np.array([0.3, 0.1, 0.4, 0.2]), 4).tolist() == [2, 0, 3, 1]
    # Six tied zeros of eight: cuts are wanted behind 2, 4 and 6, and there is one at 6 alone. A ninth value far off
    # the wanted places is no bin of its own.
    assert quality_gap.bins(np.array([0, 0, 0, 0, 0, 0, 0.1, 0.1]), 4).tolist() == [0] * 6 + [1, 1]
    assert quality_gap.bins(np.append(np.zeros(9), 0.5), 4).tolist() == [0] * 10


def test_bins_do_not_depend_on_the_order_of_rows_where_gaps_tie():
    rows = [(A, B)] * 10 + [(B, A)] * 10 + [(A, A)] * 20  # the win rate is a half: all gaps are 0
    tables = [
        comparison_table(order, per_group=1, tie=False).assign(human_scores=[[3.0, 3.0]] * 80)
        for order in (rows, rows[::-1])
    ]
    assert all((statistic.estimate(table, confidence=0.95, forms={})["bin"].isna()).all() for table in tables)
    # Half of the gaps are 0: these are one bin, the rest two, whatever the order.
    human = [[3.0, 3.0]] * 20 + [[3.0, 4.0]] * 10 + [[3.0, 5.0]] * 10
    found = []
    for way in (1, -1):
        table = comparison_table(rows[::way], per_group=1, tie=False)
        scores = dict(zip(sorted(table["unit_id"].unique()), human[::way], strict=True))
        of_people = statistic.estimate(
            table.assign(human_scores=table["unit_id"].map(scores)), confidence=0.95, forms={}
        ).query("kind == 'human' and quantity == 'position_consistency'")
        assert of_people["bin"].tolist() == [1, 2, 3]
        found.append(of_people["estimate"].tolist())
        assert found[-1] == [1, 0, 0]
    assert found[0] == found[1]


def test_the_crossed_gap_of_few_cells_has_no_slope_and_no_bins():
    for candidates, told in ((19, False), (20, True)):
        found = statistic.estimate(judged(quality=0.5, candidates=candidates, questions=12), confidence=0.95, forms={})
        crossed = found[found["kind"] == "crossed"]
        assert crossed.loc[crossed["quantity"] == "slope_consistency", "estimate"].notna().all() == told
        assert crossed["flag"].str.startswith("few cells").any() == (not told)
        assert crossed["bin"].notna().any() == told
        own = found[(found["kind"] == "own") & (found["quantity"] == "slope_consistency")]
        assert own["estimate"].notna().all()


def test_figure_and_table(tmp_path):
    tables = [judged(f"j{k}", quality=1.5, seed=k) for k in range(2)]
    cells = quality_cells.estimate(tables, seed=1, forms={})
    found = statistic.estimate(tables, confidence=0.95, forms={})
    labels = Labels({"j0": "First", "j1": "Second"}, {})
    drawn = view.draw(figure, cells, found, **BLOCK, labels=labels)
    own = cells[(cells["kind"] == "own") & (cells["judge"] == "j0")]
    points = drawn.axes[1].collections[1].get_offsets()
    assert np.allclose(points, own[["win_rate", "position_consistency"]])
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["First", "Second"]
    drawn.canvas.draw()
    plt.close(drawn)
    rows = table.TABLE.table(found, study=STUDY)
    assert rows["kind"].tolist() == ["crossed", "others", "own"] * 2 or set(rows["kind"]) == {
        "own",
        "crossed",
        "others",
    }
    assert len(table.TABLE.printout(rows)) == 6
    empty = statistic.estimate(tables[0].assign(candidate=None), confidence=0.95, forms={})
    assert empty.empty


def test_the_figure_marks_intervals_of_beta_that_go_on_beyond_the_frame():
    sizes = {"many": {"questions": 18}, "few": {"questions": 3, "seed": 7}}
    tables = [judged(name, quality=1.5, candidates=20, **size) for name, size in sizes.items()]
    cells = quality_cells.estimate(tables, seed=1, forms={})
    found = statistic.estimate(tables, confidence=0.95, forms={})
    drawn = view.draw(figure, cells, found, **BLOCK, labels=Labels({}, {}))
    low, high = drawn.axes[5].get_ylim()
    rows = found[(found["quantity"] == "first_last") & (found["kind"] == "crossed")]
    for marker, end, beyond in ((CARETUP, high, rows["ci_high"] > high), (CARETDOWN, low, rows["ci_low"] < low)):
        assert beyond.any()
        marks = [line for line in drawn.axes[5].lines if line.get_marker() == marker and len(line.get_xdata())]
        at = sorted((x, y) for line in marks for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True))
        assert np.allclose(at, sorted((gap, end) for gap in rows.loc[beyond, "gap"]))
    plt.close(drawn)


def test_a_beta_that_only_the_penalty_keeps_finite_is_flagged_in_the_table():
    rows = [(A, A)] * 10 + [(A, B)] * 15 + [(B, A)] * 15  # all inconsistent pairs take the first place
    found = statistic.estimate(comparison_table(rows * 4, per_group=20, tie=False), confidence=0.95, forms={})
    of_bins = found[(found["quantity"] == "first_last") & (found["kind"] == "crossed")]
    told = of_bins[of_bins["n_clusters"] > 0]
    assert len(told)
    assert told["flag"].str.startswith("separated").all()
    flags = table.TABLE.table(found, study=STUDY)["flag"]
    assert flags.str.contains("beta, (?:smallest|largest): separated").any()
