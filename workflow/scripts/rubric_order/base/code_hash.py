"""Version of the code that a result depends on: a hash of the syntax of a script and of the library modules that it
uses.

Comments, docstrings, layout and descriptions (`DESCRIPTIONS`) do not count. The hash of each file is kept beside its
compiled form, because every start of Snakemake asks for the hashes of most of the library.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.util
import itertools
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PACKAGE = "rubric_order"
# From a function to those of its arguments that only pages show. The functions make columns, contracts and settings.
DESCRIPTIONS = {
    f"{PACKAGE}.catalogue.Statistic": {"question", "read", "cannot", "methods"},
    f"{PACKAGE}.catalogue.Shown": {"category", "title", "caption", "notes"},
    f"{PACKAGE}.contracts.contract.Column": {"meaning", "unit"},
    f"{PACKAGE}.contracts.contract.Contract": {"meaning", "unit"},
    f"{PACKAGE}.settings.base.setting": {"description", "reruns"},
}
SETTING = f"{PACKAGE}.settings.base.setting"  # its first argument is a default, its second a description


class Package(NamedTuple):
    """A package whose modules count; `folder` contains the first part of the dotted `name`, which may lie in a
    namespace.
    """

    name: str
    folder: Path


def code_version(script: Path, modules: Iterable[str] = ()) -> str:
    """Hash over a script and all modules that it uses, directly or through others, also those imported inside
    functions.

    `modules` are loaded by name at run time: paths in the library (`probes/score_order.py`) or dotted names; of another
    package the enclosing packages count too. Our own `__init__`, which holds the version, never counts.
    """
    ours = Package(PACKAGE, script.parent)
    pending = [(ours, script), *(file for module in modules for file in _loaded(ours, module))]
    closure: dict[Path, str] = {}
    while pending:
        package, path = pending.pop()
        if path not in closure:
            digest, used = _read(path, path.stat().st_mtime_ns, package)
            closure[path] = f"{path.relative_to(package.folder).as_posix()}={digest}"
            for name in used:
                home = ours if name.startswith(f"{PACKAGE}.") else package
                pending += [(home, file) for file in _files(home.folder, name, home.name)]
    parts = sorted(closure.values())
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


def _loaded(ours: Package, module: str) -> Iterator[tuple[Package, Path]]:
    """Package and file of each file of a module that is loaded by its name."""
    if module.endswith(".py"):
        yield ours, ours.folder / PACKAGE / module
    elif module.startswith(f"{PACKAGE}."):
        yield ours, ours.folder / f"{module.replace('.', '/')}.py"
    else:
        # The first of these names with a file is the package. Names before it are namespaces, which packages share.
        names = itertools.accumulate(module.split("."), "{}.{}".format)
        specs = (importlib.util.find_spec(name) for name in names)
        spec = next((spec for spec in specs if spec is None or spec.origin), None)
        if spec is None or spec.origin is None:
            raise FileNotFoundError(f"{module}: no such module")
        file = Path(spec.origin)
        depth = spec.name.count(".")
        if spec.submodule_search_locations is None:  # a module without a package
            yield Package(spec.name, file.parents[depth]), file
        else:
            package = Package(spec.name, file.parents[depth + 1])
            files = [*_files(package.folder, module, package.name)]
            whole = package.folder.joinpath(*module.split("."))
            if not {whole.with_suffix(".py"), whole / "__init__.py"} & {*files}:
                raise FileNotFoundError(f"{module}: no such module")
            yield from ((package, path) for path in files)


def module_file(module: str) -> Path | None:
    """File of a module by its dotted name; None if there is none. Imports the enclosing packages, whose errors pass
    through.
    """
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def constant(module: Path, name: str) -> object:
    """Value of a literal constant of a module, which is not run. A ValueError if there is none."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", None) for target in node.targets] == [name]:
            return ast.literal_eval(node.value)
    raise ValueError(f"{module}: no constant {name}")


