"""By how much conditions and orders of a prompt move the scores of the same items."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, intervals, numbers, p_values

CAPTION = (
    "Scores of the same items under other conditions, or another order of the score levels, less those of the study's "
    "first condition and strategy (the base). Mean shift: in points, with {bootstrap[confidence]:.0%} intervals and p "
    "by Student's t over {cluster}s (* significant after Holm's adjustment). Changed: share of items whose first "
    "reads differ. Mean change: mean size of that difference. Total variation: half the summed differences between "
    "the shares of scores. In brackets the floor: the largest that an edit without meaning gives, then, where the "
    "base is read repeatedly, that of two reads of one prompt. What is not above its floor is not shown to be more "
    "than what an edit without meaning does: at temperature 0 any edit moves scores. The floor has an error of its "
    "own, and grows with the number of edits. A mean shift of 0 can hide scores that move up and down. Small: the "
    "mean shift is shown to lie within {equivalence[points]} points (two one-sided tests at "
    "{equivalence[level]:.0%}). A letter or Roman numeral stands for one level throughout: what it does and what its "
    "level does are one here."
)
KEYS = ["judge", "profile", "dataset", "n", "varied", "order", "kind", "readout"]
VALUES = ["estimate", "ci_low", "ci_high", "p", "p_holm", "verdict", "floor_neutral", "floor_repeats", "n_neutral"]
QUANTITIES = ("mean_shift", "mean_change", "share_changed", "total_variation")


def table(score_shifts: pd.DataFrame, *, study: str, profile: str = "default", cluster: str = "group") -> pd.DataFrame:
    """One row a judge, dataset, variant and readout, with each quantity beside its interval and floors.

    Args:
        score_shifts: see `score_shifts.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = score_shifts.query("study == @study and profile == @profile and cluster == @cluster")
    sizes = chosen[chosen["quantity"] == "mean_shift"].set_index(KEYS)[["n_items", "n_clusters", "n_failed"]]
    rows = chosen[KEYS].drop_duplicates().set_index(KEYS)
    for quantity in QUANTITIES:
        of_quantity = chosen[chosen["quantity"] == quantity].set_index(KEYS)[VALUES]
        rows = rows.join(of_quantity.rename(columns=lambda name, quantity=quantity: f"{quantity}_{name}"))
    return rows.join(sizes).reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    printed = rows[["judge", "dataset"]].copy()
    printed["changed"] = [f"{varied}, {order}" for varied, order in zip(rows["varied"], rows["order"], strict=True)]
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    renamed = {f"mean_shift_{old}": new for old, new in (("ci_low", "shift_low"), ("ci_high", "shift_high"))}
    shifts = rows.rename(columns=renamed | {"mean_shift_estimate": "shift"})
    printed["mean shift"] = [
        f"{value}{floor}"
        for value, floor in zip(
            intervals(shifts, "shift", form="+.2f"), _floors(rows, "mean_shift", ".2f"), strict=True
        )
    ]
    printed["p"] = p_values(rows["mean_shift_p"], rows["mean_shift_p_holm"])
    printed["small"] = rows["mean_shift_verdict"]
    for name, head, form in (
        ("share_changed", "changed items", ".0%"),
        ("mean_change", "mean change", ".2f"),
        ("total_variation", "total variation", ".2f"),
    ):
        values = numbers(rows[f"{name}_estimate"], form=form)
        printed[head] = [f"{value}{floor}" for value, floor in zip(values, _floors(rows, name, form), strict=True)]
    return printed.assign(flag=flags(rows["n_clusters"]))


def _floors(rows: pd.DataFrame, name: str, form: str) -> list[str]:
    """The floors of a quantity in brackets, those that are known."""
    pairs = rows[[f"{name}_floor_neutral", f"{name}_floor_repeats"]].itertuples(index=False)
    known_floors = [[f"{floor:{form}}" for floor in pair if pd.notna(floor)] for pair in pairs]
    return [f" ({', '.join(floors)})" if floors else "" for floors in known_floors]
