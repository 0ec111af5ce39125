"""Positions that a judge selects."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, card_tests, flags, intervals, numbers, p_with_card

CAPTION = (
    "Which positions of the prompt are selected. With the columns of Xu et al. (2026), Table 2: chi-square against "
    "uniform, Cramer's V with a {bootstrap[confidence]:.0%} bootstrap interval that allows for chance making V "
    "positive, the share of the first and the last position, and the direction of bias. Each ordering counts once for "
    "each item, and where reads are lost, selections are compared with what the others showed. p: of the test that "
    "takes {cluster}s, not reads, as the sample (Rao and Scott). p rotation: of a test by permutation, which a few "
    "{cluster}s do not mislead; the larger of both counts (* at most 3% after Holm's adjustment for the tests "
    "that decide the judge's bias card, and others have no mark; the CSV file has Holm's adjustment for all judges, "
    "datasets and scales of the study too). Corrected V: without what chance adds to it. "
    "Detectable V: the smallest that would have been found with a probability of 80%. The direction comes from "
    "simultaneous intervals of all shares, not from the largest share: near uniform means that all of them are within "
    "{direction[near_uniform]:.0%} of the uniform share, undetermined that they are too wide to tell. Where the "
    "readout is option probabilities, chi-square is computed from summed probabilities: it describes and is no test. "
    "What is selected is not what is preferred: V depends on how decisive the judge is and on the number of levels, "
    "and is blind to a preference that changes with the score, so that it compares neither judges nor scales "
    "(Position preference does), and scores can change with the order where it is 0 (Effect on scores). Saturated: "
    "the commonest score takes 95% of the reads, or 95% of the pairs of reads of an item agree (same %); the order "
    "then has next to nothing to change, selections cannot show a preference, and there is no detectable V. Where "
    "nothing varies there is no interval. The CSV file has every interval, and bounds over what reads without a score "
    "could have selected. "
    "Few clusters: fewer than 30 {cluster}s, with which intervals are somewhat too short."
)
KEYS = ["judge", "dataset", "strategy", "n", "readout", "cluster"]
COUNTS = ["n_items", "n_clusters", "n_reads", "n_failed"]
TESTS = ["p", "p_cluster", "p_rotation", "p_holm", "p_bh", "n_tests"]
VARIETY = ["commonest_share", "discordant_pairs", "discordant_share"]
EFFECTS = ["cramers_v_corrected", "cramers_v_squared", "cramers_v_corrected_reads", "design_effect", "detectable_v"]
ENDS = ["ci_low", "ci_high", "bound_low", "bound_high"]


def table(
    position_selection: pd.DataFrame,
    order_tests: pd.DataFrame,
    *,
    study: str,
    strategy: str,
    n: int,
    profile: str = "default",
    cluster: str = "group",
) -> pd.DataFrame:
    """One row a judge, dataset and readout: chi-square, p-values, V, direction of bias, share of each position.

    Args:
        position_selection: see `position_selection.estimate`. order_tests: see `order_tests.estimate`.
        cluster: ``item`` or ``group``: what counts as the sample.
    """
    reads = "study == @study and profile == @profile and strategy == @strategy and n == @n and cluster == @cluster"
    chosen = position_selection.query(reads)
    where = {"study": study, "profile": profile, "cluster": cluster, "test": "selection"}
    of_cards = card_tests(order_tests, KEYS, **where).to_dict()
    rows = []
    for key, block in chosen.groupby(KEYS, sort=False):
        of = block.set_index("quantity")
        row = dict(zip(KEYS, key, strict=True)) | of.loc["chi2", COUNTS].to_dict()
        row |= {"chi2": of.at["chi2", "estimate"]} | of.loc["chi2", TESTS].to_dict()
        row["p_card"] = of_cards.get(key, float("nan"))
        row |= {"cramers_v": of.at["cramers_v", "estimate"]} | _ends("cramers_v", of.loc["cramers_v"])
        row |= {"flag": of.at["cramers_v", "flag"]} | of["estimate"][EFFECTS].to_dict()
        row |= {"saturated": of.at["cramers_v", "saturated"]} | of["estimate"][VARIETY].to_dict()
        row["direction"] = of.at["direction", "label"]
        for _, share in of.loc["share"].iterrows():
            name = f"pos{share['position']}"
            row |= {name: share["estimate"]} | _ends(name, share)
            row |= {f"{name}_sim_low": share["sim_low"], f"{name}_sim_high": share["sim_high"]}
        rows.append(row)
    columns = [*KEYS, *COUNTS, "chi2", *TESTS, "p_card", "cramers_v", *_names("cramers_v"), "flag", *EFFECTS]
    columns += ["saturated", *VARIETY, "direction"]
    for position in range(1, n + 1):
        name = f"pos{position}"
        columns += [name, *_names(name), f"{name}_sim_low", f"{name}_sim_high"]
    return pd.DataFrame(rows, columns=columns)


def _names(name: str) -> list[str]:
    return [f"{name}_{end.removeprefix('ci_')}" for end in ENDS]


def _ends(name: str, row: pd.Series) -> dict:
    return dict(zip(_names(name), row[ENDS], strict=True))


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 2, with V and the direction of bias."""
    if rows.empty:
        return pd.DataFrame(columns=["judge", "dataset", "readout"])
    last = f"pos{rows['n'].iloc[0]}"
    return pd.DataFrame(
        {
            "judge": rows["judge"],
            "dataset": rows["dataset"],
            "readout": rows["readout"].map(READOUT_NAMES),
            "reads": rows["n_reads"],
            f"{rows['cluster'].iloc[0]}s": rows["n_clusters"],
            "V": intervals(rows, "cramers_v"),
            "corrected V": numbers(rows["cramers_v_corrected"]),
            "detectable V": numbers(rows["detectable_v"]),
            "chi2": numbers(rows["chi2"], form=".1f"),
            "p": p_with_card(rows["p_cluster"], rows["p_card"]),
            "p rotation": ["" if pd.isna(p) else "<.001" if p < 0.001 else f"{p:.3f}" for p in rows["p_rotation"]],
            "Pos1 %": intervals(rows, "pos1", form=".1f", times=100),
            f"Pos{last[3:]} %": intervals(rows, last, form=".1f", times=100),
            "commonest %": numbers(rows["commonest_share"], form=".0f", times=100),
            "same %": numbers(1 - rows["discordant_share"], form=".0f", times=100),
            "direction": [_with_saturation(*row) for row in zip(rows["direction"], rows["saturated"], strict=True)],
            "flag": flags(rows["n_clusters"]),
        }
    )


def _with_saturation(direction: str, saturated: bool) -> str:
    return f"{direction}, saturated" if saturated and direction != "saturated" else direction
