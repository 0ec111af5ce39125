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
import comparison_recovery
import pandas as pd
import planning_recovery
import spread_recovery
import unequal_recovery

MODULES: dict[str, ModuleType] = {
    "card": card_recovery,
    "unequal": unequal_recovery,
    "comparison": comparison_recovery,
    "spread": spread_recovery,
    "planning": planning_recovery,
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


# Quantities of the modules whose cells are many, in words.
QUANTITIES = {
    ("unequal", "no preference"): "positions preferred (`position_preference`)",
    ("unequal", "shift in points"): "shift of the mean score (`score_effects`)",
    ("unequal", "shown to be small in points"): "a shift shown to be small (`equivalence`)",
    ("unequal", "order"): "r lost by the order (`strategy_comparison`)",
    ("unequal", "averaging"): "r gained by averaging (`strategy_comparison`)",
    ("unequal", "strategy Spearman"): "difference of rho (`strategy_comparison`)",
    ("unequal", "condition points"): "difference in points (`condition_comparison`)",
    ("unequal", "condition r"): "difference of r (`condition_comparison`)",
    ("unequal", "budget gain, Spearman"): "rho gained by reads (`budget_curve`)",
    ("unequal", "slope (carry-over)"): "slope on the score before (`carry_over`)",
    ("comparison", "V"): "difference of V (`judge_comparison`)",
    ("comparison", "tau"): "tau of two orders, beyond chance (`rank_reversal`)",
    ("comparison", "flips"): "best candidates that change, beyond chance (`rank_reversal`)",
    ("comparison", "pairs"): "reversed pairs, beyond chance (`rank_reversal`)",
    ("comparison", "mean"): "mean preference of all judges (`preference_summary`)",
    ("comparison", "text"): "attraction by the reference's text (`scoring_causes`)",
    ("spread", "equivalent"): "cards that say equivalent, of one ordering's effect on single items",
    ("spread", "spread"): "SD of an ordering's effect between items (`order_spread`)",
    ("spread", "spread, coverage"): "that SD, its interval",
    ("spread", "spread above its upper end"): "that SD above its upper bound",
    ("spread", "cost saved"): "cost saved on held-out groups (`bias_cost`)",
    ("spread", "cost saved, coverage"): "that cost, its interval",
    ("spread", "r without rater noise"): "r without rater noise (`human_agreement`)",
    ("spread", "r without rater noise, coverage"): "that r, its interval",
    ("spread", "raters told apart"): "raters that are told apart",
    ("spread", "variance of items"): "variance of items (`generalisability`)",
    ("spread", "variance of items, coverage"): "that variance, its interval",
}
TRUTH = "the truth"  # as a target: numbers are distances from it
TRUTHS = ("spread", "cost saved", "r without rater noise", "variance of items")
ASKED = {"0.950": "95%", "0.050": "at most 5%", "": "none", "power, no target": "none"}  # targets in words


def rows(results: Path) -> pd.DataFrame:
    """The rows of all cells that are there, in the order of `pieces`, with the `module` of each."""
    paths = {name: results / f"{name}.parquet" for name in pieces(1)}
    tables = [pd.read_parquet(path).assign(module=name.split("_")[1]) for name, path in paths.items() if path.exists()]
    return pd.concat([pd.DataFrame(columns=[*COLUMNS, "module"]), *tables], ignore_index=True)


def lines(results: Path, *, whole: bool = False) -> Iterator[str]:
    """Tables of the cells that are there, in Markdown.

    Args:
        whole: each cell has its rows. Else those of a quantity of `QUANTITIES` are one row, with the worst of them.
            Of what is compared with a truth, numbers are distances from it.
    """
    table = rows(results)
    many = pd.Series([not whole and key in QUANTITIES for key in zip(table["module"], table["quantity"], strict=True)])
    few = table[~many.to_numpy(bool)]
    yield "| setting | groups | quantity | studies | before | now | target |"
    yield "|:--|--:|:--|--:|--:|--:|:--|"
    shown = None
    for row in few.itertuples():
        setting = "" if row.setting == shown else row.setting
        shown = row.setting
        numbers = " | ".join(_number(value, row.target) for value in (row.before, row.now))
        yield f"| {setting} | {row.n_groups} | {row.quantity} | {row.studies} | {numbers} | {row.target} |"
    if many.any():
        yield ""
        yield from _worst(table[many.to_numpy(bool)])


def _worst(table: pd.DataFrame) -> Iterator[str]:
    """One row a quantity and target: means over cells, and the worst cell of before and of now."""
    yield "| quantity | target | cells | groups | before: mean, worst | now: mean, worst | the worst now |"
    yield "|:--|:--|--:|--:|--:|--:|:--|"
    goal = table["target"].replace(ASKED).where(~table["quantity"].isin(TRUTHS), TRUTH)
    for (module, quantity, target), cells in table.groupby(["module", "quantity", goal], sort=False):
        if target == TRUTH:
            truth = cells["target"].astype(float)
            cells = cells.assign(**{name: (cells[name] - truth).abs() for name in ("before", "now")})
        most = target == TRUTH or target.startswith("at most")
        if cells["now"].isna().all():
            continue
        worst = cells.loc[cells["now"].idxmax() if most else cells["now"].idxmin()]
        numbers = [_mean_and_worst(cells[name], most=most, target=target) for name in ("before", "now")]
        groups = " to ".join(
            dict.fromkeys(str(number) for number in (cells["n_groups"].min(), cells["n_groups"].max()))
        )
        where = f"{worst['setting']}; {worst['n_groups']} groups"
        name = QUANTITIES[module, quantity]
        yield f"| {name} | {target} | {len(cells)} | {groups} | {numbers[0]} | {numbers[1]} | {where} |"


def _mean_and_worst(values: pd.Series, *, most: bool, target: str) -> str:
    if values.isna().all():
        return ""
    worst = values.max() if most else values.min()
    return f"{values.mean():.3f}, {worst:.3f}" if target == TRUTH else f"{values.mean():.1%}, {worst:.1%}"


def _number(value: float, target: str) -> str:
    """A share in percent; a number where the target is one."""
    if pd.isna(value):
        return ""
    return f"{value:.3f}" if re.fullmatch(r"-?\d*\.\d+", target) else f"{value:.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, required=True, help="folder for the rows; kept ones are not redone")
    parser.add_argument("--studies", type=int, default=400, help="studies a cell")
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
    print("\n".join(lines(options.results, whole=True)))


if __name__ == "__main__":
    main()
