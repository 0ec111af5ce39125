"""Advice on prompts as tests, and means over prompts against means of reads."""

import numpy as np
import pandas as pd
import pytest
from factories import score_table
from scipy import stats

from rubric_order.analyses.scoring.scoring_accuracy import estimate as scoring_accuracy
from rubric_order.analyses.scoring.scoring_advice import estimate as scoring_advice
from rubric_order.analyses.scoring.scoring_advice import table as advice_table
from rubric_order.analyses.scoring.scoring_averages import estimate as scoring_averages
from rubric_order.analyses.scoring.scoring_averages import table as averages_table

BASES = {"s": ["reference_none", "single"]}
USUAL = [[1, 2, 3, 4, 5]]


def items_of(scores):
    known = scores[["dataset", "item_id"]].drop_duplicates().reset_index(drop=True)
    return known.assign(reference_labels=[[]] * len(known))


def judged(rows, human, condition, strategy="single", **keys):
    return score_table(rows, human, shown=USUAL, strategy=strategy, condition=condition, per_group=2, **keys)


@pytest.mark.parametrize(
    ("varied", "order", "kind", "name"),
    [
        ("reference_none", "descending", "order", "descending"),
        ("reference_none", "random", "order", ""),
        ("letter+reference_none", "single", "ids", "letter"),
        ("letter_a_lowest+reference_none", "single", "ids", ""),
        ("roman+reference_none", "single", "ids", "roman"),
        ("reference_5", "single", "reference", "reference_full_mark"),
        ("reference_5_as_3", "single", "reference", ""),
        ("letter+reference_5", "single", "crossed", ""),
        ("reference_none", "single", "base", ""),
    ],
)
def test_a_variant_follows_a_piece_of_advice_and_changes_nothing_else(varied, order, kind, name):
    assert scoring_advice.advice(varied, order, kind) == name


def test_advice_that_helps_all_judges_is_found_over_judges():
    rng = np.random.default_rng(0)
    parts = []
    for judge in ("a", "b", "c", "d"):
        human = rng.integers(1, 6, 60)
        for condition, noise in (("reference_none", 2), ("letter+reference_none", 1), ("roman+reference_none", 2)):
            given = np.clip(human + rng.integers(-noise, noise + 1, 60), 1, 5)
            parts.append(judged(given[:, None].tolist(), human.astype(float), condition, judge=judge))
    scores = pd.concat(parts)
    how = {"items": items_of(scores), "human_scales": {}, "confidence": 0.95}
    accuracy = scoring_accuracy.estimate(scores, bases=BASES, **how)
    found = scoring_advice.estimate(accuracy, confidence=0.95)
    chosen = found.query("quantity == 'pearson' and cluster == 'group' and readout == 'hard'")
    mean = chosen[chosen["term"] == "mean"].set_index("advice")
    assert mean.loc["letter", "ci_low"] > 0
    assert mean.loc["roman", "ci_low"] < 0 < mean.loc["roman", "ci_high"]
    assert (mean["n_estimates"] == 4).all()
    of_judges = chosen.query("term == 'judge' and advice == 'letter'")
    assert of_judges["judge"].tolist() == ["a", "b", "c", "d"]
    assert mean.loc["letter", "estimate"] == pytest.approx(of_judges["estimate"].mean(), abs=0.05)
    printed = advice_table.TABLE.printout(advice_table.TABLE.table(found, studies=["s"]))
    assert not printed.isna().any().any()
    assert "all judges" in set(printed["judge"])


@pytest.mark.parametrize(("judges", "means"), [(("a", "a"), 0), (("a", "b"), 1)])
def test_one_judge_on_several_datasets_is_no_sample_of_judges(judges, means):
    accuracy = pd.DataFrame({"judge": judges, "dataset": ["x", "y"], "difference": [0.1, 0.2], "p": [0.01, 0.02]})
    about = {"study": "s", "profile": "default", "n": 5, "readout": "hard", "cluster": "group", "golden": "human"}
    about |= {"quantity": "pearson", "varied": "letter+reference_none", "order": "single", "kind": "ids"}
    about |= {"difference_low": 0.0, "difference_high": 0.3, "difference_se": 0.05, "n_items": 9, "n_clusters": 9}
    about |= {"error_correlation": np.nan}
    found = scoring_advice.estimate(accuracy.assign(**about, method="m"), confidence=0.95)
    assert found["term"].tolist().count("judge") == 2
    assert found["term"].tolist().count("mean") == means


