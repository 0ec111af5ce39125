"""Standard errors that decide a bias card, for a planned study: `planning_groups` from items' contributions, so also
for groups of other sizes.
"""

import math
from dataclasses import dataclass

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.extras.one_read.methods.advice import pilot as pilots
from rubric_order.extras.one_read.methods.advice import variances
from rubric_order.extras.one_read.methods.advice.designs import Design
from rubric_order.extras.one_read.methods.advice.pilot import Pilot, Unknown
from rubric_order.extras.one_read.methods.advice.variances import Shape
from rubric_order.methods.position import (
    causes,
    order_tests,
    planning_groups,
    sampling,
    selections,
    spread,
    uniformity,
)
from rubric_order.methods.position.blocks import Block, matrix_of
from rubric_order.methods.position.planning_groups import Errors, Spread
from rubric_order.methods.uncertainty import additive, distributions

CONFIDENCE = 0.95  # confidence of the interval that shows whether a spread is above 0


@dataclass(frozen=True)
class CardErrors:
    """Contributions of a pilot's items to the estimates that decide a card, summed over groups.

    `sums` has those of each kind (`variances.unit_sums`); no key `spread` if it cannot be estimated. `least` is the
    least variance of each position's log-odds in a study of one item; `differ` the share of an item's pairs of reads
    with different written scores.
    """

    n: int
    orderings: int
    repeats: int
    sums: dict[str, np.ndarray]
    least: np.ndarray
    spread: Spread | None
    by: order_tests.Deciding
    soft: bool
    exponent: float
    groups: float
    sizes: np.ndarray
    differ: float

    def at(self, shape: Shape, groups: float, *, times: float = 1.0) -> Errors:
        """Standard errors in a study with `groups` groups of a shape, multiplied by `times`."""
        parts = {name: variances.parts(sums.sum(axis=0)) for name, sums in self.sums.items()}
        errors = {name: times * np.sqrt(part.variance(shape, groups)) for name, part in parts.items()}
        errors["positions"] = np.maximum(errors["positions"], times * np.sqrt(self.least / shape.items / groups))
        effective = shape.effective(groups)
        model = self._model(shape)
        return Errors(
            n=self.n,
            groups=effective,
            log_odds=errors["positions"],
            one_place=planning_groups.one_place(errors["positions"], model),
            points=errors["points"],
            written=errors["written"],
            usual=(planning_groups.size(errors["points"]), planning_groups.size(errors["written"])),
            exponent=self.exponent * math.sqrt(self.groups / effective),
            interaction=float(errors["interaction"][0]) if self.n > 2 else math.nan,
            spread=self._spread(errors, effective, model),
            beyond=float(errors["beyond"][0]) if "beyond" in errors else 0.0,
            by=self.by,
            differ=model.differ,
            reads=model.reads,
        )

    def scales(self, names: tuple[str, ...], shape: Shape) -> np.ndarray:
        """Error without each part of the pilot's groups over that in the pilot, geometric mean over kinds, shape (1 +
        n_parts,). A kind's squared error is the sum of its estimates' variances.
        """
        logs = []
        for name in names:
            if name in self.sums:
                variance = variances.parts(variances.left_out(self.sums[name])).variance(shape, 1)
                if name == "positions":
                    variance = np.maximum(variance, self.least / shape.items)
                total = variance.sum(axis=-1)
                logs.append(np.log(total / total[0]) / 2)
        return np.exp(np.mean(logs, axis=0))

    @property
    def negative(self) -> list[str]:
        """Kinds of estimates for which the variance between groups is estimated below 0."""
        return [name for name, sums in self.sums.items() if (variances.parts(sums.sum(axis=0)).between < 0).all()]

    def _model(self, shape: Shape) -> Errors:
        """Expected errors of a judge with the pilot's share of differing pairs, see `planning_groups.expected`."""
        return planning_groups.like(
            self.n,
            self.differ,
            orderings=self.orderings,
            repeats=self.repeats,
            items=shape.items,
            soft=self.soft,
        )

    def _spread(self, errors: dict[str, np.ndarray], groups: float, model: Errors) -> Spread:
        """Spread for the plan: the pilot's, or the model's expected one where the pilot's may be 0."""
        if self.spread is None:
            return Spread(0.0, math.nan, False)
        error = float(errors["spread"][0])
        if self.spread.logarithm:
            return Spread(self.spread.variance, error, True)
        pilot_error = error * math.sqrt(groups / self.groups)
        reach = float(distributions.t_quantile((1 + CONFIDENCE) / 2, max(self.groups - 1, 1))) * pilot_error
        return Spread(self.spread.variance if self.spread.variance > reach else model.spread.variance, error, False)


