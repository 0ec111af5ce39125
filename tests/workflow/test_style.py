"""The checks of `make lint`, and that every config key is documented."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from .conftest import ROOT

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["snakefmt", "--check", "Snakefile", "workflow"],
        ["snakemake", "--lint"],
    ],
    ids=" ".join,
)
def test_checks_are_clean(command: list[str]):
    run = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def keys(schema: dict, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of all keys that hold a value; ids in the path are written as in config/README.md."""
    names = {"datasets": "{dataset}", "judges": "{judge}", "studies": "{study}", "files": "{file}"}
    names["profiles"] = "{profile}"
    for name, part in schema.get("properties", {}).items():
        if "properties" not in part and "patternProperties" not in part:
            yield (*path, name)
        yield from keys(part, (*path, name))
    for part in schema.get("patternProperties", {}).values():
        yield from keys(part, (*path, names[path[-1]]))


def test_every_config_key_is_documented_and_described():
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    page = (ROOT / "config/README.md").read_text()
    undocumented = [path for path in map("/".join, keys(schema)) if f"`{path}`" not in page]
    assert undocumented == []
