"""Effect of a criterion's position."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.base import levels, randomness
from rubric_order.base.keys import KEYS, VALUES, stream
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.position import panels, uniformity
from rubric_order.methods.position.panels import Panel
from rubric_order.methods.uncertainty import cluster_robust, friedman, multiplicity, rao_scott, resampling
from rubric_order.methods.uncertainty.resampling import sum_units

COLUMNS = {"scores": panels.COLUMNS}
# Columns of the estimates, in this order.
ESTIMATES = [*KEYS, "readout", "quantity", "criterion", "position", "estimate", "ci_low", "ci_high", "null", "excess"]
ESTIMATES += ["rerun_low", "rerun_high", "least", "most", "p_lost", "p_worst"]
ESTIMATES += ["statistic", "df", "p", "p_cluster", "p_least", "n_texts", "n_groups", "effective_groups", "n_scores"]
ESTIMATES += ["n_failed", "n_blocks"]
ESTIMATES += ["n_incomplete", "test", "method", "confidence", "seed"]
LEVEL = 0.05  # of the one-sided bounds `least` and `most`
ACROSS: dict[str, Callable[..., Any]] = {"mean_gap": np.mean, "max_gap": np.max}


def gaps(shifts: np.ndarray) -> np.ndarray:
    """Range over positions, shape (..., C, P) -> (..., C); NaN with fewer than two values."""
    has_gap = (~np.isnan(shifts)).sum(axis=-1) > 1
    filled = np.where(has_gap[..., None], shifts, 0.0)
    return np.where(has_gap, np.nanmax(filled, axis=-1) - np.nanmin(filled, axis=-1), np.nan)


def position_tests(cells: panels.Cells, groups: np.ndarray) -> list[Row]:
    rows = []
    means = np.round(np.moveaxis(cells.means, 1, 0), 9)  # means that differ only by rounding count as equal
    for observed, scores, variance in zip(~np.isnan(means), *friedman.rank_scores(means), strict=True):
        test = friedman.score_test(observed, scores, variance)
        of_groups = sum_units(scores, groups)
        p_cluster = uniformity.cluster_test(of_groups) if len(of_groups) > 1 and test.df else np.nan
        rows.append(
            {"estimate": test.w, "statistic": test.statistic, "df": test.df, "p": test.p, "p_cluster": p_cluster}
            | {"n_blocks": test.n_blocks, "n_incomplete": test.n_incomplete, "test": test.method}
        )
    return rows


def rerun_errors(panel: Panel, shift: np.ndarray) -> dict[str, float]:
    """Standard errors of the gaps of `ACROSS`, over new reads of the same texts, by the delta method."""
    values = panel.values
    at: np.ndarray = panel.positions - 1
    scored = ~np.isnan(values) & (at >= 0)
    observed = gaps(shift)
    with_gap = np.flatnonzero(~np.isnan(observed))
    left = panels.equations(panels.cells(values, panel.positions)).left.sum(axis=0)
    moved, n_reads = np.zeros(values.shape), scored.sum(axis=1, keepdims=True)
    for place in with_gap:
        weights = np.zeros(shift.shape[1])
        weights[np.nanargmax(shift[place])], weights[np.nanargmin(shift[place])] = 1, -1
        weights = np.linalg.pinv(left[place], hermitian=True) @ weights
        here = scored[:, :, place]
        place_weight = np.where(here, weights[at[:, :, place]], 0)
        rest = np.where(here, values[:, :, place] - np.nan_to_num(shift[place])[at[:, :, place]], 0)
        place_weight, rest = (
            np.where(here, factor - factor.sum(axis=1, keepdims=True) / np.maximum(n_reads[:, :, place], 1), 0)
            for factor in (place_weight, rest)
        )
        df = here.sum() - (here.any(axis=1)).sum() - (~np.isnan(shift[place])).sum() + 1
        moved[:, :, place] = place_weight * rest * np.sqrt(here.sum() / df) if df > 0 else np.nan
    if not len(with_gap):
        return dict.fromkeys(ACROSS, np.nan)
    of_gaps = {
        "mean_gap": moved[:, :, with_gap].mean(axis=2),
        "max_gap": moved[:, :, with_gap[observed[with_gap].argmax()]],
    }
    return {name: float(np.sqrt((deviations**2).sum())) for name, deviations in of_gaps.items()}


class Scores(NamedTuple):
    """Scores of one criterion, or of all together; a row is a text under a criterion.

    Attributes:
        total, count, lost: sum and number of scores, and number missing, at each position, shape (m, P).
        groups: index of the group of each row, from 0 and without gaps, shape (m,).
    """

    total: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    lost: np.ndarray
    groups: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        return np.bincount(self.groups, self.count.any(axis=1))

    def first_and_later(self) -> "Scores":
        parts = (self.total, self.count, self.lost)
        total, count, missing = (np.column_stack([part[:, 0], part[:, 1:].sum(axis=1)]) for part in parts)
        return Scores(total, count, missing, self.groups)

    def fit(self) -> cluster_robust.Sums:
        of = panels.equations(panels.Cells(self.total, self.count))
        return cluster_robust.least_squares(sum_units(of.right, self.groups), sum_units(of.left, self.groups))

    def p(self, p: float) -> float:
        """The p-value; if it is NaN because groups do not vary, that of the score test of no shift."""
        right = sum_units(panels.equations(panels.Cells(self.total, self.count)).right, self.groups)
        return p if not np.isnan(p) or len(right) < 2 else rao_scott.zero_total(right)


def scores_of(panel: Panel, places: Sequence[int]) -> Scores:
    values, positions = (np.moveaxis(part[..., [*places]], 2, 0) for part in (panel.values, panel.positions))
    values, positions = (part.reshape(-1, part.shape[2], 1) for part in (values, positions))
    asked = (positions > 0).any(axis=(1, 2))
    groups = np.unique(np.tile(panel.groups, len(places))[asked], return_inverse=True)[1]
    of = panels.cells(values[asked], positions[asked])
    all_asked = panels.cells(np.zeros_like(values[asked]), positions[asked]).count
    return Scores(of.total[:, 0], of.count[:, 0], (all_asked - of.count)[:, 0], groups)


def bounds(of: Scores, levels: int, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Bounds of each position's shift, each at `LEVEL`, also for an effect that few groups have."""
    parts = panels.equations(panels.Cells(of.total, of.count))
    left, right = sum_units(parts.left, of.groups), sum_units(parts.right, of.groups)
    size = np.einsum("gpp->g", left)
    if not size.sum() > 0:
        return np.full((2, left.shape[1]), np.nan)
    shift = panels.solved(panels.Equations(left.sum(axis=0), right.sum(axis=0), of.count.sum(axis=0)))
    by_group = right @ np.linalg.pinv(left.sum(axis=0), hermitian=True)  # sums to the shift
    largest = (levels - 1) * (1 - 1 / of.count.any(axis=0).sum()) * (size**2).sum() / size.sum()
    weight = rng.standard_exponential((draws, len(size) + 1))
    scale = weight[:, :-1] @ size + weight[:, -1] * (size**2).sum() / size.sum()
    mean = weight[:, :-1] @ by_group * size.sum() / scale[:, None]
    reach = (weight[:, -1] * largest / scale)[:, None]
    ends = np.quantile(mean - reach, LEVEL, axis=0), np.quantile(mean + reach, 1 - LEVEL, axis=0)
    return np.where(np.isnan(shift), np.nan, ends)


