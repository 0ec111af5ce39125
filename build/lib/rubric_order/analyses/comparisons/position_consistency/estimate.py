"""Position consistency of judges that compare candidates: what Shi et al. measure, and how much of it is noise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base.intervals import Interval
from rubric_order.base.keys import EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row
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
OURS, SHI2025 = "ours", "shi2025"  # by which rules
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
    """Stability, consistency and fairness of each judge, dataset and task.

    Args:
        scores: of the probes that compare candidates, see `_comparisons`; one table a judge and dataset.
        confidence: see the package.
        forms: of a benchmark, the forms of answers (column `pattern`) that count; answers in other forms fail. Any form
            counts of a benchmark that is not named. By `SHI2025` they are not asked.
        rules: ``ours``, as described below; or ``shi2025``, those of the public code of Shi et al.:

            - the verdict of an answer is its first `[[A]]` or `Choice: A`, column `first_verdict`;
            - preference fairness is over all series, of which those with a failure add nothing;
            - a read that has a verdict counts for the error rate only where the other orders have one as well;
            - `sd` of stability is the mean over prompts of the standard deviation (ddof 1) of whether a read makes
              the prompt's commonest choice; that of consistency and fairness is over cells with ddof 0, where a cell
              without a valid series counts as 0.

    Returns:
        One row an estimate of a group of `KEYS`, `benchmark`, `task` (``all``: all of them) and `cluster`: ``group``,
        the questions, or ``source``, what questions share, where they share anything. `quantity` is

        - ``repetition_stability``: see `series.stability`; mean over prompts that are read twice or more. Of recorded
          answers, those that have a repeat number from 1 up; all, where there are none such.
        - ``position_consistency``: the share of series with one winner in all orders, see `series.consistent`. A series
          has the first read of each order of a comparison; `n_values` of them are valid.
        - ``preference_fairness``: see `series.preference_fairness`. ``fairness_of_even_places`` is what it would be if
          the inconsistent series chose all places equally often: 0 for pairs.
        - ``primacy`` and ``recency``: the share of series that are inconsistent and count for the first place, or for
          another; ``inconsistent_primacy`` is the former among inconsistent ones (1 less it is recency's).
        - ``strict_flips``, ``soft_flips``: see `series.flips`, shares of the series.
        - ``ties``: the share of the valid series' reads that call a tie. ``consistency_by_chance`` is what a judge has
          that draws a place in each order, with as many ties; see `series.random_judge`.
        - ``error_rate``: the share of the series' reads without a choice.
        - ``place_preference`` of a `position`: what the place adds to the log-odds of the candidate there, by the
          conditional logit of `preference` over the series' reads; places sum to 0. What the judge thinks of the
          candidates, and how often it calls a tie, cancels. ``first_last`` is the first place's less the last's. Of two
          options it is half the log of A,A over B,B, each half a pair more often than seen (Firth's penalty); with a
          tie it is the order effect of Davidson's model, to which the ties A,C and C,B tell as well. ``separated``
          where it is finite only for the penalty: its interval is then too wide at both ends.
        - ``same_order`` and ``other_order``: how often two reads of a comparison disagree, in one order and in two; and
          ``excess``, the second less the first: what the order adds to chance. NaN where orders are read once: noise
          and order are then not separated.

        `sd` is by ``ours`` the standard deviation over cells of candidate and task (of stability also order). It says
        how cells differ, and not how sure the mean is.

    Source: Shi et al., Judging the Judges, Sections 2.2 and 3.1, and their public code; Davidson and Beaver (1977), On
    extending the Bradley-Terry model to incorporate within-pair order effects; intervals, flips and excess are ours.
    """
    rows: list[Row] = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        for key, block in table.groupby([*KEYS, "benchmark"], sort=True):
            keys = dict(zip([*KEYS, "benchmark"], key, strict=True))
            if rules == SHI2025:
                prepared = comparison_reads.prepared(comparison_reads.with_first_verdicts(block), None)
            else:
                prepared = comparison_reads.prepared(block, forms.get(keys["benchmark"]))
            rows += _of_block(keys, prepared, confidence, rules)
    columns = [*KEYS, "benchmark", "task", "cluster", "quantity", "estimate", "ci_low", "ci_high", "sd"]
    columns += ["n_values", "n_clusters", "flag", "method"]
    columns.insert(columns.index("quantity") + 1, "position")
    words = ["benchmark", "task", "cluster", "quantity", "flag", "method"]
    return tidy.from_rows(rows, columns, words).astype({"position": "Int8"}).assign(confidence=confidence)


def _of_block(about: Row, block: pd.DataFrame, confidence: float, rules: str) -> Iterator[Row]:
    """The rows of one judge and benchmark, of all tasks and of each."""
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
                flags = [row.pop("problem", ""), "few clusters" if row["n_clusters"] < FEW_CLUSTERS else ""]
                yield about | {"task": task, "cluster": cluster, "flag": ", ".join(filter(None, flags))} | row


IDS = ["group_id", "source_id", "task", "cell"]


def _repeated(block: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """The reads that repeat a prompt: recorded repeats are numbered from 1, beside a run of every prompt."""
    later = block[block["repeat"] > 0]
    if strategy == "recorded" and later.duplicated(["unit_id", "order"]).any():
        return later
    return block


def _stability(block: pd.DataFrame, strategy: str, p: int) -> pd.DataFrame:
    """One row a prompt that is read twice or more."""
    reads = _repeated(block, strategy)
    prompt = reads.groupby(["unit_id", "order"], sort=True).ngroup().to_numpy()
    stability, sizes = series.stability(reads["place"].to_numpy(), prompt, options=p)
    prompts = reads.assign(prompt=prompt).drop_duplicates("prompt").sort_values("prompt")
    prompts = prompts.assign(value=stability, n_reads=sizes, cell=prompts["cell"] + "\n" + prompts["order"])
    return prompts[sizes > 1][[*IDS, "value", "n_reads"]].assign(quantity="repetition_stability")


def _noise(block: pd.DataFrame, strategy: str, p: int) -> pd.DataFrame:
    """One row a comparison that is read twice or more in each of two or more orders."""
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
    """One row a series and quantity; of errors one a read."""
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


def _preference(run: pd.DataFrame, column: str, confidence: float, p: int) -> list[Row]:
    """The rows of place preference."""
    if run.empty:
        return []
    unit = pd.factorize(run["unit_id"])[0]
    read = run.groupby("unit_id", sort=False).cumcount().to_numpy()
    shape = int(unit.max()) + 1, int(read.max()) + 1
    winners = np.full(shape, series.NONE)
    shown = np.broadcast_to(np.arange(1, p + 1), (*shape, p)).copy()
    winners[unit, read] = run["winner"].to_numpy()
    shown[unit, read] = np.concatenate(run["ordering"].to_numpy()).reshape(-1, p)
    cluster = pd.factorize(run.drop_duplicates("unit_id")[column])[0]
    fit, told = series.place_preference(winners, shown, cluster)
    count = 0 if fit.problem else cluster_robust.counted(fit.influence)
    common = {"n_values": told, "n_clusters": count, "problem": ", ".join(fit.flags), "method": LOGIT}
    centred = np.eye(p, p + 1) - np.append(np.full(p, 1 / p), 0)
    rows = [{"quantity": "place_preference", "position": k + 1, "weights": row} for k, row in enumerate(centred)]
    rows.append({"quantity": "first_last", "weights": centred[0] - centred[-1]})
    return [common | row | fit.interval(row.pop("weights"), confidence) for row in rows]


BOUNDED_BY_ONE = ("preference_fairness", "excess")


def _sd(part: pd.DataFrame, quantity: str, rules: str) -> float:
    """The standard deviation that is printed beside the mean of some values."""
    if rules == SHI2025 and quantity == "repetition_stability":
        n = part["n_reads"]
        return float(np.sqrt(part["value"] * (1 - part["value"]) * n / (n - 1)).mean())
    cells = part.groupby("cell")["value"].mean()
    return cells.fillna(0).std(ddof=0) if rules == SHI2025 else cells.std()


def _estimates(values: pd.DataFrame, column: str, confidence: float, p: int, orders: int, rules: str) -> Iterator[Row]:
    """The rows of means of values; of those that follow from another one by arithmetic without an interval."""
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
