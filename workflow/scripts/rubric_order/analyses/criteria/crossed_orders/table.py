"""Tests of whether the order of the criteria and the order of the score levels act apart from each other."""

import pandas as pd

from rubric_order.tables import flags, p_values, with_interval

CAPTION = (
    "Crossed design: studies that vary the order of the criteria and the order of the score levels together. Order: p "
    "of no effect of each on the score. Act apart: p of the two adding up in log-odds, from pairs of reads with "
    "different scores; in points they would interact near the ends of the scale whatever the judge does. Same "
    "selection: p of level positions being selected in the same shares wherever the criterion stands, which they need "
    "not be where the two act apart. Groups of texts are the sample; * significant at 5% after Holm's adjustment for "
    "all judges, profiles, datasets and scales of the study; few clusters: fewer than 30 groups. V: Cramer's V of the "
    "selected level positions where the criterion stands first and last, with {bootstrap[confidence]:.0%} bootstrap "
    "intervals over groups."
)
TESTS = {
    "criterion_order": "criterion order, p",
    "level_order": "level order, p",
    "interaction": "act apart, p",
    "same_selection": "same selection, p",
}


def table(crossed_orders: pd.DataFrame, *, study: str, n: int, profile: str = "default") -> pd.DataFrame:
    """One row a judge, dataset and strategy.

    Args:
        crossed_orders: see `crossed_orders.estimate`.
    """
    chosen = crossed_orders.query("study == @study and profile == @profile and n == @n")
    keys = ["judge", "dataset", "strategy", "n"]
    rows = []
    for key, block in chosen.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True))
        row |= {name: block[name].iloc[0] for name in ("n_texts", "n_groups", "n_scores", "n_failed")}
        tests = block.set_index("quantity")
        for column in ("p", "p_holm", "p_bh"):
            row |= {f"{name}_{column}": tests.at[name, column] for name in TESTS}
        row["n_pairs"] = tests.at["interaction", "n_pairs"]
        v = block[block["quantity"] == "cramers_v"].sort_values("criterion_position")
        for name, values in (("v_first", v.iloc[0]), ("v_last", v.iloc[-1])):
            row |= {name: values["estimate"], f"{name}_low": values["ci_low"], f"{name}_high": values["ci_high"]}
        rows.append(row)
    columns = [
        *keys,
        "n_texts",
        "n_groups",
        "n_scores",
        "n_failed",
        *(f"{name}_{p}" for name in TESTS for p in ("p", "p_holm", "p_bh")),
    ]
    columns += ["n_pairs"]
    columns += [f"{name}{end}" for name in ("v_first", "v_last") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=columns)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "dataset", "strategy"]].copy()
    for name, title in TESTS.items():
        printed[title] = p_values(rows[f"{name}_p"], rows[f"{name}_p_holm"])
    for name, title in (("v_first", "V, first"), ("v_last", "V, last")):
        ends = zip(rows[name], rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
        printed[title] = [with_interval(*row) for row in ends]
    printed["flag"] = flags(rows["n_groups"])
    return printed
