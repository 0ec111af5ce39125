"""How far an estimate would move if the same judge read the same items once more: the chance of reads alone."""

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.base import randomness
from rubric_order.base.keys import EVERY, KEYS, STRATEGIES
from rubric_order.methods import blocks, distributions, rankings, reruns, selections, shared_orderings, tidy
from rubric_order.methods.blocks import Block

COLUMNS = {"scores": [*blocks.COLUMNS, "position"]}
DRAWS = 200  # of reads, for the errors of ranks: of a standard error they know 5%
AGREEMENT = ("pearson", "spearman")
REVERSALS = ("kendall_tau_b", "top1_flip", "top1_random")
RANKS = ("rank", "pearson_rank")  # ranges of these are drawn
COUNTED = ("cramers_v", "top1_flip", "top1_random", "cost")  # never below 0


def share_covariance(counts: np.ndarray) -> np.ndarray:
    """Covariance of the pooled shares of positions over new reads of the same items, shape (n, n).

    NaN where no item has two reads. Items with one read are taken to vary as the others do.

    Args:
        counts: of each position in each item, shape (n_items, n).
    """
    reads = counts.sum(axis=1)
    used = reads > 1
    if not used.any():
        return np.full((counts.shape[1],) * 2, np.nan)
    counts, k = counts[used], reads[used]
    weight = k / (k - 1)
    covariance = np.diag(weight @ counts) - (counts * (weight / k)[:, None]).T @ counts
    return covariance * (reads.sum() / k.sum()) / reads.sum() ** 2


def v_error(counts: np.ndarray) -> tuple[float, float]:
    """Cramer's V of the pooled shares, and its standard error over new reads of the same items, by the delta method."""
    n = counts.shape[1]
    away = counts.sum(axis=0) / counts.sum() - 1 / n
    length = np.sqrt((away**2).sum())
    covariance = share_covariance(counts)
    along = away / length if length > 0 else np.full(n, np.nan)
    scale = np.sqrt(n / (n - 1))
    return float(scale * length), float(scale * np.sqrt(max(along @ covariance @ along, 0)))


def pearson_error(values: np.ndarray, human: np.ndarray) -> tuple[float, float]:
    """Pearson's r of items' mean scores with human scores, and its standard error over new reads of the same items.

    NaN where a score is constant, or no item has two scores. Items with one score are taken to vary as the others do.

    Args:
        values: scores, items by reads, shape (m, K); NaN where there is none.
        human: shape (m,).
    """
    k = (~np.isnan(values)).sum(axis=1)
    values, human, k = values[k > 0], human[k > 0], k[k > 0]
    mean = np.nansum(values, axis=1) / np.maximum(k, 1)
    if len(mean) < 2 or np.ptp(mean) <= 1e-12 or np.ptp(human) <= 1e-12:
        return np.nan, np.nan
    squares = np.nansum((values - mean[:, None]) ** 2, axis=1)
    repeated = k > 1
    variance = np.full(len(mean), squares[repeated].sum() / (k[repeated] - 1).sum() if repeated.any() else np.nan)
    variance[repeated] = squares[repeated] / (k[repeated] - 1)
    zx, zy = ((each - each.mean()) / each.std() for each in (mean, human))
    r = (zx * zy).mean()
    slope = (zy - r * zx) / (len(mean) * mean.std())
    return float(r), float(np.sqrt((slope**2 * variance / k).sum()))


