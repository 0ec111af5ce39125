"""The stepwise search on the recorded judges of Shi et al., beside an independent one with statsmodels."""

import itertools
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rubric_order.analyses.comparisons.bias_factors import estimate as bias_factors
from rubric_order.intake.recorded import plans as reads
from rubric_order.scoring import scores

pytestmark = pytest.mark.skipif("RUBRIC_ORDER_JUDGMENTS" not in os.environ, reason="needs the recorded judgments")
FORMS = {"MTBench": ["brackets"], "DevBench": ["choice"]}


@pytest.fixture(scope="module")
def recorded():
    """Scores of all judges, one table per judge and benchmark; recorded once for the module."""
    folder = Path(os.environ["RUBRIC_ORDER_JUDGMENTS"], "pairwise")
    found = []
    for path in sorted(folder.glob("*_position.jsonl.gz")):
        records = reads.read([path])
        judge = records["judge"].iloc[0]
        dataset = path.name.partition("_")[0]
        plan = reads.plan_comparisons(records, study="s", judge_id=judge, dataset=dataset)
        found.append(scores.score_reads(plan, reads.responses(records), probe="pair_order"))
    return found


def cells(tables):
    """PC, PF and overall win rate of each cell of judge, candidate and task, from Equations 2 and 3 as they stand."""
    rows = []
    for table in tables:
        (benchmark,) = table["benchmark"].unique()
        valid = table["pattern"].isin(FORMS[benchmark]) & table["score"].notna()
        table = table.assign(letter=table["position"].where(valid), first=[row[0] for row in table["ordering"]])
        wide = table.pivot(
            index=["judge", "dataset", "candidate", "task", "unit_id"], columns="first", values="letter"
        ).dropna()
        for key, pair in zip(wide.index, wide.astype(int).to_numpy(), strict=True):
            one, other = pair  # what was chosen with the baseline first, and with the candidate first
            same = (one, other) in {(1, 2), (2, 1), (0, 0)}
            primacy = not same and (one == 1 or other == 1)
            recency = not same and not primacy
            won = 1.0 if (one, other) == (2, 1) else 0.0 if (one, other) == (1, 2) else 0.5
            rows.append((*key[:4], float(same), float(recency) - float(primacy), won))
    names = ["judge", "dataset", "candidate", "task", "PC", "PF", "owr"]
    return pd.DataFrame(rows, columns=names).groupby(names[:4], as_index=False).mean()


def search(table, outcome, gap):
    """Both ways from the full model by statsmodels' least squares: the last model, and what each removal costs."""
    from statsmodels.regression.linear_model import OLS

    table = table.assign(
        quality_gap=table[gap],
        candidate=table["dataset"] + table["candidate"],
        task=table["dataset"] + table["task"],
    )
    terms = [name for name in ("judge", "candidate", "task", "quality_gap") if table[name].nunique() > 1]

    def fitted(names):
        parts = [
            pd.get_dummies(table[name], drop_first=True) if name != "quality_gap" else table[name] for name in names
        ]
        x = pd.concat([pd.Series(1.0, table.index, name="one"), *parts], axis=1).astype(float)
        found = OLS(table[outcome].to_numpy(), x.to_numpy()).fit()
        rank = np.linalg.matrix_rank(x.to_numpy())
        return found.ssr, rank, len(table) * np.log(found.ssr / len(table)) + 2 * rank

    chosen = list(terms)
    while True:
        best = fitted(chosen)[2]
        moves = [[name for name in terms if (name in chosen) != (name == moved)] for moved in terms]
        least = min(moves, key=lambda names: fitted(names)[2])
        if fitted(least)[2] >= best - 1e-7:
            break
        chosen = least
    whole = fitted(chosen)
    rows = {"none": (0, *whole[::2])}
    for name in chosen:
        rss, rank, aic = fitted([other for other in chosen if other != name])
        rows[name] = (whole[1] - rank, rss, aic)
    return rows


@pytest.mark.slow
def test_the_search_on_recorded_judges_is_that_of_statsmodels_term_by_term(recorded):
    found = bias_factors.estimate(recorded, forms=FORMS)
    table = cells(recorded)
    table["own"] = (table["owr"] - 0.5).abs()
    size = table.groupby(["dataset", "candidate", "task"])["owr"].transform("size")
    total = table.groupby(["dataset", "candidate", "task"])["owr"].transform("sum")
    table["others"] = ((total - table["owr"]) / (size - 1) - 0.5).abs()
    assert len(table) == 2 * (240 + 140)
    names = {"position_consistency": "PC", "preference_fairness": "PF"}
    checked = 0
    for (outcome, short), gap, dataset in itertools.product(
        names.items(), ("own", "others"), ("all", "mtbench", "devbench")
    ):
        rows = table if dataset == "all" else table[table["dataset"] == dataset]
        expected = search(rows.dropna(subset=[gap]), short, gap)
        ours = found.query("outcome == @outcome and gap == @gap and dataset == @dataset").set_index("removed")
        assert set(ours.index) == set(expected), (outcome, gap, dataset)
        for name, (df, rss, aic) in expected.items():
            assert ours.loc[name, "df"] == df, (outcome, gap, dataset, name)
            assert ours.loc[name, "rss"] == pytest.approx(rss, rel=1e-9)
            assert ours.loc[name, "aic"] == pytest.approx(aic, abs=1e-6)
            checked += 1
    assert checked > 24
