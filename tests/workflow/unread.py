"""The reads of a finished run that no table and no figure shows: ``python unread.py WORDS FOLDER SETTINGS``.

A read is shown if a result changes when the rows of statistics that come from it are taken away. So the commands of the
run's tables and figures are run again, on statistics without these rows. Reads are taken away by study, profile,
condition, strategy and scale, and by study, dataset and judge. What counts answers alone shows no read: parse failures
and versions.

WORDS is a file with the words of each job (`forks.py`), FOLDER where the run was, and SETTINGS, as JSON, names the
studies of statistics that have no column for them. It prints what is not shown, as JSON.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

COUNTS = {"parse_failures", "judge_versions", "datasets"}
SETTING = ("study", "profile", "condition", "strategy", "n")
WHO = ("study", "dataset", "judge")
# Columns that name a second side of a comparison, by the key that they are of.
SIDES = {"strategy": ("strategy", "baseline", "other"), "condition": ("condition", "varied", "other", "one")}
SIDES |= {"judge": ("judge", "source", "other", "one"), "dataset": ("dataset", "one", "other")}
SIDES |= {"profile": ("profile", "one", "other")}
# Conditions that statistics show together, under another name.
TOGETHER = {"padded_1": "padding", "padded_2": "padding"}
SCRIPTS = ("render_table.py", "draw_figure.py")


@dataclass
class Statistic:
    """A statistic's rows, and the values of its columns as far as they were asked for.

    Attributes:
        rows: as they stand in its file.
        values: of a column: the number of each row's value, and for each value the words that it names.
    """

    rows: pd.DataFrame
    values: dict[str, tuple[np.ndarray, list[set[str]]]] = field(default_factory=dict)

    @staticmethod
    @functools.cache
    def read(path: str) -> Statistic:
        return Statistic(pd.read_parquet(path))

    def has(self, column: str, value: object) -> np.ndarray:
        """True for each row whose entry in a column is a value, or names it among others."""
        if column not in self.values:
            numbers, values = pd.factorize(self.rows[column], use_na_sentinel=False)
            self.values[column] = numbers, [{str(entry), *str(entry).split()} for entry in values]
        numbers, words = self.values[column]
        names = {str(value), TOGETHER.get(str(value), str(value))}
        return np.array([not names.isdisjoint(entry) for entry in words], dtype=bool)[numbers]


class Result:
    """A table or a figure, with the words of its command."""

    def __init__(self, words: list[str], names: Mapping[str, list[str]]) -> None:
        self.words = words
        start = words.index("--statistics") + 1
        end = next(place for place in range(start, len(words)) if words[place].startswith("--"))
        pairs = (word.partition("=") for word in words[start:end])
        self.place, self.paths = (start, end), {name: path for name, _, path in pairs}
        self.tables = {name: Statistic.read(path) for name, path in self.paths.items() if name not in COUNTS}
        self.names = names

    @functools.cached_property
    def usual(self) -> bytes:
        """The result from the statistics as they are."""
        return self.made({})

    def made(self, other: Mapping[str, pd.DataFrame]) -> bytes:
        """The result as a file, from other statistics."""
        with tempfile.TemporaryDirectory() as folder:
            paths = dict(self.paths)
            for name, table in other.items():
                paths[name] = f"{folder}/{name}.parquet"
                table.to_parquet(paths[name])
            words = [*self.words[: self.place[0]], *(f"{name}={path}" for name, path in paths.items())]
            words += self.words[self.place[1] :]
            option, suffix = ("--output", ".csv") if "--output" in words else ("--outputs", ".svg")
            output = Path(folder, f"result{suffix}")
            words = [*words[: words.index(option)], option, str(output)]
            sys.argv = words
            try:
                with contextlib.redirect_stderr(io.StringIO()):
                    runpy.run_path(words[0], run_name="__main__")
            except (Exception, SystemExit) as error:
                if "ended on request" in str(error):  # this program itself is told to end
                    raise
                return repr(error).encode()
            return output.read_bytes()

    def shows(self, cell: Mapping[str, object]) -> bool:
        """True where it changes without the rows of a cell."""
        other = {}
        for name, table in self.tables.items():
            rows = self._rows(name, table, cell)
            if rows.any():
                other[name] = table.rows[~rows]
        return bool(other) and self.made(other) != self.usual

    def _rows(self, name: str, table: Statistic, cell: Mapping[str, object]) -> np.ndarray:
        """The rows of a statistic that come from a cell."""
        rows = np.ones(len(table.rows), dtype=bool)
        if "study" not in table.rows and cell["study"] not in self.names.get(name, ()):
            return ~rows
        for key, value in cell.items():
            sides = [column for column in SIDES.get(key, (key,)) if column in table.rows]
            if sides:
                rows &= np.any([table.has(column, value) for column in sides], axis=0)
        return rows


def write_csv(table: pd.DataFrame, printed: pd.DataFrame, stem: Path, caption: str) -> None:
    """In the place of `tables.write`: of a table's files the one that is compared."""
    table.to_csv(stem.with_suffix(".csv"), index=False)


def cells(folder: Path) -> Iterator[dict]:
    """Subjects of the reads of a run: their settings and their judges."""
    plans = sorted((folder / "results/plan").glob("*/*/*.parquet"))
    reads = pd.concat([pd.read_parquet(path, columns=list({*SETTING, *WHO})) for path in plans])
    for keys in (SETTING, WHO):
        yield from reads[list(keys)].drop_duplicates().to_dict("records")


def unread(words: Path, folder: Path, names: Mapping[str, list[str]]) -> list[dict]:
    """The cells that no result shows."""
    jobs = (json.loads(line) for line in words.read_text().splitlines())
    chosen = [job for job in jobs if Path(job[0]).name in SCRIPTS]
    os.chdir(folder)
    results = [Result(job, names) for job in chosen]
    results = [result for result in results if result.tables]
    results.sort(key=lambda result: "draw_figure" in result.words[0])
    missing, last = [], {}
    for cell in cells(folder):
        # What showed the study's last cell likely shows this one.
        order = sorted(results, key=lambda result: result is not last.get(cell["study"]))
        shown = next((result for result in order if result.shows(cell)), None)
        if shown is None:
            missing.append(cell)
        else:
            last[cell["study"]] = shown
    return missing


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "workflow/scripts"))
    from rubric_order import tables
    from rubric_order.tables.spec import Table

    tables.write, Table.printout = write_csv, lambda _, rows: rows
    print(json.dumps(unread(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])), default=int))
