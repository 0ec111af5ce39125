"""Likeness of the criteria's scores: in one prompt, judged alone, and by people."""

import pandas as pd

from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, flags, with_interval

CAPTION = (
    "Halo: mean correlation between criteria across texts, of scores given in one prompt, of the same items judged "
    "alone (where a study does that), and of people's; and the differences, with {bootstrap[confidence]:.0%} "
    "intervals of a jackknife over groups of texts. Read: of single reads; mean: of means over equally many reads of a "
    "text in one prompt and alone, since means of more reads correlate more. People's scores have noise of their own, "
    "which lowers their correlation: a difference from them is no pure halo. * a difference that is significant at 5% "
    "after Holm's adjustment for all judges, profiles, datasets and scales of the study; few clusters: one of the "
    "columns comes from fewer than 30 groups."
)
QUANTITIES = {
    "inside": "one prompt",
    "alone": "alone",
    "human": "people",
    "inside_minus_alone": "one prompt - alone",
    "inside_minus_human": "one prompt - people",
}
TESTED = ("inside_minus_alone", "inside_minus_human")


def table(
    halo: pd.DataFrame,
    *,
    study: str,
    n: int,
    profile: str = "default",
    readouts: tuple[str, ...] = ("hard", "soft"),
) -> pd.DataFrame:
    """One row a judge, dataset, strategy, readout and basis; `n_groups` is that of the quantity with the fewest.

    Args:
        halo: see `halo.estimate`.
    """
    chosen = halo.query("study == @study and profile == @profile and n == @n and readout in @readouts")
    keys = ["judge", "dataset", "strategy", "n", "readout", "basis"]
    rows = []
    for key, block in chosen.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True)) | block.iloc[0][["n_texts", "n_reads"]].to_dict()
        for entry in block.itertuples():
            name = entry.quantity
            row |= {name: entry.estimate, f"{name}_low": entry.ci_low, f"{name}_high": entry.ci_high}
            if name in TESTED:
                row |= {f"{name}_{p}": getattr(entry, p) for p in ("p", "p_holm", "p_bh")}
        row["n_groups"] = block["n_groups"][block["n_groups"] > 0].min() if block["n_groups"].any() else 0
        rows.append(row)
    columns = [*keys, "n_texts", "n_groups", "n_reads"]
    columns += [f"{name}{end}" for name in QUANTITIES for end in ("", "_low", "_high")]
    columns += [f"{name}_{p}" for name in TESTED for p in ("p", "p_holm", "p_bh")]
    return pd.DataFrame(rows, columns=columns)


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[["judge", "dataset", "strategy", "basis"]].copy()
    printed.insert(3, "readout", rows["readout"].map(READOUT_NAMES))
    printed["reads"] = rows["n_reads"]
    for name, title in QUANTITIES.items():
        if rows[name].notna().any():
            ends = zip(rows[name], rows[f"{name}_low"], rows[f"{name}_high"], strict=True)
            printed[title] = [with_interval(*row) for row in ends]
            if name in TESTED:
                marks = ["*" if pd.notna(p) and p < SIGNIFICANT else "" for p in rows[f"{name}_p_holm"]]
                printed[title] = [text + mark for text, mark in zip(printed[title], marks, strict=True)]
    printed["flag"] = flags(rows["n_groups"])
    return printed
