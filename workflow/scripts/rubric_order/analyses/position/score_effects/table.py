"""By how many points the order of the score levels moves the scores."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import READOUT_NAMES, card_tests, intervals, numbers, p_with_card, widen

CAPTION = (
    "By how many points the order of the score levels moves the mean score of the same items. Usual less balanced: the "
    "mean score under the usual ordering (1 to n) less that over all orderings of the strategy. Ascending less "
    "descending: 1 to n less n to 1. {bootstrap[confidence]:.0%} intervals by Student's t over {cluster}s. Largest "
    "gap: between the mean scores of two orderings; beside it the mean gap that chance makes. p: whether the order "
    "moves the mean score at all (signs of {cluster}s' shifts changed {score_effects[sign_changes]} times); p, usual: "
    "whether the usual ordering does (* at most 3% after Holm's adjustment for the tests that decide the judge's "
    "bias card, and others have no mark; the CSV file has Holm's adjustment for all judges, profiles "
    "and scales too). Both are blind to an order that raises the "
    "scores of some {cluster}s as much as it lowers those of others. Where each ordering is read once, one item's "
    "scores differ by chance too: only means over items are shown. A saturated judge gives one score nearly always: "
    "its scores cannot show what the order does. Strategies without one set of orderings for all items have the test "
    "alone, on the positions of levels. All datasets together; the CSV file has each."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
CONTRASTS = ["usual_minus_balanced", "ascending_minus_descending"]
COUNTS = ["n_items", "n_clusters", "n_reads", "n_failed"]
TESTS = ["p_holm", "p_bh", "n_tests"]


def table(
    score_effects: pd.DataFrame, order_tests: pd.DataFrame, *, study: str, cluster: str = "group"
) -> pd.DataFrame:
    """One row a judge, profile, dataset, strategy, scale and readout: shifts of the mean score with intervals.

    Args:
        score_effects: see `score_effects.estimate`. order_tests: see `order_tests.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.

    Returns:
        `p_order` and `usual_p` are of any effect of the order and of the usual ordering; `p_card` and `usual_p_card`
        are there where the test is a finding of the judge's card.
    """
    chosen = score_effects.query("study == @study and cluster == @cluster")
    rows = widen(chosen, KEYS, CONTRASTS).set_index(KEYS)
    test = chosen[chosen["quantity"] == "order_test"].set_index(KEYS)
    gap = chosen[chosen["quantity"] == "largest_gap"].set_index(KEYS)
    rows["p_order"] = test["p_order"]
    rows["usual_p"] = chosen[chosen["quantity"] == CONTRASTS[0]].set_index(KEYS)["p_order"]
    for name, of in (("p_card", "points"), ("usual_p_card", "usual")):
        rows[name] = card_tests(order_tests, KEYS, study=study, cluster=cluster, test=of)
    rows["largest_gap"] = gap["estimate"]
    rows["gap_by_chance"], rows["gap_by_chance_high"] = gap["chance"], gap["chance_high"]
    rows["root_mean_square"] = test["estimate"]
    for column in (*TESTS, "mean_score", "commonest", "flag", *COUNTS):
        rows[column] = test[column]
    return rows.reset_index()


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
    printed["p"] = p_with_card(rows["p_order"], rows["p_card"])
    usual = zip(rows["usual_p"], p_with_card(rows["usual_p"], rows["usual_p_card"]), strict=True)
    printed["p, usual"] = ["" if pd.isna(p) else written for p, written in usual]
    return printed.assign(flag=rows["flag"])


def _where_known(rows: pd.DataFrame, name: str) -> list[str]:
    written = intervals(rows, name, form="+.2f")
    return ["" if pd.isna(value) else text for value, text in zip(rows[name], written, strict=True)]
