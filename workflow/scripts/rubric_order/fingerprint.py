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
            imported += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    digest = hashlib.blake2b(ast.dump(tree).encode(), digest_size=8).hexdigest()
    return digest, tuple(name for name in imported if name.startswith(f"{PACKAGE}."))


def _files(root: Path, module: str) -> list[Path]:
    """Files of a module, or of a package with all its modules; none where the name is not a module."""
    path = root.joinpath(*module.split("."))
    if path.is_dir():
        return sorted(path.glob("*.py"))
    return [path.with_suffix(".py")] if path.with_suffix(".py").exists() else []
