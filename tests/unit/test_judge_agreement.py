"""Agreement of judges, their majority, and what they disagree about."""

import re

import numpy as np
import pandas as pd
import pytest
from factories import comparison_table
from scipy import special

from rubric_order.analyses.comparisons.hard_instances import estimate as hard_instances
from rubric_order.analyses.comparisons.hard_instances import table as hard_table
from rubric_order.analyses.comparisons.judge_agreement import estimate as judge_agreement
from rubric_order.analyses.comparisons.judge_agreement import figure as agreement_figure
from rubric_order.analyses.comparisons.judge_agreement import table as agreement_table
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.methods.comparisons import judge_panels

A, B, TIE, NONE = 1, 2, 0, None
STUDY = "judging_the_judges"


def judges(verdicts, **about):
    """Tables of judges by their verdicts, see `comparison_table`."""
    return [comparison_table(rows, judge=name, **about) for name, rows in verdicts.items()]


def estimated(verdicts, **about):
    return judge_agreement.estimate(judges(verdicts, **about), confidence=0.95, forms={})


def of(found, quantity, **chosen):
    for name, value in ({"quantity": quantity} | chosen).items():
        found = found[found[name] == value]
    (value,) = found["estimate"]
    return value


THREE = {
    "x": [(A, B), (A, A), (TIE, B), (B, A)],
    "y": [(A, B), (A, B), (A, B), (TIE, A)],
    "z": [(A, B), (B, B), (B, A), (A, NONE)],
}


def test_agreement_by_hand():
    found = estimated(THREE)
    # x and y differ in the second order of the second comparison, and where one of them calls a tie.
    assert of(found, "agreement", judge="x", other="y") == pytest.approx(5 / 8)
    assert of(found, "agreement_decided", judge="x", other="y") == pytest.approx(5 / 6)
    # z has no choice once; of the other seven prompts x and z agree in the two of the first comparison.
    assert of(found, "agreement", judge="x", other="z") == pytest.approx(2 / 7)
    assert of(found, "mean_consistency", judge="all") == pytest.approx((2 + 3 + 2) / 11)


def test_kappa_is_that_of_its_definition():
    def defined(one, other):
        table = pd.crosstab(one, other, normalize=True).to_numpy()
        chance = table.sum(axis=0) @ table.sum(axis=1)
        return (np.trace(table) - chance) / (1 - chance)

    rng = np.random.default_rng(3)
    one = rng.integers(0, 3, 400)
    other = np.where(rng.random(400) < 0.6, one, rng.integers(0, 3, 400))
    value, low, high = judge_panels.kappa(one, other, np.arange(400), 2, 0.95)
    assert value == pytest.approx(defined(one, other))
    drawn = [defined(one[rows], other[rows]) for rows in rng.integers(0, 400, (100, 400))]
    assert (high - low) / 4 == pytest.approx(np.std(drawn), rel=0.25)


def test_disagreement_and_majority_by_hand():
    found = estimated(THREE)
    winners = np.array([[1, 1, 1], [0, 1, 2], [2, 1, 2], [2, -1, 0], [-1, -1, -1]])
    assert judge_panels.off_the_mode(winners, 2).tolist() == [0, 2, 1, 1, 0]
    assert judge_panels.majority(winners, 2).tolist() == [1, 0, 2, 0, -1]
    # Off the commonest choice: 0, 0 | 1, 1 | 2, 1 | 2, 0.
    for level, share in ((0, 3 / 8), (1, 6 / 8), (2, 1)):
        assert of(found, "at_most", level=level) == pytest.approx(share)
    # Of three judges and three options two are off the commonest choice at most: that is no estimate.
    levels = found[found["quantity"] == "at_most"].set_index("level")
    assert levels["ci_low"].notna().tolist() == levels["ci_high"].notna().tolist() == [True, True, False]
    # The majority says A, B | A, B | no majority, B | no majority, A: two are consistent.
    assert of(found, "position_consistency", judge="majority") == pytest.approx(2 / 4)


def simulated(count, *, units=150, place=0.6, spread=1.5, seed=0):
    """Judges with one opinion of each pair, one liking for the first place, and noise of their own."""
    rng = np.random.default_rng(seed)
    opinion = rng.normal(0, spread, units)
    found = {}
    for number in range(count):
        chance = special.expit(np.column_stack([opinion + place, place - opinion]))
        found[f"j{number:02d}"] = np.where(rng.random(chance.shape) < chance, A, B).tolist()
    return found


def test_a_majority_is_less_noisy_and_likes_the_same_place():
    found = estimated(simulated(9), tie=False)
    assert of(found, "position_consistency", judge="majority") > of(found, "mean_consistency", judge="all") + 0.05
    first = found[(found["judge"] == "majority") & (found["quantity"] == "first_last")].iloc[0]
    assert first["ci_low"] > 0.3  # noise averages out, a liking that all share does not
    free = estimated(simulated(9, place=0.0), tie=False)
    first = free[(free["judge"] == "majority") & (free["quantity"] == "first_last")].iloc[0]
    assert first["ci_low"] < 0 < first["ci_high"]


def test_kappa_is_about_0_of_judges_that_do_not_read():
    found = estimated(simulated(3, spread=0.0, place=0.0, units=300), tie=False)
    assert found.loc[found["quantity"] == "kappa", "estimate"].abs().max() < 0.12


