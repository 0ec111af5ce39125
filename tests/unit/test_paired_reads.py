"""Differences read by read between two conditions: by hand, against scipy, planted and absent."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads
from scipy import stats

from rubric_order.analyses.scoring.paired_reads import estimate as paired_reads
from rubric_order.analyses.scoring.paired_reads import table as printed
from rubric_order.base.conditions import BASELINE


def two(one, other, **options):
    tables = [score_table(one, **options).assign(condition="together"), score_table(other, **options)]
    return pd.concat(tables, ignore_index=True)


def rows_of(table, cluster="item", readout="hard"):
    rows = paired_reads.estimate(table, confidence=0.95)
    return rows[(rows["cluster"] == cluster) & (rows["readout"] == readout)]


def one_row(rows, quantity, **where):
    for column, value in where.items():
        rows = rows[rows[column] == value]
    (row,) = rows[rows["quantity"] == quantity].to_dict("records")
    return row


def test_means_and_trend_are_those_by_hand_and_of_a_paired_t_test():
    one, other = [[2, 3, 5], [4, 4, 5], [5, 3, 4], [1, 2, 4]], [[1, 3, 3], [4, 3, 3], [3, 3, 3], [1, 1, 4]]
    rows = rows_of(two(one, other, n=5))
    difference = np.array(one) - np.array(other)
    for number in (1, 2, 3):
        row = one_row(rows, "number", number=number)
        expected = stats.ttest_1samp(difference[:, number - 1], 0)
        assert [row["estimate"], row["p"]] == pytest.approx([difference[:, number - 1].mean(), expected.pvalue])
        assert [row["ci_low"], row["ci_high"]] == pytest.approx([*expected.confidence_interval(0.95)])
    of_items = {"mean": difference.mean(axis=1), "trend": (difference[:, 2] - difference[:, 0]) / 2}
    for quantity, values in of_items.items():
        row = one_row(rows, quantity)
        assert [row["estimate"], row["p"]] == pytest.approx([values.mean(), stats.ttest_1samp(values, 0).pvalue])
    row = one_row(rows, "size")
    assert [row["estimate"], row["n_differ"], row["n_pairs"]] == pytest.approx(
        [np.abs(difference).mean(), (difference != 0).sum(), 12]
    )
    assert np.isnan(row["p"])


def test_all_numbers_are_tested_as_by_hotelling():
    rng = np.random.default_rng(1)
    one, other = rng.integers(1, 6, (12, 3)), rng.integers(1, 6, (12, 3))
    row = one_row(rows_of(two(one.tolist(), other.tolist(), n=5)), "any_number")
    difference = one - other
    mean, covariance = difference.mean(axis=0), np.cov(difference.T)
    squared = len(one) * mean @ np.linalg.solve(covariance, mean)
    assert row["p"] == pytest.approx(stats.f.sf(squared * (12 - 3) / (3 * 11), 3, 12 - 3))
    assert row["estimate"] == pytest.approx(np.sqrt((mean**2).mean()))


def test_reads_are_paired_by_their_ordering_wherever_they_stand():
    reads = simulated_reads(groups=6, strategies=["balanced"], noise=0.0, seed=3)
    turned = reads.assign(condition="together", read_index=9 - reads["read_index"])
    rows = paired_reads.estimate(pd.concat([turned, reads], ignore_index=True), confidence=0.95)
    assert set(rows["n_pairs"]) == {len(reads)}
    assert set(rows["n_differ"]) == {0}
    assert (rows["estimate"] == 0).all()
    assert rows["p"].isna().all()


def test_a_read_without_a_score_or_a_partner_does_not_count():
    table = two([[2, 3]] * 6, [[1, 3]] * 6, n=5)
    missing = table["item_id"].unique()[0]
    kept = table[~((table["condition"] == BASELINE) & (table["item_id"] == missing))].copy()
    kept.loc[kept.index[kept["item_id"] == table["item_id"].unique()[1]][:1], "score"] = pd.NA
    assert set(rows_of(kept)["n_pairs"]) == {9}


# --- planted influence of questions on each other


GROUP_SIZES = np.r_[np.full(30, 2), np.full(10, 5)]  # items; unequal
GROUP = np.repeat(np.arange(len(GROUP_SIZES)), GROUP_SIZES)
N = 10  # questions of a request
READS = score_table(np.full((len(GROUP), N), 3).tolist(), n=5).assign(
    group_id=[f"g{code:02d}" for code in GROUP.repeat(N)]
)
PLANTED = {
    "every question": np.full(N, 0.2),
    "more with each question": 0.05 * np.arange(N),
    "all but the first": np.r_[0, np.full(N - 1, 0.25)],
    "up and down, of mean 0": 0.25 * np.where(np.arange(N) % 2, 1, -1),
}


def asked_apart_and_together(rng, influence=0.0, *, share_moved=1.0, noise=0.3):
    """Expected scores of both conditions; `influence` is what the number of a question adds when asked together.

    Groups differ in what asking together does to them. What it does to a group's items has a mean of `influence`.
    Items that are not moved have the same answer always.
    """
    truth = rng.uniform(2, 4, len(GROUP))[:, None] + rng.normal(0, 0.5, (len(GROUP), N))
    moves = (rng.random(len(GROUP)) < share_moved)[:, None]
    strength = 1 + 0.3 * rng.normal(size=len(GROUP_SIZES))[GROUP, None]
    of_group = (
        0.05 * rng.normal(size=(len(GROUP_SIZES), N))[GROUP] + 0.1 * rng.normal(size=len(GROUP_SIZES))[GROUP, None]
    )
    drawn = noise * rng.normal(size=(2, len(GROUP), N))
    together, apart = truth + moves * (influence * strength + of_group + drawn[0]), truth + moves * drawn[1]
    tables = [READS.assign(condition="together", expected_score=together.ravel())]
    return pd.concat([*tables, READS.assign(expected_score=apart.ravel())], ignore_index=True)


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_planted_influence_is_recovered(planted):
    """Truth is what was planted; forty studies of 40 unequal groups, one judge."""
    rng, estimates = np.random.default_rng(5), []
    for _ in range(40):
        rows = rows_of(asked_apart_and_together(rng, planted), "group", "soft")
        numbers = rows[rows["quantity"] == "number"].sort_values("number")
        estimates.append([*numbers["estimate"], *(one_row(rows, name)["estimate"] for name in ("mean", "trend"))])
        lows, highs = numbers["ci_low"].to_numpy(), numbers["ci_high"].to_numpy()
        estimates[-1].append(((lows <= planted) & (planted <= highs)).mean())
    mean = np.mean(estimates, axis=0)
    error = np.std(estimates, axis=0, ddof=1) / np.sqrt(len(estimates))
    trend = np.polyfit(np.arange(N), planted, 1)[0]
    assert (np.abs(mean[:-1] - [*planted, planted.mean(), trend]) < 4 * error[:-1]).all()
    assert 0.92 <= mean[-1] <= 0.985


def test_an_influence_that_cancels_in_the_mean_is_seen_in_the_numbers():
    rng = np.random.default_rng(6)
    rows = rows_of(asked_apart_and_together(rng, PLANTED["up and down, of mean 0"]), "group", "soft")
    assert one_row(rows, "any_number")["p"] < 0.05
    assert one_row(rows, "mean")["p"] > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("share_moved", [1.0, 0.3])
def test_tests_keep_their_level_where_questions_do_not_influence_each_other(share_moved):
    """300 studies; a saturated judge has the same answers for seven of ten items. Groups are of 2 and of 5 items."""
    rng, studies = np.random.default_rng(7), 300
    tables = (asked_apart_and_together(rng, share_moved=share_moved).assign(judge=f"j{k:03}") for k in range(studies))
    rows = rows_of(tables, "group", "soft")
    tested = rows[rows["quantity"].isin(["mean", "trend", "any_number"])]
    assert tested["quantity"].value_counts().tolist() == [studies] * 3
    rejected = (tested["p"] < 0.05).groupby(tested["quantity"]).sum()
    assert rejected.max() <= stats.binom.ppf(1 - 1e-3, studies, 0.06), rejected


def test_the_table_has_a_row_a_comparison():
    rows = paired_reads.estimate(
        asked_apart_and_together(np.random.default_rng(8), PLANTED["every question"]), confidence=0.95
    )
    made = printed.TABLE.table(rows, study=READS["study"].iloc[0])
    assert made["varied"].tolist() == ["together", "together"]
    shown = printed.TABLE.printout(made)
    assert {"mean", "trend", "any number, p", "differ"} <= set(shown)
