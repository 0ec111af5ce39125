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


def lines(results: Path) -> Iterator[str]:
    """The table of all cells that are there, in Markdown. Settings that follow each other are named once."""
    yield "| setting | groups | quantity | studies | before | now | target |"
    yield "|:--|--:|:--|--:|--:|--:|:--|"
    shown = None
    for name in pieces(1):
        if not (path := results / f"{name}.parquet").exists():
            continue
        for row in pd.read_parquet(path).itertuples():
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
    print("\n".join(lines(options.results)))


if __name__ == "__main__":
    main()
