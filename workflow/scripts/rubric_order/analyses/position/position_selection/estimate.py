"""Selection of positions."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import flags, randomness
from rubric_order.base.keys import CLUSTERS, KEYS, stream
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections, uniformity
from rubric_order.methods.uncertainty import bounds, multiplicity, resampling

COLUMNS = {"scores": [*KEYS, "item_id", "group_id", "read_index", "ordering", *selections.READOUTS.values()]}
SIDES = ("low", "high")
BERGSMA = "Bergsma's correction, reads independent"


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    resamples: int,
    confidence: float,
    seed: int,
    near_uniform: float = uniformity.NEAR_UNIFORM,
    clusters: Sequence[str] = CLUSTERS,
) -> pd.DataFrame:
    """Position shares, chi-square, Cramer's V and direction of bias, for both readouts, over items and over groups.

    Shares have percentile and simultaneous intervals (`sim_...`, `uniformity.simultaneous_intervals`) and worst-case
    bounds over failed reads (`bound_...`). V: `uniformity.v_interval`, `uniformity.corrected_v`,
    `uniformity.detectable_v`; ``cramers_v_corrected_reads`` takes reads as independent.
    """
    options = {"resamples": resamples, "confidence": confidence}
    rows = [row for block in blocks.blocks(scores) for row in _block_rows(block, seed, near_uniform, options, clusters)]
    columns = [*KEYS, "readout", "cluster", "quantity", "position", "estimate", "ci_low", "ci_high"]
    columns += ["sim_low", "sim_high", "bound_low", "bound_high", "p", "p_cluster", "p_rotation", "label", "flag"]
    columns += ["saturated", "n_items", "n_clusters", "n_reads", "n_failed", "method"]
    table = tidy.make_table(rows, columns, types={"position": "Int8", "saturated": "bool"})
    return multiplicity.adjust(table.assign(confidence=confidence, seed=seed), "p_cluster")


def _block_rows(
    block: blocks.Block, seed: int, near: float, options: dict[str, Any], kinds: Sequence[str]
) -> Iterable[Row]:
    for readout, column in selections.READOUTS.items() if block.crossed else ():
        counts = selections.evened(block, readout)
        used = counts.sum(axis=1) > 0
        if not used.any():
            continue
        answered = int((block.table[column].notna().to_numpy() & used[block.item]).sum())
        variety = selections.variety(block, readout)
        saturated = uniformity.is_saturated(variety.commonest, variety.discordant_share)
        sizes = {
            "saturated": saturated,
            "n_items": int(used.sum()),
            "n_reads": answered,
            "n_failed": int(block.table[column].isna().sum()),
        }
        for cluster in kinds:
            name = block.keys | {"readout": readout, "cluster": cluster}
            rng = randomness.generator(seed, "position selection", *stream(name.values()))
            clusters = resampling.sum_units(counts[used], block.units(cluster, used))
            clusters *= answered / clusters.sum()  # so that p over reads, and bounds, count the answered reads
            common = name | sizes | {"n_clusters": len(clusters), "label": "", "flag": ""}
            together = uniformity.drop_widthless(*uniformity.simultaneous_intervals(clusters, options["confidence"]))
            drawn = resampling.bootstrap_sums(clusters, options["resamples"], rng=rng)
            rows = _shares(clusters, drawn, together, sizes["n_failed"], cluster, options)
            rows.append(_test(clusters, cluster, rng))
            rows += _distance(clusters, drawn, sizes["n_failed"], cluster, options, saturated=saturated)
            rows += _variety(variety)
            label = uniformity.direction(*together, near=near, saturated=saturated)
            rows.append({"quantity": "direction", "label": label, "method": "simultaneous intervals"})
            yield from (common | row for row in rows)


def _shares(
    counts: np.ndarray,
    drawn: np.ndarray,
    together: tuple[Any, ...],
    n_failed: int,
    cluster: str,
    options: dict[str, Any],
) -> list[Any]:
    total = np.maximum(counts.sum(axis=0), 0)
    nothing = np.full(len(total), np.nan)
    low, high = nothing, nothing
    if len(counts) > 1:
        with np.errstate(invalid="ignore"):
            shares = drawn / drawn.sum(axis=1, keepdims=True)
        low, high = uniformity.drop_widthless(*resampling.percentile_interval(shares, options["confidence"]))
    method = f"percentile bootstrap {_over(cluster, options)}; simultaneous: Goodman, effective number of reads"
    common = {"quantity": "share", "method": method}
    all_ends = {"ci": (low, high), "sim": together, "bound": bounds.share_bounds(total, n_failed)}
    intervals = {
        f"{kind}_{side}": end for kind, ends in all_ends.items() for side, end in zip(SIDES, ends, strict=True)
    }
    return [
        common
        | {"position": place + 1, "estimate": total[place] / total.sum()}
        | {name: values[place] for name, values in intervals.items()}
        for place in range(len(total))
    ]


def _test(counts: np.ndarray, cluster: str, rng: np.random.Generator) -> Row:
    test = uniformity.count_test(counts.sum(axis=0))
    row = {"quantity": "chi2", "estimate": test.chi2, "p": test.p, "p_cluster": uniformity.cluster_test(counts)}
    if len(counts) < uniformity.ENOUGH_CLUSTERS:
        row["p_rotation"] = uniformity.rotation_test(counts, rotations=uniformity.ROTATIONS, rng=rng)
    how = f"p over reads; p_cluster: second-order Rao-Scott over {cluster}s"
    return row | {"method": f"{how}; p_rotation: {uniformity.ROTATIONS} rotations"}


def _variety(found: selections.Variety) -> list[Row]:
    values = {
        "commonest_share": found.commonest,
        "discordant_pairs": found.discordant,
        "discordant_share": found.discordant_share,
    }
    return [{"quantity": name, "estimate": value, "method": "counts"} for name, value in values.items()]


def _distance(
    counts: np.ndarray, drawn: np.ndarray, n_failed: int, cluster: str, options: dict[str, Any], *, saturated: bool
) -> list[Row]:
    total, confidence = counts.sum(axis=0), options["confidence"]
    ends = uniformity.drop_widthless(*map(np.asarray, uniformity.v_interval(counts, drawn, confidence)))
    interval = dict(zip(("ci_low", "ci_high"), map(float, ends), strict=True))
    bound = dict(zip(("bound_low", "bound_high"), bounds.v_bounds(total, n_failed), strict=True))
    raised = [flags.FEW_CLUSTERS] if len(counts) < uniformity.FEW_CLUSTERS else []
    raised += ["reaches 0"] if interval["ci_low"] == 0 else []
    raised += [flags.SATURATED] if saturated else []
    deff, level = uniformity.design_effect(counts), 1 - confidence
    # If a judge's scores hardly vary, its design effect means nothing, so the smallest V is not known.
    smallest = np.nan if saturated else uniformity.detectable_v(total.sum(), len(total), deff=deff, level=level)
    less = f"less the variance of the shares over {cluster}s"
    inverted = f"bootstrap test inversion {_over(cluster, options)}"
    power = f"noncentral chi-square, level {level:.3g}, power {uniformity.POWER}"
    quantities: list[tuple[str, float, str, Row]] = [
        ("cramers_v", float(uniformity.cramers_v(total)), inverted, interval | bound | {"flag": ", ".join(raised)}),
        ("cramers_v_corrected", uniformity.corrected_v(counts), f"{less}; {inverted}", interval),
        ("cramers_v_squared", uniformity.squared_v(counts), less, {}),
        ("cramers_v_corrected_reads", uniformity.corrected_v_of_reads(total), BERGSMA, {}),
        ("design_effect", deff, f"first-order Rao-Scott over {cluster}s", {}),
        ("detectable_v", smallest, power, {}),
    ]
    return [{"quantity": name, "estimate": value, "method": method} | more for name, value, method, more in quantities]


def _over(cluster: str, options: dict[str, Any]) -> str:
    return f"over {cluster}s, {options['resamples']} resamples"
