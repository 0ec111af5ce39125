"""Causes other than positions that could give the findings of a card, and p-values that allow for each of them.

- **failures**: reads without a score are more frequent in some orderings, there for low or high scores, or where the
  scores of an item's other reads stand at some position.
- **scale**: surer in some orderings, where log-odds change most for the scores that are preferred anyway.
- **one ordering**: without it, no position is preferred, or too few are left to test this.
- **copies**: repeats hardly ever differ, so that they do not show chance, see `repetition.copied`.
- **written**: what positions add to written scores beyond option probabilities, with its bound; and the bound of what
  orderings do to single items by these probabilities at the power with which answers are drawn.
- **impossible**: share of the written scores that have probability 0, where there are any.
- **group**: correlation of what orderings do to a group's items.
- **saturation**: least share of the commonest score in any ordering.
- **rounding**: option probabilities have one decimal.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.contracts.scores import CONSTRAINED
from rubric_order.methods.position import order_tests, preference, repetition, sampling, spread
from rubric_order.methods.position.blocks import Block, matrix_of
from rubric_order.methods.position.cause_names import (
    CONFIDENCE,
    COPIES,
    FAILURES,
    GROUP,
    IMPOSSIBLE,
    LEVEL,
    ONE_ORDERING,
    ROUNDING,
    SATURATION,
    SCALE,
    WRITTEN,
)
from rubric_order.methods.uncertainty import additive, cluster_robust, rao_scott, resampling

MOST_ORDERINGS = 24  # of blocks that are tested
FEWEST_ORDERINGS = 5  # without one of fewer, too little is left
FEWEST_ITEMS = 20  # that were read in an ordering, if items have orderings of their own
STEPS = np.linspace(0, 1, 11)
TAIL = 1.645  # standard errors up to a one-sided bound at 5%
CLEARLY = 2.0  # standard errors by which a position has more failures than others
CELLS_AT_ONCE = 4_000_000


def causes(block: Block, power: float = 1.0) -> list[Row]:
    """Rows of the causes that could be tested: `cause`, `readout`, its `p`, and `tests` (p-values of `order_tests` that
    allow for it) where a finding falls.

    Of orderings that items share, those of few items are left out. `power` is `sampling.exponent`.
    """
    block = block.common
    rows, recurring = (
        [*_failures_by_position(block), *_score_causes(block), *_written(block, power)],
        block.design.items_of >= FEWEST_ITEMS,
    )
    if not block.design.shared and 1 < recurring.sum() <= MOST_ORDERINGS:
        part = block.part(recurring[block.orderings[1]])
        readouts = [of for of in part.readouts() if of[0] in (Readout.HARD, Readout.SOFT)]
        return [*rows, *(row for of in readouts for row in _failures(part, *of))]
    if not 1 < len(block.orderings[0]) <= MOST_ORDERINGS or not block.design.shared:
        return rows
    for readout, values in block.readouts():
        if readout in (Readout.HARD, Readout.SOFT):
            rows += _failures(block, readout, values)
            rows += _scale(block) if readout == Readout.SOFT and block.crossed else ()
            rows += _one_ordering(block, readout) if block.crossed and "position" in block.table else ()
    return rows


def _score_causes(block: Block) -> Iterator[Row]:
    """Rows on repeats, on the commonest score, on groups, on rounding, and on scores of probability 0."""
    orderings, number = block.orderings
    if block.table["score"].notna().any():
        score = block.table["score"].to_numpy(dtype=float, na_value=np.nan)
        scored = ~np.isnan(score)
        if row := repetition.copied(block):
            yield {"cause": COPIES, "readout": Readout.HARD} | row
        if 1 < len(orderings) <= MOST_ORDERINGS:
            shares = np.bincount(
                number[scored] * (block.n + 1) + score[scored].astype(int), minlength=len(orderings) * (block.n + 1)
            )
            shares = shares.reshape(len(orderings), -1)
            most = shares.max(axis=1) / np.maximum(shares.sum(axis=1), 1)
            yield {"cause": SATURATION, "readout": Readout.HARD, "least": float(most[shares.sum(axis=1) > 0].min())}
    if "position_probabilities" in block.table and block.table["position_probabilities"].notna().any():
        shares = matrix_of(block.table["position_probabilities"].dropna().to_numpy())
        tenths = np.abs(shares * 10 - np.round(shares * 10)).max() < 1e-6
        if tenths and not np.isin(np.round(shares, 6), (0.0, 1.0)).all():
            yield {"cause": ROUNDING, "readout": Readout.SOFT}
    if share := _impossible(block):
        yield {"cause": IMPOSSIBLE, "readout": Readout.HARD, "share": share}
    for readout, values in block.readouts():
        if 1 < len(orderings) <= MOST_ORDERINGS and block.design.shared and readout != Readout.CALIBRATED:
            yield _correlation(block, readout, values)


def _impossible(block: Block) -> float:
    """Share of the written scores with option probabilities whose own probability is 0."""
    if not {"position", "position_probabilities"} <= {*block.table}:
        return 0.0
    both = block.table[["position", "position_probabilities"]].notna().all(axis=1)
    if not both.any():
        return 0.0
    shares = matrix_of(block.table.loc[both, "position_probabilities"].to_numpy())
    place = block.table.loc[both, "position"].to_numpy(dtype=int) - 1
    return float((np.take_along_axis(shares, place[:, None], axis=1) == 0).mean())


def _correlation(block: Block, readout: Readout, values: np.ndarray) -> Row:
    """Correlation within groups of what orderings do to items, and the number of equal groups that follows from it."""
    mean = block.ordering_means(values)
    has_mean = ~np.isnan(mean)
    away = additive.departures(additive.Cells(np.where(has_mean, mean, 0), has_mean.astype(float)))
    away -= away.mean(axis=0)
    group = block.units("group")
    alone = resampling.sum_units(np.square(away).sum(axis=1, keepdims=True), group)[:, 0]
    sizes = np.bincount(group)
    pairs = np.square(resampling.sum_units(away, group)).sum(axis=1) - alone
    several = (sizes * (sizes - 1)).sum()
    share = pairs.sum() / several / (alone.sum() / sizes.sum()) if several and alone.sum() > 0 else 0.0
    correlation = float(np.clip(share, 0, 1))
    groups = resampling.effective(sizes, correlation)
    return {"cause": GROUP, "readout": readout, "correlation": correlation, "groups": groups}


def _name(block: Block, ordering: int) -> str:
    return " ".join(map(str, block.orderings[0][ordering] + block.lowest - 1))


def _usual(block: Block) -> np.ndarray:
    return (np.diff(block.orderings[0], axis=1) > 0).all(axis=1)


def _failures(block: Block, readout: Readout, values: np.ndarray) -> Iterator[Row]:
    """Test that failures depend on the ordering, and what is left of findings for any plausible missing scores.

    A missing score can be any between the item's least and greatest; log-odds are of orderings that fail no more than
    the mean.
    """
    orderings, number = block.orderings
    shape = len(block.items), len(orderings)
    cell = block.item * shape[1] + number
    score = values[block.item, block.column]
    asked, total, count = (
        np.bincount(cell, weights, shape[0] * shape[1]).reshape(shape)
        for weights in (np.ones(len(cell)), np.nan_to_num(score), ~np.isnan(score) * 1.0)
    )
    failed = asked - count
    has_score = count.sum(axis=1) > 0
    if not failed[has_score].any() or (failed[has_score].sum(axis=0) == asked[has_score].sum(axis=0)).any():
        return
    group = np.unique(block.units("group")[has_score], return_inverse=True)[1]
    asked, total, count, failed = (array[has_score] for array in (asked, total, count, failed))
    away = additive.departures(additive.Cells(failed, asked))
    of_ordering = total.sum(axis=0) / np.maximum(count.sum(axis=0), 1)
    level = (total - count * of_ordering).sum(axis=1) / count.sum(axis=1)
    tests = [
        rao_scott.zero_total(resampling.sum_units(part, group))
        for part in (away, away * (level - level.mean())[:, None])
    ]
    row: Row = {"cause": FAILURES, "readout": readout, "p": min(1.0, 2 * min(tests))}
    share = failed.sum(axis=0) / asked.sum(axis=0)
    if row["p"] > LEVEL:
        yield row
        return
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    excess, usual = share > share.mean(), _usual(block)
    ends = [
        (np.nanmin(mean, axis=1), np.nanmax(mean, axis=1)),
        (np.ones(len(mean)), np.full(len(mean), float(block.n))),
    ]
    fills = []
    for least, most in ends:
        for one, other in ((least, most), (most, least)):
            of_failed = np.where(excess, one[:, None], other[:, None])
            whole = np.where(asked > 0, np.where(count > 0, total + failed * of_failed, asked * of_failed), 0)
            fills.append(additive.departures(additive.Cells(whole, asked)))
    low, high = (resampling.sum_units(fill, group) for fill in fills[:2])
    between = [low + step * (high - low) for step in STEPS]
    points = max(rao_scott.zero_total(part) for part in between)
    row["tests"] = {order_tests.POINTS: points}
    if usual.any():
        row["tests"][order_tests.USUAL] = max(rao_scott.zero_total(part[:, usual]) for part in between)
        shifts = [float(fill[:, usual].sum() / asked[:, usual].sum()) for fill in fills]
        row |= {
            "low": min(shifts[:2]),
            "high": max(shifts[:2]),
            "worst_low": min(shifts[2:]),
            "worst_high": max(shifts[2:]),
        }
    worst = int(share.argmax())
    row |= {"ordering": _name(block, worst), "share": float(share[worst])}
    row |= {"others": float(np.delete(failed, worst, 1).sum() / np.delete(asked, worst, 1).sum())}
    row["tests"] |= (
        _log_odds(block.part(~excess[number]), readout) if block.crossed and (~excess).sum() > 1 else _none()
    )
    yield row


def _failures_by_position(block: Block) -> Iterator[Row]:
    """Test that scores are missing where likely ones (of other reads) stand at some position, and what is left.

    A growing part of the failures, likeliest first, gets the score that stands there; so does the least chosen
    position, up to the part that the reads do not exclude (all, if they do not show what items would score).
    """
    score = block.table["score"].to_numpy(dtype=float, na_value=np.nan)
    failed, n = np.isnan(score), block.n
    if failed.all() or not failed.any() or not block.crossed:
        return
    items, item = np.unique(block.item, return_inverse=True)
    group = block.units("group", items)
    choices = (np.arange(1, n + 1) == score[:, None]) * 1.0
    others = resampling.sum_units(choices, item)[item] - choices
    used = others.sum(axis=1, keepdims=True) > 0
    likely = np.take_along_axis(others / np.maximum(others.sum(axis=1, keepdims=True), 1), block.shown - 1, axis=1)
    times = resampling.sum_units(used * 1, item)[item][used & failed[:, None]]
    alone = times.mean() < 2 if len(times) else True  # as with two reads an item: items are compared, not reads
    unit = item * (not alone)
    times = np.maximum(resampling.sum_units(used * 1, unit), 1)[unit]
    away, middle = (
        used * (part - (resampling.sum_units(used * part, unit)[unit] / times)) for part in (failed[:, None], likely)
    )
    sums = resampling.sum_units(resampling.sum_units(away * middle, item), group)
    p, total = rao_scott.zero_total(sums), sums.sum(axis=0)
    lost = np.flatnonzero(failed & used[:, 0])
    if not len(lost):
        return
    row: Row = {"cause": FAILURES, "readout": Readout.HARD, "p": float(p)}
    error = np.sqrt(np.square(sums).sum(axis=0))
    several = np.maximum(others.sum(axis=1, keepdims=True) - 1, 1e-9)
    information = used * (np.square(likely - 1 / n) - likely * (1 - likely) / several)
    least = int(np.bincount(block.table["position"].dropna().astype(int) - 1, minlength=n).argmin())
    by_group = resampling.sum_units(information[:, [least]], group[item])
    known_least = by_group.sum() - TAIL * np.sqrt(np.square(by_group).sum())
    most = (max(total[least], 0.0) + TAIL * error[least]) / max(known_least, 1e-9)
    part = min(1.0, most * likely[used[:, 0], least].sum() / len(lost))
    orders = [(np.full(len(lost), least), np.argsort(-likely[lost, least], kind="stable")[: round(part * len(lost))])]
    row |= {"could": least + 1, "lost": len(lost) / len(failed)}
    if p <= LEVEL:
        over = np.flatnonzero(total >= min(total.max(), CLEARLY * error.max()))
        weight, row["position"] = likely[lost][:, over] * total[over], int(total.argmax()) + 1
        orders.append((over[weight.argmax(axis=1)], np.argsort(-weight.max(axis=1), kind="stable")))
    orderings, number = block.orderings
    shared = 1 < len(orderings) <= MOST_ORDERINGS and block.design.shared
    treatments = [number] if shared else list((np.argsort(block.shown, axis=1)).T)
    of_tests: dict[str, list[float]] = {test: [] for test in order_tests.TESTS}
    usual, shifts, reach = _usual(block), [], []
    for step, (place, order) in product(STEPS[::2], orders):
        chosen = order[: round(step * len(order))]
        values, position = score.copy(), block.table["position"].to_numpy(dtype=float, na_value=np.nan).copy()
        values[lost[chosen]], position[lost[chosen]] = block.shown[lost[chosen], place[chosen]], place[chosen] + 1
        filled = replace(block, table=block.table.assign(score=values, position=position))
        fits = preference.sums(preference.compared(filled, Readout.HARD)).regroup(block.units("group"))
        for test, of_test in _fit_tests(fits, n).items():
            of_tests[test].append(of_test)
        reach.append(float(np.abs(fits.positions.coefficients).max()))
        rated = ~np.isnan(values)
        cells = [
            additive.cells(values[rated], item[rated], of[rated], rated[rated] * 1.0, (len(items), int(of.max()) + 1))
            for of in treatments
        ]
        departures = [resampling.sum_units(additive.departures(cell), group) for cell in cells]
        of_tests[order_tests.POINTS].append(rao_scott.zero_total(np.concatenate(departures, axis=1)))
        if shared and cells[0].count[:, usual].any():
            of_tests[order_tests.USUAL].append(rao_scott.zero_total(departures[0][:, usual]))
            shifts.append(float(departures[0][:, usual].sum() / cells[0].count[:, usual].sum()))
    yield (
        row
        | {
            "reach": max([0.0, *(value for value in reach if np.isfinite(value))]),
            "tests": {test: max(values) for test, values in of_tests.items() if values},
        }
        | ({"low": min(shifts), "high": max(shifts)} if shifts else {})
    )


def _none() -> dict[str, float]:
    return dict.fromkeys((order_tests.SELECTION, order_tests.PREFERENCE, order_tests.INTERACTION), 1.0)


def _log_odds(block: Block, readout: Readout) -> dict[str, float]:
    return _fit_tests(preference.sums(preference.compared(block, readout)).regroup(block.units("group")), block.n)


def _fit_tests(fits: preference.Preference, n: int) -> dict[str, float]:
    line = fits.interaction.interval(np.eye(n + 1)[-1], 0.95)["p"]
    places, line = (1.0 if np.isnan(p) else float(p) for p in (fits.p_positions, line))
    return {order_tests.SELECTION: places, order_tests.PREFERENCE: places, order_tests.INTERACTION: line}


def _one_ordering(block: Block, readout: Readout) -> Iterator[Row]:
    """Findings in log-odds that one ordering makes alone: without it they are not found, and estimates differ."""
    orderings, number = block.orderings
    group, n = block.units("group"), block.n
    if len(orderings) < FEWEST_ORDERINGS:
        if n > 2:
            yield {"cause": ONE_ORDERING, "readout": readout, "orderings": len(orderings), "tests": _none()}
        return
    contrasts = {
        order_tests.PREFERENCE: np.eye(n + 1)[:n] - np.r_[np.full(n, 1 / n), 0],
        order_tests.INTERACTION: np.eye(n + 1)[-1:],
    }
    fits = [preference.sums(preference.compared(block, readout)).regroup(group)]
    if not np.nanmin([1.0, *(_p(fits[0], test) for test in contrasts)]) <= 2 * LEVEL:
        return
    fits += [
        preference.sums(preference.compared(block.part(number != one), readout)).regroup(group)
        for one in range(len(orderings))
    ]
    for test, contrast in contrasts.items():
        alone = np.array([bool(fit.interaction.problem) for fit in fits[1:]])  # nothing else differs
        p = np.where(alone, 1.0, [_p(fit, test) for fit in fits[1:]])
        if np.isnan(p).all() or not _p(fits[0], test) <= 2 * LEVEL:
            continue
        one = int(np.nanargmax(p))
        moved = 0.0 if alone[one] else _moved(fits[0].interaction, fits[1 + one].interaction, contrast)
        if p[one] > LEVEL and moved <= LEVEL:
            tests = {test: float(p[one])} | (
                {order_tests.SELECTION: float(p[one])} if test == order_tests.PREFERENCE else {}
            )
            candidates = np.flatnonzero(p > LEVEL)  # of several that would do, the one whose scores are farthest away
            name = _name(block, int(candidates[np.abs(_departures(block, readout))[candidates].argmax()]))
            yield {"cause": ONE_ORDERING, "readout": readout, "ordering": name, "p": moved, "tests": tests}


def _departures(block: Block, readout: Readout) -> np.ndarray:
    """Mean departure of the scores in each ordering from their item's mean, shape (D,)."""
    values = dict(block.readouts())[readout]
    score, size = values[block.item, block.column], len(block.orderings[0])
    scored = ~np.isnan(score)
    item, ordering = block.item[scored], block.orderings[1][scored]
    means = np.bincount(item, score[scored]) / np.maximum(np.bincount(item), 1)
    sums = np.bincount(ordering, score[scored] - means[item], minlength=size)
    return np.asarray(sums / np.maximum(np.bincount(ordering, minlength=size), 1))


