"""Two conditions on the items that both have: by hand, against scipy, with their coverage."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads
from scipy import stats

from rubric_order.analyses.scoring.condition_comparison import estimate as condition_comparison


def two(one, other, **options):
    tables = [score_table(one, **options).assign(condition="letter"), score_table(other, **options)]
    return pd.concat(tables, ignore_index=True)


def rows_of(table, quantity, cluster="group"):
    found = condition_comparison.estimate(table, confidence=0.95)
    return found[(found["quantity"] == quantity) & (found["cluster"] == cluster) & (found["readout"] == "hard")]


def test_points_are_those_of_a_paired_t_test():
    one, other = [[2, 3], [4, 4], [5, 3], [1, 2]], [[1, 3], [4, 3], [3, 3], [1, 1]]
    (row,) = rows_of(two(one, other, n=5), "points", "item").to_dict("records")
    difference = np.mean(one, axis=1) - np.mean(other, axis=1)
    assert row["condition"] == "letter"
    assert row["other"] == "baseline"
    assert row["estimate"] == pytest.approx(difference.mean())
    assert [row["of_one"], row["of_other"]] == pytest.approx([np.mean(one), np.mean(other)])
    expected = stats.ttest_1samp(difference, 0)
    assert row["p"] == pytest.approx(expected.pvalue)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([*expected.confidence_interval(0.95)])


def test_items_of_one_condition_alone_do_not_count():
    table = two([[2, 3]] * 6, [[1, 3]] * 6)
    missing = table["item_id"].unique()[0]
    kept = table[~((table["condition"] == "letter") & (table["item_id"] == missing))]
    assert set(rows_of(kept, "points")["n_items"]) == {5}


def test_the_difference_of_correlations_is_that_of_scipy_and_covers_as_leaving_a_group_out_says():
    reads = simulated_reads(groups=40, candidates=3, strategies=["balanced"], noise=1.0, seed=1)
    other = reads.groupby("item_id", sort=False)["score"].transform(lambda scores: np.roll(scores, 1))
    rng = np.random.default_rng(2)
    noisy = np.clip(other.to_numpy(dtype=float) + rng.integers(-1, 2, len(reads)), 1, 5)
    table = pd.concat([reads.assign(condition="noisy", score=noisy.astype(int)), reads], ignore_index=True)
    (row,) = rows_of(table, "r").to_dict("records")

    def difference(kept):
        means = kept.groupby(["condition", "item_id"])[["score", "human_score"]].mean()
        r = [stats.pearsonr(*means.loc[name].to_numpy(dtype=float).T)[0] for name in ("noisy", "baseline")]
        return r[0] - r[1]

    assert row["estimate"] == pytest.approx(difference(table))
    groups = table["group_id"].unique()
    without = np.array([difference(table[table["group_id"] != group]) for group in groups])
    error = np.sqrt((len(groups) - 1) / len(groups) * ((without - without.mean()) ** 2).sum())
    assert (row["ci_high"] - row["ci_low"]) / 2 / stats.t.ppf(0.975, len(groups) - 1) == pytest.approx(error, rel=0.1)


def test_equal_conditions_differ_by_nothing_and_have_no_interval():
    table = two([[2, 3]] * 8, [[2, 3]] * 8)
    row = rows_of(table, "points").iloc[0]
    assert row["estimate"] == 0
    assert np.isnan(row["p"])


def test_intervals_over_groups_cover_a_shift_that_differs_between_groups():
    """Each group has a shift of its own; 400 studies of 20 groups as judges of one table."""
    rng, studies, groups, items = np.random.default_rng(4), 400, 20, 3
    own = 0.3 + 0.5 * rng.normal(size=(studies, groups, 1)) + 0.3 * rng.normal(size=(studies, groups, items))
    means = {"baseline": np.zeros(own.shape), "letter": own}
    covered = 0
    for study in range(studies):
        frames = {
            name: pd.DataFrame(
                {
                    "group_id": np.arange(groups).repeat(items).astype(str),
                    "human": np.nan,
                    "mean": values[study].ravel(),
                },
                index=[f"i{place:03d}" for place in range(groups * items)],
            )
            for name, values in means.items()
        }
        rows = condition_comparison._compared({"n": 5}, frames["letter"], frames["baseline"], 0.95, 0.1)
        (row,) = [row for row in rows if row["cluster"] == "group"]
        covered += row["ci_low"] <= 0.3 <= row["ci_high"]
    assert stats.binom.ppf(1e-3, studies, 0.95) <= covered <= stats.binom.ppf(1 - 1e-3, studies, 0.95)
