"""Agreement of every two judges that compare the same candidates, and what their majority says."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables import intervals, widen, with_flags_of

CAPTION = (
    "Judges that compare the same candidates, with {bootstrap[confidence]:.0%} intervals over questions. Agreement: "
    "share of prompts in which two judges make the same choice; decided: of those in which neither calls a tie. "
    "Kappa: agreement beyond that of two judges who choose as often as these do whatever the prompt (Cohen). "
    "Agreement is about single prompts: two judges that prefer the same position agree for that reason as well. "
    "Majority: consistency, fairness and log-odds of the first position of the commonest choice, a tie where several "
    "are, beside the mean consistency of the single judges. Flag separated: only Firth's penalty keeps the log-odds "
    "(beta) finite, which tell of their sign and not of their size. After Shi et al. (Judging the Judges), Appendix C."
)
KEYS = ["dataset", "benchmark", "profile", "strategy", "n", "judge", "other"]
QUANTITIES = ["agreement", "agreement_decided", "kappa", "position_consistency", "preference_fairness", "first_last"]
QUANTITIES += ["mean_consistency"]


def table(judge_agreement: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a pair of judges, one of their majority, and one of all.

    Args:
        judge_agreement: see `judge_agreement.estimate`.
        study: whose reads.
    """
    chosen = judge_agreement[(judge_agreement["study"] == study) & judge_agreement["level"].isna()]
    rows = widen(chosen, KEYS, QUANTITIES)
    sizes = chosen[chosen["quantity"].isin(["agreement", "position_consistency", "mean_consistency"])]
    rows = rows.join(sizes.set_index(KEYS)[["n_judges", "n_values", "n_clusters", "flag"]], on=KEYS)
    return rows.assign(flag=with_flags_of(rows, chosen[chosen["quantity"] == "first_last"], KEYS, "beta:"))


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["benchmark"]].copy()
    labels = {EVERY: "all, mean"}
    printed["judge"] = rows["judge"].replace(labels)
    printed["other judge"] = rows["other"]
    for quantity, head, form in (
        ("agreement", "agreement", ".3f"),
        ("agreement_decided", "decided", ".3f"),
        ("kappa", "kappa", ".2f"),
        ("position_consistency", "PC", ".3f"),
        ("preference_fairness", "PF", "+.3f"),
        ("first_last", "beta", "+.2f"),
    ):
        values = rows.copy()
        if quantity == "position_consistency":  # of all the mean of the single ones
            for end in ("", "_low", "_high"):
                values[quantity + end] = values[quantity + end].fillna(values[f"mean_consistency{end}"])
        printed[head] = [text if text != "undefined" else "" for text in intervals(values, quantity, form=form)]
    printed["judges"] = rows["n_judges"]
    printed["prompts"] = rows["n_values"]
    printed["flag"] = rows["flag"]
    return printed