def card_errors(pilot: Pilot, design: Design, *, temperature: float | None) -> CardErrors:
    """Contributions to the estimates that decide a card, from a pilot's reads by a design. Raises `Unknown`."""
    part = pilot.part(design)
    by, exponent, power = _deciding(part, math.nan if temperature is None else temperature)
    variety = selections.variety(part, Readout.HARD) if _has(part, "score") else None
    if Readout.HARD in by and (variety is None or uniformity.is_saturated(variety.commonest, variety.discordant_share)):
        raise Unknown("the written scores are saturated, so that hardly anything shows what an order changes")
    fit = pilots.fitted(part, by.log_odds).items
    unit = part.units("group")
    items, n = len(part.items), part.n
    influences = {"positions": pilots.position_influence(fit, n)}
    if n > 2:
        influences["interaction"] = items * fit.interaction.influence[:, [-1]]
    shifts = {}
    for readout, column in ((Readout.HARD, "score"), (Readout.SOFT, "expected_score")):
        if _has(part, column):
            shifts[readout] = _shift_influences(part, column)
    influences["points"] = shifts[by.points]
    influences["written"] = shifts.get(Readout.HARD, shifts[by.points])
    if any(not np.isfinite(values).all() for values in influences.values()):
        raise Unknown("a single item decides what positions are worth, so that no error is known")
    spreads, moved, chosen = _spread_influences(part, Readout.SOFT if Readout.SOFT in shifts else Readout.HARD)
    sums = {name: variances.unit_sums(values, unit) for name, values in influences.items()}
    if spreads is not None:
        sums["spread"] = variances.unit_sums(moved, part.units("group", chosen))
    beyond = causes.beyond(part, power) if len(shifts) > 1 else None
    if beyond is not None and (temperature is None or beyond.second):
        sums["beyond"] = variances.unit_sums(beyond.variance[:, None], part.units("group", beyond.items))
    least = pilots.least_of_positions(fit, n)
    if not (variances.parts(sums["points"].sum(axis=0)).variance(Shape(1.0), 1) > additive.ROUNDING**2).all():
        raise Unknown("no item's scores differ between orderings, so that no error is known")
    sizes = np.bincount(unit)
    shape = Shape.of(sizes)
    groups = shape.effective(int(unit.max()) + 1)
    soft = by.log_odds == Readout.SOFT
    differ = math.nan if variety is None else variety.discordant_share
    return CardErrors(
        n, design.orderings, design.repeats, sums, least, spreads, by, soft, exponent, groups, sizes, differ
    )


def _has(block: Block, column: str) -> bool:
    return column in block.table and bool(block.table[column].notna().any())


def _deciding(block: Block, temperature: float) -> tuple[order_tests.Deciding, float, float]:
    """Readouts that would decide a card of a study with more groups; error and value of `sampling.exponent`."""
    hard = _has(block, "score")
    column = selections.READOUTS[Readout.SOFT]
    is_read = (
        block.table[column].notna().to_numpy() if column in block.table else np.zeros(len(block.table), dtype=bool)
    )
    power = low = high = math.nan
    both = is_read & block.table[selections.READOUTS[Readout.HARD]].notna().to_numpy() if hard else is_read & False
    if both.any():
        shares = matrix_of(block.table.loc[both, column].to_numpy())
        place = block.table.loc[both, selections.READOUTS[Readout.HARD]].to_numpy(dtype=int) - 1
        group = np.unique(block.units("group")[block.item[both]], return_inverse=True)[1]
        power, low, high = sampling.exponent(shares, place, group)
    if both.any() and low <= 1 <= high:  # more groups would show that expected scores decide points
        by = order_tests.deciding(hard=True, known=1.0, drawn=True)
        return by, sampling.error(low, high), power
    drawn = order_tests.drawn_as_they_are(low, high, temperature)
    return order_tests.deciding(hard=hard, known=float(is_read.mean()), drawn=drawn), 0.0, power


def _shift_influences(block: Block, column: str) -> np.ndarray:
    """Contributions of items to the shift of the mean score by each ordering, shape (m, D)."""
    values = block.table[column].to_numpy(dtype=float, na_value=np.nan)
    scored = ~np.isnan(values)
    shape = len(block.items), len(block.orderings[0])
    cells = additive.cells(
        values[scored], block.item[scored], block.orderings[1][scored], block.design_of(scored).weights, shape
    )
    fit = additive.shifts(cells, np.arange(shape[0]))
    if fit is None:
        raise Unknown("no items connect the orderings with each other")
    return shape[0] * fit.influence


def _spread_influences(block: Block, readout: Readout) -> tuple[Spread | None, np.ndarray, np.ndarray]:
    """Spread between single items (None if it cannot be estimated), contributions of its k items, shape (k, 1), and
    which they are, shape (m,).
    """
    column = "expected_score" if readout == Readout.SOFT else "score"
    cells = pilots.cells_of(block, block.table[column].to_numpy(dtype=float, na_value=np.nan))
    chosen = ~np.isnan(cells).any(axis=(1, 2))
    cells = cells[chosen]
    nothing = None, np.zeros((0, 1)), chosen
    if chosen.sum() < pilots.FEWEST_ITEMS or (cells.shape[2] < 2 and readout == Readout.HARD):
        return nothing
    noise = np.zeros(cells.shape[:2])
    if cells.shape[2] > 1:
        noise = cells.var(axis=2, ddof=1) / cells.shape[2]
    unit = block.units("group", chosen)
    item_variance, _, added = spread.item_variances(cells.mean(axis=2), noise, unit, shared=True)
    variance = float(item_variance.mean()) + added
    if math.isnan(variance):
        return nothing
    return Spread(variance, math.nan, not noise.any()), (item_variance - item_variance.mean())[:, None], chosen
