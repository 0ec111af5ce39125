"""Mutants: small mistakes, planted one by one, and the share of them that the tests find.

    python tests/mutants.py [--code 400] [--text 200] [--seed 47] [--places PATH ...] [--only WORD]

Mistakes in code are those of cosmic-ray (`make mutants` installs it and runs this). No mutation tool edits regular
expressions, where parsing lives: mistakes in texts are ours, an alternative, a bound, a look-around or a phrase that is
gone. Each is planted alone in a copy of the project, and quick tests run until one fails: files named after the module,
those that import it, those that import what imports it, and the laws of a statistic. A mistake with which the module
cannot be imported is replaced by the next one. A table has the shares that were found; what was tried, with the test
that found it, goes to standard error. Pytest does not collect this file.

Share found. Mistakes in texts: all of a parser (`--code 0 --text 1000 --only NAME`), by rows of `tests/data/answers`
alone, before and after rows were added for those that none found. Mistakes in code: the first of seed 47 (`--code 87
--text 0`; `--code 90 --places` with the estimates below `analyses/`), before and after tests of what was missed; of
`vllm_offline.py`, which slow tests run, 4 of 5 are missed. About half of all that are left change nothing.

| texts | mistakes | before | after |
|:--|--:|--:|--:|
| verdict | 525 | 91.8% | 95.4% |
| one_score | 517 | 82.8% | 91.5% |
| several_scores | 188 | 96.3% | 96.8% |
| one_label | 171 | 98.2% | 99.4% |
| phrases | 164 | 89.0% | 90.2% |

| code | mistakes | before | after |
|:--|--:|--:|--:|
| methods/agreement | 16 | 69% | 81% |
| methods/comparisons | 10 | 70% | 90% |
| methods/position | 24 | 92% | 92% |
| methods/uncertainty | 11 | 91% | 91% |
| other methods | 9 | 78% | 78% |
| judging/engines | 10 | 50% | 60% |
| cards, parsing | 7 | 86% | 100% |
| bias_cost | 37 | 89% | 89% |
| human_agreement | 16 | 88% | 88% |
| position_selection | 12 | 92% | 92% |
| strategy_comparison | 12 | 83% | 83% |
| budget_curve | 10 | 100% | 100% |
"""

import argparse
import ast
import contextlib
import importlib
import io
import os
import re
import shutil
import signal
import sys
import tempfile
import tokenize
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import accumulate
from pathlib import Path
from queue import Queue
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from planted_bugs import COPIED, LIBRARY, ROOT

CODE = (
    "methods",
    "extras/one_read/methods",
    "parsing",
    "planning",
    "judging/store.py",
    "judging/engines",
    "cards/verdict.py",
    "cards/estimands.py",
)
TEXT = ("parsing",)
LAWS = ("tests/unit/test_laws.py", "tests/unit/test_labelled_tables.py")  # rows of each statistic
FILES = 8  # of tests of a module, at most
SECONDS = 120  # for a test; one that hangs finds its mutant
WORKERS = 2
IMPORTED = ("hypothesis", "httpx", "jinja2", "matplotlib.pyplot", "pyarrow.parquet", "pydantic", "scipy.stats", "yaml")
FAILED = "failed_test"  # file in a copy with the name of the test that failed
NOT_FOUND = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
NOT_IMPORTED = 77  # status of a mutant with which its module ends in an error
LOOK = re.compile(r"\(\?<?[=!]")
QUANTIFIER = re.compile(r"(?:[?*+]|\{\d*,?\d*\})[?+]?")


class Mutant(NamedTuple):
    """A mistake: its module as a path in the project, the line, and the module's text with it."""

    path: Path
    line: int
    changed: str