def sd_error(values: np.ndarray) -> tuple[float, float]:
    """Mean over items of the standard deviation of an item's scores, and its standard error over new reads.

    The variance of each item's comes from leaving out one read at a time. Items with fewer than two scores are left
    out, and of the error those with fewer than three, which are taken to vary as the others do.
    """
    known = ~np.isnan(values)
    k = known.sum(axis=1)
    filled, known, k = np.where(known, values, 0)[k > 1], known[k > 1], k[k > 1]
    if not len(k):
        return np.nan, np.nan
    filled = np.where(known, filled - (filled.sum(axis=1) / k)[:, None], 0)
    squares = (filled**2).sum(axis=1)
    found = np.sqrt(squares / (k - 1)).mean()
    several = k > 2
    if not several.any():
        return float(found), np.nan
    filled, known, k, squares = filled[several], known[several], k[several][:, None], squares[several][:, None]
    # Without read j, whose distance from the mean of k reads is d, the sum of squares is less by k / (k - 1) d^2.
    left_out = np.sqrt(np.maximum(squares - k / (k - 1) * filled**2, 0) / (k - 2))
    centre = np.where(known, left_out, 0).sum(axis=1, keepdims=True) / k
    variance = (k[:, 0] - 1) / k[:, 0] * np.where(known, (left_out - centre) ** 2, 0).sum(axis=1)
    return float(found), float(np.sqrt(variance.mean() / len(several)))


