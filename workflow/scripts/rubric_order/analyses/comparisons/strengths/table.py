"""Strengths and ranks of candidates, with and without what positions are worth to the judge."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import intervals, numbers, widen

CAPTION = (
    "Strengths of the candidates that judges compare: log-odds over the baseline (0), or over the candidates' mean "
    "where there is no baseline, with {bootstrap[confidence]:.0%} intervals over questions; and ranks, with the range "
    "of the ranks of strengths drawn from their errors. Model: Bradley and Terry's with a worth of each position, "
    "with Davidson's ties; for lists Plackett and Luce's. Without positions: the same reads, without that term; where "
    "each pair is read in all orders the term changes little. First and last order: reads of one order alone, whose "
    "strengths hold what the position is worth (with a baseline: all others lose or gain it). Reversed, in the row of "
    "all: share of pairs of candidates whose order changes without positions, and between the first order and the "
    "last; some of that is chance. Flag not connected: a candidate that nobody, or everybody, of the largest "
    "connected set beats has no number; not identified: the design does not tell it, as where the baseline always "
    "stands first. First position: its log-odds less the last's; the CSV file also has it by Rao and Kupper's ties."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "n", "candidate"]
MODELS = {"with places": "places", "without places": "no_places", "first order": "first", "last order": "last"}
FIRST_PLACE = {"with places": "first_last", "Rao-Kupper": "first_last_rao_kupper"}


def table(strengths: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a judge, benchmark and candidate, the strongest first; and one of ``all``, with places and reversals.

    Args:
        strengths: see `strengths.estimate`.
        study: whose reads.

    Returns:
        `strength`, `rank` and `reversals` of each model, with its short name behind (`MODELS`), and intervals. In the
        row of ``all`` `first_last`, and `first_last_rao_kupper` by the other model of ties, where there is one.
    """
    chosen = strengths[strengths["study"] == study]
    rows = chosen[KEYS].drop_duplicates().reset_index(drop=True)
    for model, short in MODELS.items():
        part = widen(chosen[chosen["model"] == model], KEYS, ["strength", "rank", "reversals", "tie"])
        part = part.dropna(axis="columns", how="all") if len(part) else part
        rows = rows.merge(part.rename(columns={name: _named(name, short) for name in part}), on=KEYS, how="left")
    for model, name in FIRST_PLACE.items():
        of_model = chosen[(chosen["model"] == model) & (chosen["quantity"] == "first_last")].set_index(KEYS)
        places = of_model[["estimate", "ci_low", "ci_high"]].set_axis([name, f"{name}_low", f"{name}_high"], axis=1)
        rows = rows.join(places, on=KEYS, validate="one_to_one")
    whole = chosen[(chosen["model"] == "with places") & chosen["quantity"].isin(["strength", "first_last"])]
    sizes = whole.set_index(KEYS)[["n_reads", "n_clusters", "flag"]]
    rows = rows.join(sizes, on=KEYS, validate="one_to_one")
    for name in [f"{quantity}_{short}" for quantity in ("strength", "rank", "reversals") for short in MODELS.values()]:
        for end in ("", "_low", "_high"):
            rows[name + end] = rows.get(name + end, float("nan"))
    block = rows.groupby(KEYS[:-1], sort=False).ngroup()
    last = rows["candidate"] == EVERY
    order = rows.assign(block=block, last=last, rank=rows["rank_places"]).sort_values(
        ["block", "last", "rank"], kind="stable"
    )
    return rows.loc[order.index].reset_index(drop=True)


def _named(name: str, short: str) -> str:
    if name in KEYS:
        return name
    for end in ("_low", "_high"):
        if name.endswith(end):
            return f"{name.removesuffix(end)}_{short}{end}"
    return f"{name}_{short}"


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "benchmark", "candidate"]].copy()
    of_all = rows["candidate"] == EVERY
    printed["strength"] = _known(intervals(rows, "strength_places", form="+.2f"), ~of_all)
    printed["rank"] = _known(intervals(rows, "rank_places", form=".3g"), ~of_all)
    printed["without positions"] = _known(numbers(rows["strength_no_places"], form="+.2f"), ~of_all)
    printed["first order"] = _known(numbers(rows["strength_first"], form="+.2f"), ~of_all)
    printed["last order"] = _known(numbers(rows["strength_last"], form="+.2f"), ~of_all)
    printed["first position"] = _known(intervals(rows, "first_last", form="+.2f"), of_all)
    shares = [numbers(rows[f"reversals_{short}"], form=".3f") for short in ("no_places", "last")]
    printed["reversed"] = _known([f"{one}, orders {two}" for one, two in zip(*shares, strict=True)], of_all)
    printed["reads"] = rows["n_reads"]
    printed["flag"] = rows["flag"]
    return printed


def _known(texts: list[str], there: pd.Series) -> list[str]:
    return [text if kept else "" for text, kept in zip(texts, there, strict=True)]
