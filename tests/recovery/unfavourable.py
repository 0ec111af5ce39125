"""Designs that broke a number once: unequal exposure and groups, few carriers, ceilings, preferences that differ.

    python tests/recovery/unfavourable.py --results FOLDER [--studies 400] [--only NAME ...]

Each cell of the modules below is a kind of study, by a simulator of its own. Its rows say what an earlier version found
(`before`) and what is found now, in the same studies. They are kept in FOLDER, so that a run can be stopped and goes on
where it was. `recover.py --section "Unfavourable designs"` writes them into the page.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

os.environ.setdefault("OMP_NUM_THREADS", "1")

import card_recovery
import causes_recovery
import choice_recovery
import comparison_recovery
import criteria_recovery
import drift_recovery
import one_read_recovery
import pandas as pd
import planning_recovery
import shares
import spread_recovery
import tables_recovery
import unequal_recovery

MODULES: dict[str, ModuleType] = {
    "card": card_recovery,
    "causes": causes_recovery,
    "choice": choice_recovery,
    "criteria": criteria_recovery,
    "unequal": unequal_recovery,
    "comparison": comparison_recovery,
    "spread": spread_recovery,
    "planning": planning_recovery,
    "drift": drift_recovery,
    "tables": tables_recovery,
    "reads": one_read_recovery,
}
SEED = 20_261_124
COLUMNS = ["setting", "n_groups", "quantity", "studies", "before", "now", "target"]


def pieces(studies: int) -> dict[str, Callable[[], pd.DataFrame]]:
    """Functions that make the rows of each cell, by the name of its file."""
    made: dict[str, Callable[[], pd.DataFrame]] = {}
    for name, module in MODULES.items():
        cells = module.cells()
        for number, cell in enumerate(cells.values() if isinstance(cells, dict) else cells):
            made[f"unfavourable_{name}_{number:03d}"] = partial(_rows, module, cell, studies, SEED + number)
    return made


def _rows(module: ModuleType, cell: object, studies: int, seed: int) -> pd.DataFrame:
    table = module.run(cell, studies, seed)[COLUMNS]
    return table.astype({"before": float, "now": float}).assign(target=[_target(value) for value in table["target"]])


def _target(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) and pd.notna(value) else "" if pd.isna(value) else str(value)


SMALL = "at most 5% and its Monte Carlo error"
# Quantities of the modules by what is counted, in words.
QUANTITIES = {
    "wrong findings": {
        ("card", "wrongly biased"): "cards `biased`",
        ("card", "wrongly equivalent"): "cards `equivalent`, bias at the margin",
        ("causes", "wrongly biased"): "cards `biased`, another cause or none",
        ("causes", "wrongly equivalent"): "cards `equivalent`, written scores or heavy groups",
        ("causes", "wrongly preference claimed"): "cards with a preference, one ordering shifted",
        ("causes", "wrongly share that changes"): "cards with a share that changes, from copies",
        ("causes", "wrongly missed"): "cards whose shift has an interval without the truth",
        ("choice", "wrongly biased"): "cards of choices `biased`",
        ("choice", "wrongly equivalent"): "cards of choices `equivalent`",
        ("criteria", "wrongly biased"): "cards of criteria `biased`",
        ("criteria", "wrongly equivalent"): "cards of criteria `equivalent`",
        ("spread", "equivalent", "0.050"): "cards `equivalent`, single items moved beyond the margin",
        (
            "unequal",
            "shown to be small in points",
            "at most 5% and its Monte Carlo error",
        ): "`equivalence`: shift is small",
        ("unequal", "no preference"): "`position_preference`: positions preferred",
        ("unequal", "condition points"): "`condition_comparison`: points",
        ("unequal", "condition r"): "`condition_comparison`: r",
        ("unequal", "strategy Spearman"): "`strategy_comparison`: rho",
        ("comparison", "tau", "at most 5%"): "`rank_reversal`: tau",
        ("comparison", "flips", "at most 5%"): "`rank_reversal`: best candidate",
        ("comparison", "pairs", "at most 5%"): "`rank_reversal`: reversed pairs",
        ("comparison", "V", "at most 5%"): "`judge_comparison`: V",
        ("comparison", "text", "at most 5%"): "`scoring_causes`: text of the reference",
        ("spread", "spread above its upper end"): "`order_spread`: SD above its upper bound",
        ("drift", "alarms"): "`check`: judges that have not changed",
        ("tables", "shift is small"): "`score_shifts`: shift is small",
        ("tables", "halo of means", "at most 5%"): "`halo`: means in one prompt and alone",
        ("tables", "halo of reads", "at most 5%"): "`halo`: reads in one prompt and alone",
        ("tables", "slope"): "`quality_gap`: slope over the gap by other judges",
        ("tables", "advice"): "`scoring_advice`: mean over judges",
        ("tables", "self-preference"): "`judges_compared`: self-preference",
        ("reads", "like texts: warned"): "`Calibrations.apply`: warning about like texts",
        ("reads", "labels at random: flagged"): "`corrected_means`: random labels flagged",
        ("reads", "advised study misses its target by more than 2%"): "`advice`: studies that miss their target",
    },
    "coverage": {
        ("unequal", "shift in points"): "`score_effects`: shift in points",
        ("unequal", "order"): "`strategy_comparison`: order",
        ("unequal", "averaging"): "`strategy_comparison`: averaging",
        ("unequal", "budget gain, Spearman"): "`budget_curve`: gain in rho",
        ("unequal", "slope (carry-over)"): "`carry_over`: slope",
        ("comparison", "mean"): "`preference_summary`: mean of judges",
        ("tables", "heavy variance"): "`generalisability`: variance of items with heavy tails",
        ("tables", "heavy coefficient"): "`generalisability`: coefficient of items with heavy tails",
        ("tables", "mean of few judges"): "`preference_summary`: mean of 3 to 6 judges",
        ("spread", "spread, coverage"): "`order_spread`: SD between items",
        ("spread", "cost saved, coverage"): "`bias_cost`: cost saved",
        ("spread", "r without rater noise, coverage"): "`human_agreement`: r without rater noise",
        ("spread", "variance of items, coverage"): "`generalisability`: variance of items",
        ("reads", "calibrated difference of systems, coverage"): "difference of systems by calibrated written scores",
        ("reads", "corrected mean, coverage"): "`corrected_means`: mean",
        ("reads", "claims right, by group"): "`adaptive_budget`: claims right, by group",
        ("reads", "claims right, by text"): "`adaptive_budget`: claims right, by text",
        ("reads", "interval of the predicted half-width, coverage"): "`advice`: predicted half-width",
    },
    "right findings": {
        ("card", "biased"): "cards `biased`",
        ("card", "equivalent"): "cards `equivalent`",
        ("causes", "biased"): "cards `biased`, beside another cause",
        ("causes", "equivalent"): "cards `equivalent`, found and negligible or none",
        ("choice", "biased"): "cards of choices `biased`",
        ("choice", "equivalent"): "cards of choices `equivalent`",
        ("criteria", "biased"): "cards of criteria `biased`",
        ("criteria", "equivalent"): "cards of criteria `equivalent`",
        ("spread", "equivalent", ""): "cards `equivalent`, order spread alone",
        ("unequal", "shown to be small in points", "power, no target"): "`equivalence`: shift is small",
        ("comparison", "tau", "as before"): "`rank_reversal`: tau",
        ("comparison", "flips", "as before"): "`rank_reversal`: best candidate",
        ("comparison", "pairs", "as before"): "`rank_reversal`: reversed pairs",
        ("comparison", "V", "as before"): "`judge_comparison`: V",
        ("comparison", "text", "as before"): "`scoring_causes`: text of the reference",
        ("spread", "raters told apart"): "`human_agreement`: raters distinguished",
        ("drift", "found"): "`check`: changes, within 28 runs",
        ("reads", "other texts: warned, and regression refused"): "`Calibrations.apply`: warning about other texts",
        ("reads", "labels not at random: seen"): "`corrected_means`: labels of better groups flagged",
    },
    "distances": {
        ("planning", "groups for `biased`, planned by needed"): "groups planned for `biased`, by those needed",
        ("planning", "groups for `equivalent`, planned by needed"): "groups planned for `equivalent`, by those needed",
        ("spread", "spread"): "`order_spread`: SD between items, points",
        ("spread", "cost saved"): "`bias_cost`: cost saved",
        ("spread", "r without rater noise"): "`human_agreement`: r without rater noise",
        ("spread", "variance of items"): "`generalisability`: variance of items",
        ("reads", "calibrated difference of systems / raw one"): "difference by calibrated written scores, by raw",
        ("reads", "calibrated mean less balanced mean"): "mean of calibrated written scores, points",
        ("reads", "calibrated error / raw"): "error calibrated, by raw, no common preference",
        ("reads", "share of labels"): "`corrected_means`: share of labels",
    },
}
PLANNED = "75% to 125%"  # a target whose truth is 100%


def rows(results: Path) -> pd.DataFrame:
    """The rows of all cells that are there, in the order of `pieces`, with the `module` of each."""
    paths = {name: results / f"{name}.parquet" for name in pieces(1)}
    tables = [pd.read_parquet(path).assign(module=name.split("_")[1]) for name, path in paths.items() if path.exists()]
    return pd.concat([pd.DataFrame(columns=[*COLUMNS, "module"]), *tables], ignore_index=True)


def lines(results: Path, part: str) -> Iterator[str]:
    """One part of `QUANTITIES` in Markdown: a row per quantity, with the mean over cells and the worst cell."""
    table = rows(results)
    yield "| quantity | cells | mean | worst | worst cell | earlier version, worst |"
    yield "|:--|--:|--:|--:|:--|--:|"
    for (module, quantity, *target), words in QUANTITIES[part].items():
        chosen = (table["module"] == module) & (table["quantity"] == quantity)
        cells = table[chosen & table["target"].isin(target)] if target else table[chosen]
        if cells.empty:
            continue
        if part == "distances":
            truth = cells["target"].replace(PLANNED, "1").astype(float)
            cells = cells.assign(**{name: (cells[name].astype(float) - truth).abs() for name in ("before", "now")})
        low = part in ("coverage", "right findings")
        worst = cells.loc[cells["now"].idxmin() if low else cells["now"].idxmax()]
        before = cells["before"].min() if low else cells["before"].max()
        form = "{:.3f}" if part == "distances" and module != "planning" else "{:.1%}"
        mean, least, earlier = (
            "" if pd.isna(value) else form.format(value) for value in (cells["now"].mean(), worst["now"], before)
        )
        least = f"**{least}**" if _outside(worst["now"], worst["studies"], part) else least
        cell = f"{worst['setting']}; {worst['n_groups']} groups" if cells["now"].nunique() > 1 else ""
        yield f"| {words} | {len(cells)} | {mean} | {least} | {cell} | {earlier} |"


def _outside(value: float, studies: int, part: str) -> bool:
    """True if a share lies on the wrong side of its nominal level by more than two standard errors."""
    chance = shares.chance(studies)
    return {"wrong findings": value > 0.05 + chance, "coverage": value < 0.95 - chance}.get(part, False)


def whole(results: Path) -> Iterator[str]:
    """A table of all cells in Markdown, a row per quantity of each."""
    yield "| setting | groups | quantity | studies | before | now | target |"
    yield "|:--|--:|:--|--:|--:|--:|:--|"
    shown = None
    for row in rows(results).itertuples():
        setting = "" if row.setting == shown else row.setting
        shown = row.setting
        numbers = " | ".join(_number(value, row.target) for value in (row.before, row.now))
        yield f"| {setting} | {row.n_groups} | {row.quantity} | {row.studies} | {numbers} | {row.target} |"


def _number(value: float, target: str) -> str:
    """A share in percent; a number where the target is one."""
    if pd.isna(value):
        return ""
    return f"{value:.3f}" if re.fullmatch(r"-?\d*\.\d+", target) else f"{value:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, required=True, help="folder for the rows; kept ones are not redone")
    parser.add_argument("--studies", type=int, default=400, help="studies per cell")
    parser.add_argument("--only", nargs="*", default=[""], help="cells whose names begin so; all by default")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="K N: every Nth cell from the Kth on, from 0")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    part, parts = options.part
    chosen = [(name, make) for name, make in pieces(options.studies).items() if name.startswith(tuple(options.only))]
    for name, make in chosen[part::parts]:
        path = options.results / f"{name}.parquet"
        if not path.exists():
            make().to_parquet(partial_path := path.with_suffix(".partial"))
            partial_path.rename(path)
            print(name, flush=True)
    print("\n".join(whole(options.results)))


if __name__ == "__main__":
    main()
