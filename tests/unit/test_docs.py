"""What docs and docstrings name is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Of other libraries, and a file of rules.
EXTERNAL = {"Series", "common", "numpy", "platform", "scipy", "stats", "time"}
LIBRARY = ROOT / "workflow/scripts/rubric_order"
PAGES = [ROOT / "README.md", *ROOT.glob("config/**/README.md"), *ROOT.glob("docs/*.md"), ROOT / "results/README.md"]


def anchors(page: Path) -> set[str]:
    """Names by which a link can point at a heading of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page):
    for address, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")):
        target = (page.parent / address) if address else page
        assert target.exists(), address
        assert not anchor or anchor in anchors(target), f"{address}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_are_there(page):
    named = re.findall(
        r"`((?:rubric_order|workflow|tests|resources|config|docs)/[\w./]+\.\w+)`", page.read_text("utf-8")
    )
    for path in named:
        if "NAME" not in path:
            assert (ROOT / path).exists() or (LIBRARY.parent / path).exists(), path


def names_in(tree: ast.Module | ast.ClassDef) -> set[str]:
    """Names of the functions, classes, methods, variables and imports of a module, or of a class."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).rpartition(".")[2])
    return names


def test_what_docstrings_name_of_other_modules_is_there():
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in LIBRARY.rglob("*.py")}
    known: dict[str, set[str]] = {}
    for path, tree in trees.items():
        known.setdefault(path.parent.name if path.stem == "__init__" else path.stem, set()).update(names_in(tree))
        for part in ast.walk(tree):
            if isinstance(part, ast.ClassDef):
                known.setdefault(part.name, set()).update(names_in(part))
    for path, tree in trees.items():
        documented = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
        for text in filter(None, map(ast.get_docstring, documented)):
            for module, name in re.findall(r"(?<!`)`(?:\w+\.)*(\w+)\.(\w+)`(?!`)", text):
                assert module in EXTERNAL or name in known.get(module, ()), (
                    f"{path.relative_to(LIBRARY)}: {module}.{name}"
                )
