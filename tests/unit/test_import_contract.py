"""The contract of imports in pyproject.toml: the library keeps it, and what breaks it is found."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = {  # by module: imports that it must not have
    "base/files.py": "rubric_order.settings.judges",
    "contracts/contract.py": "rubric_order.datasets.rubrics",
    "datasets/fetching.py": "rubric_order.planning",
    "judging/store.py": "rubric_order.methods.uncertainty.resampling",
    "methods/tidy.py": "rubric_order.analyses.position.power.estimate",
    "analyses/criteria/halo/estimate.py": "rubric_order.analyses.position.power.estimate",
    "analyses/position/power/estimate.py": "rubric_order.prompts",
    "analyses/criteria/halo/table.py": "rubric_order.analyses.criteria.halo.estimate",
    "analyses/position/score_effects/estimate.py": "rubric_order.analyses.position.score_effects.record",
    "analyses/position/power/figure.py": "rubric_order.methods.position.uniformity",
    "catalogue.py": "rubric_order.cards.row",
    "cards/verdict.py": "rubric_order.probes",
    "cards/row.py": "rubric_order.library",
    "cards/summary.py": "rubric_order.extras.gate.limits",
    "jobs/plan_reads.py": "rubric_order.run.core",
    "library/study.py": "rubric_order.commands",
}


@pytest.fixture
def library(tmp_path):
    """A copy of the library and its settings."""
    shutil.copytree(ROOT / "workflow/scripts/rubric_order", tmp_path / "workflow/scripts/rubric_order")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder):
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    environment = os.environ | {"PYTHONPATH": str(folder / "workflow/scripts"), "COLUMNS": "200"}  # no line is broken
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_library_keeps_the_contract_of_imports(library):
    found = lint(library)
    assert found.returncode == 0, found.stdout
    assert " 0 broken" in found.stdout


def test_each_import_against_the_contract_is_found(library):
    for name, imported in PLANTED.items():
        path = library / "workflow/scripts/rubric_order" / name
        path.write_text(f"import {imported}\n{path.read_text()}")
    found = lint(library)
    assert found.returncode == 1
    for name, imported in PLANTED.items():
        module = "rubric_order." + name.removesuffix(".py").replace("/", ".")
        assert f"{module} -> {imported} (l.1)" in found.stdout


def test_the_contract_of_extras_names_every_other_package_and_module():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each.get("forbidden_modules") == ["rubric_order.extras"]
    )
    parts = (ROOT / "workflow/scripts/rubric_order").glob("[a-z]*")
    core = {path.stem for path in parts if path.suffix == ".py" or (path / "__init__.py").exists()} - {"extras"}
    assert sorted(contract["source_modules"]) == sorted(f"rubric_order.{name}" for name in core)
