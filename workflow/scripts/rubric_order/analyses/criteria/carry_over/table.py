"""Effect of the criterion right before another on its score, and what is left of position effects then."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, flags, p_values, with_interval

CAPTION = (
    "Carry-over: whether a criterion scores higher right after one under which the text scores high, and what is left "
    "of position effects when that is taken into account. Slope: points by which a criterion scores higher a point by "
    "which the text scores higher under the criterion right before it than under an average one; 0 without carry-over. "
    "Predecessor: p of no effect of which criterion comes before; leader: of which one stands first. Position: p of no "
    "effect of the position, alone and given the slope; * significant at 5% after Holm's adjustment for all judges, "
    "profiles, datasets and scales of the study. Criteria: how many are so in the same tests of single criteria. All "
    "p-values take groups of texts as the sample; few clusters: fewer than 30 groups. Rotations put each criterion "
    "after the same two neighbours; Williams designs (strategy balanced_williams) after each other criterion equally "
    "often."
)


def table(
    carry_over: pd.DataFrame,
    *,
    study: str,
    n: int,
    profile: str = "default",
    readouts: tuple[str, ...] = ("hard", "soft"),
) -> pd.DataFrame:
    """One row a judge, dataset, strategy and readout.

    Args:
        carry_over: see `carry_over.estimate`.
    """
    chosen = carry_over.query("study == @study and profile == @profile and n == @n and readout in @readouts")
    keys = ["judge", "dataset", "strategy", "n", "readout"]
    rows = []
    for key, block in chosen.groupby(keys, sort=False):
        slope = block[block["quantity"] == "carry_over"].iloc[0]
        row = dict(zip(keys, key, strict=True)) | {name: slope[name] for name in ("n_texts", "n_groups", "n_scores")}
        row |= {"slope": slope["estimate"], "slope_low": slope["ci_low"], "slope_high": slope["ci_high"]}
        row |= {"slope_p": slope["p"], "slope_p_holm": slope["p_holm"]}
        tests = block[block["quantity"].isin(["any_position", "any_predecessor", "any_leader"])]
        pooled = tests[tests["criterion"].isna()].set_index(["quantity", "model"])[["p", "p_holm"]]
        for name in ("predecessor", "leader"):
            row |= pooled.loc[f"any_{name}", f"position + {name}"].add_prefix(f"{name}_").to_dict()
        single = tests[tests["criterion"].notna()]
        for name, model in (("position", "position"), ("position_given_slope", "position + level")):
            row |= pooled.loc["any_position", model].add_prefix(f"{name}_").to_dict()
            row[f"{name}_criteria"] = int((single[single["model"] == model]["p_holm"] < SIGNIFICANT).sum())
        rows.append(row | {"n_criteria": single["criterion"].nunique()})
    columns = [*keys, "n_texts", "n_groups", "n_scores", "slope", "slope_low", "slope_high", "slope_p", "slope_p_holm"]
    columns += [
        *(f"{name}_{p}" for name in ("predecessor", "leader", "position") for p in ("p", "p_holm")),
        "position_criteria",
        "position_given_slope_p",
        "position_given_slope_p_holm",
        "position_given_slope_criteria",
        "n_criteria",
    ]
    return pd.DataFrame(rows, columns=columns)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    ends = zip(rows["slope"], rows["slope_low"], rows["slope_high"], strict=True)
    printed = rows[["judge", "dataset", "strategy"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    printed["slope"] = [with_interval(*row) for row in ends]
    for name, title in (
        ("predecessor_p", "predecessor, p"),
        ("leader_p", "leader, p"),
        ("position_p", "position, p"),
        ("position_given_slope_p", "position given slope, p"),
    ):
        printed[title] = p_values(rows[name], rows[f"{name}_holm"])
    for name, title in (("position", "criteria"), ("position_given_slope", "criteria given slope")):
        counts = zip(rows[f"{name}_criteria"], rows["n_criteria"], strict=True)
        printed[title] = [f"{number}/{total}" for number, total in counts]
    printed["flag"] = flags(rows["n_groups"])
    return printed