@functools.cache
def _read(path: Path, _modified: int, package: Package | None = None) -> tuple[str, frozenset[str]]:
    """Hash of one file's syntax, and the dotted names that the file uses from its package and from ours.

    The result for one of our own files is kept on disk beside the file's compiled form.
    """
    source = path.read_bytes()
    if package is not None and package.name != PACKAGE:
        return _syntax_hash(source, package.name, path.relative_to(package.folder))
    cache = path.parent / "__pycache__" / f"{path.stem}.syntax.json"
    content = hashlib.blake2b(_own() + source, digest_size=16).hexdigest()
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        saved = json.loads(cache.read_text(encoding="utf-8"))
        if saved["content"] == content:
            return saved["syntax"], frozenset(saved["used"])
    digest, used = _syntax_hash(source)
    if not sys.dont_write_bytecode:
        with contextlib.suppress(OSError):
            _keep(cache, {"content": content, "syntax": digest, "used": sorted(used)})
    return digest, used


@functools.cache
def _own() -> bytes:
    return Path(__file__).read_bytes()


def _keep(path: Path, found: dict[str, object]) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(found), encoding="utf-8")
    os.replace(temporary, path)


def _syntax_hash(source: bytes, package: str = PACKAGE, path: Path | None = None) -> tuple[str, frozenset[str]]:
    """Hash and names as from `_read`. `path` lies within the folder of its package; None for a file of ours."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    packages = (f"{PACKAGE}.", f"{package}.")
    bound = _bound(nodes, path)
    used = frozenset(name for name in _names(nodes, bound) if f"{name}.".startswith(packages) and name != PACKAGE)
    described = {name: whole for name, (whole, *others) in bound.items() if whole in DESCRIPTIONS and not others}
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:]
        if isinstance(node, ast.Call) and (called := described.get(getattr(node.func, "id", ""))):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in DESCRIPTIONS[called]]
            if called == SETTING:
                node.args = node.args[:1]
    parts: list[str] = []
    _write(tree, parts)
    return hashlib.blake2b("".join(parts).encode(), digest_size=8).hexdigest(), used


def _names(nodes: list[ast.AST], bound: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Dotted names that are imported, and longer names that code makes from these, such as `tables.write`."""
    yield from (alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names)
    yield from itertools.chain.from_iterable(bound.values())
    for node in nodes:
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name):
            yield from (".".join([whole, *reversed(parts)]) for whole in bound.get(node.id, ()))


def _bound(nodes: list[ast.AST], path: Path | None) -> dict[str, list[str]]:
    """Full dotted names that each name bound by imports stands for: several if functions import differently."""
    bound: dict[str, list[str]] = {}

    def bind(name: str, whole: str) -> None:
        if whole not in bound.setdefault(name, []):
            bound[name].append(whole)

    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                bind(alias.asname or first, alias.name if alias.asname else first)
        elif isinstance(node, ast.ImportFrom):
            above = path.parts[: len(path.parts) - node.level] if path is not None and node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names if module else ():
                bind(alias.asname or alias.name, f"{module}.{alias.name}")
    return bound


def _write(node: object, parts: list[str]) -> None:
    """Append a syntax tree to `parts` as text. Empty fields are left out, so that all versions of Python agree."""
    if isinstance(node, ast.AST):
        parts.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is not None and value != []:
                parts.append(f"{name}=")
                _write(value, parts)
                parts.append(", ")
        parts.append(")")
    elif isinstance(node, list):
        parts.append("[")
        for value in node:
            _write(value, parts)
            parts.append(", ")
        parts.append("]")
    else:
        parts.append(repr(node))


def _files(root: Path, name: str, package: str = PACKAGE) -> Iterator[Path]:
    """Files along a dotted name: the `__init__` of each package but our own, and the module at the end, if there is
    one.
    """
    parts = package.split(".")
    path = root.joinpath(*parts)
    if package != PACKAGE and (path / "__init__.py").exists():
        yield path / "__init__.py"
    for part in name.split(".")[len(parts) :]:
        path /= part
        if path.is_dir():
            if (path / "__init__.py").exists():
                yield path / "__init__.py"
        else:
            module = path.with_suffix(".py")
            if module.exists():
                yield module
            return
