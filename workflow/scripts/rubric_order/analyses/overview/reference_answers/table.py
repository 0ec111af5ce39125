"""The making of reference answers at every score."""

import pandas as pd

from rubric_order.tables import flags, intervals, numbers, widen

CAPTION = (
    "Reference answers that judges wrote for each score: accepted in the end, the share of groups, criteria and scores "
    "with an accepted text; attempts that gave a text; texts that the reviewer accepted; and texts about which it gave "
    "no clear verdict. Blind: the same reviewer scores the text without knowing what score it was written for; share "
    "of these scores that are that score, their mean shift in points, and quadratic kappa, of all texts and of "
    "accepted ones. Where blind scores of accepted texts are as far off as those of rejected ones, the verdict says "
    "nothing about the score. By writer, reviewer, score and round; later rounds hold what was rejected before. "
    "{bootstrap[confidence]:.0%} intervals with groups as the sample. After Li et al. (2025), Figure 4, who report "
    "none of this."
)
KEYS = ["dataset", "by", "value"]
QUANTITIES = ("slots_accepted", "written", "accepted", "unclear")
BLIND = (
    "blind_equal_texts",
    "blind_equal_accepted",
    "blind_equal_rejected",
    "blind_shift_texts",
    "blind_shift_accepted",
)
KAPPA = ("blind_kappa_texts", "blind_kappa_accepted")


def table(reference_answers: pd.DataFrame) -> pd.DataFrame:
    """One row a dataset, way of dividing attempts, and value; see `reference_answers.estimate`."""
    rows = widen(reference_answers, KEYS, [*QUANTITIES, *BLIND, *KAPPA])
    for name, quantity in (("n_slots", "slots_accepted"), ("n_attempts", "written"), ("n_texts", "accepted")):
        of_quantity = reference_answers[reference_answers["quantity"] == quantity].set_index(KEYS)
        rows[name] = of_quantity["n"].reindex(pd.MultiIndex.from_frame(rows[KEYS])).to_numpy()
    of_quantity = reference_answers[reference_answers["quantity"] == "written"].set_index(KEYS)
    rows["n_clusters"] = of_quantity["n_clusters"].reindex(pd.MultiIndex.from_frame(rows[KEYS])).to_numpy()
    return rows


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded; shares in percent."""
    printed = rows[["dataset"]].copy()
    printed["of"] = rows["by"]
    printed["which"] = rows["value"].where(rows["by"] != "all", "")
    has_slots = rows["n_slots"].notna()
    shares = intervals(rows, "slots_accepted", form=".0f", times=100)
    printed["accepted in the end, %"] = [text if has else "" for text, has in zip(shares, has_slots, strict=True)]
    printed["attempts"] = rows["n_attempts"].astype(int)
    printed["texts, %"] = numbers(rows["written"], form=".0f", times=100)
    printed["texts accepted, %"] = intervals(rows, "accepted", form=".0f", times=100)
    printed["unclear, %"] = numbers(rows["unclear"], form=".0f", times=100)
    for name in ("texts", "accepted", "rejected"):
        printed[f"blind score equal, % of {name}"] = numbers(rows[f"blind_equal_{name}"], form=".0f", times=100)
    for name in ("texts", "accepted"):
        printed[f"blind shift, {name}"] = numbers(rows[f"blind_shift_{name}"], form="+.2f")
        printed[f"kappa, {name}"] = numbers(rows[f"blind_kappa_{name}"], form=".2f")
    return printed.assign(flag=flags(rows["n_clusters"]))
