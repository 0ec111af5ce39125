"""Reads of the same items in several variants of a prompt (condition and strategy). The base has the first of both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import levels
from rubric_order.base.conditions import parts
from rubric_order.base.keys import EVERY, KEYS, VALUES
from rubric_order.base.rows import Row, blocks_by
from rubric_order.contracts.scores import CONSTRAINED
from rubric_order.methods.uncertainty import distributions, resampling

SHARED = [key for key in KEYS if key not in ("condition", "strategy")]
COLUMNS = [*KEYS, "item_id", "group_id", "human_score", "read_index", "ordering", "pattern", *VALUES.values()]
NEUTRAL = "neutral"  # kind of variants whose edits do not change the meaning
TOGETHER = "together"  # kind of variants that are asked for in one request
IDS, REFERENCE = "ids", "reference"
# From the beginning of a part of a condition to the part's kind. Any other part is a kind of its own.
KINDS = {"letter": IDS, "roman": IDS, "arabic": IDS, "ids(": IDS, REFERENCE: REFERENCE, NEUTRAL: NEUTRAL}
Name = tuple[str, str]  # condition and strategy


class Variants(NamedTuple):
    """Reads of one study, judge, profile, dataset (or all), scale and readout, of items read in all variants.

    Arrays have shape (items, variants), base first: sum of scores, reads with a score, all reads, first score;
    `repeats` (items, 3) counts pairs of base reads in one ordering, those that differ, and sums the differences.
    `constrained`: a second request allowed only a score. Scores count from 1, whatever `lowest` is.
    """

    keys: Row
    names: list[Name]
    items: pd.DataFrame
    total: np.ndarray
    scored: np.ndarray
    reads: np.ndarray
    first: np.ndarray
    repeats: np.ndarray
    constrained: np.ndarray
    lowest: int = 1

    @property
    def means(self) -> np.ndarray:
        """Mean score of each item in each variant, NaN where the item has no score; shape (items, variants)."""
        return np.where(self.scored > 0, self.total / np.maximum(self.scored, 1), np.nan)

    def units(self, cluster: str) -> np.ndarray:
        """Index of each item's cluster, from 0. Items of different datasets are never in one cluster."""
        return self.items.groupby(["dataset", f"{cluster}_id"], sort=True).ngroup().to_numpy()

    def about(self, place: int) -> Row:
        """Keys, name and kind of the variant with index `place`, as the first columns of a row of statistics."""
        varied, order = self.names[place]
        return self.keys | {"varied": varied, "order": order, "kind": kind(self.names[place], self.names[0])}


def kind(name: Name, base: Name) -> str:
    """Change from the base: `base`, `order`, `ids`, `reference`, `neutral`, a condition's part, or `crossed`."""
    changed = set() if name[1] == base[1] else {"order"}
    for part in parts(name[0]) ^ parts(base[0]):
        changed.add(next((shared for beginning, shared in KINDS.items() if part.startswith(beginning)), part))
    return "base" if not changed else changed.pop() if len(changed) == 1 else "crossed"


def variants(scores: pd.DataFrame | Iterable[pd.DataFrame], bases: Mapping[str, Sequence[str]]) -> Iterator[Variants]:
    """Variants of each study, judge, profile and scale that has several: by dataset, then for all."""
    laid: dict[tuple[Any, ...], list[Variants]] = {}
    for keys, block in blocks_by(SHARED, scores):
        base = tuple(bases.get(keys["study"], ()))
        variant_names = sorted({*zip(block["condition"], block["strategy"], strict=True)})
        if base not in variant_names or len(variant_names) < 2:
            continue
        variant_names = [base, *(name for name in variant_names if name != base)]
        for readout, column in VALUES.items():
            if block[column].notna().any() and (
                laid_out := _laid(block, column, variant_names, keys | {"readout": readout})
            ):
                laid.setdefault((*(laid_out.keys | {"dataset": EVERY}).values(),), []).append(laid_out)
                yield laid_out
    for datasets in laid.values():
        yield from _together(datasets)


