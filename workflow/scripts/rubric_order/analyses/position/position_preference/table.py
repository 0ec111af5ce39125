"""Amount that each position adds to the log-odds of a score."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, card_tests, intervals, p_with_card, percent

CAPTION = (
    "Position preference: what each position of the prompt adds to the log-odds of the score that stands there, with "
    "{bootstrap[confidence]:.0%} intervals over {cluster}s; the positions sum to 0. It compares the reads of one item "
    "with each other, so what the judge thinks of the item cancels: unlike the shares of positions, it does not depend "
    "on how decisive the judge is, and is comparable across judges and numbers of levels at one temperature. p: of all "
    "positions being worth the same (Hotelling's T-squared, {cluster}s as the sample; * at most 3% after "
    "Holm's adjustment for the tests that decide the judge's bias card, and others have no mark; the CSV file has "
    "Holm's adjustment for all judges, datasets and scales of the study too). Selected options count in log-odds "
    "of an answer: at temperature T they are 1/T of the model's own, which option probabilities give. At temperature 0 "
    "nothing is drawn: the unit is then what else differs between the prompts of an item, and says nothing of "
    "probabilities. Where items or {cluster}s prefer different positions, selected options give the preference of the "
    "whole (smaller than the mean of theirs), option probabilities the mean; where some prefer the first positions and "
    "others the last, selected options can show a preference for both ends (a U) that no item has. Where a position is "
    "worth more to some scores (p of interaction: of what the highest score gains at the last position and the lowest "
    "at the first), the number is an average over the scores that the judge wavers between. Differing: share of the "
    "pairs of reads of an item that can tell; a judge is saturated where it is below 5%. Of selected options the "
    "estimates are those of Firth's penalised likelihood: where few pairs tell, maximum likelihood would put them too "
    "far from 0. Separated: only the penalty keeps them finite. Their intervals are then too wide at both ends and say "
    "too little of which position is preferred; the test of no preference is the score test, which p is."
)
KEYS = ["judge", "profile", "dataset", "strategy", "n", "readout"]
SIZES = ["n_pairs", "n_clusters"]
MORE = ["differing", "n_items", "n_reads", "temperature", "unit", "flag"]
CONTRASTS = ["first_last", "ends_middle", "interaction"]


def table(
    position_preference: pd.DataFrame, order_tests: pd.DataFrame, *, study: str, cluster: str = "group"
) -> pd.DataFrame:
    """One row a judge, profile, dataset (``all``: all of them), strategy, scale, readout and position.

    Args:
        position_preference: see `position_preference.estimate`. order_tests: see `order_tests.estimate`.
        study: whose reads.
        cluster: ``item`` or ``group``: what counts as the sample.

    Returns:
        The preference of the position with its interval; the rest is of all positions: the tests, sizes, contrasts and
        interaction. `p_interaction` is of every score-by-place term, `interaction_p` of the one that `interaction` is.
        `p_card` and `interaction_p_card` are there where the test is a finding of the judge's card.
    """
    chosen = position_preference.query("study == @study and cluster == @cluster")
    ends = {"estimate": "preference", "ci_low": "preference_low", "ci_high": "preference_high"}
    preferences = chosen[chosen["quantity"] == "preference"].drop(columns="p_cluster").rename(columns=ends)
    tests = chosen[chosen["quantity"] == "no_preference"].set_index(KEYS)[["p_cluster", "p_holm", "p_bh", "n_tests"]]
    further = {"p_interaction": chosen[chosen["quantity"] == "no_interaction"].set_index(KEYS)["p"]}
    for name in CONTRASTS:
        rows = chosen[chosen["quantity"] == name].set_index(KEYS)
        further |= {name: rows["estimate"], f"{name}_low": rows["ci_low"], f"{name}_high": rows["ci_high"]}
    further["interaction_p"] = rows["p"]
    for name, of in (("p_card", "preference"), ("interaction_p_card", "interaction")):
        further[name] = card_tests(order_tests, KEYS, study=study, cluster=cluster, test=of)
    preferences = preferences[[*KEYS, "position", *ends.values(), *SIZES, *MORE]]
    preferences = preferences.join(tests, on=KEYS).join(pd.DataFrame(further), on=KEYS)
    columns = [*KEYS, "position", *ends.values(), "p_cluster", *SIZES, "p_holm", "p_bh", "n_tests"]
    return preferences[[*columns, *further, *MORE]].reset_index(drop=True)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, profile, dataset, strategy, scale and readout, with a column for each position."""
    firsts = rows[rows["position"] == 1].reset_index(drop=True)
    printed = firsts[["judge", "profile", "dataset", "strategy", "n"]].copy()
    printed["readout"] = firsts["readout"].map(READOUT_NAMES)
    for position in range(1, int(rows["n"].max()) + 1 if len(rows) else 1):
        at = firsts[KEYS].merge(rows[rows["position"] == position], on=KEYS, how="left")
        values = intervals(at, "preference", form="+.2f")
        printed[f"Pos{position}"] = ["" if n < position else value for n, value in zip(at["n"], values, strict=True)]
    printed["first - last"] = intervals(firsts, "first_last", form="+.2f")
    printed["p"] = p_with_card(firsts["p_cluster"], firsts["p_card"])
    printed["p of interaction"] = p_with_card(firsts["interaction_p"], firsts["interaction_p_card"])
    printed["differing"] = [percent(share, 1) for share in firsts["differing"]]
    printed["pairs"] = firsts["n_pairs"]
    printed["flag"] = firsts["flag"]
    return printed
