"""Position consistency and its noise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import comparison_reads, series
from rubric_order.methods.uncertainty import cluster_robust, shares

COLUMNS = {
    "scores": [
        *KEYS,
        *("unit_id", "group_id", "source_id", "benchmark", "task", "candidate", "candidates"),
        *("ordering", "repeat", "score", "position", "pattern", "failure", "first_verdict"),
    ]
}
OURS, SHI2025 = "ours", "shi2025"  # names of rules
CLUSTERS = {"group": "group_id", "source": "source_id"}
LOGIT = f"conditional logit of pairs of reads, Firth's penalty; {cluster_robust.LARGER.format('cluster')}"
METHOD = "share: Clopper-Pearson with the jackknife's error over {}s; difference: jackknife over {}s"


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    forms: Mapping[str, Sequence[str]],
    rules: str = OURS,
) -> pd.DataFrame:
    """Stability, consistency and fairness of each judge, dataset and task (``all``: together).

    A series is the first read of each order of a comparison, see `series`. `cluster` ``source``: questions of one
    origin. ``fairness_of_even_places``: fairness if inconsistent series chose positions equally often;
    ``consistency_by_chance``: `series.random_judge`. ``primacy`` and ``recency`` are shares of series, ``ties`` of
    reads of valid series, ``error_rate`` of first reads without a choice. ``place_preference`` is in log-odds
    (`preference`). ``excess``: disagreement of two reads in two orders (``other_order``) less that in one
    (``same_order``).

    Source: Shi et al., Judging the Judges, Sections 2.2 and 3.1, and their code; Davidson and Beaver (1977), On
    extending the Bradley-Terry model to incorporate within-pair order effects; intervals, flips and excess are ours.
    """
    rows: list[Row] = []
    for keys, block in blocks_by([*KEYS, "benchmark"], scores):
        if rules == SHI2025:
            prepared = comparison_reads.prepared(comparison_reads.use_first_verdicts(block), None)
        else:
            prepared = comparison_reads.prepared(block, forms.get(keys["benchmark"]))
        rows += _block_rows(keys, prepared, confidence, rules)
    columns = [*KEYS, "benchmark", "task", "cluster", "quantity", "estimate", "ci_low", "ci_high", "sd"]
    columns += ["n_values", "n_clusters", "flag", "method"]
    columns.insert(columns.index("quantity") + 1, "position")
    return tidy.make_table(rows, columns, {"position": "Int8"}).assign(confidence=confidence)


def _block_rows(about: Row, block: pd.DataFrame, confidence: float, rules: str) -> Iterator[Row]:
    p, strategy = about["n"], about["strategy"]
    run = comparison_reads.first_run(block)
    orders = int(run.groupby("unit_id")["order"].size().max())
    parts = [_stability(block, strategy, p), _noise(block, strategy, p), _series(run, p, rules)]
    values = pd.concat([part for part in parts if len(part)], ignore_index=True)
    apart = (block["source_id"] != block["group_id"]).any()
    tasks = sorted(values["task"].unique())
    for task in [EVERY, *(tasks if len(tasks) > 1 else [])]:
        chosen, reads = (part if task == EVERY else part[part["task"] == task] for part in (values, run))
        for cluster, column in CLUSTERS.items():
            if cluster == "source" and not apart:
                continue
            method = METHOD.format(cluster, cluster)
            rows = [row | {"method": method} for row in _estimates(chosen, column, confidence, p, orders, rules)]
            rows += _preference(reads, column, confidence, p)
            for row in rows:
                raised = [row.pop("problem", ""), flags.FEW_CLUSTERS if row["n_clusters"] < FEW_CLUSTERS else ""]
                yield about | {"task": task, "cluster": cluster, "flag": ", ".join(filter(None, raised))} | row


IDS = ["group_id", "source_id", "task", "cell"]


def _repeated(block: pd.DataFrame, strategy: str) -> pd.DataFrame:
    later = block[block["repeat"] > 0]
    if strategy == "recorded" and later.duplicated(["unit_id", "order"]).any():
        return later
    return block


def _stability(block: pd.DataFrame, strategy: str, p: int) -> pd.DataFrame:
    reads = _repeated(block, strategy)
    prompt = reads.groupby(["unit_id", "order"], sort=True).ngroup().to_numpy()
    stability, sizes = series.stability(reads["place"].to_numpy(), prompt, options=p)
    prompts = reads.assign(prompt=prompt).drop_duplicates("prompt").sort_values("prompt")
    prompts = prompts.assign(value=stability, n_reads=sizes, cell=prompts["cell"] + "\n" + prompts["order"])
    return prompts[sizes > 1][[*IDS, "value", "n_reads"]].assign(quantity="repetition_stability")


def _noise(block: pd.DataFrame, strategy: str, p: int) -> pd.DataFrame:
    """One row per quantity and comparison that is read twice or more in each order; none for a single order."""
    reads = _repeated(block, strategy)
    reads = reads[reads["winner"] != series.NONE]
    unit, units = pd.factorize(reads["unit_id"], sort=True)
    order, orders = pd.factorize(reads["order"], sort=True)
    if len(orders) < 2:
        return pd.DataFrame()
    shape = len(units), len(orders), p + 1
    cells = np.ravel_multi_index((unit, order, reads["winner"].to_numpy()), shape)
    counts = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
    within, between = series.disagreement(counts)
    comparisons = reads.assign(unit=unit).drop_duplicates("unit").sort_values("unit")[IDS]
    values = {"same_order": within, "other_order": between, "excess": between - within}
    parts = [comparisons.assign(value=value, quantity=name) for name, value in values.items()]
    return pd.concat(parts).dropna(subset="value")


def _series(run: pd.DataFrame, p: int, rules: str) -> pd.DataFrame:
    """One row per series and quantity; for the error rate, one per read."""
    failed = run["winner"] == series.NONE
    errors = run.assign(value=failed, quantity="error_rate")[[*IDS, "value", "quantity"]]
    if rules == SHI2025:
        errors = errors[failed | ~failed.groupby(run["unit_id"]).transform("any")]
    size = run.groupby("unit_id")["order"].transform("size")
    run = run[(size == size.max()) & (size > 1)]
    if run.empty:
        return errors
    winners, places = (run[name].to_numpy().reshape(-1, int(size.max())) for name in ("winner", "place"))
    ids = run.drop_duplicates("unit_id")[IDS]
    primacy = series.primacy(places, winners, p=p)
    agreed = series.consistent(winners)
    strict, soft = series.flips(winners)
    leaning = series.leaning(places, winners, p=p)
    values = {
        "position_consistency": agreed,
        "preference_fairness": np.nan_to_num(leaning) if rules == SHI2025 else leaning,
        "primacy": np.where(agreed == 0, primacy, np.where(agreed == 1, 0.0, np.nan)),
        "recency": np.where(agreed == 0, 1 - primacy, np.where(agreed == 1, 0.0, np.nan)),
        "inconsistent_primacy": primacy,
        "strict_flips": strict,
        "soft_flips": soft,
        "ties": np.where(np.isnan(agreed), np.nan, (winners == series.TIE).mean(axis=1)),
    }
    return pd.concat([*(ids.assign(value=value, quantity=name) for name, value in values.items()), errors])


def arrays(run: pd.DataFrame, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Winners and candidates shown, shapes (n, n_reads) and (n, n_reads, p), for `series.place_preference`."""
    unit = pd.factorize(run["unit_id"])[0]
    number = run.groupby("unit_id", sort=False).cumcount().to_numpy()
    shape = int(unit.max()) + 1, int(number.max()) + 1
    winners: np.ndarray = np.full(shape, series.NONE)
    is_read: np.ndarray = np.zeros(shape, dtype=bool)
    by_place = np.broadcast_to(np.arange(1, p + 1), (*shape, p)).copy()
    winners[unit, number], is_read[unit, number] = run["winner"].to_numpy(), True
    by_place[unit, number] = np.concatenate(run["ordering"].to_numpy()).reshape(-1, p)
    return winners, by_place, is_read


