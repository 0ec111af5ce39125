"""Agreement with human scores: against hand-worked and published numbers, scipy and plain sums."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from rubric_order import agreement, resampling

# No deadlines: other work on the machine is no defect.
MANY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(MANY, max_examples=20)
BOOTSTRAP = {"resamples": 50, "confidence": 0.95, "seed": 1}
KEYS = ["study", "judge", "profile", "dataset", "strategy", "n"]
# Scores as judges give them, with many ties.
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(3, 15).map(lambda total: total / 3)), min_size=2, max_size=40)


def table_of(selected, human, *, criteria=("quality",), expected=None):
    """Reads as `scores.score_reads` returns them, with the columns that agreement needs.

    Args:
        selected: score of each read of each item; None where there is none.
        human: human score of each item, NaN where there is none.
        criteria: of the items, in turn.
        expected: expected score of each read of each item; the selected score by default.
    """
    rows = []
    for item, scores in enumerate(selected):
        for read, score in enumerate(scores):
            soft = score if expected is None else expected[item][read]
            rows.append(
                {
                    "study": "study",
                    "judge": "judge",
                    "profile": "default",
                    "dataset": "demo",
                    "item_id": f"item-{item:04d}",
                    "criterion": criteria[item % len(criteria)],
                    "human_score": human[item],
                    "strategy": "balanced",
                    "n": 5,
                    "score": score,
                    "expected_score": np.nan if soft is None else soft,
                }
            )
    return pd.DataFrame(rows).astype({"score": "Int8", "expected_score": float, "human_score": float})


def random_table(seed, *, n_items=15, failing=0.2, criteria=("coherence", "empathy")):
    rng = np.random.default_rng(seed)
    selected = rng.integers(1, 6, (n_items, 4)).astype(object)
    selected[rng.random(selected.shape) < failing] = None
    return table_of(selected.tolist(), rng.integers(3, 16, n_items) / 3, criteria=criteria)


def plain_pearson(x, y):
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    covariance = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return covariance / math.sqrt(math.fsum((a - mean_x) ** 2 for a in x) * math.fsum((b - mean_y) ** 2 for b in y))


def plain_ranks(x):
    """How many are smaller, and half of the others that are equal."""
    return [sum(other < value for other in x) + (x.count(value) + 1) / 2 for value in x]


# Correlations.


def test_correlations_of_hand_worked_cases():
    assert agreement.pearson(np.array([1, 2, 3]), np.array([1, 3, 2])) == pytest.approx(0.5)
    # Deviations -2, -1, 0, 3 and -1, 0, -1, 2: 8 / sqrt(14 * 6).
    assert agreement.pearson(np.array([1, 2, 3, 6]), np.array([2, 3, 2, 5])) == pytest.approx(8 / math.sqrt(84))
    # Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: (2.25 + 0 + 0 + 2.25) / sqrt(4.5 * 5).
    assert agreement.spearman(np.array([1, 2, 2, 9]), np.array([0, 8, 7, 9])) == pytest.approx(4.5 / math.sqrt(22.5))


def test_correlations_of_published_data():
    # Anscombe (1973), data set 1: r = 0.816.
    x = np.array([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5])
    y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])
    assert agreement.pearson(x, y) == pytest.approx(0.816, abs=0.0005)
    # The example of the Wikipedia article on Spearman's rho, without ties: 1 - 6 * 194 / (10 * 99) = -29/165.
    iq = np.array([106, 100, 86, 101, 99, 103, 97, 113, 112, 110])
    hours = np.array([7, 27, 2, 50, 28, 29, 20, 12, 6, 17])
    assert agreement.spearman(iq, hours) == pytest.approx(-29 / 165)


@MANY
@given(PAIRS)
def test_correlations_agree_with_scipy_and_plain_sums(pairs):
    judge, human = (list(column) for column in zip(*pairs, strict=True))
    x, y = np.array(judge), np.array(human)
    if len(set(judge)) == 1 or len(set(human)) == 1:
        assert np.isnan(agreement.pearson(x, y))
        assert np.isnan(agreement.spearman(x, y))
        return
    assert agreement.pearson(x, y) == pytest.approx(plain_pearson(judge, human), abs=1e-9)
    assert agreement.pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert agreement.spearman(x, y) == pytest.approx(plain_pearson(plain_ranks(judge), plain_ranks(human)), abs=1e-9)
    assert agreement.spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


@MANY
@given(PAIRS, st.randoms(), st.floats(0.1, 10), st.floats(-5, 5))
def test_correlations_ignore_order_scale_and_origin_and_are_symmetric(pairs, random, scale, origin):
    x, y = np.array(pairs, dtype=float).T
    order = random.sample(range(len(x)), len(x))
    for statistic in (agreement.pearson, agreement.spearman):
        same = pytest.approx(statistic(x, y), abs=1e-7, nan_ok=True)
        assert statistic(x[order], y[order]) == same
        assert statistic(y, x) == same
        assert statistic(scale * x + origin, y) == same
        assert -statistic(-x, y) == same


@pytest.mark.parametrize("statistic", [agreement.pearson, agreement.spearman])
def test_correlations_go_over_the_last_axis(statistic):
    rng = np.random.default_rng(1)
    x, y = rng.integers(1, 6, (2, 3, 4, 30))
    x[0, 0] = 4
    values = statistic(x, y)
    assert values.shape == (3, 4)
    assert np.argwhere(np.isnan(values)).tolist() == [[0, 0]]
    for index in np.ndindex(3, 4):
        assert values[index] == pytest.approx(statistic(x[index], y[index]), nan_ok=True)


@pytest.mark.parametrize("constant", [3, 3.3, 4.1, 7 / 3, 17 / 7])
@pytest.mark.parametrize("statistic", [agreement.pearson, agreement.spearman])
def test_a_constant_has_no_correlation_however_its_mean_is_rounded(statistic, constant):
    y = np.random.default_rng(2).integers(1, 6, 1600)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(statistic(np.full(1600, constant), y))
        assert np.isnan(statistic(y, np.full(1600, constant)))
        assert np.isnan(statistic(np.array([constant]), np.array([2.0])))


@pytest.mark.parametrize("statistic", [agreement.pearson, agreement.spearman])
def test_an_unknown_score_makes_the_correlation_unknown(statistic):
    assert np.isnan(statistic(np.array([1, 2, np.nan, 4]), np.array([1, 2, 3, 4])))


# Means of items.


def test_item_means_leave_out_reads_and_items_without_a_score():
    table = table_of([[5, 2, None], [1, 2, 2], [None, None, None], [4, 4, 4]], [4, 2, 3, np.nan])
    means = agreement.item_means(table.iloc[::-1], "hard")
    assert means.index.tolist() == ["item-0000", "item-0001"]
    assert means["judge"].tolist() == [3.5, 5 / 3]
    assert means["human"].tolist() == [4, 2]


def test_equal_means_of_different_reads_are_equal_to_the_last_bit():
    rng = np.random.default_rng(3)
    selected = [rng.permutation([1, 2, 3, 3, 5, 5, 4]).tolist() for _ in range(50)] + [[3, 3, 3, 3, 3, 4, 4]] * 50
    assert agreement.item_means(table_of(selected, [1.0] * 100), "hard")["judge"].nunique() == 1


# The table of correlations.


def test_human_agreement_has_the_documented_columns_and_rows():
    result = agreement.human_agreement(random_table(1), **BOOTSTRAP)
    assert list(result.columns) == [
        *(*KEYS, "criterion", "readout", "n_items", "n_reads", "n_failed"),
        *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
        *("method", "confidence", "seed"),
    ]
    assert list(result[["criterion", "readout"]].itertuples(index=False, name=None)) == [
        (criterion, readout) for criterion in ("all", "coherence", "empathy") for readout in ("hard", "soft")
    ]
    assert result["method"].str.contains("50 resamples").all()
    for name in ("pearson", "spearman"):
        assert (result[f"{name}_low"] <= result[f"{name}_high"]).all()
        assert result[[f"{name}_low", f"{name}_high"]].abs().le(1).all(axis=None)


def test_human_agreement_of_a_hand_worked_case():
    # Means 1.5, 2, 3 are -4/6, -1/6, 5/6 from theirs; human scores 1, 3, 2 are -1, 1, 0: (3/6) / sqrt(42/36 * 2).
    table = table_of([[1, 2, None], [2, 2, 2], [3, None, None]], [1, 3, 2])
    row = agreement.human_agreement(table, **BOOTSTRAP).iloc[0]
    assert row["pearson"] == pytest.approx(0.5 / math.sqrt(42 / 36 * 2))
    assert row["spearman"] == pytest.approx(0.5)
    assert (row["n_items"], row["n_reads"], row["n_failed"]) == (3, 6, 3)


def test_human_agreement_agrees_with_plain_means_and_scipy():
    table = random_table(2)
    result = agreement.human_agreement(table, **BOOTSTRAP)
    for criterion in ("all", "coherence", "empathy"):
        block = table if criterion == "all" else table[table["criterion"] == criterion]
        judge, human = [], []
        for _, reads in block.groupby("item_id"):
            known = [int(score) for score in reads["score"] if not pd.isna(score)]
            if known:
                judge.append(sum(known) / len(known))
                human.append(reads["human_score"].iloc[0])
        row = result[(result["criterion"] == criterion) & (result["readout"] == "hard")].iloc[0]
        assert row["pearson"] == pytest.approx(stats.pearsonr(judge, human).statistic)
        assert row["spearman"] == pytest.approx(stats.spearmanr(judge, human).statistic)
        assert row["n_items"] == len(judge)
        assert row["n_reads"] == block["score"].notna().sum()
        assert row["n_failed"] == block["score"].isna().sum()


def test_intervals_agree_with_scipys_bootstrap_of_items():
    table = random_table(3, n_items=40, failing=0, criteria=("quality",))
    row = agreement.human_agreement(table, resamples=4000, confidence=0.9, seed=1).iloc[0]
    means = agreement.item_means(table, "hard")
    for name, statistic in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        theirs = stats.bootstrap(
            (means["judge"].to_numpy(), means["human"].to_numpy()),
            lambda x, y, statistic=statistic: statistic(x, y).statistic,
            paired=True,
            vectorized=False,
            method="percentile",
            n_resamples=2000,
            confidence_level=0.9,
            rng=np.random.default_rng(2),
        ).confidence_interval
        width = theirs.high - theirs.low
        assert row[f"{name}_low"] == pytest.approx(theirs.low, abs=0.1 * width)
        assert row[f"{name}_high"] == pytest.approx(theirs.high, abs=0.1 * width)


def test_intervals_cover_the_correlation_at_about_their_nominal_rate():
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(300):
        x, y = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=80).T
        drawn = resampling.bootstrap_indices(80, 400, rng=rng)
        low, high = resampling.percentile_interval(agreement.pearson(x[drawn], y[drawn]), 0.95)
        covered += low <= 0.5 <= high
    assert 0.9 < covered / 300 < 0.98


@FEW
@given(st.integers(0, 1000))
def test_row_order_index_and_relabelled_items_change_nothing(seed):
    table = random_table(seed)
    result = agreement.human_agreement(table, **BOOTSTRAP)
    shuffled = table.sample(frac=1, random_state=seed)  # keeps its index, which is then out of order
    pd.testing.assert_frame_equal(agreement.human_agreement(shuffled, **BOOTSTRAP), result)
    repeated = table.set_axis(np.zeros(len(table), dtype=int))
    pd.testing.assert_frame_equal(agreement.human_agreement(repeated, **BOOTSTRAP), result)
    names = np.random.default_rng(seed).permutation(table["item_id"].unique())
    renamed = table.assign(item_id=table["item_id"].map(dict(zip(sorted(names), names, strict=True))))
    drawn = [f"{name}_{end}" for name in ("pearson", "spearman") for end in ("low", "high")]  # by the items' order
    pd.testing.assert_frame_equal(
        agreement.human_agreement(renamed, **BOOTSTRAP).drop(columns=drawn), result.drop(columns=drawn)
    )


@FEW
@given(st.integers(0, 1000))
def test_expected_scores_of_one_hot_probabilities_agree_as_the_selected_scores_do(seed):
    result = agreement.human_agreement(random_table(seed), **BOOTSTRAP)
    hard, soft = (result[result["readout"] == readout].reset_index(drop=True) for readout in ("hard", "soft"))
    same = ["criterion", "n_items", "n_reads", "n_failed", "pearson", "spearman"]
    pd.testing.assert_frame_equal(hard[same], soft[same])


def test_other_judges_in_the_table_change_nothing():
    first = random_table(5)
    both = pd.concat([random_table(6).assign(judge="another"), first])
    result = agreement.human_agreement(both, **BOOTSTRAP)
    kept = result[result["judge"] == "judge"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, agreement.human_agreement(first, **BOOTSTRAP))


def test_items_without_a_human_score_change_nothing():
    selected = [[1, 2], [3, 3], [5, 4], [2, 2], [1, 1]]
    rated = agreement.human_agreement(table_of(selected, [1, 2, 5, 3, 1]), **BOOTSTRAP)
    more = table_of([*selected, [5, None]], [1, 2, 5, 3, 1, np.nan])
    pd.testing.assert_frame_equal(agreement.human_agreement(more, **BOOTSTRAP), rated)


def test_without_human_scores_or_without_answers_there_are_no_rows():
    unrated = agreement.human_agreement(table_of([[1, 2], [3, 3]], [np.nan, np.nan]), **BOOTSTRAP)
    unanswered = agreement.human_agreement(table_of([[None, None], [None, None]], [1, 2]), **BOOTSTRAP)
    for result in (unrated, unanswered):
        assert result.empty
        assert "spearman_high" in result.columns


def test_one_criterion_is_not_repeated_beside_the_pooled_row():
    result = agreement.human_agreement(random_table(7, criteria=("quality",)), **BOOTSTRAP)
    assert result["criterion"].tolist() == ["all", "all"]


@pytest.mark.parametrize("selected", [[[3, 3]], [[3, 3], [3, 3], [3, None]]], ids=["one item", "one score"])
def test_one_item_or_one_score_has_no_correlation_and_no_interval(selected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = agreement.human_agreement(table_of(selected, [1, 2, 4]), **BOOTSTRAP)
    columns = [column for column in result if column.startswith(("pearson", "spearman"))]
    assert result[columns].isna().all(axis=None)
    assert result["n_items"].tolist() == [len(selected)] * 2


def test_an_interval_is_withheld_where_many_resamples_are_constant():
    table = table_of([[3, 3]] * 9 + [[4, 4]], list(range(10)))  # a third of the resamples miss the last item
    row = agreement.human_agreement(table, **BOOTSTRAP | {"resamples": 2000}).iloc[0]
    assert row["pearson"] == pytest.approx(plain_pearson([3] * 9 + [4], list(range(10))))
    assert np.isnan([row["pearson_low"], row["spearman_high"]]).all()