def lost(of: Scores, levels: int) -> dict[str, float]:
    """p-values: `p_lost`, of scores missing equally often everywhere; `p_worst`, of no gap, whatever is missing."""
    if not of.lost.any():
        return {"p_lost": np.nan, "p_worst": np.nan}
    asked = of.count + of.lost
    away = of.lost - asked * (of.lost.sum(axis=1) / asked.sum(axis=1))[:, None]
    p = [1.0]
    places = np.eye(of.count.shape[1])
    for one, other in itertools.permutations(np.flatnonzero(asked.any(axis=0)), 2):
        added = of.lost * (places[one] + places[other])
        total = of.total + added * (places[one] + levels * places[other])
        row = of._replace(total=total, count=of.count + added).fit().fit().interval(places[one] - places[other], 0.95)
        if row["estimate"] > 0 and not np.isnan(row["p"]):
            p.append(row["p"] / 2)
    n = asked.any(axis=0).sum()
    return {
        "p_lost": rao_scott.zero_total(sum_units(away, of.groups)),
        "p_worst": min(1.0, min(p) * n * (n - 1)),
    }


def pooled(of: Scores, levels: int, *, resamples: int, confidence: float, rng: np.random.Generator) -> Iterator[Row]:
    counts: Row = {"n_scores": int(of.count.sum()), "n_failed": int(of.lost.sum())}
    counts |= {"effective_groups": resampling.effective(of.sizes) if of.sizes.any() else 0.0}
    whole, first = of.fit().fit(), of.first_and_later()
    n = of.count.shape[1]
    centred = np.eye(n) - of.count.any(axis=0) / max(of.count.any(axis=0).sum(), 1)
    ends = bounds(of, levels, draws=resamples, rng=rng)
    for place in np.flatnonzero(~np.isnan(ends[0])):
        row = whole.interval(centred[place], confidence)
        at = {"position": place + 1, "least": ends[0, place], "most": ends[1, place]}
        at |= {"n_scores": int(of.count[:, place].sum()), "n_failed": int(of.lost[:, place].sum())}
        yield counts | at | {"quantity": "pooled_shift"} | _interval(row)
    row = first.fit().fit().interval(np.array([1.0, -1.0]), confidence)
    yield counts | {"quantity": "pooled_first", "p_cluster": first.p(row["p"])} | _interval(row) | lost(first, levels)
    p = of.p(whole.no_effect(centred[of.count.any(axis=0)]))
    yield counts | {"quantity": "pooled_test", "p_cluster": p} | lost(of, levels)


