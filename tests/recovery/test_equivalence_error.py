"""Two one-sided tests where the effect is as large as the margin: they show it to be small in at most 5% of studies.

For points see `tests/unit/test_equivalence.py`.
"""

import numpy as np
import pandas as pd
import pytest
from preference_recovery import Setting, fits
from scipy import stats

from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.scoring.condition_comparison import estimate as condition_comparison
from rubric_order.methods.uncertainty import equivalence
from rubric_order.simulation.judge import Simulation

LEVEL = 0.05
LOG_ODDS, R = 0.2, 0.02  # margins
PREFERENCE = (LOG_ODDS, -0.1, -0.1)


def log_odds(groups: int, studies: int, *, readout: str = "hard", **effects: float) -> np.ndarray:
    """p-values that the first position adds less than the margin, which is what it adds."""
    judge = Simulation(
        preference=PREFERENCE, tolerance=1.0, item_scores=0.3, group_scores=0.3, group_error=0.3, **effects
    )
    setting = Setting("", judge, n=3, groups=groups, candidates=4, readout=readout)
    ps = []
    for fit, _ in fits(setting, studies):
        found = fit.interval(np.eye(3)[0] - 1 / 3, 0.95)
        df = np.array([found["df"]])
        error = equivalence.error_of_interval(np.array([found["ci_low"]]), np.array([found["ci_high"]]), df, 0.95)
        ps.append(equivalence.p_values(np.array([found["estimate"]]), error, df, LOG_ODDS)[0])
    return np.array(ps)


def correlated(groups: int, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two scores and a human one of items whose groups have effects; r of the first is larger by the margin.

    All have variance 1. Both scores share most of their error, as two strategies of one judge do.
    """

    def drawn() -> np.ndarray:
        return (np.sqrt(0.3) * rng.normal(size=(groups, 1)) + np.sqrt(0.7) * rng.normal(size=(groups, size))).ravel()

    human, shared, own, other = drawn(), drawn(), drawn(), drawn()
    scores = []
    for r, noise in ((0.70, own), (0.70 - R, other)):
        scores.append(r * human + np.sqrt(1 - r**2) * (np.sqrt(0.9) * shared + np.sqrt(0.1) * noise))
    return scores[0], scores[1], human


def agreement(groups: int, studies: int, *, conditions: bool, size: int = 6) -> np.ndarray:
    """p-values that two strategies, or conditions, agree with human scores up to the margin, by which they differ."""
    ps, rng = [], np.random.default_rng(groups)
    clusters, df = np.repeat(np.arange(groups), size), np.array([groups - 1.0])
    names = [f"{group:03d}" for group in clusters]
    for _ in range(studies):
        first, second, human = correlated(groups, size, rng)
        if conditions:
            items = pd.DataFrame({"group_id": names, "human": human, "mean": first})
            rows = condition_comparison._compared({"n": 5}, items, items.assign(mean=second), 0.95, 0.1)
            (found,) = [row for row in rows if row["cluster"] == "group" and row["quantity"] == "r"]
        else:
            reads = first[:, None], second[:, None]
            parts = strategy_comparison.paired_differences(*reads, human, clusters, confidence=0.95)
            found = parts["pearson"]
        error = equivalence.error_of_interval(np.array([found["ci_low"]]), np.array([found["ci_high"]]), df, 0.95)
        ps.append(equivalence.p_values(np.array([found["estimate"]]), error, df, R)[0])
    return np.array(ps)


def wrong(p: np.ndarray) -> float:
    """Share of studies that show what is not so; a study without a number shows nothing."""
    return float((p <= LEVEL).mean())


def most(studies: int) -> float:
    """The largest share that is to be expected of a test at 5%."""
    return stats.binom.ppf(1 - 1e-3, studies, LEVEL) / studies


@pytest.mark.parametrize(("readout", "groups"), [("hard", 40), ("hard", 96), ("soft", 40)])
def test_a_preference_at_the_margin_is_seldom_shown_to_be_small(readout, groups):
    effects = {"prompts": 0.5, "group_positions": 0.3} if readout == "soft" else {}
    assert wrong(log_odds(groups, 150, readout=readout, **effects)) <= most(150)


@pytest.mark.parametrize(("groups", "conditions"), [(40, False), (96, True), (96, False)])
def test_a_difference_of_correlations_at_the_margin_is_seldom_shown_to_be_small(groups, conditions):
    p = agreement(groups, 150, conditions=conditions)
    assert wrong(p) <= most(150)
    assert groups == 40 or wrong(p) > 0  # with few groups the error is larger than the margin, and nothing is shown


def test_the_simulated_correlations_differ_by_the_margin():
    first, second, human = correlated(40_000, 6, np.random.default_rng(1))
    difference = np.corrcoef(first, human)[0, 1] - np.corrcoef(second, human)[0, 1]
    assert difference == pytest.approx(R, abs=0.002)