def test_consistency_falls_with_disagreement():
    found = estimated(simulated(9), tie=False)
    by_level = found[found["quantity"] == "consistency"].sort_values("level")["estimate"].to_numpy()
    assert by_level[0] > by_level[-1] + 0.2
    hard = hard_instances.estimate(judges(simulated(9), tie=False), forms={})
    assert len(hard) == 150
    assert np.corrcoef(hard["disagreement"], hard["gap"])[0, 1] < -0.5
    table = hard_table.TABLE.table(hard, study=STUDY, most=10)
    assert len(table) == 10
    assert table["disagreement"].min() >= hard["disagreement"].quantile(0.9)
    assert len(hard_table.TABLE.printout(table)) == 10


def test_hard_instances_by_hand():
    hard = hard_instances.estimate(judges(THREE), forms={}).set_index("unit_id")
    assert hard["disagreement"].tolist() == [0, 1, 1.5, 1]
    # Consistent: in the second comparison y alone, in the third y and z, in the last, where z fails, x alone.
    assert hard["consistent"].tolist() == pytest.approx([1, 1 / 3, 2 / 3, 1 / 2])
    # The baseline wins the first; the second is even, but for y, who prefers the baseline.
    assert hard["win_rate"].tolist()[:2] == pytest.approx([0, 1 / 3])


def test_win_rate_of_hard_instances_is_the_candidates_whichever_its_number():
    tables = judges({name: [(A, B), (B, A), (A, A)] for name in "xyz"})
    # The baseline is the second of each pair, so that the first one is the candidate.
    swapped = [table.assign(candidates=[[name, "base"] for name in table["candidate"]]) for table in tables]
    as_second = hard_instances.estimate(tables, forms={})
    as_first = hard_instances.estimate(swapped, forms={})
    assert as_second["win_rate"].tolist() == [0, 1, 0.5]
    assert as_first["win_rate"].tolist() == [1, 0, 0.5]
    assert as_first["gap"].tolist() == as_second["gap"].tolist()


def test_one_judge_alone_has_no_agreement_and_two_no_majority():
    assert estimated({"x": THREE["x"]}).empty
    two = estimated({name: THREE[name] for name in "xy"})
    assert set(two["quantity"]) == {"agreement", "agreement_decided", "kappa"}
    assert hard_instances.estimate(judges({name: THREE[name] for name in "xy"}), forms={}).empty


def test_the_figure_puts_judges_that_agree_beside_each_other():
    alike, apart = simulated(2, seed=1), simulated(2, seed=2)
    verdicts = {"a1": alike["j00"], "b1": apart["j00"], "a2": alike["j01"], "b2": apart["j01"]}
    found = estimated(verdicts, tie=False)
    matrix = agreement_figure._matrix(found[found["quantity"] == "agreement"])
    order = [matrix.index[k] for k in agreement_figure._clustered(matrix.to_numpy())]
    assert {name[0] for name in order[:2]} in ({"a"}, {"b"})
    figure = view.draw(
        agreement_figure,
        found.drop(columns="condition"),
        study=STUDY,
        profile="default",
        width_in=7.0,
        columns=4,
        labels=Labels({name: name.upper() for name in verdicts}, {}),
    )
    shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert sorted(shown) == ["A1", "A2", "B1", "B2"]
    numbers = [text.get_text() for text in figure.axes[0].texts]
    assert numbers
    assert all(re.fullmatch(r"-?(\.[0-9]{2}|1\.00)", number) for number in numbers)
    distribution = figure.axes[3]
    marks = distribution.lines[0]
    assert marks.get_ydata()[-1] == 1
    figure.canvas.draw()
    top = distribution.transData.transform((0, 1))[1] + marks.get_markersize() / 2 * figure.dpi / 72
    assert top < distribution.get_window_extent().y1  # the mark of the last share is whole
    rows = agreement_table.TABLE.table(found, study=STUDY)
    assert len(rows) == 6 + 2
    assert (
        agreement_table.TABLE.printout(rows)["PC"].iloc[0] in ("",)
        or "[" in agreement_table.TABLE.printout(rows)["PC"].iloc[0]
    )


def test_two_judges_agree_over_what_both_have_read_and_all_over_what_all_have():
    tables = judges(THREE)
    tables[2] = tables[2][tables[2]["unit_id"].isin(["u0000", "u0001"])]
    found = judge_agreement.estimate(tables, confidence=0.95, forms={})
    pair = found[(found["judge"] == "x") & (found["other"] == "y")]
    assert pair.loc[pair["quantity"] == "agreement", "n_values"].item() == 8
    assert found.loc[found["quantity"] == "at_most", "n_values"].tolist() == [4, 4]
    assert len(hard_instances.estimate(tables, forms={})) == 2


def test_prompts_that_one_judge_lacks_do_not_count():
    tables = judges({"x": THREE["x"], "y": THREE["y"]})
    tables[1] = tables[1][tables[1]["unit_id"] != "u0003"]
    found = judge_agreement.estimate(pd.concat(tables), confidence=0.95, forms={})
    assert found.loc[found["quantity"] == "agreement", "n_values"].item() == 6


def test_a_majority_whose_preference_only_the_penalty_keeps_finite_is_flagged_in_the_table():
    verdicts = [(A, A)] * 25 + [(A, B)] * 15
    found = estimated(dict.fromkeys("xyz", verdicts), tie=False)
    rows = agreement_table.TABLE.table(found, study=STUDY).set_index("judge")
    assert rows.loc["majority", "flag"] == "beta: separated, beta: few clusters"
    assert rows.loc["x", "flag"].unique().tolist() == [""]