def _interval(row: Row) -> Row:
    return {name: row[name] for name in ("estimate", "ci_low", "ci_high")}


def estimates(
    panel: Panel, *, levels: int, resamples: int, confidence: float, seed: int, key: tuple[Any, ...]
) -> list[Row]:
    cells = panels.cells(panel.values, panel.positions)
    level, shift = panels.position_effects(cells)
    rng = randomness.generator(seed, "criterion order", *stream(key))
    weights: np.ndarray = resampling.bootstrap_weights(panel.n_groups, resamples, rng=rng)[:, panel.groups]
    weights = weights.astype(float)
    drawn_level, drawn_shift = panels.position_effects(cells, weights)
    if panel.n_groups == 1:
        drawn_shift = np.full_like(drawn_shift, np.nan)
    observed = gaps(shift)
    drawn = gaps(drawn_shift)
    chance = np.full_like(drawn, np.nan)  # a single group shows no variation
    if panel.n_groups > 1:
        rng = randomness.generator(seed, "no criterion order", *stream(key))
        chance = gaps(panels.flipped_shifts(cells, panel.groups, resamples, rng=rng))

    rows = []
    for place, name in enumerate(panel.criteria):
        counts = {"n_scores": int(cells.count[:, place].sum())}
        of = scores_of(panel, [place])
        rng = randomness.generator(seed, "bounds of a criterion", name, *stream(key))
        ends = bounds(of, levels, draws=resamples, rng=rng) if counts["n_scores"] else np.full((2, 1), np.nan)
        for quantity, estimate, draws in (
            ("mean", level[place] + shift[place], drawn_level[:, place, None] + drawn_shift[:, place]),
            ("shift", shift[place], drawn_shift[:, place]),
        ):
            low, high = resampling.percentile_interval(draws, confidence)
            for position in np.flatnonzero(~np.isnan(estimate)):
                labels = {"quantity": quantity, "criterion": name, "position": position + 1}
                columns = {"estimate": estimate[position], "n_scores": int(cells.count[:, place, position].sum())}
                if quantity == "shift":
                    columns |= {"least": ends[0, position], "most": ends[1, position]}
                    columns["n_failed"] = int(of.lost[:, position].sum())
                rows.append(labels | columns | {"ci_low": low[position], "ci_high": high[position]})
        columns = _gap("gap", float(observed[place]), drawn[:, place], chance[:, place], confidence)
        rows.append(columns | {"criterion": name} | counts | lost(of, levels))
    has_gap = ~np.isnan(observed)
    errors = rerun_errors(panel, shift)
    for quantity, across in ACROSS.items():
        if has_gap.any():
            gap, resampled, by_chance = (across(values[..., has_gap], axis=-1) for values in (observed, drawn, chance))
            row = _gap(quantity, float(gap), resampled, by_chance, confidence)
            reach = special.ndtri((1 + confidence) / 2) * np.sqrt(2) * errors[quantity]
            rows.append(row | {"rerun_low": max(row["estimate"] - reach, 0.0), "rerun_high": row["estimate"] + reach})
    for name, row in zip(panel.criteria, position_tests(cells, panel.groups), strict=True):
        rows.append({"quantity": "position_test", "criterion": name} | row)
    rows += [commonest(panel, place) for place in range(len(panel.criteria))]
    rng = randomness.generator(seed, "all criteria", *stream(key))
    of = scores_of(panel, range(len(panel.criteria)))
    return [*rows, *pooled(of, levels, resamples=resamples, confidence=confidence, rng=rng)]


