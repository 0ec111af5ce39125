"""Stepwise regression of consistency and fairness."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.rows import Row, blocks_by
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import comparison_reads, series
from rubric_order.methods.uncertainty import stepwise

COLUMNS = {
    "scores": [
        *KEYS,
        *("unit_id", "group_id", "benchmark", "task", "candidate", "candidates", "lengths", "input_length"),
        *("ordering", "repeat", "score", "position", "pattern"),
    ]
}
OUTCOMES = ("position_consistency", "preference_fairness")
GAPS = ("own", "others")
CELL = ["judge", "dataset", "benchmark", "candidate", "task"]
MEASURES = ["position_consistency", "preference_fairness", "win_rate"]
LENGTHS = ["output_length", "input_length", "prompt_length"]
SHARED = ["study", "profile", "condition", "strategy", "n"]


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, forms: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Last step of a stepwise search over cells (judge, candidate, task): `stepwise.search`, `stepwise.removals`.

    `removed` ``none`` is the chosen model. `offered` terms: judge, candidate, task, quality gap (win rate from 1/n) and
    mean lengths in thousands of characters: candidate's texts (`output_length`), question (`input_length`), both
    (`prompt_length`).

    Source: Shi et al., Judging the Judges, Appendix E. Rows count as independent, although cells share questions.
    """
    parts = [_cells(keys, block, forms) for keys, block in blocks_by([*KEYS, "benchmark"], scores)]
    cells = pd.concat([part for part in parts if len(part)], ignore_index=True) if any(map(len, parts)) else None
    rows: list[Row] = []
    for key, block in cells.groupby(SHARED, sort=True) if cells is not None else ():
        common = dict(zip(SHARED, key, strict=True)) | {"judge": EVERY}
        datasets = sorted(block["dataset"].unique())
        for dataset in [EVERY, *datasets] if len(datasets) > 1 else datasets:
            chosen = _add_gaps(block if dataset == EVERY else block[block["dataset"] == dataset])
            rows += (common | {"dataset": dataset} | row for row in _searched(chosen))
    columns = [*KEYS, "outcome", "gap", "removed", "df", "sum_of_squares", "rss", "aic", "n_cells", "offered"]
    return tidy.make_table_with_gaps(rows, columns, {"gap": "str"})


def _cells(about: Row, block: pd.DataFrame, forms: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """One row per cell of a judge; no rows if candidates are not compared with one baseline."""
    block = block[block["candidate"].notna()]
    if block.empty:
        return block
    run = comparison_reads.first_run(comparison_reads.prepared(block, forms.get(about["benchmark"])))
    size = run.groupby("unit_id")["order"].transform("size")
    run = run[(size == size.max()) & (size > 1)]
    if run.empty:
        return run
    winners, places = (run[name].to_numpy().reshape(-1, int(size.max())) for name in ("winner", "place"))
    units = run.drop_duplicates("unit_id")
    number = [
        list(candidates).index(name) + 1
        for candidates, name in zip(units["candidates"], units["candidate"], strict=True)
    ]
    lengths = [[np.nan, np.nan] if row is None else row for row in units["lengths"]]
    asked = units["input_length"].to_numpy(dtype=float, na_value=np.nan) / 1000
    values = units[CELL].assign(
        position_consistency=series.consistent(winners),
        preference_fairness=series.leaning(places, winners, p=about["n"]),
        win_rate=series.overall_win_rate(winners, candidate=np.array(number), p=about["n"]),
        output_length=[row[place - 1] / 1000 for row, place in zip(lengths, number, strict=True)],
        input_length=asked,
        prompt_length=asked + np.array([np.sum(row) for row in lengths]) / 1000,
    )
    means = values.groupby(CELL, sort=True, as_index=False).mean()
    return means.dropna(subset=MEASURES).assign(**{key: about[key] for key in SHARED})


def _add_gaps(cells: pd.DataFrame) -> pd.DataFrame:
    expected = 1 / cells["n"]
    of_cell = cells.groupby([name for name in CELL if name != "judge"])["win_rate"]
    others = of_cell.transform("size") - 1
    mean = (of_cell.transform("sum") - cells["win_rate"]) / others.where(others > 0)
    return cells.assign(own=(cells["win_rate"] - expected).abs(), others=(mean - expected).abs())


def _searched(cells: pd.DataFrame) -> Iterator[Row]:
    for gap in GAPS:
        rows = cells.dropna(subset=gap)
        factors = {"judge": rows["judge"], "candidate": rows["dataset"] + " " + rows["candidate"].astype(str)}
        factors |= {"task": rows["dataset"] + " " + rows["task"].astype(str), "quality_gap": rows[gap]}
        factors |= {name: rows[name] for name in LENGTHS if rows[name].notna().all()}
        terms = {name: stepwise.columns(values) for name, values in factors.items() if values.nunique() > 1}
        for outcome in OUTCOMES if len(rows) else ():
            y = rows[outcome].to_numpy(dtype=float)
            if sum(columns.shape[1] for columns in terms.values()) + 1 >= len(y) or y.std() == 0:
                continue  # the model would fit every value, or all values are equal
            chosen = stepwise.search(y, terms)
            for removal in stepwise.removals(y, {name: terms[name] for name in chosen}):
                row = removal._asdict()
                name = row.pop("term")
                yield (
                    row
                    | {"outcome": outcome, "gap": gap, "removed": name or "none"}
                    | {
                        "n_cells": len(y),
                        "offered": " ".join(terms),
                    }
                )