def modules(places: tuple[str, ...]) -> Iterator[Path]:
    for place in places:
        path = ROOT / LIBRARY / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def code_mutants(drawn: np.random.Generator, of: tuple[str, ...] = CODE) -> Iterator[Mutant]:
    """Mutants by cosmic-ray's operators, in random order."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code

    operators = {name: plugins.get_operator(name) for name in sorted(plugins.operator_names())}
    places = []
    for path in modules(of):
        nodes = list(ast_nodes(get_ast(path.read_text(encoding="utf-8"))))
        for name, operator in operators.items():
            with contextlib.suppress(TypeError):  # an operator that needs arguments
                starts = [start[0] for node in nodes for start, _ in operator().mutation_positions(node)]
                places += [(path, line, name, number) for number, line in enumerate(starts)]
    for path, line, name, number in (places[place] for place in drawn.permutation(len(places))):
        changed = mutate_code(path.read_text(encoding="utf-8"), operators[name](), number)
        if changed:
            yield Mutant(path.relative_to(ROOT), line, changed)


def text_mutants(drawn: np.random.Generator, of: tuple[str, ...] = TEXT) -> Iterator[Mutant]:
    """Mutants of regular expressions and lists of phrases, in random order."""
    edits = []
    for path in modules(of):
        source = path.read_text(encoding="utf-8")
        lines = [0, *accumulate(len(line) for line in source.splitlines(keepends=True))]
        ignored = {node.lineno for node in ast.walk(ast.parse(source)) if is_words(node)}
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.STRING and not ignored & set(range(token.start[0], token.end[0] + 1)):
                start = lines[token.start[0] - 1] + token.start[1]
                edits += [(path, token.start[0], start + one, start + end) for one, end in cuts(token.string)]
        edits += [(path, line, start, end) for line, start, end in phrases(source, lines)]
    for path, line, start, end in (edits[place] for place in drawn.permutation(len(edits))):
        source = path.read_text(encoding="utf-8")
        yield Mutant(path.relative_to(ROOT), line, source[:start] + source[end:])


def is_words(node: ast.AST) -> bool:
    """True for a statement that is a text alone, such as a docstring, and for what is raised."""
    return isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def cuts(text: str) -> Iterator[tuple[int, int]]:
    """Spans of a regular expression that an edit removes: alternatives, quantifiers, look-arounds, word boundaries."""
    opened: list[tuple[int, list[int]]] = [(re.match(r"[A-Za-z]*(\"\"\"|'''|[\"'])", text).end(), [])]
    if not re.search(r"[|(\\]", text):
        return
    place = opened[0][0]
    end = len(text) - (3 if text.endswith(('"""', "'''")) else 1)
    while place < end:
        step = 1
        if text[place] == "\\":
            step = 2
            if text[place + 1] in "bB":
                yield place, place + 2
        elif text[place] == "[":
            step = re.compile(r"\[\^?\]?(?:\\.|[^\]])*\]?", re.DOTALL).match(text, place).end() - place
        elif text[place] == "(":
            opened.append((place, []))
            step = len(re.compile(r"\((?:\?(?:[:=!>]|<[=!]|P?<\w+>|[a-z-]+:))?").match(text, place)[0])
            opened[-1] = (place + step, [])
        elif text[place] == "|":
            opened[-1][1].append(place)
        elif text[place] == ")" and len(opened) > 1:
            yield from alternatives(*opened.pop(), place)
        elif match := QUANTIFIER.match(text, place):
            step = match.end() - place
            yield place, match.end()
        place += step
    for group in opened:
        yield from alternatives(*group, end)


def alternatives(start: int, bars: list[int], end: int) -> Iterator[tuple[int, int]]:
    """Spans of each alternative with one of its bars."""
    for number, bar in enumerate(bars):
        yield (bars[number - 1] + 1 if number else start), bar + 1
    if bars:
        yield bars[-1], end


def phrases(source: str, lines: list[int]) -> Iterator[tuple[int, int, int]]:
    """Line and span of each element of a tuple, list, set or mapping of texts, with its comma."""
    for node in ast.walk(ast.parse(source)):
        elements = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        if len(elements) > 1 and all(
            isinstance(each, ast.Constant) and isinstance(each.value, str) for each in elements
        ):
            for number, first in enumerate(elements):
                last = node.values[number] if isinstance(node, ast.Dict) else first
                start, end = (
                    lines[first.lineno - 1] + first.col_offset,
                    lines[last.end_lineno - 1] + last.end_col_offset,
                )
                comma = re.compile(r"\s*,\s*").match(source, end)
                yield first.lineno, start, comma.end() if comma else end


def test_files(path: Path) -> list[str]:
    """Files of tests named after a module, that import it, or import what imports it; in each group short first."""
    tests = _sources("tests/unit", "test_*.py")
    modules = _sources(LIBRARY, "*.py")
    of_name = {file for file in tests if file.stem.removeprefix("test_") in _names(path)[-2:]}
    named = {file for file in tests if _names(path)[-1] in file.stem}
    direct = _importing(path, tests)
    through = {file for module in _importing(path, modules) for file in _importing(module.relative_to(ROOT), tests)}
    groups = (of_name, named & direct, direct, named, through)
    ordered = dict.fromkeys(
        file for group in groups for file in sorted(group, key=lambda file: (len(tests[file]), file))
    )
    return [str(file.relative_to(ROOT)) for file in ordered][:FILES]


@cache
def _sources(folder: str, names: str) -> dict[Path, str]:
    return {file: file.read_text(encoding="utf-8") for file in sorted((ROOT / folder).rglob(names))}


def _names(path: Path) -> tuple[str, ...]:
    """Packages and module; an analysis has the name of its folder."""
    names = path.with_suffix("").relative_to("workflow/scripts").parts
    return names[:-1] if names[-1] in ("__init__", "estimate") else names


def _importing(path: Path, sources: Mapping[Path, str]) -> set[Path]:
    names = path.with_suffix("").relative_to("workflow/scripts").parts
    *package, name = names[:-1] if names[-1] == "__init__" else names
    whole = re.escape(".".join(package))
    imports = re.compile(
        rf"from {whole}(?:\.{name} import| import [^#\n]*\b{name}\b| import \([^)]*\b{name}\b)|import {whole}\.{name}\b"
    )
    return {file for file, text in sources.items() if imports.search(text)}


