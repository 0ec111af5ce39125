"""Criterion-order bias: gaps between positions, and how many criteria depend on them."""

import pandas as pd

from rubric_order.base.keys import MACRO
from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, flags, numbers, p_values

CAPTION = (
    "What the position of a criterion in the prompt does to its score, with the columns of Xu et al. (2026), Table 5. "
    "Avg r: mean over criteria of Pearson's r with people. Mean and Max gap: a criterion's mean score in its best "
    "less its worst position, in points of the scale, averaged and greatest over criteria. A gap is never 0: chance "
    "is the gap when whole groups of texts count with random signs, p the share of such cases with a gap as large, "
    "with groups as the sample (* significant at 5% after Holm's adjustment for all judges, profiles, datasets and "
    "scales of the study). Sig., groups: criteria whose position test is significant at 5% with groups of texts as "
    "the sample, adjusted by Holm for all criteria as well. Sig., texts: the same of the item-blocked Friedman test of "
    "the paper (Skillings-Mack where scores are missing); the CSV file has how many are below 5% unadjusted, as the "
    "paper counts them. It takes texts as independent, so an order that helps "
    "some groups and harms others makes it significant without an effect on average. Few clusters: fewer than 30 "
    "groups."
)


def table(
    criterion_order: pd.DataFrame,
    criteria_agreement: pd.DataFrame,
    *,
    study: str,
    strategy: str,
    n: int,
    profile: str = "default",
    readouts: tuple[str, ...] = ("hard", "soft"),
) -> pd.DataFrame:
    """One row a judge, dataset and readout.

    Args:
        criterion_order: see `criterion_order.estimate`. criteria_agreement: see `criteria_agreement.estimate`.
    """
    where = "study == @study and profile == @profile and strategy == @strategy and n == @n and readout in @readouts"
    keys = ["judge", "dataset", "strategy", "n", "readout"]
    agreed = criteria_agreement.query(where).query("quantity == 'pearson' and cluster == 'group'")
    agreed = agreed[agreed["criterion"] == MACRO]
    pearson = agreed.set_index(keys)["estimate"].to_dict()
    rows = []
    for key, block in criterion_order.query(where).groupby(keys, sort=False):
        tests = block[block["quantity"] == "position_test"]
        row = dict(zip(keys, key, strict=True)) | {name: block[name].iloc[0] for name in ("n_texts", "n_groups")}
        row |= {"n_failed": block["n_failed"].iloc[0], "pearson": pearson.get(key, float("nan"))}
        for name in ("mean_gap", "max_gap"):
            gap = block[block["quantity"] == name]
            for column in ("estimate", "ci_low", "ci_high", "null", "excess", "p_cluster", "p_cluster_holm", "p_least"):
                value = gap[column].iloc[0] if len(gap) else float("nan")
                row[name if column == "estimate" else f"{name}_{column}"] = value
        row["n_criteria"] = len(tests)
        for name in ("p", "p_holm", "p_bh", "p_cluster", "p_cluster_holm", "p_cluster_bh"):
            row[f"n_significant_{name}"] = int((tests[name] < SIGNIFICANT).sum())
        rows.append(row | {"mean_w": tests["estimate"].mean()})
    gaps = ("estimate", "ci_low", "ci_high", "null", "excess", "p_cluster", "p_cluster_holm", "p_least")
    columns = [*keys, "n_texts", "n_groups", "n_failed", "pearson"]
    columns += [name if c == "estimate" else f"{name}_{c}" for name in ("mean_gap", "max_gap") for c in gaps]
    columns += ["n_criteria", "mean_w"]
    columns += [
        f"n_significant_{name}" for name in ("p", "p_holm", "p_bh", "p_cluster", "p_cluster_holm", "p_cluster_bh")
    ]
    return pd.DataFrame(rows, columns=columns)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 5, and ours."""

    def of_all(name: str) -> list[str]:
        return [
            f"{significant}/{total}"
            for significant, total in zip(rows[f"n_significant_{name}"], rows["n_criteria"], strict=True)
        ]

    return pd.DataFrame(
        {
            "judge": rows["judge"],
            "dataset": rows["dataset"],
            "readout": rows["readout"].map(READOUT_NAMES),
            "Avg r": numbers(rows["pearson"]),
            "Mean gap": numbers(rows["mean_gap"], form=".2f"),
            "chance, mean": numbers(rows["mean_gap_null"], form=".2f"),
            "Max gap": numbers(rows["max_gap"], form=".2f"),
            "chance, max": numbers(rows["max_gap_null"], form=".2f"),
            "p, mean": p_values(rows["mean_gap_p_cluster"], rows["mean_gap_p_cluster_holm"], rows["mean_gap_p_least"]),
            "Sig., groups": of_all("p_cluster_holm"),
            "Sig., texts": of_all("p_holm"),
            "groups": rows["n_groups"],
            "flag": flags(rows["n_groups"]),
        }
    )
