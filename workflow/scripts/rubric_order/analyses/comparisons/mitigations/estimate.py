"""Policies against position bias."""

import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.keys import EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import judge_panels, series
from rubric_order.methods.uncertainty import resampling, shares

COLUMNS = {
    "scores": [
        *KEYS,
        *("unit_id", "group_id", "criterion", "benchmark", "task", "candidates", "human_scores", "lengths"),
        *("ordering", "repeat", "score"),
    ]
}
POLICIES = {"one_order": 1, "random_order": 1, "swap_else_tie": 2, "swap_average": 2}  # policy: calls per pair
REPEATED = "one_order_repeated"
GAPS = (0.0, 0.5, 1.0, 2.0, np.inf)  # bounds of the difference of human scores, in points
OVERALL = "overall"  # the criterion of a single verdict on the whole answer
# Policies for pairs judged under several criteria and overall. Their verdicts are compared with one overall verdict.
ANCHORED = ("overall_repeated", "overall_swapped", "criteria_combined", "criteria_swapped")
OF_BOTH_ORDERS = (*(name for name, calls in POLICIES.items() if calls > 1), "overall_swapped", "criteria_swapped")
MAJORITY = "majority"  # in place of a judge: the commonest verdict of all judges
LEAST_JUDGES = 3  # a majority needs this many judges
VALUES = {1: 1.0, 2: 0.0, series.TIE: 0.5}  # value of a choice to the first candidate


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Agreement of pairs' verdicts with human scores under each policy, and its `calls` per pair.

    `gap` is a range of the difference of human scores, in points; ``all``: every pair that they tell apart. A tie
    counts as a half.

    Policies: ``swap_else_tie``: a tie if the orders disagree; ``swap_average``: mean of both; ``one_order_repeated``:
    mean of k reads; ``overall...`` and ``criteria_...``: majority of overall verdicts, or of those under single
    criteria, in the canonical order or in both (``_swapped``).

    ``accuracy`` is among pairs with a winner, ``gain`` a difference of ``accuracy_ties_half`` over the same pairs.
    Reference of ``gain``: for judge ``majority`` a random judge; for ``criteria_combined`` ``overall_repeated``; for
    ``criteria_swapped`` ``overall_swapped``; for ``overall_repeated`` one overall read; else ``one_order``. None:
    ``one_order``, ``overall``, ``overall_swapped``, judge ``all``. ``win_rate_noise`` is the error expected by chance
    of a judge that agrees with people.

    Source: Zheng et al. (2023), Judging LLM-as-a-judge with MT-Bench and Chatbot Arena (``swap_else_tie``); Wang et al.
    (2023), Large Language Models are not Fair Evaluators (``swap_average``); measures are ours.
    """
    rows: list[Row] = []
    shared: dict[tuple[Any, ...], dict[str, pd.DataFrame]] = {}
    for keys, block in blocks_by([*KEYS, "benchmark"], scores):
        if keys["n"] == 2:
            pairs = _pairs(block)
            rows += _judge_rows(keys, pairs, confidence)
            rows += _anchored(keys, block, confidence)
            others = tuple(value for name, value in keys.items() if name != "judge")
            shared.setdefault(others, {})[keys["judge"]] = pairs
    key_columns = [name for name in (*KEYS, "benchmark") if name != "judge"]
    for key, judges in shared.items():
        rows += _panel_rows(dict(zip(key_columns, key, strict=True)), list(judges.values()), confidence)
    columns = [*KEYS, "benchmark", "task", "policy", "gap", "quantity", "estimate", "ci_low", "ci_high", "calls"]
    columns += ["n_pairs", "n_clusters", "flag"]
    return tidy.make_table_with_gaps(rows, columns, {"gap": "str", "calls": "Int64"}).assign(confidence=confidence)


class Policy(NamedTuple):
    """Verdicts of a policy: 1, a half, 0, or values between.

    Attributes:
        calls: reads per pair.
        drawn, turned: equally probable arrays of verdicts, and what the other order would have given.
        usual: the same of the policy that `gain` compares with; None without a gain.
    """

    name: str
    calls: int
    drawn: list[np.ndarray]
    turned: list[np.ndarray] | None
    usual: list[np.ndarray] | None


def _pairs(block: pd.DataFrame) -> pd.DataFrame:
    """One row per pair with human scores and a verdict in each order of its first run."""
    usable = block[block["human_scores"].notna() & block["score"].notna()]
    canonical = usable["ordering"].map(lambda ordering: int(ordering[0]) == 1).astype(bool)
    value = usable["score"].astype(int).map(VALUES)
    run = usable["repeat"] == usable["repeat"].min()
    columns = {}
    for name, rows in (("first", canonical), ("second", ~canonical)):
        columns[name] = value[rows & run].groupby(usable.loc[rows & run, "unit_id"]).first()
        reads = value[rows].groupby(usable.loc[rows, "unit_id"]).agg(["mean", "size"])
        columns[f"{name}_mean"] = reads["mean"].where(reads["size"] == reads["size"].max())
        columns[f"{name}_reads"] = reads["size"]
    table = pd.DataFrame(columns)
    table = table.dropna(subset=["first", "second"] if table["second"].notna().any() else ["first"])
    table["reads"] = table["first_reads"].max() if len(table) else 0
    pairs = usable.drop_duplicates("unit_id").set_index("unit_id").loc[table.index]
    human = np.array([list(scores) for scores in pairs["human_scores"]], dtype=float).reshape(-1, 2)
    by_pair = table[["first", "second", "first_mean", "second_mean", "reads"]]
    longer = [float(row[0] - row[1]) if isinstance(row, list | np.ndarray) else np.nan for row in pairs["lengths"]]
    pairs = pairs[["group_id", "task", "candidates"]].join(by_pair)
    return pairs.assign(gap=human[:, 0] - human[:, 1], longer=np.array(longer, dtype=float))


def _judge_rows(about: Row, pairs: pd.DataFrame, confidence: float) -> Iterator[Row]:
    for task, gap, part in _parts(pairs):
        first, second = part["first"].to_numpy(), part["second"].to_numpy()
        policies = list(POLICIES) if not np.isnan(second).any() else ["one_order"]
        for name in policies:
            policy = Policy(
                name,
                POLICIES[name],
                verdicts(first, second, name),
                _turned([first], [second], name) if len(policies) > 1 else None,
                None if name == "one_order" else [first],
            )
            yield from _rows(about | {"task": task, "gap": gap}, part, policy, confidence)
        reads = int(part["reads"].max())
        again = part[part["first_mean"].notna()]
        if reads > 1 and len(again):
            other = again["second_mean"].to_numpy()
            turned = None if np.isnan(other).all() else [other]
            mean, one = again["first_mean"].to_numpy(), again["first"].to_numpy()
            policy = Policy(REPEATED, reads, [mean], turned, [one])
            yield from _rows(about | {"task": task, "gap": gap}, again, policy, confidence)


def _anchored(about: Row, block: pd.DataFrame, confidence: float) -> Iterator[Row]:
    parts = {str(name): part for name, part in block.groupby("criterion", sort=True)}
    if OVERALL not in parts or len(parts) < 3:
        return
    frames = {name: _index_candidates(_pairs(part)) for name, part in parts.items()}
    frames = {name: pairs for name, pairs in frames.items() if len(pairs) and pairs["second"].notna().all()}
    whole = frames.pop(OVERALL, None)
    if whole is None or len(frames) < 2:
        return
    whole = whole.dropna(subset=["first_mean", "second_mean"])
    common = sorted(set(whole.index).intersection(*(pairs.index for pairs in frames.values())))
    whole, count = whole.loc[common], len(frames)
    for name in ("first", "second"):
        whole[f"{name}_combined"] = np.mean([pairs.loc[common, name] for pairs in frames.values()], axis=0)
    for task, gap, part in _parts(whole):
        column = {name: values.to_numpy() for name, values in part.items()}
        reads = int(part["reads"].max())
        one, often, other = (_most(column[name]) for name in ("first", "first_mean", "second_mean"))
        both = _most((column["first_mean"] + column["second_mean"]) / 2)
        first, second = (_most(column[f"{name}_combined"]) for name in ("first", "second"))
        swapped = _most((column["first_combined"] + column["second_combined"]) / 2)
        enough = reads >= count
        policies = [
            Policy("overall", 1, [one], [column["second"]], None),
            *([Policy("overall_repeated", reads, [often], [other], [one])] if reads > 1 else []),
            Policy("overall_swapped", 2 * reads, [both], None, None),
            Policy("criteria_combined", count, [first], [second], [often] if enough else None),
            Policy("criteria_swapped", 2 * count, [swapped], None, [both] if enough else None),
        ]
        for policy in policies:
            yield from _rows(about | {"task": task, "gap": gap}, part.assign(overall=one), policy, confidence)


def _most(mean: np.ndarray) -> np.ndarray:
    return (np.sign(np.round(mean - 0.5, 9)) + 1) / 2


def _index_candidates(pairs: pd.DataFrame) -> pd.DataFrame:
    keys = pairs["group_id"] + "\n" + pairs["candidates"].map(lambda names: "\n".join(map(str, names)))
    return pairs.set_index([keys])[~keys.duplicated(keep=False).to_numpy()]


def _panel_rows(about: Row, judges: list[pd.DataFrame], confidence: float) -> Iterator[Row]:
    judges = [pairs for pairs in judges if len(pairs) and pairs["second"].notna().all()]
    common = sorted(set.intersection(*(set(pairs.index) for pairs in judges))) if len(judges) >= LEAST_JUDGES else []
    if not common:
        return
    orders = [np.column_stack([pairs.loc[common, name] for pairs in judges]) for name in ("first", "second")]
    votes = [_vote(values) for values in orders]
    place = {unit: row for row, unit in enumerate(common)}
    for task, gap, part in _parts(judges[0].loc[common]):
        rows = part.index.map(place).to_numpy()
        first, second = (values[rows].T for values in orders)
        for name, calls in POLICIES.items():
            single = [
                verdict for one, other in zip(first, second, strict=True) for verdict in verdicts(one, other, name)
            ]
            one, other = (vote[rows] for vote in votes)
            both = (
                (EVERY, calls, single, _turned(list(first), list(second), name), None),
                (MAJORITY, calls * len(judges), verdicts(one, other, name), _turned([one], [other], name), single),
            )
            for judge, cost, drawn, turned, usual in both:
                policy = Policy(name, cost, drawn, turned, usual)
                yield from _rows(about | {"judge": judge, "task": task, "gap": gap}, part, policy, confidence)


def _vote(values: np.ndarray) -> np.ndarray:
    winners = np.where(values == 1, 1, np.where(values == 0, 2, series.TIE))
    return np.array([0.5, 1.0, 0.0])[judge_panels.majority(winners, 2)]


def _parts(pairs: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    tasks = sorted(pairs["task"].unique())
    for task in [EVERY, *(tasks if len(tasks) > 1 else [])] if tasks else []:
        chosen = pairs if task == EVERY else pairs[pairs["task"] == task]
        for gap, part in _gap_pairs(chosen):
            yield task, gap, part


def _gap_pairs(pairs: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    size = pairs["gap"].abs()
    if not (size > 0).any():
        return
    yield EVERY, pairs[size > 0]
    for low, high in itertools.pairwise(GAPS):
        part = pairs[(size > low) & (size <= high)]
        if len(part):
            yield f"over {low:g}" if high == np.inf else f"{low:g} to {high:g}", part


def verdicts(first: np.ndarray, second: np.ndarray, policy: str) -> list[np.ndarray]:
    if policy == "one_order":
        return [first]
    if policy == "random_order":
        return [first, second]
    return [np.where(first == second, first, 0.5) if policy == "swap_else_tie" else (first + second) / 2]


def _turned(first: list[np.ndarray], second: list[np.ndarray], policy: str) -> list[np.ndarray] | None:
    if policy in OF_BOTH_ORDERS:
        return None
    both = zip(first, second, strict=True)
    return [values for one, other in both for values in ([other, one] if policy == "random_order" else [other])]


def _rows(about: Row, pairs: pd.DataFrame, policy: Policy, confidence: float) -> Iterator[Row]:
    for row in _measures(pairs, policy, confidence, whole=about["gap"] == EVERY):
        flag = flags.FEW_CLUSTERS if row["n_clusters"] < FEW_CLUSTERS else ""
        yield about | {"policy": policy.name, "calls": policy.calls} | row | {"flag": flag}


def _measures(pairs: pd.DataFrame, policy: Policy, confidence: float, *, whole: bool) -> Iterator[Row]:
    drawn, count = policy.drawn, len(policy.drawn)
    gap, group = np.tile(pairs["gap"].to_numpy(), count), np.tile(pairs["group_id"].to_numpy(), count)
    value = np.concatenate(drawn)
    right = np.where(gap > 0, value, 1 - value)
    decided = np.where(value == 0.5, np.nan, (right > 0.5).astype(float))
    columns = {"coverage": ~np.isnan(decided), "accuracy": decided, "accuracy_ties_half": right}
    for quantity, values in columns.items():
        ratio = shares.share(values.astype(float), group, confidence)
        # With a random order or judge, a pair has several equally probable verdicts, but counts as one pair.
        row = {"quantity": quantity, "n_pairs": ratio.n // count, "n_clusters": ratio.n_clusters}
        yield row | ratio.interval.columns()
    if not whole:
        return
    sizes = {"n_pairs": len(pairs), "n_clusters": pairs["group_id"].nunique()}
    correlation = _correlation(value, gap, group, confidence)
    yield {"quantity": "correlation"} | sizes | correlation
    longer = pairs["longer"].to_numpy()
    if not np.isnan(longer).any():
        columns = _correlation(value, np.tile(longer, count), group, confidence)
        yield {"quantity": "length_correlation"} | sizes | columns
    if policy.name in ANCHORED:
        alike = (drawn[0] == pairs["overall"].to_numpy()).astype(float)
        same = shares.share(alike, pairs["group_id"].to_numpy(), confidence)
        yield {"quantity": "with_overall"} | same.interval.columns() | sizes
    error, noise = np.mean([_win_rate_error(pairs, value) for value in drawn], axis=0)
    yield {"quantity": "win_rate_error", "estimate": error} | sizes
    yield {"quantity": "win_rate_noise", "estimate": noise} | sizes
    if policy.usual is not None:
        sign = np.sign(pairs["gap"].to_numpy())
        more = sign * (np.mean(drawn, axis=0) - np.mean(policy.usual, axis=0))
        yield {"quantity": "gain"} | _mean(more, pairs["group_id"].to_numpy(), confidence) | sizes
    yield from _order_rows(pairs, policy, confidence, sizes)


def _order_rows(pairs: pd.DataFrame, policy: Policy, confidence: float, sizes: Row) -> Iterator[Row]:
    if policy.name in OF_BOTH_ORDERS:
        yield {"quantity": "consistency", "estimate": 1.0} | sizes
        yield {"quantity": "first_place", "estimate": 0.0} | sizes
        return
    if policy.turned is None:  # no other order is read
        return
    first, second = np.concatenate(policy.drawn), np.concatenate(policy.turned)
    group = np.tile(pairs["group_id"].to_numpy(), len(policy.drawn))
    agreed = np.where(np.isnan(second), np.nan, np.sign(first - 0.5) == np.sign(second - 0.5))
    same = shares.share(agreed, group, confidence)
    yield {"quantity": "consistency"} | same.interval.columns() | sizes
    # The arrays of a random order have each pair of verdicts twice, once from either order.
    firsts = policy.drawn if policy.name != "random_order" else policy.drawn[::2]
    others = policy.turned if policy.name != "random_order" else policy.turned[::2]
    place = np.concatenate(firsts) - np.concatenate(others)
    yield {"quantity": "first_place"} | _mean(place, group[: len(place)], confidence) | sizes


def _mean(values: np.ndarray, group: np.ndarray, confidence: float) -> Row:
    return shares.mean(values, group, confidence, bounds=(-1, 1)).interval.columns()


def _correlation(value: np.ndarray, gap: np.ndarray, group: np.ndarray, confidence: float) -> Row:
    return resampling.correlation(value, gap, pd.factorize(group)[0], confidence).columns()


def _win_rate_error(pairs: pd.DataFrame, value: np.ndarray) -> tuple[float, float]:
    away = value - np.where(pairs["gap"] > 0, 1.0, 0.0)
    candidates = np.array([list(candidates) for candidates in pairs["candidates"]])
    candidate = pd.factorize(np.concatenate([candidates[:, 0], candidates[:, 1]]))[0]
    group, groups = pd.factorize(np.tile(pairs["group_id"].to_numpy(), 2))
    more = np.concatenate([away, -away])
    size = np.bincount(candidate)
    difference = np.bincount(candidate, more) / size
    cell = candidate * len(groups) + group
    summed = np.bincount(cell, more - difference[candidate], minlength=len(size) * len(groups)).reshape(len(size), -1)
    met = (np.bincount(cell, minlength=summed.size).reshape(summed.shape) > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.sqrt(np.square(summed).sum(axis=1) * np.where(met > 1, met / (met - 1), np.nan)) / size
    return float(np.abs(difference).mean()), float(np.sqrt(2 / np.pi) * error.mean())