def _p(fit: preference.Preference, test: str) -> float:
    if test == order_tests.PREFERENCE:
        return fit.p_positions
    return float(fit.interaction.interval(np.eye(len(fit.interaction.coefficients))[-1], 0.95)["p"])


def _moved(whole: cluster_robust.Fit, part: cluster_robust.Fit, contrast: np.ndarray) -> float:
    moved = (whole.coefficients - part.coefficients) @ contrast.T
    influence = (whole.influence - part.influence) @ contrast.T
    if not (np.isfinite(moved).all() and np.isfinite(influence).all()):
        return 1.0
    return rao_scott.zero_total(moved / len(influence) + influence)


def _scale(block: Block) -> Iterator[Row]:
    """Preferences of positions beside a scale of each ordering: the log-odds of an ordering by those of all."""
    of = preference.compared(block, Readout.SOFT)
    assert isinstance(of, preference.Soft)
    number: np.ndarray = np.zeros((len(block.items), int(block.column.max()) + 1), dtype=int)
    number[block.item, block.column] = block.orderings[1]
    n, orderings = block.n, len(block.orderings[0])
    k, group = n + 1 + orderings, block.units("group")
    right, information = np.zeros((group.max() + 1, k)), np.zeros((group.max() + 1, k, k))
    (values, places, _), line = of.parts[0], np.linspace(-1, 1, n)
    step = max(1, CELLS_AT_ONCE // (values.shape[1] * n * k))
    for start in range(0, len(values), step):
        rows = slice(start, start + step)
        used, at = ~np.isnan(values[rows]), places[rows]
        log = np.where(used, values[rows], 0)
        log = np.where(used, log - log.sum(axis=2, keepdims=True) / np.maximum(used.sum(axis=2, keepdims=True), 1), 0)
        mean = log.sum(axis=1, keepdims=True) / np.maximum(used.sum(axis=1, keepdims=True), 1)
        scales = mean[..., None] * np.eye(orderings)[number[rows]][:, :, None, :]
        columns = np.concatenate([np.eye(n)[at], (line * line[at])[..., None], scales], axis=-1)
        x = preference.centred(columns, used[..., None]).reshape(len(at), -1, k)
        y = preference.centred(log, used).reshape(len(at), -1, 1)
        np.add.at(right, group[rows], (x * y).sum(axis=1))
        np.add.at(information, group[rows], x.transpose(0, 2, 1) @ x)
    fit = cluster_robust.least_squares(right, information).fit()
    if fit.problem:
        return
    one = np.eye(k)
    tests = {
        order_tests.PREFERENCE: fit.no_effect(one[:n] - one[:n].mean(axis=0)),
        order_tests.INTERACTION: fit.interval(one[n], 0.95)["p"],
    }
    times = fit.coefficients[n + 1 :] - fit.coefficients[n + 1 :].mean()
    away = int(np.abs(times).argmax())
    contrasts = one[n + 1 :] - one[n + 1 :].mean(axis=0)
    p = min(1.0, orderings * fit.interval(contrasts[away], 0.95)["p"])
    row: Row = {
        "cause": SCALE,
        "readout": Readout.SOFT,
        "p": float(p),
        "ordering": _name(block, away),
        "times": 1 + float(times[away]),
    }
    if p <= LEVEL:
        tests = {test: 1.0 if np.isnan(value) else float(value) for test, value in tests.items()}
        row["tests"] = {test: value for test, value in tests.items() if value > LEVEL}
    yield row


class Beyond(NamedTuple):
    """Variance that positions add to written scores beyond probabilities, (m,), with items' indices, of some `reads`.

    `expected`: their scores by these probabilities; `second`: some answers allowed only a score.
    """

    variance: np.ndarray
    items: np.ndarray
    reads: np.ndarray
    expected: np.ndarray
    second: bool


def beyond(block: Block, power: float) -> Beyond | None:
    """See `Beyond`; None without reads that have a score and probabilities."""
    column = "position_probabilities"
    if not block.crossed or not np.isfinite(power) or column not in block.table:
        return None
    both = (block.table["score"].notna() & block.table[column].notna()).to_numpy()
    if not both.any():
        return None
    items, item = np.unique(block.item[both], return_inverse=True)
    shares, scores = matrix_of(block.table[column].to_numpy()[both]) ** power, block.shown[both].astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    chosen = block.table["position"].to_numpy(dtype=float, na_value=np.nan)[both, None] == np.arange(1, block.n + 1)
    variance = sampling.products(shares, scores, item).order_variance(chosen - shares, item)
    second = "pattern" in block.table and bool((block.table.loc[both, "pattern"] == CONSTRAINED).any())
    return Beyond(variance, items, both, (shares * scores).sum(axis=1), second)


def _written(block: Block, power: float) -> Iterator[Row]:
    """Effects of positions, or orderings, on an item's written scores beyond its option probabilities, in points."""
    added = beyond(block, power)
    if added is None:
        return
    unit = block.units("group", added.items)
    of = spread.root(spread.mean_interval(added.variance, unit, confidence=CONFIDENCE, level=LEVEL))
    row: Row = {"cause": WRITTEN, "readout": Readout.HARD, "sd": of.estimate, "low": of.low, "high": of.high}
    row |= {"bound": sampling.FIRST_ORDER * of.inner_high, "p": 1.0, "second": added.second}
    row["drawn"] = _drawn_spread(block, added.reads, added.expected)
    if block.design.shared and 1 < len(block.orderings[0]) <= MOST_ORDERINGS:  # together in the items of a group
        rest = block.ordering_means(block.matrix("score") - block.matrix("expected_score"))
        is_read = ~np.isnan(rest)
        rest = additive.departures(additive.Cells(np.where(is_read, rest, 0), is_read * 1.0))
        rest -= rest.sum(axis=0) / np.maximum(is_read.sum(axis=0), 1) * is_read
        alone = resampling.sum_units(np.square(rest).sum(axis=1, keepdims=True), block.units("group"))[:, 0]
        row["p"] = repetition.above(np.square(resampling.sum_units(rest, block.units("group"))).sum(axis=1) - alone)
    yield row


def _drawn_spread(block: Block, both: np.ndarray, expected: np.ndarray) -> float:
    """Upper bound of the spread between items, as statistic `order_spread` has it, of scores expected of each read."""
    values = np.full((len(block.items), int(block.column.max()) + 1), np.nan)
    values[block.item[both], block.column[both]] = expected
    values = block.ordering_means(values) if block.design.shared else values
    several = (~np.isnan(values)).sum(axis=1) > 1
    if not several.any():
        return math.nan
    values, group = values[several], block.units("group", several)
    between_items, _, added = spread.item_variances(values, values * 0, group, shared=block.design.shared)
    of = spread.mean_interval(between_items, group, confidence=CONFIDENCE, level=LEVEL, added=added, logarithm=True)
    return spread.root(of).inner_high