def commonest(panel: Panel, place: int) -> Row:
    asked = panel.positions[:, :, place] > 0
    values = panel.values[:, :, place][asked]
    scores = values[~np.isnan(values)]
    share = np.unique(scores, return_counts=True)[1].max() / len(scores) if len(scores) else np.nan
    counts: Row = {"n_scores": len(scores), "n_failed": len(values) - len(scores)}
    of_texts = (~np.isnan(panel.values[:, :, place])).any(axis=1)
    sizes = np.bincount(panel.groups[of_texts])
    counts |= {"n_texts": int(of_texts.sum()), "n_groups": int((sizes > 0).sum())}
    counts |= {"effective_groups": resampling.effective(sizes[sizes > 0]) if of_texts.any() else 0.0}
    return {"quantity": "commonest_share", "criterion": panel.criteria[place], "estimate": share} | counts


def _moved(row: Row, by: int) -> Row:
    return row | {name: row[name] + by for name in ("estimate", "ci_low", "ci_high")}


def _gap(quantity: str, observed: float, drawn: np.ndarray, chance: np.ndarray, confidence: float) -> Row:
    low, high = resampling.percentile_interval(drawn, confidence)
    null_gaps = chance[~np.isnan(chance)]
    null, p, least = np.nan, np.nan, np.nan
    if len(null_gaps) and not np.isnan(observed):
        null = null_gaps.mean()
        least = 1 / (1 + len(null_gaps))
        p = least * (1 + (null_gaps >= observed - 1e-9).sum())
    ends = {"ci_low": float(low), "ci_high": float(high)}
    return (
        {"quantity": quantity, "estimate": observed}
        | ends
        | {"null": null, "excess": observed - null}
        | {"p_cluster": p, "p_least": least}
    )


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Mean scores by position, tests of an effect of the position, and gaps between positions.

    Means are fitted with an intercept for each text (`panels.position_effects`), pooled ones for each text and
    criterion. ``position_test`` has Kendall's W.

    Source: Xu et al. (2026), Sections 4.4 and 5.5, Table 5, Figures 10 and 11.
    """
    rows = []
    for name, readout, panel, reads in panels.blocks(scores):
        scored = reads[VALUES[readout]].notna()
        common = name | {
            "readout": readout,
            "n_texts": len(panel.texts),
            "n_groups": panel.n_groups,
            "n_scores": int(scored.sum()),
            "n_failed": int((~scored).sum()),
            "method": f"percentile bootstrap over groups and random signs of groups, {resamples} each",
            "confidence": confidence,
            "seed": seed,
        }
        named = (*stream(name.values()), readout)
        panel_rows = estimates(
            panel, levels=int(name["n"]), resamples=resamples, confidence=confidence, seed=seed, key=named
        )
        by = levels.lowest_of(reads) - 1  # in panels, the lowest score is 1
        rows += [common | (_moved(row, by) if row["quantity"] == "mean" else row) for row in panel_rows]
    table = tidy.make_table_with_gaps(rows, ESTIMATES)
    by_text = multiplicity.adjust(table)
    return multiplicity.adjust(by_text.rename(columns={"n_tests": "n_tests_texts"}), "p_cluster", name="p_cluster")