def _preference(run: pd.DataFrame, column: str, confidence: float, p: int) -> list[Row]:
    if run.empty:
        return []
    winners, by_place, _ = arrays(run, p)
    cluster = pd.factorize(run.drop_duplicates("unit_id")[column])[0]
    fit, n_values = series.place_preference(winners, by_place, cluster)
    count = 0 if fit.problem else cluster_robust.counted(fit.influence)
    common = {"n_values": n_values, "n_clusters": count, "problem": ", ".join(fit.flags), "method": LOGIT}
    rows = [
        {"quantity": "place_preference", "position": k + 1, "weights": row} for k, row in enumerate(series.centred(p))
    ]
    rows.append({"quantity": "first_last", "weights": series.first_last(p)})
    return [common | row | fit.interval(row.pop("weights"), confidence) for row in rows]


BOUNDED_BY_ONE = ("preference_fairness", "excess")


def _sd(part: pd.DataFrame, quantity: str, rules: str) -> float:
    if rules == SHI2025 and quantity == "repetition_stability":
        n = part["n_reads"]
        return float(np.sqrt(part["value"] * (1 - part["value"]) * n / (n - 1)).mean())
    cells = part.groupby("cell")["value"].mean()
    return cells.fillna(0).std(ddof=0) if rules == SHI2025 else cells.std()


def _estimates(values: pd.DataFrame, column: str, confidence: float, p: int, orders: int, rules: str) -> Iterator[Row]:
    for quantity, part in values.groupby("quantity", sort=False):
        value, cluster = part["value"].to_numpy(dtype=float), part[column].to_numpy()
        if quantity in BOUNDED_BY_ONE:
            ratio = shares.mean(value, cluster, confidence, bounds=(-1, 1))
        else:
            ratio = shares.share(value, cluster, confidence)
        row = ratio.interval.columns() | {"n_values": ratio.n, "n_clusters": ratio.n_clusters}
        row["sd"] = _sd(part, quantity, rules)
        yield {"quantity": quantity} | row
        derived = {}
        if quantity == "position_consistency":
            derived["fairness_of_even_places"] = series.even_fairness(ratio.estimate, p)
        if quantity == "ties":
            derived["consistency_by_chance"] = series.random_judge(p, ratio.estimate, orders=orders)[0]
        for name, value in derived.items():
            yield row | {"quantity": name, "sd": np.nan} | Interval(value).columns()
