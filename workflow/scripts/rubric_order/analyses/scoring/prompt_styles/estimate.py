"""Two prompts of one judge."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, contrasts, golden, item_scores
from rubric_order.methods.agreement.golden import HUMAN
from rubric_order.methods.uncertainty import multiplicity

NEEDED = [*KEYS, "item_id", "group_id", "criterion", "human_score", "read_index", "ordering", "score"]
COLUMNS = {"scores": NEEDED, "items": golden.COLUMNS}


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    items: pd.DataFrame,
    human_scales: Mapping[str, Sequence[float]],
    prompt_styles: Mapping[str, Sequence[str]],
    confidence: float,
) -> pd.DataFrame:
    """First prompt (`style`) less the other, on the items that have a score from both, by first reads.

    Criterion ``all``: together. ``share`` is of items that get `score`; agreement is with people's mean score.
    """
    golden_by_item = golden.item_golds(items, human_scales)
    rows = [
        row | common
        for common, one, other in _pairs(scores, prompt_styles)
        for row in _rows(one, other, golden_by_item, common, confidence)
    ]
    columns = [*KEYS, "other", "model", "style", "other_style", "criterion", "cluster", "quantity", "score", "estimate"]
    columns += ["ci_low", "ci_high", "p", "of_one", "of_other", "of_human", "bound_low", "bound_high", "floor"]
    columns += ["at_repeats", "repeats_of", "repeated", "n_repeats", "n_items", "n_clusters", "n_reads_one"]
    columns += ["n_failed_one", "n_reads_other", "n_failed_other", "method"]
    table = tidy.make_table(rows, columns, {"score": "Int8", "repeated": "str"})
    return multiplicity.adjust(table.assign(confidence=confidence))


def _pairs(
    scores: pd.DataFrame | Iterable[pd.DataFrame], prompt_styles: Mapping[str, Sequence[str]]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]]:
    laid: dict[tuple[Any, ...], dict[str, pd.DataFrame]] = {}
    for keys, block in blocks_by(KEYS, scores):
        if (judge := keys.pop("judge")) in prompt_styles:
            laid.setdefault((*keys.items(), ("model", prompt_styles[judge][0])), {})[judge] = block
    for key, blocks in laid.items():
        for one, other in itertools.combinations(sorted(blocks), 2):
            styles = {"style": prompt_styles[one][1], "other_style": prompt_styles[other][1]}
            yield dict(key) | styles | {"judge": one, "other": other}, blocks[one], blocks[other]


def _rows(one: pd.DataFrame, other: pd.DataFrame, known: pd.DataFrame, about: Row, confidence: float) -> Iterator[Row]:
    laid = [_first_two(reads) for reads in (one, other)]
    others = laid[1][["first", "second"]].add_suffix("_other")
    asked = laid[0].join(others, how="inner").sort_index()
    at = asked.reset_index().assign(dataset=about["dataset"])
    asked["human"] = golden.sources(at, known, about["n"]).get(HUMAN, np.full(len(asked), np.nan))
    for criterion, chosen in item_scores.criterion_masks(asked["criterion"]):
        items = asked[chosen]
        reads: Row = {"criterion": criterion}
        for name, table in (("one", one), ("other", other)):
            of_items = table[table["item_id"].isin(items.index)]
            reads |= {f"n_reads_{name}": len(of_items), f"n_failed_{name}": int(of_items["score"].isna().sum())}
        scored = items[items[["first", "first_other"]].notna().all(axis=1)]
        if len(scored) < 2:
            continue
        floors = _floors(items, about, confidence)
        for cluster in CLUSTERS:
            for row in _item_rows(items, scored, cluster, about["n"], confidence):
                key = row["quantity"], row.get("score")
                size = {name: sizes.get(key) for name, sizes in floors["sizes"].items()}
                yield reads | floors["about"] | size | row


def _first_two(reads: pd.DataFrame) -> pd.DataFrame:
    reads = reads.sort_values(["item_id", "read_index"])
    place = reads.groupby("item_id").cumcount().to_numpy()
    first, second = (reads[place == k].set_index("item_id") for k in (0, 1))
    table = first[["group_id", "criterion", "human_score"]].assign(first=first["score"].astype(float))
    same = second["ordering"].map(tuple) == first["ordering"].map(tuple).reindex(second.index)
    return table.assign(second=second.loc[same, "score"].astype(float).reindex(table.index))


def _item_rows(items: pd.DataFrame, scored: pd.DataFrame, cluster: str, n: int, confidence: float) -> Iterator[Row]:
    unit = item_scores.clusters_of(scored, cluster)
    common = {"cluster": cluster, "n_items": len(scored), "n_clusters": len(np.unique(unit))}
    common["method"] = f"each {cluster} left out, Student's t"
    one, other, human = (scored[name].to_numpy(dtype=float) for name in ("first", "first_other", "human"))
    for row in _contrasts(one, other, human, unit, n, confidence):
        ends = dict(zip(("bound_low", "bound_high"), _bounds(items, n), strict=True))
        yield common | row | (ends if row["quantity"] == "mean_shift" else {})


def _contrasts(
    one: np.ndarray, other: np.ndarray, human: np.ndarray, unit: np.ndarray, n: int, confidence: float
) -> Iterator[Row]:
    rated = ~np.isnan(human)
    people = human[rated]
    sides = {"of_one": one.mean(), "of_other": other.mean(), "of_human": people.mean() if len(people) else np.nan}
    yield {"quantity": "mean_shift"} | sides | contrasts.mean(one - other, unit, confidence)
    yield from contrasts.changes(one, other, unit, confidence)
    yield contrasts.total_variation(one, other, n)
    shares = np.array([contrasts.shares(scores, n) for scores in (one, other, np.floor(people + 0.5 + 1e-9))]).T
    for score, sides_of_score in enumerate(shares.tolist(), start=1):
        row = {"quantity": "share", "score": score} | dict(zip(sides, sides_of_score, strict=True))
        yield row | contrasts.mean((one == score) * 1.0 - (other == score) * 1.0, unit, confidence)
    sizes: Row = {"n_items": int(rated.sum()), "n_clusters": len(np.unique(unit[rated]))}
    compared = [agreement.Compared(side[rated], people, unit[rated]) for side in (one, other)]
    new_names = {"difference": "estimate", "difference_low": "ci_low", "difference_high": "ci_high", "p": "p"}
    for quantity in agreement.STATISTICS if rated.sum() > 2 else ():
        row = sizes | {"quantity": quantity}
        row |= {name: float(side.parts(quantity)[0]) for name, side in zip(sides, compared, strict=False)}
        difference = compared[0].minus(compared[1], quantity, confidence)
        yield row | {new: difference[old] for old, new in new_names.items()}


def _floors(items: pd.DataFrame, about: Mapping[str, Any], confidence: float) -> Row:
    by_style = {}
    for style, first, second, other in (
        ("style", "first", "second", "first_other"),
        ("other_style", "first_other", "second_other", "first"),
    ):
        both = items[items[[first, second, other]].notna().all(axis=1)]
        by_style[style] = both, [both[name].to_numpy(dtype=float) for name in (first, second, other, "human")]
    style = max(by_style, key=lambda name: len(by_style[name][0]))
    both, (first, second, other, human) = by_style[style]
    if not len(both):
        return {"about": {"repeats_of": "", "repeated": "", "n_repeats": 0}, "sizes": {}}
    repeats = {"repeats_of": about[style], "repeated": ", ".join(sorted(both["criterion"].unique()))}
    pairs = {"floor": (second, first), "at_repeats": (first, other) if style == "style" else (other, first)}
    alone: np.ndarray = np.zeros(len(both), dtype=int)
    sizes = {
        name: {
            (row["quantity"], row.get("score")): float(row["estimate"])
            for row in _contrasts(*pair, human, alone, about["n"], confidence)
        }
        for name, pair in pairs.items()
    }
    sizes["floor"] = {name: abs(value) for name, value in sizes["floor"].items()}
    return {"about": repeats | {"n_repeats": len(both)}, "sizes": sizes}


def _bounds(items: pd.DataFrame, n: int) -> tuple[float, float]:
    low, high = ((items["first"].fillna(a) - items["first_other"].fillna(b)).mean() for a, b in ((1, n), (n, 1)))
    return float(low), float(high)
