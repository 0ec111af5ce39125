"""What code a result depends on: a hash of a script and of every library module it imports.

The hash is taken of the syntax, without comments, docstrings and layout, so that only a change of what the code does
marks a result as out of date.
"""

import ast
import functools
import hashlib
from pathlib import Path

PACKAGE = "rubric_order"


def code_version(script: Path) -> str:
    """Hash over a script and the modules of this package that it imports, directly or not.

    Modules that are imported by name at run time (adapters, engines) count when their package is imported.
    """
    root = script.parent
    pending, closure = [script], {}
    while pending:
        path = pending.pop()
        if path not in closure:
            digest, imported = _read(path, path.stat().st_mtime_ns)
            closure[path] = digest
            pending += [found for name in imported for found in _files(root, name)]
    parts = sorted(f"{path.relative_to(root)}={digest}" for path, digest in closure.items())
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


@functools.cache
def _read(path: Path, _modified: int) -> tuple[str, tuple[str, ...]]:
    """Hash of one file's syntax, and the names of this package's modules that it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported += [f"{node.module}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            node.body = node.body[1:]
    digest = hashlib.blake2b(_syntax(tree).encode(), digest_size=8).hexdigest()
    return digest, tuple(name for name in imported if name.startswith(f"{PACKAGE}."))


def _syntax(node: object) -> str:
    """A syntax tree as text, the same in every version of Python: fields that are empty do not count."""
    if isinstance(node, ast.AST):
        fields = (f"{name}={_syntax(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({', '.join(fields)})"
    return f"[{', '.join(map(_syntax, node))}]" if isinstance(node, list) else repr(node)


def _files(root: Path, name: str) -> list[Path]:
    """Files behind an imported name: a module's, or all of a package's.

    A name that is neither stands in the module or package before it; this package's own `__init__` does not count.
    """
    path = root.joinpath(*name.split("."))
    if path.is_dir():
        return sorted(path.glob("*.py"))
    if path.with_suffix(".py").exists():
        package = [] if path.parent == root / PACKAGE else [path.parent / "__init__.py"]
        return [*package, path.with_suffix(".py")]
    parent = name.rpartition(".")[0]
    return _files(root, parent) if parent != PACKAGE else []
