"""Length of texts and the scores that they get."""

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads
from scipy import stats

from rubric_order.analyses.scoring.length_scores import estimate as length_scores
from rubric_order.analyses.scoring.length_scores import table as layout


def texts(scores, lengths):
    items = scores.drop_duplicates(["dataset", "item_id"])[["dataset", "item_id"]]
    return items.assign(response=["x" * int(length) for length in lengths])


def row(table, **values):
    for name, value in values.items():
        table = table[table[name] == value]
    (found,) = table.to_dict("records")
    return found


@pytest.fixture(scope="module")
def reads():
    return simulated_reads(groups=40, candidates=4, strategies=("balanced", "fixed"), seed=3)


def test_correlations_are_those_of_scipy_of_means_with_lengths_and_people_stand_beside(reads):
    rng = np.random.default_rng(1)
    lengths = rng.integers(10, 400, reads["item_id"].nunique())
    found = length_scores.estimate(reads, confidence=0.95, items=texts(reads, lengths))
    of_one = reads[reads["strategy"] == "balanced"].astype({"score": float})
    means = of_one.groupby("item_id", sort=False)[["score", "human_score"]].mean()
    for quantity, reference in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        got = row(found, strategy="balanced", readout="hard", cluster="group", quantity=quantity)
        assert got["estimate"] == pytest.approx(reference(means["score"], lengths).statistic)
        assert got["of_people"] == pytest.approx(reference(means["human_score"], lengths).statistic)
        assert got["difference"] == pytest.approx(got["estimate"] - got["of_people"])
        assert got["ci_low"] < got["estimate"] < got["ci_high"]
        assert (got["n_items"], got["n_rated"], got["n_clusters"]) == (160, 160, 40)


def test_a_judge_that_scores_quality_alone_differs_from_people_in_nothing_and_one_that_likes_length_does():
    """Lengths follow quality; the second judge adds what length is worth to it."""
    rng = np.random.default_rng(7)
    groups = np.repeat(np.arange(300), 4)
    quality = rng.normal(size=1200)
    lengths = np.clip(200 + 60 * quality + 60 * rng.normal(size=1200), 20, None)
    noise = rng.normal(size=(3, 1200)) * 0.5
    worth = (lengths - lengths.mean()) / lengths.std()
    scores = {"fair": quality + noise[0], "long": quality + 0.8 * worth + noise[1]}
    template = simulated_reads(groups=300, candidates=4, strategies=("single",), seed=5)
    human = quality + noise[2]
    cut = [-1, -0.3, 0.3, 1]
    for judge, biased in (("fair", False), ("long", True)):
        table = template.assign(score=pd.array(np.digitize(scores[judge], cut) + 1, dtype="Int8"), human_score=human)
        table = table.assign(judge=judge, group_id=[f"g{group}" for group in groups])
        found = length_scores.estimate(table, confidence=0.95, items=texts(table, lengths))
        got = row(found, readout="hard", cluster="group", quantity="spearman")
        assert got["estimate"] > 0.4  # of the fair judge too: longer texts are better
        assert (got["difference_low"] > 0) == biased
        assert (got["p"] < 0.001) == biased


def test_without_people_there_is_the_correlation_alone_and_the_table_prints(reads):
    unrated = reads.assign(human_score=np.nan)
    items = texts(reads, np.arange(reads["item_id"].nunique()) + 1)
    found = length_scores.estimate(pd.concat([unrated]), confidence=0.95, items=items)
    assert found["of_people"].isna().all()
    assert found["estimate"].notna().all()
    rows = layout.TABLE.table(found)
    assert set(rows["strategy"]) == {"balanced", "fixed"}
    printed = layout.TABLE.printout(rows)
    assert (printed["difference"] == "").all()
    assert not printed.isna().any().any()


def test_equal_lengths_have_no_correlation(reads):
    items = texts(reads, np.full(reads["item_id"].nunique(), 9))
    found = length_scores.estimate(reads, confidence=0.95, items=items)
    assert found["estimate"].isna().all()
