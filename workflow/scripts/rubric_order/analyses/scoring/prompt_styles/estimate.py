"""Two prompts of one judge, from recorded answers: differences of their scores, compared with repeats of a prompt."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.keys import CLUSTERS, KEYS
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.agreement import agreement, golden, item_scores, variants
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
    """Comparison of each pair of prompts of one judge, on the items that have a score from both.

    Returns:
        One row per study, dataset, scale, `model`, its two prompts (`style`, `other_style`; their ids are `judge` and
        `other`), `criterion` (``all``: all criteria together), `cluster` and `quantity`. Scores are from the first read
        of each item. `quantity` is one of:

        - ``mean_shift``: mean score under the first prompt minus mean score under the other.
        - ``mean_change``: mean absolute difference between an item's two scores.
        - ``share_changed``: share of items whose two scores differ.
        - ``total_variation``: half of the sum over scores of the absolute difference between the share of the score
          under the first prompt and under the other.
        - ``spearman``, ``pearson``, ``kappa``, ``mean_absolute_error``: agreement of the first prompt with people's
          mean score, minus the agreement of the other prompt.
        - ``share``: share of items that get `score` under the first prompt, minus this share under the other prompt.
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
    table = tidy.from_rows(rows, columns, {"score": "Int8", "repeated": "str"})
    return multiplicity.adjust(table.assign(confidence=confidence))


def _pairs(
    scores: pd.DataFrame | Iterable[pd.DataFrame], prompt_styles: Mapping[str, Sequence[str]]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]]:
    """Key columns of each pair of prompts of one model, and the reads of both."""
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
        floors = _floors(items, about)
        for cluster in CLUSTERS:
            for row in _of_items(items, scored, cluster, about["n"], confidence):
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


def _of_items(items: pd.DataFrame, scored: pd.DataFrame, cluster: str, n: int, confidence: float) -> Iterator[Row]:
    one, other, human = (scored[name].to_numpy(dtype=float) for name in ("first", "first_other", "human"))
    unit, rated = item_scores.clusters_of(scored, cluster), ~np.isnan(human)
    common = {"cluster": cluster, "n_items": len(scored), "n_clusters": len(np.unique(unit))}
    common["method"] = f"each {cluster} left out, Student's t"
    sizes, people = _sizes(one, other, human, n), human[rated]
    ones = np.ones(len(one))
    for quantity, values in (("mean_shift", one - other), ("mean_change", np.abs(one - other))):
        row = common | {"quantity": quantity} | variants.ratio(values, ones, unit, confidence)
        if quantity == "mean_shift":
            row |= {"of_one": one.mean(), "of_other": other.mean()}
            row |= {"of_human": people.mean() if len(people) else np.nan}
            row |= dict(zip(("bound_low", "bound_high"), _bounds(items, n), strict=True))
        yield row if quantity == "mean_shift" else row | {"p": np.nan}
    yield common | {"quantity": "share_changed"} | agreement.share((one != other).astype(float), unit, confidence)
    method = {"method": "no interval: distances are above 0 by chance alone"}
    yield common | {"quantity": "total_variation", "estimate": sizes["total_variation", None]} | method
    shares = zip(*(_shares(scores, n) for scores in (one, other, np.floor(people + 0.5 + 1e-9))), strict=True)
    for score, (of_one, of_other, of_human) in enumerate(shares, start=1):
        row = {"quantity": "share", "score": score, "of_one": of_one, "of_other": of_other, "of_human": of_human}
        row |= variants.ratio((one == score) * 1.0 - (other == score) * 1.0, ones, unit, confidence)
        yield common | row
    common |= {"n_items": int(rated.sum()), "n_clusters": len(np.unique(unit[rated]))}
    compared = [agreement.Compared(side[rated], people, unit[rated]) for side in (one, other)]
    for quantity in agreement.STATISTICS if rated.sum() > 2 else ():
        sides = (side.parts(quantity)[0] for side in compared)
        difference = compared[0].minus(compared[1], quantity, confidence)
        new_names = {"difference": "estimate", "difference_low": "ci_low", "difference_high": "ci_high", "p": "p"}
        row = {"quantity": quantity} | dict(zip(("of_one", "of_other"), map(float, sides), strict=True))
        yield common | row | {new: difference[old] for old, new in new_names.items()}


def _floors(items: pd.DataFrame, about: Mapping[str, Any]) -> Row:
    """Columns of the floors: differences between two reads of one prompt, and between the prompts on the same items."""
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
    told = {"repeats_of": about[style], "repeated": ", ".join(sorted(both["criterion"].unique()))}
    pairs = {"floor": (second, first), "at_repeats": (first, other) if style == "style" else (other, first)}
    sizes = {name: _sizes(*pair, human, about["n"]) for name, pair in pairs.items()}
    sizes["floor"] = {name: abs(value) for name, value in sizes["floor"].items()}
    return {"about": told | {"n_repeats": len(both)}, "sizes": sizes}


def _sizes(one: np.ndarray, other: np.ndarray, human: np.ndarray, n: int) -> dict[tuple[Any, ...], float]:
    shares = [_shares(scores, n) for scores in (one, other)]
    sizes: dict[tuple[Any, ...], Any] = {
        ("mean_shift", None): (one - other).mean(),
        ("mean_change", None): np.abs(one - other).mean(),
    }
    sizes |= {("share_changed", None): (one != other).mean()}
    sizes |= {("total_variation", None): np.abs(shares[0] - shares[1]).sum() / 2}
    sizes |= {("share", score): shares[0][score - 1] - shares[1][score - 1] for score in range(1, n + 1)}
    rated = ~np.isnan(human)
    if rated.sum() > 2:
        everyone: np.ndarray = np.zeros(int(rated.sum()), dtype=int)
        compared = [agreement.Compared(side[rated], human[rated], everyone) for side in (one, other)]
        for quantity in agreement.STATISTICS:
            sizes[quantity, None] = compared[0].parts(quantity)[0] - compared[1].parts(quantity)[0]
    return {name: float(value) for name, value in sizes.items()}


def _shares(scores: np.ndarray, n: int) -> np.ndarray:
    return np.bincount(scores.astype(int), minlength=n + 1)[1:] / len(scores) if len(scores) else np.full(n, np.nan)


def _bounds(items: pd.DataFrame, n: int) -> tuple[float, float]:
    low, high = ((items["first"].fillna(a) - items["first_other"].fillna(b)).mean() for a, b in ((1, n), (n, 1)))
    return float(low), float(high)
