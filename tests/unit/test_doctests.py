"""Examples in docstrings. Those of what ``import rubric_order`` offers build on each other: see test_library.py."""

import doctest
import importlib

import pytest
from factories import ROOT

import rubric_order as ro

SCRIPTS = ROOT / "workflow/scripts"
MODULES = [
    ".".join(path.relative_to(SCRIPTS).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SCRIPTS.glob("rubric_order/**/*.py"))
    if ">>> " in path.read_text("utf-8")
]
OFFERED = [f"rubric_order.{name}" for name in ro._MODULES]
OTHERS = ["rubric_order.extras.logs.scorers"]  # it needs inspect-ai, which its own tests bring


@pytest.mark.parametrize("name", [name for name in MODULES if name not in (*OFFERED, *OTHERS)])
def test_examples_give_what_they_say(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted
    assert not result.failed
