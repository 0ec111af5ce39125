"""All that docs and docstrings name exists."""

import ast
import collections
import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rubric_order import catalogue

ROOT = Path(__file__).parents[2]
# Of other libraries, and a file of rules.
EXTERNAL = {"Axes", "Series", "common", "numpy", "platform", "scipy", "stats", "time"}
LIBRARY = ROOT / "workflow/scripts/rubric_order"
PAGES = [
    page
    for folder in (".", "config", "docs", "resources", "results")
    for page in sorted((ROOT / folder).glob("*.md" if folder in {".", "results"} else "**/*.md"))
    if not {"_build", "_generated"} & set(page.parts)
]


@functools.cache
def tokens(page: Path) -> list[Token]:
    """Parts of a page: blocks, and the text in them."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        found += [token, *(token.children or [])]
    return found


def anchors(page: Path) -> set[str]:
    """Names by which a link can point at a heading of a page; a heading that is there again ends in -1, -2, ..."""
    found = tokens(page)
    headings = [after.content for each, after in itertools.pairwise(found) if each.type == "heading_open"]
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    times = collections.Counter(plain)
    return set(plain) | {f"{name}-{k}" for name, count in times.items() for k in range(1, count)}


def links(page: Path) -> Iterator[str]:
    """Targets of a page's links in the project: links, pictures, tags of HTML, and downloads of Sphinx."""
    for token in tokens(page):
        if address := token.attrs.get("href") or token.attrs.get("src"):
            yield unquote(str(address))
        if token.type in {"html_block", "html_inline"}:
            yield from re.findall(r"""(?:href|src)=["']([^"']+)""", token.content)
        if token.type == "text":
            assert not re.search(r"\]\[|\]\(\S", token.content), f"{page.name}: {token.content}"
    yield from re.findall(r"\{download\}`[^<`]*<([^>]+)>`", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page):
    for link in links(page):
        if re.match(r"https?:|mailto:", link):
            continue
        address, _, anchor = link.partition("#")
        target = (page.parent / address) if address else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_column_of_a_table_has_a_heading(page):
    heads = [after.content for each, after in itertools.pairwise(tokens(page)) if each.type == "th_open"]
    assert all(heads), heads


def test_what_is_linked_is_found_in_every_form(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `code` heading, twice\n\n## A code heading, twice\n\n[a](b.md#c) ![d](e.svg) [f][g] <img src='h.png'> "
        "{download}`i <j.txt>` <https://k.example>\n\n| [l](m.md) |\n|---|\n\n```\n[n](o.md)\n```\n\n[g]: p.md\n"
    )
    assert set(links(page)) == {"b.md#c", "e.svg", "p.md", "h.png", "j.txt", "https://k.example", "m.md"}
    assert anchors(page) == {"a-code-heading-twice", "a-code-heading-twice-1"}


def test_a_link_whose_address_is_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("[a][nowhere]\n")
    with pytest.raises(AssertionError, match="nowhere"):
        list(links(page))


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
        # a result is called by the name of its folder
        of_folder = path.stem == "__init__" or "analyses" in path.parts or path.with_name("estimate.py").exists()
        known.setdefault(path.parent.name if of_folder else path.stem, set()).update(names_in(tree))
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


def test_each_statistic_has_a_paragraph_that_says_what_it_answers():
    page = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    named = re.findall(r"^\*\*`(\w+)`: [^*]+[?.]\*\* ", page, re.MULTILINE)
    assert sorted(named) == sorted(catalogue.STATISTICS)


def test_the_numbers_at_the_top_of_the_recovery_page_stand_in_its_tables():
    top, sections = (ROOT / "docs/recovery.md").read_text(encoding="utf-8").split("\n## ", 1)
    numbers = re.findall(r"-?\d+\.\d+%?", top)
    assert len(numbers) > 20
    assert [number for number in numbers if number not in sections] == []


def imported(package: str) -> set[str]:
    """Packages and modules directly in the library that a package imports, also within functions."""
    files = [LIBRARY / f"{package}.py", *sorted((LIBRARY / package).rglob("*.py"))]
    nodes = [node for file in files if file.exists() for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rubric_order":
            parts = node.module.split(".")[1:2] or [alias.name for alias in node.names]
            found |= {part for part in parts if (LIBRARY / part).is_dir() or (LIBRARY / f"{part}.py").exists()}
    return found - {package}


def test_packages_import_what_the_architecture_says():
    """Rows that name packages; those that say *the above* or *all* are for the contracts of imports."""
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`[\w.]+`(?:, )?)+) \| .* \|(.*)\|$", text, re.MULTILINE)
    rows = [row for row in rows if (LIBRARY / row[0].split("`")[1].removesuffix(".py")).exists() or ".py" in row[0]]
    assert len(rows) > 20
    for names, cell in rows:
        if "above" in cell or "all" in cell.replace("also", "").split():
            continue
        for name in re.findall(r"`([\w]+)(?:\.py)?`", names):
            allowed = {*re.findall(r"`(\w+)`", cell), "base", "strategies", "registry"}
            assert imported(name) <= allowed, name
