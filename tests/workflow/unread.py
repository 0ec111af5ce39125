"""The reads of a finished run that no table and no figure shows: ``python unread.py WORDS FOLDER SETTINGS``.

A read is shown if a result changes when the rows of statistics that come from it are taken away. So the commands of the
run's tables and figures are run again, on statistics without these rows. Reads are taken away by study, profile,
condition, strategy and scale, and by study, dataset and judge. What counts answers alone shows no read: parse failures
and versions.

WORDS is a file with the words of each job (`warm.py`), FOLDER where the run was, and SETTINGS, as JSON, names the
studies of statistics that have no column for them. It prints what is not shown, as JSON.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

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


class Result:
    """A table or a figure, with the words of its command."""

    def __init__(self, words: list[str], names: Mapping[str, list[str]]) -> None:
        self.words = words
        start = words.index("--statistics") + 1
        end = next(place for place in range(start, len(words)) if words[place].startswith("--"))
        pairs = (word.partition("=") for word in words[start:end])
        self.place, self.paths = (start, end), {name: path for name, _, path in pairs}
        self.tables = {name: pd.read_parquet(path) for name, path in self.paths.items() if name not in COUNTS}
        self.names = names
        self.usual = self.made({})

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
                other[name] = table[~rows]
        return bool(other) and self.made(other) != self.usual

    def _rows(self, name: str, table: pd.DataFrame, cell: Mapping[str, object]) -> pd.Series:
        """The rows of a statistic that come from a cell."""
        found = pd.Series(True, table.index)
        if "study" not in table and cell["study"] not in self.names.get(name, ()):
            return ~found
        for key, value in cell.items():
            sides = [column for column in SIDES.get(key, (key,)) if column in table]
            if sides:
                found &= pd.concat([_is(table[column], value) for column in sides], axis=1).any(axis=1)
        return found


def _is(column: pd.Series, value: object) -> pd.Series:
    """True for each entry that is a value, or names it among others."""
    names = {str(value), TOGETHER.get(str(value), str(value))}
    return pd.Series([not names.isdisjoint([str(entry), *str(entry).split()]) for entry in column], column.index)


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
    print(json.dumps(unread(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])), default=int))