def redrawn(values: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
    """Mean score of each item over as many reads as it has, drawn from them with replacement, `DRAWS` times.

    Args:
        values: scores, items by reads, shape (m, K); NaN where there is none.

    Returns:
        Shape (DRAWS, m); NaN for an item without a score.
    """
    known = ~np.isnan(values)
    k = known.sum(axis=1)
    sorted_in = np.take_along_axis(values, np.argsort(~known, axis=1, kind="stable"), axis=1)  # the known ones first
    filled, drawn_from = np.nan_to_num(sorted_in), np.arange(values.shape[1]) < k[:, None]
    means = np.empty((DRAWS, len(values)))
    for draw in means:
        chosen = (rng.random(values.shape) * k[:, None]).astype(int)
        draw[:] = np.where(drawn_from, np.take_along_axis(filled, chosen, axis=1), 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(k > 0, means / k, np.nan)


def _factor(values: np.ndarray) -> float:
    """By how much more the means of new reads vary than those of draws from the reads: k / (k - 1).

    k is the mean number of reads of the items with two or more; NaN where no item has two.
    """
    reads = (~np.isnan(values)).sum(axis=1)
    k = reads[reads > 1].mean() if (reads > 1).any() else np.nan
    return float(k / (k - 1))


def spearman_error(values: np.ndarray, human: np.ndarray, *, rng: np.random.Generator) -> tuple[float, float]:
    """Spearman's rho of items' mean scores with human scores, and its standard error over new reads of the same items.

    The error is that of reads drawn anew, see `redrawn`. NaN where a score is constant, or no item has two scores.

    Args:
        values, human: see `pearson_error`.
    """
    scored = ~np.isnan(values).all(axis=1)
    values, human = values[scored], human[scored]
    if len(values) < 2:
        return np.nan, np.nan
    means = np.vstack([np.nanmean(values, axis=1), redrawn(values, rng=rng)])
    x, y = (distributions.ranks(each, axis=1) for each in (means, human[None]))
    x, y = (each - each.mean(axis=1, keepdims=True) for each in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        rho = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return float(rho[0]), float(rho[1:].std() * np.sqrt(_factor(values)))


def reversal_errors(
    left: np.ndarray, right: np.ndarray, places: np.ndarray, *, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """How far two strategies rank candidates alike, and its standard error over new reads of the same items.

    Args:
        left, right: scores under the two strategies, items by reads, shape (m, K) and (m, K').
        places: rows of the items of each prompt, see `rankings.prompts`.

    Returns:
        The mean over prompts, and its error, of each of `REVERSALS`, see `rankings.Rankings`. The error is that of
        both sides' reads drawn anew, see `redrawn`. It is NaN unless both sides have an item with two reads: how much
        one read varies is not known. Sides with different numbers of reads are rescaled each by its own, in proportion
        to what the estimate varies by where one side alone is drawn anew.
    """
    sides, drawn = (left, right), []
    for values in sides:
        means = np.vstack([rankings.mean_scores(values, np.ones((1, values.shape[1]))), redrawn(values, rng=rng)])
        drawn.append(np.column_stack([means, np.full(len(means), np.nan)])[:, places])  # -1, the padding, is NaN
    factors = np.array([_factor(values) for values in sides])
    both = _mean_reversals(*drawn)
    alone = [both, both]
    if factors[0] != factors[1] and not np.isnan(factors).any():
        alone = [_mean_reversals(drawn[0], drawn[1][:1]), _mean_reversals(drawn[0][:1], drawn[1])]
    found = {}
    for name, means in both.items():
        parts = np.array([each[name][1:].var() for each in alone])
        factor = factors @ parts / parts.sum() if parts.sum() > 0 else factors.mean()
        found[name] = float(means[0]), float(means[1:].std() * np.sqrt(factor))
    return found


def _mean_reversals(left: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
    """The mean over prompts of each of `REVERSALS`, shape (draws,)."""
    compared = rankings.compare_rankings(left, right)
    found = {}
    for name in REVERSALS:
        of_prompts = getattr(compared, name)
        known = ~np.isnan(of_prompts)
        with np.errstate(invalid="ignore"):
            found[name] = np.where(known, of_prompts, 0).sum(axis=1) / known.sum(axis=1)
    return found


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, seed: int) -> pd.DataFrame:
    """Where the estimates of another run of the same judge on the same items would lie.

    Reads are taken as drawn anew within each item; items stay. Two runs differ by the chance of both, so that the range
    is the estimate plus and minus sqrt(2) times its standard error over reads, times a normal quantile. Reads of one
    item under different orderings differ by the orderings as well, and count as drawn with them: where a strategy
    gives every item the same orderings, such as `balanced`, ranges over all of them are too wide rather than too
    narrow. Those of single orderings can be either where each is read once, see `reruns.variances`.

    Args:
        scores: see `blocks.blocks`.
        confidence: share of other runs that the range holds.
        seed: of the reads that are drawn for the errors of ranks.

    Returns:
        One row a group of `KEYS`, `readout` and `quantity`, with its `estimate`, `error` (standard error over reads)
        and range, `low` and `high`: ``share`` of a `position` and ``cramers_v`` (readout hard), ``pearson`` and
        ``spearman`` of mean scores with human ones, and ``mean_sd`` of an item's scores. With a `baseline`, another
        strategy of the study, ``pearson`` and ``spearman`` are those of `strategy` less those of `baseline`, and
        ``kendall_tau_b``, ``top1_flip`` and ``top1_random`` say how the two rank candidates, see
        `reversal_errors`; `n_items` of
        these counts prompts. Where all items are read in the same orderings ``pearson_canonical``, ``pearson_mean``,
        ``advantage`` and ``rank`` are those of `canonical_rank`; ``pearson_rank`` and ``cost`` of each `ordering` those
        of `bias_cost`, also of all of a study's datasets together (dataset ``all``). For their errors see `reruns`; the
        ranges of ranks are the middle of ranks that are drawn.
    """
    rows = []
    shared: dict[tuple, list[_Shared]] = {}
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        agreement: dict[tuple, list[dict]] = {}
        settings: dict[tuple, list[Block]] = {}
        for block in blocks.blocks(table):
            of_block = [block.keys | row for row in _of_block(block, seed)]
            rows += of_block
            for readout, found in _of_orderings(block):
                rows += [block.keys | {"readout": readout} | row for row in _canonical(found, confidence, seed)]
                everywhere = *(block.keys | {"dataset": EVERY}).values(), readout
                shared.setdefault(everywhere, []).append(found)
            settings.setdefault(tuple(block.keys[key] for key in KEYS if key != "strategy"), []).append(block)
            for row in of_block:
                if row["quantity"] in AGREEMENT:
                    setting = *(row[key] for key in KEYS if key != "strategy"), row["readout"], row["quantity"]
                    agreement.setdefault(setting, []).append(row)
        rows += [row for strategies in agreement.values() for row in _differences(strategies)]
        for strategies in settings.values():
            rows += [row for pair in itertools.combinations(strategies, 2) for row in _reversals(*pair, seed)]
    for key, datasets in shared.items():
        about = dict(zip([*KEYS, "readout"], key, strict=True))
        for dataset, some in [*((each.dataset, [each]) for each in datasets), (EVERY, datasets)]:
            rows += [about | {"dataset": dataset} | row for row in _costs(some, confidence, seed)]
    columns = [*KEYS, "baseline", "readout", "quantity", "position", "ordering", "estimate", "error", "n_items"]
    columns += ["n_reads", "low", "high"]
    rows = [{"baseline": "", "ordering": ""} | row for row in rows]
    found = tidy.from_rows_with_gaps(rows, columns, ["baseline", "readout", "quantity", "ordering"])
    width = special.ndtri((1 + confidence) / 2) * np.sqrt(2) * found["error"]
    ranked = found["quantity"].isin(RANKS)
    low = (found["estimate"] - width).where(~found["quantity"].isin(COUNTED), lambda ends: ends.clip(lower=0))
    low, high = found["low"].where(ranked, low), found["high"].where(ranked, found["estimate"] + width)
    return found.drop(columns=["low", "high"]).assign(low=low, high=high, confidence=confidence)


class _Shared(NamedTuple):
    """What one dataset, whose items are all read in the same orderings, says by one readout.

    Attributes:
        dataset: its name. orderings: shape (D, n).
        r: None without human scores.
        selected, covariance, reads: see `reruns.cost_errors`; None where options are not selected (readout soft).
    """

    dataset: str
    orderings: np.ndarray
    r: reruns.Correlations | None
    selected: np.ndarray | None
    covariance: np.ndarray | None
    items: int
    reads: int


def _of_orderings(block: Block) -> Iterator[tuple[str, _Shared]]:
    if block.keys["strategy"] not in shared_orderings.SHARED:
        return
    for readout, values in block.readouts():
        selected = covariance = None
        if readout == "hard":
            counts = selections.by_score(block, "hard")[0]
            cells = counts.reshape(len(counts), -1)
            selected, covariance = counts.sum(axis=0), share_covariance(cells) * cells.sum() ** 2
        size = len(block.items), int((~np.isnan(values)).sum())
        r = reruns.correlations(block, values)
        yield readout, _Shared(block.keys["dataset"], block.orderings[0], r, selected, covariance, *size)


def _canonical(of: _Shared, confidence: float, seed: int) -> Iterator[dict]:
    """The rows of the usual ordering among all."""
    if of.r is None:
        return
    r, error, place = of.r.r, of.r.error, shared_orderings.canonical_place(of.orderings)
    about, known = {"n_items": of.r.items, "n_reads": of.r.reads}, ~np.isnan(r)
    yield about | {"quantity": "pearson_canonical", "estimate": r[place], "error": error[place]}
    if known[place]:
        share = known / known.sum()
        for name, weights in (("pearson_mean", share), ("advantage", np.eye(len(r))[place] - share)):
            value, spread = (weights[known] @ r[known], np.sqrt(((weights * error)[known] ** 2).sum()))
            yield about | {"quantity": name, "estimate": value, "error": spread}
    found = reruns.ranks(r, error, confidence=confidence, rng=_generator(seed, of.dataset))
    yield about | {"quantity": "rank"} | {name: values[place] for name, values in found.items()}


def _costs(datasets: list[_Shared], confidence: float, seed: int) -> Iterator[dict]:
    """The rows of every ordering of one dataset, or of several together, see `bias_cost`."""
    first = datasets[0]
    names = [" ".join(map(str, ordering)) for ordering in first.orderings]
    if first.selected is not None:
        about = {"quantity": "cost", "n_items": sum(each.items for each in datasets)}
        about |= {"n_reads": sum(each.reads for each in datasets)}
        table = np.sum([each.selected for each in datasets], axis=0)
        with np.errstate(invalid="ignore"):
            costs = shared_orderings.bias_cost(table / table.sum(axis=1, keepdims=True), first.orderings)
        errors = reruns.cost_errors(table, np.sum([each.covariance for each in datasets], axis=0), first.orderings)
        for row in zip(names, costs, errors, strict=True):
            yield about | dict(zip(("ordering", "estimate", "error"), row, strict=True))
    rated = [each.r for each in datasets if each.r is not None]
    if rated:
        about = {"n_items": sum(each.items for each in rated), "n_reads": sum(each.reads for each in rated)}
        r, error = np.mean([each.r for each in rated], axis=0), np.array([each.error for each in rated])
        rng = _generator(seed, "".join(each.dataset for each in datasets))
        found = reruns.ranks(r, np.sqrt((error**2).sum(axis=0)) / len(rated), confidence=confidence, rng=rng)
        for place, name in enumerate(names):
            yield about | {"quantity": "pearson_rank", "ordering": name} | {key: of[place] for key, of in found.items()}


def _generator(seed: int, name: str) -> np.random.Generator:
    return randomness.generator(seed, "rerun", "orderings", name)


def _differences(strategies: list[dict]) -> Iterator[dict]:
    """r of each strategy less that of each later one. What answers they share makes their errors too large."""
    strategies = sorted(strategies, key=lambda row: STRATEGIES.index(row["strategy"]))
    for one, two in itertools.combinations(strategies, 2):
        error = np.hypot(one["error"], two["error"])
        yield one | {"baseline": two["strategy"], "estimate": one["estimate"] - two["estimate"], "error": error}


def _reversals(one: Block, two: Block, seed: int) -> Iterator[dict]:
    """How two strategies rank the candidates that both have read."""
    known = dict(two.readouts())
    for readout, values in one.readouts():
        if readout in known:
            items, left, right = rankings.same_items(one, two, values, known[readout])
            groups, places = rankings.prompts(items)
            if len(groups):
                about = one.keys | {"baseline": two.keys["strategy"], "readout": readout, "n_items": len(groups)}
                about["n_reads"] = int((~np.isnan(left)).sum() + (~np.isnan(right)).sum())
                rng = randomness.generator(seed, "rerun", "reversals", left.shape, right.shape)
                for name, found in reversal_errors(left, right, places, rng=rng).items():
                    yield about | {"quantity": name} | _named(found)


def _of_block(block: Block, seed: int) -> Iterator[dict]:
    counts = selections.counts(block, "hard")
    if counts.sum() > 0:
        about = {"readout": "hard", "n_items": len(block.items), "n_reads": counts.sum()}
        covariance = share_covariance(counts)
        for place, share in enumerate(counts.sum(axis=0) / counts.sum()):
            error = np.sqrt(max(covariance[place, place], 0))
            yield about | {"quantity": "share", "position": place + 1, "estimate": share, "error": error}
        yield about | {"quantity": "cramers_v"} | _named(v_error(counts))
    human = block.items["human_score"].to_numpy(dtype=float)
    for readout, values in block.readouts():
        about = {"readout": readout, "n_items": len(block.items), "n_reads": int((~np.isnan(values)).sum())}
        rated = ~np.isnan(human)
        if rated.any():
            rng = randomness.generator(seed, "rerun", values.shape)
            yield about | {"quantity": "pearson"} | _named(pearson_error(values[rated], human[rated]))
            yield about | {"quantity": "spearman"} | _named(spearman_error(values[rated], human[rated], rng=rng))
        yield about | {"quantity": "mean_sd"} | _named(sd_error(values))


def _named(found: tuple[float, float]) -> dict:
    return dict(zip(("estimate", "error"), found, strict=True))
