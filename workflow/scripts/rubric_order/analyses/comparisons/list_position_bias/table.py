"""Consistency, fairness and the worth of each position to judges that choose from lists."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import flags, intervals, numbers, widen, with_flags_of

CAPTION = (
    "Position bias of judges that choose the best of a list, with {bootstrap[confidence]:.0%} intervals over "
    "questions. PC, position consistency: share of lists with one winner, or a tie, in all orders, of those with a "
    "verdict in each; chance is the PC of a judge that draws a position in each order and calls as many ties, alike "
    "in all lists: where ties gather in some lists, chance alone gives more. PF, preference fairness: share of lists "
    "that are inconsistent and count for another position than the first, less that of those that count for the "
    "first; a list counts by its most chosen position. Several positions stand against the first, so a judge without "
    "a preferred place does not have a PF of 0: column even gives its PF. Two winners: share of lists in which two "
    "candidates win; the other inconsistent lists have one winner and ties. Positions: what each position adds to a "
    "candidate's log-odds, from the first to the last; they sum to 0. Beta: the first less the last (conditional "
    "logit, Firth's penalty). Errors: answers without a verdict. RS, repetition stability: share of the commonest "
    "verdict among reads of one prompt. Marked: a beta that is separated: only the penalty keeps it finite, so read "
    "its sign and not its size."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n"]
QUANTITIES = ["repetition_stability", "position_consistency", "consistency_by_chance", "preference_fairness"]
QUANTITIES += ["fairness_of_even_places", "strict_flips", "soft_flips", "error_rate", "first_last", "excess"]
WITHOUT_INTERVAL = ("consistency_by_chance", "fairness_of_even_places")


def table(position_consistency: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a judge, profile, benchmark, strategy and length of lists, over all tasks.

    Args:
        position_consistency: see `position_consistency.estimate`.
        study: whose reads, of probe `list_order`.

    Returns:
        Each quantity with `_low` and `_high`; `place_1` and so on, what a position is worth, with the same. `n_lists`
        have a verdict in each order, of `n_questions` questions.
    """
    chosen = position_consistency.query("study == @study and cluster == 'group'")
    chosen = chosen[chosen["task"] == EVERY]
    placed = chosen["quantity"] == "place_preference"
    quantities = "place_" + chosen.loc[placed, "position"].astype(str)
    places = chosen[placed].assign(quantity=quantities)
    place_names = [f"place_{place}" for place in range(1, int(places["position"].max()) + 1)] if len(places) else []
    rows = widen(pd.concat([chosen[~placed], places]), KEYS, [*QUANTITIES, *place_names])
    rows = rows.drop(columns=[f"{name}_{end}" for name in WITHOUT_INTERVAL for end in ("low", "high")])
    consistency = chosen[chosen["quantity"] == "position_consistency"].set_index(KEYS)[["n_values", "n_clusters"]]
    sizes = consistency.rename(columns={"n_values": "n_lists", "n_clusters": "n_questions"}).astype("Int64")
    rows = rows.join(sizes, on=KEYS).fillna({"n_lists": 0, "n_questions": 0})
    rows["flag"] = flags(rows["n_questions"])
    first = chosen[chosen["quantity"] == "first_last"]
    return rows.assign(flag=with_flags_of(rows, first, KEYS, "beta:"))


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "profile", "benchmark", "strategy"]].copy()
    printed["length"] = rows["n"]
    printed["RS"] = intervals(rows, "repetition_stability", form=".2f")
    printed["PC"] = intervals(rows, "position_consistency", form=".2f")
    printed["chance"] = numbers(rows["consistency_by_chance"], form=".2f")
    printed["PF"] = intervals(rows, "preference_fairness", form="+.2f")
    printed["even"] = numbers(rows["fairness_of_even_places"], form="+.2f")
    printed["two winners"] = numbers(rows["strict_flips"], form=".2f")
    printed["positions"] = [_places(row) for _, row in rows.iterrows()]
    printed["beta"] = intervals(rows, "first_last", form="+.2f")
    printed["errors"] = numbers(rows["error_rate"])
    printed["lists"] = rows["n_lists"]
    printed["flag"] = rows["flag"]
    return printed


def _places(row: pd.Series) -> str:
    """Worth of the positions of one row, with blanks between them; lists of the row may be the shorter ones."""
    worth = [row.get(f"place_{place}") for place in range(1, row["n"] + 1)]
    return " ".join(f"{value:+.2f}" for value in worth) if pd.notna(worth).all() else "undefined"
