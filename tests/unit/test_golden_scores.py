"""Golden scores that judges of the run make, and how they agree with people's."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table
from scipy import stats

from rubric_order.analyses.scoring.golden_alignment import estimate as golden_alignment
from rubric_order.analyses.scoring.golden_alignment import table as alignment_table
from rubric_order.analyses.scoring.golden_scores import estimate as golden_scores
from rubric_order.analyses.scoring.scoring_accuracy import estimate as scoring_accuracy
from rubric_order.analyses.scoring.scoring_tendency import estimate as scoring_tendency
from rubric_order.methods.agreement import golden

READS = [[4, 4, 4], [4, 5, 4], [1, 5, 2], [3, None, None], [None, None, None], [2, 5, None], [5, 1, 1]]
VOTES = [4, 4, 2, 3, np.nan, 3.5, 1]
HOW = ["same", "majority", "median", "same", "", "median", "majority"]


def reads(rows=READS, **keys):
    return score_table(rows, shown=[[1, 2, 3, 4, 5]], strategy="fixed", **keys)


def items_of(scores, labels=None, human=None):
    known = scores[["dataset", "item_id", "group_id"]].drop_duplicates().reset_index(drop=True)
    known["reference_labels"] = [[]] * len(known) if labels is None else labels
    return known.assign(human_score=np.nan if human is None else human)


def test_a_vote_is_the_majority_and_the_median_where_there_is_none():
    found = golden_scores.estimate(reads())
    np.testing.assert_array_equal(found["score"], VOTES)
    assert found["how"].tolist() == HOW
    assert found["n_scored"].tolist() == [3, 3, 3, 1, 0, 2, 3]
    assert (found["n_reads"] == 3).all()


def test_votes_agree_with_a_plain_count():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (500, 5))
    value, _ = golden_scores.vote(counts)
    for row, voted in zip(counts, value, strict=True):
        scores = np.repeat(np.arange(1, 6), row)
        if not len(scores):
            assert np.isnan(voted)
            continue
        modes = np.flatnonzero(row == row.max()) + 1
        assert voted == (modes[0] if len(modes) == 1 else np.median(scores))


def test_a_judge_of_another_profile_is_another_source():
    scores = pd.concat([reads(), reads(profile="think")])
    assert golden_scores.estimate(scores)["source"].unique().tolist() == ["j", "j/think"]
    assert golden_scores.estimate([]).empty


def test_scores_are_compared_with_the_votes_of_a_judge():
    votes = golden_scores.estimate(reads(judge="gold"))
    parts = [
        score_table([[1], [2], [3], [3], [4], [5], [2]], shown=[[1, 2, 3, 4, 5]], strategy="single", condition=name)
        for name in ("baseline", "letter")
    ]
    scores = pd.concat(parts)
    how = {
        "bases": {"s": ["baseline", "single"]},
        "items": items_of(scores),
        "human_scales": {},
        "golden_scores": votes,
    }
    found = scoring_accuracy.estimate(scores, confidence=0.95, **how)
    row = found.query("golden == 'gold' and quantity == 'pearson' and varied == 'letter' and cluster == 'item'").iloc[0]
    known = ~np.isnan(VOTES)
    expected = stats.pearsonr(np.array([1, 2, 3, 3, 4, 5, 2])[known], np.array(VOTES)[known])[0]
    assert row["estimate"] == pytest.approx(expected)
    assert row["n_items"] == 6
    counts = scoring_tendency.estimate(scores, **how).query("varied == 'gold'").set_index("score")["n_scores"]
    assert counts.to_dict() == {1: 1, 2: 1, 3: 1, 4: 3, 5: 0}


def test_a_vote_on_another_scale_is_mapped_to_that_of_the_scores():
    votes = pd.DataFrame({"source": "gold", "dataset": "d", "item_id": ["a", "b"], "n": 3, "score": [1.0, 3.0]})
    items = pd.DataFrame(
        {"dataset": "d", "item_id": ["a", "b"], "reference_labels": [[2], [4]], "human_score": [0, 10]}
    )
    known = golden.item_golds(items, {"d": (0, 10)}, votes)
    found = golden.sources(items, known, 5)
    assert {name: values.tolist() for name, values in found.items()} == {
        "human": [1, 5],
        "labels": [2, 4],
        "gold": [1, 5],
    }


def test_each_source_is_set_beside_people_and_reads_that_differ_are_counted():
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, 40).astype(float)
    rows = np.clip(human[:, None] + rng.integers(-1, 2, (40, 3)), 1, 5).tolist()
    scores = reads(rows, judge="gold", per_group=2)
    items = items_of(scores, labels=[[score, score] for score in human], human=human)
    votes = golden_scores.estimate(scores)
    found = golden_alignment.estimate(items=items, human_scales={}, confidence=0.95, golden_scores=votes)
    by = found.set_index(["source", "quantity"])["estimate"]
    assert by["labels", "pearson"] == pytest.approx(1)
    assert by["gold", "spearman"] == pytest.approx(stats.spearmanr(votes["score"], human)[0])
    assert by["gold", "mean_absolute_error"] == pytest.approx(np.abs(votes["score"] - human).mean())
    assert by["gold", "differ"] == pytest.approx(np.mean([len(set(row)) > 1 for row in rows]))
    assert by["gold", "median"] == pytest.approx(np.mean([len(set(row)) == 3 for row in rows]))
    printed = alignment_table.TABLE.printout(alignment_table.TABLE.table(found))
    assert printed["source"].tolist() == ["gold", "labels"] or printed["source"].tolist() == ["labels", "gold"]
    assert not printed.isna().any().any()
    alone = golden_alignment.estimate(items=items, human_scales={}, confidence=0.95)
    assert alone["source"].unique().tolist() == ["labels"]