def test_judges_that_err_alike_are_as_certain_as_one():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, 40)
    reads = {
        condition: np.clip(human + rng.integers(-2, 3, 40), 1, 5)[:, None].tolist()
        for condition in ("reference_none", "letter+reference_none")
    }
    scores = pd.concat(
        judged(rows, human.astype(float), condition, judge=judge)
        for judge in "abcdef"
        for condition, rows in reads.items()
    )
    how = {"items": items_of(scores), "human_scales": {}, "confidence": 0.95}
    accuracy = scoring_accuracy.estimate(scores, bases=BASES, **how)
    found = scoring_advice.estimate(accuracy, confidence=0.95)
    width = (found["ci_high"] - found["ci_low"]).groupby([found["quantity"], found["cluster"], found["term"]]).mean()
    width = width.unstack("term")
    assert accuracy["error_correlation"].dropna().to_numpy() == pytest.approx(1)
    assert (width["mean"] > 0.85 * width["judge"]).all()


def averages(scores, temperature, **keys):
    found = scoring_averages.estimate(
        scores,
        bases=keys.pop("bases", BASES),
        confidence=0.95,
        items=items_of(scores),
        human_scales={},
        sampling_temperatures={"j": {"default": temperature}},
    )
    return found.query("readout == 'hard' and cluster == 'item'").set_index("quantity")


def test_means_over_ids_stand_beside_means_of_as_many_reads():
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, 30)
    rows = {
        name: np.clip(human[:, None] + rng.integers(-2, 3, (30, 3)), 1, 5)
        for name in ("reference_none", "letter", "roman")
    }
    parts = [
        judged(
            values.tolist(),
            human.astype(float),
            name if name == "reference_none" else f"{name}+reference_none",
            "fixed",
        )
        for name, values in rows.items()
    ]
    parts.append(judged(rows["letter"].tolist(), human.astype(float), "reference_5", "fixed"))  # means something else
    found = averages(pd.concat(parts), 1.0, bases={"s": ["reference_none", "fixed"]})
    over = np.mean([values[:, 0] for values in rows.values()], axis=0)
    again = rows["reference_none"].mean(axis=1)
    row = found.loc["pearson"]
    assert (row["n_calls"], row["n_items"], row["flag"]) == (3, 30, "")
    assert row["averaged"] == pytest.approx(stats.pearsonr(over, human)[0])
    assert row["repeated"] == pytest.approx(stats.pearsonr(again, human)[0])
    assert row["difference"] == pytest.approx(row["averaged"] - row["repeated"])
    assert row["difference_low"] < row["difference"] < row["difference_high"]
    assert found.loc["mean_absolute_error", "averaged"] == pytest.approx(np.abs(over - human).mean())


def test_repeated_reads_are_one_at_temperature_0_and_are_not_made_up_above_it():
    rng = np.random.default_rng(2)
    human = rng.integers(1, 6, 30)
    rows = {
        name: np.clip(human + rng.integers(-2, 3, 30), 1, 5) for name in ("reference_none", "letter+reference_none")
    }
    rows["letter+reference_none"] = [None, *rows["letter+reference_none"][1:]]
    scores = pd.concat(
        judged([[score] for score in values], human.astype(float), name) for name, values in rows.items()
    )
    greedy = averages(scores, 0.0).loc["spearman"]
    assert greedy["repeated"] == pytest.approx(stats.spearmanr(rows["reference_none"][1:], human[1:])[0])
    assert (greedy["n_items"], greedy["n_failed"]) == (29, 1)
    assert "temperature 0" in greedy["flag"]
    drawn = averages(scores, 1.0).loc["spearman"]
    assert np.isnan(drawn["repeated"])
    assert drawn["flag"] == "too few reads of the base"
    printed = averages_table.TABLE.printout(
        averages_table.TABLE.table(averages(scores, 1.0).reset_index(), studies=["s"], cluster="item")
    )
    assert (printed["difference"] == "").all()
    alone = averages(scores[scores["condition"] == "reference_none"], 0.0)
    assert alone.empty
