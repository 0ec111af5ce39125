"""Position bias by quality gap."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.keys import FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import quality_gap, series
from rubric_order.methods.uncertainty import cluster_robust, shares

COLUMNS = {"scores": [*KEYS, *quality_gap.NEEDED]}
BINS = 4
FEW_CELLS = "few cells"
OUTCOMES = {"position_consistency": "consistent", "preference_fairness": "leaning"}


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, forms: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Slopes per unit of the gap by least squares over comparisons, and estimates in bins of the gap.

    Kinds of gap: see `quality_gap.settings`.

    Source: Shi et al., Judging the Judges, Section 4, Figures 2 (d) to (f) and 5; all but ``own`` is ours.
    """
    rows: list[Row] = []
    for setting, table in quality_gap.settings([scores] if isinstance(scores, pd.DataFrame) else scores, forms):
        for judge, block in table.groupby("judge", sort=True):
            for kind in quality_gap.KINDS:
                part = block[block[kind].notna()]
                if len(part) > BINS:
                    same = setting | {"judge": judge, "kind": kind}
                    rows += (same | row for row in _slopes(part, kind, confidence))
                    if not quality_gap.few_cells(part, kind):
                        rows += (same | row for row in _bin_rows(part, kind, int(setting["n"]), confidence))
    columns = [*KEYS, "benchmark", "kind", "quantity", "bin", "gap", "estimate", "ci_low", "ci_high", "p"]
    columns += ["n_values", "n_clusters", "flag"]
    return tidy.make_table_with_gaps(rows, columns, {"bin": "Int64"}).assign(confidence=confidence)


def _slopes(block: pd.DataFrame, kind: str, confidence: float) -> Iterator[Row]:
    question, count = pd.factorize(block["group_id"])[0], block["group_id"].nunique()
    clusters = [question] if kind == "human" else [question, block.groupby(quality_gap.CELL).ngroup().to_numpy()]
    for quantity, column in zip(("slope_consistency", "slope_fairness"), OUTCOMES.values(), strict=True):
        y = block[column].to_numpy(dtype=float)
        slopes = [_slope(block[kind].to_numpy(dtype=float), y, cluster, confidence) for cluster in clusters]
        row = max(slopes, key=lambda row: np.nan_to_num(row["ci_high"] - row["ci_low"]))
        untold = quality_gap.few_cells(block, kind)
        interval = {key: np.nan if untold else row[key] for key in ("estimate", "ci_low", "ci_high", "p")}
        flag = ", ".join(filter(None, (FEW_CELLS if untold else "", _few(count))))
        yield {"quantity": quantity, "n_values": len(block), "n_clusters": count, "flag": flag} | interval


def _slope(gap: np.ndarray, y: np.ndarray, cluster: np.ndarray, confidence: float) -> Row:
    count, x = int(cluster.max()) + 1, np.column_stack([np.ones(len(gap)), gap])
    products = cluster_robust.sums_by(cluster, np.arange(len(x)), None, count, x[:, :, None] * x[:, None, :])
    right = cluster_robust.sums_by(cluster, np.arange(len(x)), None, count, x * y[:, None])
    return cluster_robust.least_squares(right, products).fit().interval(np.array([0.0, 1.0]), confidence)


def _few(count: int) -> str:
    return flags.FEW_CLUSTERS if count < FEW_CLUSTERS else ""


def _bin_rows(block: pd.DataFrame, kind: str, p: int, confidence: float) -> Iterator[Row]:
    which = quality_gap.bins(block[kind].to_numpy(dtype=float), BINS)
    for number in range(1, which.max() + 2 if which.any() else 1):
        part = block[which == number - 1]
        cluster = pd.factorize(part["group_id"])[0]
        common = {"bin": number, "gap": float(part[kind].mean()), "n_values": len(part)}
        for quantity, column in OUTCOMES.items():
            values = part[column].to_numpy(dtype=float)
            if quantity == "position_consistency":
                ratio = shares.share(values, cluster, confidence)
            else:
                ratio = shares.mean(values, cluster, confidence, bounds=(-1, 1))
            row = {"quantity": quantity, "n_clusters": ratio.n_clusters, "flag": _few(ratio.n_clusters)}
            yield common | row | ratio.interval.columns()
        fit, _ = series.place_preference(np.stack(part["winners"]), np.stack(part["shown"]), cluster)
        row = fit.interval(series.first_last(p), confidence)
        clusters = 0 if fit.problem else cluster_robust.counted(fit.influence)
        interval = {key: row[key] for key in ("estimate", "ci_low", "ci_high", "p")}
        flag = ", ".join(filter(None, (*fit.flags, _few(clusters))))
        yield common | {"quantity": "first_last", "n_clusters": clusters, "flag": flag} | interval
