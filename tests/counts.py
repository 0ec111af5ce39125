"""Counts of the project's size, each with a bound that `make lint` holds.

    python tests/counts.py [FOLDER]     # of this tree, or of another one

Prints Markdown and exits with 1 if a count exceeds its bound. A line of code is neither blank, nor a comment, nor part
of a docstring. A bound follows a count that falls; a feature that raises one takes something else away. Pytest does
not collect this file.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

BOUNDS = {
    "library and entries, code lines": 50_430,
    "core without extras, code lines": 42_090,
    "largest module, lines": 540,
    "tests, code lines": 55_500,
    "rules and captions, lines": 932,
    "`common.smk`, lines": 95,
    "docstrings, words": 76_850,
    "docstrings of `estimate.py`, words": 6_000,
    "docs, words": 133_000,
    "longest caption, words": 141,
    "folders with more than 25 modules": 0,
    "modules in the longest chain of imports": 14,
    "functions named by a preposition": 13,
    "locals that are participles": 7,
    "literals of readouts outside their enum": 2,
}
PREPOSITIONS = r"_?(?:of|with|in|at|by|from|to|on|for|without|over|under|between)_"
PARTICIPLES = ("found", "known", "shown", "own", "kept", "made", "given", "read", "told")
CROWDED = 25  # modules in a folder
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BLANK = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def docstrings(path: Path) -> Iterator[ast.Expr]:
    for node in ast.walk(parse(path)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            yield node.body[0]


def code_lines(paths: Collection[Path]) -> int:
    return sum(map(_code_lines, paths))


@cache
def _code_lines(path: Path) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    lines = {line for token in tokens if token.type not in BLANK for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - {line for node in docstrings(path) for line in range(node.lineno, node.end_lineno + 1)})


def all_lines(paths: Collection[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def docstring_words(paths: Collection[Path]) -> int:
    return sum(len(ast.literal_eval(node.value).split()) for path in paths for node in docstrings(path))


def caption_words(paths: Collection[Path]) -> list[int]:
    """Words of each assignment to `CAPTION` and of each argument `caption`, longest first."""
    captions = []
    for node in chain.from_iterable(map(ast.walk, map(parse, paths))):
        assigned = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "CAPTION"
        if assigned or (isinstance(node, ast.keyword) and node.arg == "caption"):
            texts = (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
            captions.append(len(" ".join(text for text in texts if isinstance(text, str)).split()))
    return sorted(captions, reverse=True)


def longest_chain(library: Path) -> int:
    """Modules in the longest chain of imports that are made when a module is loaded; a cycle counts once."""
    names = {".".join(path.with_suffix("").parts): path for path in _relative(library)}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    imports = {name: _imported(library.parent / path, names) - {name} for name, path in names.items()}
    order = sorted(imports)
    edges = [(order.index(name), order.index(other)) for name, others in imports.items() for other in others]
    graph = csr_array((np.ones(len(edges)), np.transpose(edges)), shape=(len(order), len(order)))
    n_parts, part = connected_components(graph, connection="strong")
    below: dict[int, set[int]] = {number: set() for number in range(n_parts)}
    for name, other in edges:
        below[int(part[name])] |= {int(part[other])} - {int(part[name])}
    lengths: dict[int, int] = {}
    for number in TopologicalSorter(below).static_order():
        lengths[number] = 1 + max((lengths[other] for other in below[number]), default=0)
    return max(lengths.values())


def _relative(library: Path) -> Iterator[Path]:
    return (path.relative_to(library.parent) for path in library.rglob("*.py"))


def _imported(path: Path, names: Mapping[str, object]) -> set[str]:
    modules = set()
    for node in _loaded(parse(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & set(names)
            modules |= submodules or {node.module}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules & set(names)


def _loaded(node: ast.AST) -> Iterator[ast.AST]:
    """Statements that run when a module is imported: not those of functions, nor those for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _loaded(child)


def habits(paths: Collection[Path]) -> dict[str, int]:
    nodes = [node for path in paths for node in ast.walk(parse(path))]
    functions = [node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    bound = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    prose = {id(node.value) for path in paths for node in docstrings(path)}
    constants = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in prose]
    return {
        "functions named by a preposition": sum(re.match(PREPOSITIONS, name) is not None for name in functions),
        "locals that are participles": sum(name in PARTICIPLES for name in bound),
        "literals of readouts outside their enum": sum(node.value in ("hard", "soft") for node in constants),
    }


def counts(root: Path) -> dict[str, int]:
    library = root / "workflow/scripts/rubric_order"
    modules = sorted(library.rglob("*.py"))
    tests = [path for path in root.glob("tests/**/*.py") if "data" not in path.relative_to(root / "tests").parts]
    chains = [*root.glob("workflow/rules/*.smk"), *root.glob("workflow/report/*.rst")]
    folders = [len([*folder.glob("*.py")]) - 1 for folder in {path.parent for path in modules}]
    core = [path for path in modules if path.relative_to(library).parts[0] != "extras"]
    captions = caption_words(modules)
    entries = sorted(root.glob("workflow/scripts/*.py"))
    return {
        "library and entries, code lines": code_lines([*modules, *entries]),
        "core without extras, code lines": code_lines([*core, *entries]),
        "largest module, lines": max(all_lines([path]) for path in modules),
        "tests, code lines": code_lines(tests),
        "rules and captions, lines": all_lines(chains),
        "`common.smk`, lines": all_lines([root / "workflow/rules/common.smk"]),
        "docstrings, words": docstring_words([*modules, *entries]),
        "docstrings of `estimate.py`, words": docstring_words([path for path in modules if path.name == "estimate.py"]),
        "docs, words": sum(len(path.read_text(encoding="utf-8").split()) for path in root.glob("docs/*.md")),
        "longest caption, words": max(captions, default=0),
        "folders with more than 25 modules": sum(number > CROWDED for number in folders),
        "modules in the longest chain of imports": longest_chain(library),
        **habits(modules),
        **{f"package {path.name}": code_lines([*path.rglob("*.py")]) for path in sorted(library.glob("[a-z]*/"))},
    }


def main(root: Path) -> None:
    numbers = counts(root)
    print("| | | bound |\n|:--|--:|--:|")
    for name, number in numbers.items():
        bound = BOUNDS.get(name)
        print(f"| {name} | {number:,} | {'' if bound is None else f'{bound:,}'} |")
    above = [name for name, bound in BOUNDS.items() if numbers[name] > bound]
    if above:
        sys.exit(f"Above their bounds in {Path(__file__).name}: {', '.join(above)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