class Watch:
    """A plugin of pytest: ends the process where one test takes too long, and leaves the name of a test that fails."""

    def pytest_runtest_logstart(self) -> None:
        signal.alarm(SECONDS)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            Path(FAILED).write_text(report.nodeid, encoding="utf-8")


def run_tests(mutant: Mutant, folder: Path, number: int) -> int:
    """Status of pytest over a mutant's tests in a copy of the project."""
    path = folder / mutant.path
    right = path.read_text(encoding="utf-8")
    path.write_text(mutant.changed, encoding="utf-8")
    os.utime(path, (number, number))  # compiled modules are told apart by the time of their source in seconds
    child = os.fork()
    if not child:
        end_with_tests(mutant, folder)
    _, status = os.waitpid(child, 0)
    path.write_text(right, encoding="utf-8")
    os.utime(path, (0, 0))
    return os.waitstatus_to_exitcode(status)


def end_with_tests(mutant: Mutant, folder: Path) -> None:
    """End this process, with a group of its own, with the status of the tests."""
    os.setsid()
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
    os.chdir(folder)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    sys.path[:0] = [str(folder / "workflow/scripts")]
    status = NOT_IMPORTED
    try:
        importlib.import_module(
            ".".join(mutant.path.with_suffix("").relative_to("workflow/scripts").parts).removesuffix(".__init__")
        )
        options = ["-q", "-x", "-n0", "-m", "not slow", "-p", "no:cacheprovider"]
        files = test_files(mutant.path)
        status = pytest.main([*options, *files], [Watch()]) if files else 0
        if status in NOT_FOUND and mutant.path.stem == "estimate":
            status = pytest.main([*options, *LAWS, "-k", mutant.path.parent.name], [Watch()])
    finally:
        os._exit(int(status))


def caught(mutants: Iterator[Mutant], wanted: int, copies: "Queue[Path]", numbers: Iterator[int]) -> pd.DataFrame:
    """A row for each mutant until `wanted` could be imported: its package, and whether the tests found it."""
    rows = []

    def one(mutant: Mutant) -> dict[str, object] | None:
        folder = copies.get()
        (folder / FAILED).unlink(missing_ok=True)
        status = run_tests(mutant, folder, next(numbers))
        test = (folder / FAILED).read_text(encoding="utf-8") if (folder / FAILED).exists() else "no single test"
        copies.put(folder)
        if status == NOT_IMPORTED:
            return None
        source = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()
        line = f"{mutant.path}:{mutant.line}: {source[mutant.line - 1].strip()}  ->  {difference(source, mutant)}"
        print("MISSED" if status in NOT_FOUND else test, line, sep=": ", file=sys.stderr, flush=True)
        return {"package": "/".join(mutant.path.parts[3:-1][:2]), "found": status not in NOT_FOUND}

    with ThreadPoolExecutor(WORKERS) as pool:
        while len(rows) < wanted:
            batch = [each for _, each in zip(range(wanted - len(rows)), mutants, strict=False)]
            if not batch:
                break
            rows += [row for row in pool.map(one, batch) if row]
    return pd.DataFrame(rows, columns=["package", "found"])


def difference(source: list[str], mutant: Mutant) -> str:
    changed = mutant.changed.splitlines()
    new = next((after for before, after in zip(source, changed, strict=False) if before != after), "")
    return new.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--code", type=int, default=400, help="mistakes in code")
    parser.add_argument("--text", type=int, default=200, help="mistakes in regular expressions and phrases")
    parser.add_argument("--seed", type=int, default=47)
    parser.add_argument("--places", nargs="*", default=[], help="other modules and packages of the library")
    parser.add_argument("--only", default="", help="modules whose paths contain this word")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    for module in IMPORTED:  # once, before processes are forked
        importlib.import_module(module)
    with tempfile.TemporaryDirectory() as place:
        copies: Queue[Path] = Queue()
        for number in range(WORKERS):
            folder = Path(place) / str(number)
            for name in COPIED:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
                folder.mkdir(exist_ok=True)
                copy(ROOT / name, folder / name)
            copies.put(folder)
        numbers = iter(range(1_000_000_000, 2_000_000_000))
        print("| package | mistakes | found |\n|:--|--:|--:|")
        for kind, wanted, mutants, usual in (
            ("code", options.code, code_mutants, CODE),
            ("text", options.text, text_mutants, TEXT),
        ):
            drawn = mutants(np.random.default_rng(options.seed), tuple(options.places) or usual)
            drawn = (each for each in drawn if options.only in str(each.path))
            rows = caught(drawn, wanted, copies, numbers)
            for package, of in [*rows.groupby("package"), (f"all {kind}", rows)]:
                print(f"| {package} | {len(of)} | {of['found'].mean():.1%} |", flush=True)


if __name__ == "__main__":
    main()
