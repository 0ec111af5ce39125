"""Counts of the project's code, by which a change of its design is judged.

    python tests/counts.py [FOLDER]     # of this tree, or of another one

Prints Markdown: lines of code by package (no blank lines, comments and docstrings), of the workflow's rules and
entries, and how often some habits occur that design rules speak of. Pytest does not collect this file.
"""

import ast
import collections
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

OPENERS = ("What", "Whether", "Which", "How", "Of", "Where", "When", "Who", "Whose", "Why")
LOCALS = ("found", "known", "about", "each", "names")
READOUTS = ("hard", "soft")
FLAT = 25  # modules in a folder


def code_lines(text: str) -> int:
    """Lines that hold code: neither blank, nor comments, nor docstrings alone."""
    kept = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            kept |= set(range(token.start[0], token.end[0] + 1))
    for node in documented(ast.parse(text)):
        first = node.body[0]
        kept -= set(range(first.lineno, first.end_lineno + 1))
    return len(kept) - 1  # the end of the file is a token


def documented(tree: ast.AST) -> Iterator[ast.AST]:
    """Modules, classes and functions with a docstring."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (node for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node, clean=False))


def bound(tree: ast.AST) -> Iterator[str]:
    """Names of locals, at each place where one is bound."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def docstring_lines(tree: ast.AST) -> set[int]:
    return {line for node in documented(tree) for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)}


def main(root: Path) -> None:
    library = root / "workflow/scripts/rubric_order"
    packages: collections.Counter = collections.Counter()
    modules: collections.Counter = collections.Counter()
    habits: collections.Counter = collections.Counter()
    openers, docstrings = 0, 0
    for path in sorted(library.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        packages[path.relative_to(library).parts[0] if path.parent != library else "(top)"] += code_lines(text)
        modules[str(path.parent.relative_to(library))] += path.name != "__init__.py"
        firsts = [ast.get_docstring(node).split()[0].rstrip(",:") for node in documented(tree)]
        docstrings += len(firsts)
        openers += sum(word in OPENERS for word in firsts)
        names = collections.Counter(bound(tree))
        habits.update({f"local `{name}`": names[name] for name in LOCALS})
        inside = docstring_lines(tree)
        habits["literals of readouts"] += sum(
            isinstance(node, ast.Constant) and node.value in READOUTS and node.lineno not in inside
            for node in ast.walk(tree)
        )
        habits["`judge: dict` or `judge: Mapping`"] += len(re.findall(r"\bjudge: (?:dict|Mapping)\b", text))
    rules = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "workflow/rules").glob("*.smk"))
    entries = sum(code_lines(path.read_text(encoding="utf-8")) for path in (root / "workflow/scripts").glob("*.py"))
    captions = sum(
        len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "workflow/report").glob("*.rst")
    )
    common = len((root / "workflow/rules/common.smk").read_text(encoding="utf-8").splitlines())
    print("| code lines of | |\n|:--|--:|")
    for name, lines in packages.most_common():
        print(f"| {name} | {lines:,} |")
    print(f"| **library** | **{packages.total():,}** |")
    print(f"| rules, all lines | {rules:,} |\n| `common.smk`, all lines | {common:,} |")
    print(f"| entries | {entries:,} |\n| captions | {captions:,} |")
    print(f"| **rules, entries and captions** | **{rules + entries + captions:,}** |")
    print("\n| habit | times |\n|:--|--:|")
    print(f"| docstrings | {docstrings:,} |")
    print(f"| that open with {', '.join(OPENERS)} | {openers} ({openers / docstrings:.1%}) |")
    for name, times in habits.items():
        print(f"| {name} | {times} |")
    crowded = {folder: number for folder, number in modules.most_common() if number > FLAT}
    print(f"| folders with more than {FLAT} modules | {len(crowded)} |")
    for folder, number in crowded.items():
        print(f"| modules in `{folder}` | {number} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1])
