"""Options of a further study."""

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pandas as pd

from rubric_order.base.keys import KEYS, VALUES
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.extras.one_read.methods.advice import goals, options
from rubric_order.extras.one_read.methods.advice.goals import Asked, Margins
from rubric_order.extras.one_read.methods.advice.options import Budget, Option
from rubric_order.extras.one_read.methods.advice.pilot import Pilot, Unknown
from rubric_order.methods import tidy
from rubric_order.methods.position import blocks, selections

COLUMNS = {"scores": [*blocks.COLUMNS, *selections.READOUTS.values()]}
OPTION, CURVE, REFUSED = "option", "curve", "refused"
# Curves end at `NEAR` times the calls of the option with the most calls, or at `DEAREST` times the calls of the option
# with the fewest calls, whichever is less; for exceptions see `options.curves`.
NEAR = 1.5
DEAREST = 8
METHOD = "variances of what groups share and of what items add, by the method of moments; bootstrap over groups"


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    goal: str,
    target: float | None,
    budget: float | None,
    call_prices: Mapping[str, float | None] | None = None,
    sampling_temperatures: Mapping[str, Mapping[str, float | None]] | None = None,
    points: float,
    log_odds: float,
    margin: float,
    confidence: float,
    seed: int,
) -> pd.DataFrame:
    """Options of a further study, each with the precision that the reads of a pilot predict.

    Goals of cards (`goals.OF_CARDS`) use one readout of a judge: ``soft`` if there are option probabilities. `kind` is
    ``option`` (strategy `design`, its config and calls; `flag` names variances below 0), ``curve`` (further numbers of
    groups, for a figure) or ``refused`` (`flag` has the reason).

    Source: ours; variances as in generalisability theory (Brennan, 2001).
    """
    rows: list[Row] = []
    for block in blocks.blocks(scores):
        of_profile = (sampling_temperatures or {}).get(block.keys["judge"], {})
        margins = Margins(points, log_odds, margin)
        asked = Asked(goal, confidence, margins, of_profile.get(block.keys["profile"]), seed)
        price = (call_prices or {}).get(block.keys["judge"])
        limits = Budget(target, budget, math.nan if price is None else price)
        readouts = [readout for readout, _ in block.readouts()]
        for readout in readouts[-1:] if goal in goals.OF_CARDS else readouts:
            common = block.keys | {"readout": readout, "n_items": len(block.items)}
            common["n_clusters"] = int(block.units("group").max()) + 1
            try:
                rows += [common | row for row in _rows(block, readout, asked, limits)]
            except Unknown as error:
                rows.append(common | {"kind": REFUSED, "flag": str(error)})
    columns = [*KEYS, "readout", "kind", "rank", "design", "reads_budget", "orderings", "repeats", "items"]
    columns += ["like_pilot"]
    columns += ["groups", "calls", "cost", "estimate", "ci_low", "ci_high", "value", "meets", "affordable", "config"]
    columns += ["flag"]
    table = tidy.make_table(rows, [*columns, "n_items", "n_clusters"])
    aims = {"target": target, "budget": budget}
    table = table.assign(goal=goal, cluster="group", **{k: np.nan if v is None else v for k, v in aims.items()})
    return table.assign(method=METHOD, confidence=confidence, seed=seed)


def _rows(block: blocks.Block, readout: Readout, asked: Asked, limits: Budget) -> Iterator[Row]:
    pilot = Pilot.of(block, readout, VALUES[readout], seed=asked.seed)
    chosen, _ = options.options(pilot, asked, limits)
    if not chosen:
        wanted = f"no design reaches {limits.target:g}" if limits.target is not None else "the budget pays for none"
        raise Unknown(f"{wanted} with {goals.FEWEST_GROUPS} groups or more")
    for rank, option in enumerate(chosen, start=1):
        yield _row(option) | {"kind": OPTION, "rank": rank}
    calls = sorted(option.calls for option in chosen)
    for option in options.curves(pilot, asked, limits, min(NEAR * calls[-1], DEAREST * calls[0])):
        yield _row(option) | {"kind": CURVE}


def _row(option: Option) -> Row:
    design = option.design
    return {
        "design": design.strategy,
        "reads_budget": math.nan if design.budget is None else design.budget,
        "orderings": design.orderings,
        "repeats": design.repeats,
        "items": option.shape.items,
        "like_pilot": float(option.like_pilot),
        "groups": option.groups,
        "calls": option.calls,
        "cost": option.cost,
        **option.precision.columns(),
        "value": option.value,
        "meets": math.nan if option.meets is None else float(option.meets),
        "affordable": math.nan if option.affordable is None else float(option.affordable),
        "config": config(option),
        "flag": "; ".join(f"below 0: {name}" for name in option.truncated),
    }


def config(option: Option) -> str:
    budget = "" if option.design.budget is None else f"budget: {option.design.budget}, "
    return f"{{strategies: [{option.design.strategy}], {budget}sample: {option.groups}}}"