def _laid(block: pd.DataFrame, column: str, names: list[Name], keys: Row) -> Variants | None:
    """Variants of one dataset; None if no item is read in all variants."""
    number = {name: place for place, name in enumerate(names)}
    variant = np.array([number[name] for name in zip(block["condition"], block["strategy"], strict=True)])
    item, ids = pd.factorize(block["item_id"], sort=True)
    shape = len(ids), len(names)
    cell = item * shape[1] + variant
    value = block[column].to_numpy(dtype=float, na_value=np.nan)
    scored = ~np.isnan(value)

    def cell_sums(weights: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights, shape[0] * shape[1]).reshape(shape)

    reads = cell_sums(np.ones(len(cell)))
    in_all = (reads > 0).all(axis=1)
    if not in_all.any():
        return None
    first = np.full(shape, np.nan)
    begins = block["read_index"].to_numpy() == 0
    first[item[begins], variant[begins]] = value[begins]
    places: np.ndarray = np.zeros(len(ids), dtype=int)
    places[item] = np.arange(len(item))
    items = block[["item_id", "group_id", "human_score"]].iloc[places].assign(dataset=keys["dataset"])
    of_base = variant == 0
    repeats = _repeats(item[of_base], block["ordering"].to_numpy()[of_base], value[of_base], shape[0], keys["n"])
    forced: np.ndarray = np.zeros(shape, dtype=bool)
    if "pattern" in block:
        forced[item[begins], variant[begins]] = (block["pattern"] == CONSTRAINED).fillna(False).to_numpy(bool)[begins]
    tables = (cell_sums(np.where(scored, value, 0)), cell_sums(scored.astype(float)), reads, first, repeats, forced)
    laid = Variants(keys, names, items[in_all].reset_index(drop=True), *(table[in_all] for table in tables))
    return laid._replace(lowest=levels.lowest_of(block))


def _repeats(item: np.ndarray, ordering: np.ndarray, value: np.ndarray, n_items: int, n: int) -> np.ndarray:
    """The array `Variants.repeats`, from reads of the base that have a score."""
    digits: np.ndarray = np.stack(list(ordering)).astype(np.int64) @ max(10, n) ** np.arange(n)
    scored = ~np.isnan(value)
    item, digits, value = item[scored], digits[scored], value[scored]
    prompt = pd.Series(list(zip(item.tolist(), digits.tolist(), strict=True))).factorize()[0]
    order = np.lexsort((value, prompt))
    prompt, item, value = prompt[order], item[order], value[order]
    size = np.bincount(prompt, minlength=1)
    rank = np.arange(len(prompt)) - np.repeat(np.cumsum(size) - size, size)
    # The r-th smallest of m values, counted from 0, is above r other values and below m - 1 - r other values.
    apart = value * (2 * rank - (size[prompt] - 1))
    same = pd.Series(1.0, index=range(len(prompt))).groupby([prompt, value]).transform("size").to_numpy() - 1
    pairs, equal = (size[prompt] - 1) / 2, same / 2
    return np.column_stack([np.bincount(item, weights, n_items) for weights in (pairs, pairs - equal, apart)])


def _together(each: list[Variants]) -> Iterator[Variants]:
    first = each[0]
    if len(each) > 1 and all(part.names == first.names for part in each):
        tables = (np.concatenate(parts) for parts in zip(*(part[3:-1] for part in each), strict=True))
        items = pd.concat([part.items for part in each], ignore_index=True)
        together = Variants(first.keys | {"dataset": EVERY}, first.names, items, *tables)
        yield together._replace(lowest=levels.common([part.lowest for part in each]))


def ratio(top: np.ndarray, bottom: np.ndarray, unit: np.ndarray, confidence: float) -> Row:
    """A ratio of sums over items, from numerators and denominators, with a jackknife over clusters by Student's t.

    Error, interval and `p` (of a ratio of 0) are NaN for one cluster, or if clusters do not vary.
    """
    above, below = (np.bincount(unit, values, int(unit.max(initial=-1)) + 1) for values in (top, bottom))
    used = below > 0
    above, below = above[used], below[used]
    n = len(below)
    row = {"estimate": above.sum() / below.sum() if n else np.nan, "n_clusters": n}
    nothing = dict.fromkeys(("se", "df", "ci_low", "ci_high", "p"), np.nan)
    if n < 2:
        return row | nothing
    moved = (above - row["estimate"] * below) / (below.sum() - below)
    se = float(np.sqrt((moved**2).sum() * (n - 1) / n))
    if not se > 1e-12:
        return row | nothing
    df = resampling.degrees(below)
    reach = distributions.t_quantile((1 + confidence) / 2, df) * se
    ends = {"se": se, "df": df, "ci_low": row["estimate"] - reach, "ci_high": row["estimate"] + reach}
    return row | ends | {"p": float(2 * distributions.t_tail(abs(row["estimate"]) / se, df))}
