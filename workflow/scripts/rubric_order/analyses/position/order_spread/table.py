"""Spread of the order's effects between single items, and the share of items that move."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, flags, widen, with_interval

CAPTION = (
    "What an ordering does to single items, beside what it does to all of them alike: its standard deviation between "
    "items, in points, with {bootstrap[confidence]:.0%} jackknife intervals over {cluster}s. A mean over items does "
    "not show it, where some gain what others lose. At most: the upper end that is held against the margin of "
    "{order_spread[margin]:g} points, at level {equivalence[level]:g}; below it, the spread is shown to be small. By "
    "option probabilities repetition has no part in it where the answer begins with the score; where a text stands "
    "before the score, what the text does by chance counts as the order's, unless orderings were read several times. "
    "Of selected options it is known from repeats of every ordering, or from the probabilities of a judge whose score "
    "is one draw from them; elsewhere what the order does to an item and what chance does look alike, and only both "
    "together (reads of an item) are known. It does not say why an item is moved: a preference for positions that "
    "differs from item to item, one that is the same and meets items with other scores, and a judge that is unstable "
    "under any change of the prompt give the same number. Scores changed: share of the items whose score another "
    "ordering than the usual one changes; by option probabilities as many as must change whatever is drawn, by repeats "
    "those beyond chance, which is no more. Best changed: share of the prompts whose best candidate is another one; by "
    "option probabilities of the expected scores, however little they differ."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
QUANTITIES = ["spread", "within", "changed", "best_changed"]


def table(order_spread: pd.DataFrame, *, study: str, cluster: str = "group") -> pd.DataFrame:
    """One row a judge, profile, dataset, strategy, scale and readout.

    Args:
        order_spread: see `order_spread.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    chosen = order_spread.query("study == @study and cluster == @cluster")
    rows = widen(chosen, KEYS, QUANTITIES).set_index(KEYS)
    whole = chosen[chosen["quantity"] == "within"].set_index(KEYS)
    own = chosen[chosen["quantity"] == "spread"].set_index(KEYS)
    rows["at_most"], rows["margin"], rows["verdict"] = own["high"], own["margin"], own["verdict"]
    rows["known_from"] = whole["known_from"]
    rows["n_items"], rows["n_clusters"] = whole["n_items"], whole["n_clusters"]
    return rows.reset_index()


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, rounded."""
    printed = rows[["judge", "profile", "dataset", "strategy", "n"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["items"] = rows["n_items"]
    printed["SD between items"] = _known(rows, "spread")
    printed["at most"] = ["" if pd.isna(value) else f"{value:.2f}" for value in rows["at_most"]]
    printed["below the margin"] = rows["verdict"]
    printed["SD of reads of an item"] = _known(rows, "within")
    printed["scores changed %"] = _known(rows, "changed", form=".0f", times=100)
    printed["best changed %"] = _known(rows, "best_changed", form=".0f", times=100)
    printed["known from"] = rows["known_from"]
    return printed.assign(flag=flags(rows["n_clusters"]))


def _known(rows: pd.DataFrame, name: str, *, form: str = ".2f", times: float = 1) -> list[str]:
    values = rows[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
    return ["not known" if pd.isna(row[0]) else with_interval(*row, form=form, times=times) for row in values]
