"""By how many points the order of the score levels moves the scores."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, intervals, numbers, widen

CAPTION = (
    "By how many points the order of the score levels moves the mean score of the same items. Usual less balanced: the "
    "mean score under the usual ordering (1 to n) less that over all orderings of the strategy. Ascending less "
    "descending: 1 to n less n to 1. {bootstrap[confidence]:.0%} intervals by Student's t over {cluster}s. Largest "
    "gap: between the mean scores of two orderings; beside it the mean gap that chance makes. p: whether the order "
    "moves the mean score at all (signs of {cluster}s' shifts changed {score_effects[sign_changes]} times); ‡ not "
    "below 5% after Holm's adjustment for all judges, profiles and scales. It is blind to an order that raises the "
    "scores of some {cluster}s as much as it lowers those of others. Where each ordering is read once, one item's "
    "scores differ by chance too: only means over items are shown. A saturated judge gives one score nearly always: "
    "its scores cannot show what the order does. Strategies without one set of orderings for all items have the test "
    "alone, on the positions of levels. All datasets together; the CSV file has each."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
CONTRASTS = ["usual_minus_balanced", "ascending_minus_descending"]
COUNTS = ["n_items", "n_clusters", "n_reads", "n_failed"]
TESTS = ["p_holm", "p_bh", "n_tests"]


def table(score_effects: pd.DataFrame, *, study: str, cluster: str = "group") -> pd.DataFrame:
    """One row a judge, profile, dataset, strategy, scale and readout: shifts of the mean score with intervals.

    Args:
        score_effects: see `score_effects.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = score_effects.query("study == @study and cluster == @cluster")
    found = widen(chosen, KEYS, CONTRASTS).set_index(KEYS)
    test = chosen[chosen["quantity"] == "order_test"].set_index(KEYS)
    gap = chosen[chosen["quantity"] == "largest_gap"].set_index(KEYS)
    found["p_order"] = test["p_order"]
    found["largest_gap"] = gap["estimate"]
    found["gap_by_chance"], found["gap_by_chance_high"] = gap["chance"], gap["chance_high"]
    found["root_mean_square"] = test["estimate"]
    for column in (*TESTS, "mean_score", "commonest", "flag", *COUNTS):
        found[column] = test[column]
    return found.reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """All datasets together, rounded."""
    rows = rows[rows["dataset"] == EVERY].reset_index(drop=True)
    printed = rows[["judge", "profile", "strategy", "n"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    printed["mean score"] = numbers(rows["mean_score"], form=".2f")
    printed["usual less balanced"] = _where_known(rows, CONTRASTS[0])
    printed["ascending less descending"] = _where_known(rows, CONTRASTS[1])
    pairs = zip(rows["largest_gap"], rows["gap_by_chance"], strict=True)
    printed["largest gap (chance)"] = ["" if pd.isna(gap) else f"{gap:.2f} ({chance:.2f})" for gap, chance in pairs]
    printed["p"] = [_p(*each) for each in zip(rows["p_order"], rows["p_holm"], strict=True)]
    return printed.assign(flag=rows["flag"])


def _where_known(rows: pd.DataFrame, name: str) -> list[str]:
    written = intervals(rows, name, form="+.2f")
    return ["" if pd.isna(value) else text for value, text in zip(rows[name], written, strict=True)]


def _p(p: float, holm: float) -> str:
    if pd.isna(p):
        return "undefined"
    return ("<0.001" if p < 0.001 else f"{p:.3f}") + ("‡" if p < 0.05 <= holm else "")
