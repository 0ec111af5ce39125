"""Agreement with people by how the criteria were ordered, at the same number of reads."""

import pandas as pd

from rubric_order.base.keys import MACRO, STRATEGIES
from rubric_order.tables import READOUT_NAMES, SIGNIFICANT, flags, numbers

CAPTION = (
    "Mean over criteria of Pearson's r with people by how the criteria were ordered, at the same number of reads, with "
    "the columns of Xu et al. (2026), Table 6, and differences with {bootstrap[confidence]:.0%} intervals of a paired "
    "bootstrap. It draws {cluster}s, the same for both strategies; here an item is one text, and a group the texts "
    "that belong together. * the interval does not hold 0; ** p < 0.05 also after Holm's adjustment for all judges, "
    "profiles, datasets and scales of the study. Few clusters: fewer than 30, on which intervals depend."
)
NAMES = {
    "balanced": "Bal",
    "random": "Rnd",
    "fixed": "Fix",
    "balanced_williams": "Williams",
    "single": "Single",
    "all": "All",
}


def table(
    criteria_agreement: pd.DataFrame,
    *,
    study: str,
    n: int,
    profile: str = "default",
    cluster: str = "group",
    readouts: tuple[str, ...] = ("hard", "soft"),
) -> pd.DataFrame:
    """One row a judge, dataset and readout: each strategy, and the differences of the first with the others.

    Args:
        criteria_agreement: see `criteria_agreement.estimate`. The first of `keys.STRATEGIES` that the
            study has is compared with the others (column `first`).
    """
    where = "study == @study and profile == @profile and n == @n and readout in @readouts and cluster == @cluster"
    chosen = criteria_agreement.query(where)
    chosen = chosen[chosen["criterion"] == MACRO]
    keys = ["judge", "dataset", "n", "readout", "cluster"]
    first = next((name for name in STRATEGIES if name in set(chosen["strategy"])), None)
    rows = []
    for key, block in chosen.groupby(keys, sort=False):
        row = dict(zip(keys, key, strict=True)) | {"n_clusters": block["n_clusters"].iloc[0], "first": first}
        for result in block.itertuples():
            if result.quantity == "pearson":
                name = f"pearson_{result.strategy}"
            elif result.strategy == first:
                name = f"difference_{result.other}"
            else:
                continue
            row |= {name: result.estimate, f"{name}_low": result.ci_low, f"{name}_high": result.ci_high}
            if result.quantity != "pearson":
                row |= {f"{name}_p": result.p, f"{name}_p_holm": result.p_holm, f"{name}_p_bh": result.p_bh}
        rows.append(row)
    result = pd.DataFrame(rows, columns=[*keys, "n_clusters", "first"] if not rows else None)
    order = [f"{kind}_{name}" for kind in ("pearson", "difference") for name in NAMES]
    values = [
        f"{name}{end}"
        for name in order
        for end in ("", "_low", "_high", "_p", "_p_holm", "_p_bh")
        if f"{name}{end}" in result
    ]
    return result[[*keys, "n_clusters", "first", *values]]


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 6, with intervals."""
    printed = rows[["judge", "dataset"]].copy()
    printed["readout"] = rows["readout"].map(READOUT_NAMES)
    for name, title in NAMES.items():
        if f"pearson_{name}" in rows:
            printed[title] = numbers(rows[f"pearson_{name}"], form=".2f")
    for name, title in NAMES.items():
        column = f"difference_{name}"
        if column in rows:
            ends = zip(*(rows[f"{column}{end}"] for end in ("", "_low", "_high", "_p_holm")), strict=True)
            printed[f"{NAMES[rows['first'].iloc[0]]} - {title}"] = [_difference(*row) for row in ends]
    printed["flag"] = flags(rows["n_clusters"])
    return printed


def _difference(value: float, low: float, high: float, holm: float) -> str:
    if pd.isna(value):
        return "undefined"
    if pd.isna(low):
        return f"{value:+.3f} [undefined]"
    mark = "" if low <= 0 <= high else "**" if holm < SIGNIFICANT else "*"
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]{mark}"
