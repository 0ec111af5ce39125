"""A package with a probe, an adapter, an importer and an engine, made of the files that docs/plugins.md shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from .conftest import ROOT, Project

# A file of the page: its name in a sentence, and after the sentence the block.
SHOWN = re.compile(r"`([\w./]+\.\w+)`[^`]*:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
TARGETS = ("all", "results/requests/letters/planted.parquet", "results/plan/old_verdicts/replies/old_judge.parquet")
TARGETS += ("results/responses/old_judge/1.parquet",)
METADATA = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel({folder!r})"


@pytest.fixture
def helpdesk(fresh: Project, tmp_path: Path) -> dict[str, str]:
    """The page's package beside a copy of the project, and the environment in which it is installed."""
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    package, metadata = tmp_path / "package", tmp_path / "metadata"
    for name, text in SHOWN.findall(page):
        path = (fresh.folder if re.search(r"\.(jsonl|yaml)$", name) else package) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (package / "helpdesk/__init__.py").touch()
    metadata.mkdir()
    command = [sys.executable, "-c", METADATA.format(folder=str(metadata))]
    subprocess.run(command, cwd=package, check=True, capture_output=True)
    return {"PYTHONPATH": os.pathsep.join([str(package), str(metadata)])}


def test_the_package_of_the_page_is_planned_and_judged_without_a_change_of_the_project(
    fresh: Project, helpdesk: dict[str, str], tmp_path: Path
):
    run = fresh.snakemake(*TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
    assert run.returncode == 0, run.stdout + run.stderr

    items = pd.read_parquet(fresh.file("results/items/replies.parquet"))
    assert items["item_id"].tolist() == ["t1-ann", "t1-bob"]
    requests = pd.read_parquet(fresh.file("results/requests/letters/planted.parquet"))
    shown = requests["prompt"].str.findall(r"^([A-E]): It is (\w+)\.$", re.MULTILINE)
    levels = list(zip("EDCBA", ("rude", "cold", "correct", "friendly", "warm"), strict=True))
    assert sorted(shown) == sorted([levels, levels[::-1]] * 2)
    failures = pd.read_csv(fresh.file("results/tables/parse_failures.csv"))
    assert failures["n_scores"][failures["option"] == "all"].tolist() == [4, 4]
    responses = pd.read_parquet(fresh.file("results/responses/counting/1.parquet"))
    scores = pd.read_parquet(fresh.file("results/scores/letters/replies/counting.parquet"))
    assert scores.groupby("item_id")["score"].agg(list).to_dict() == {"t1-ann": [2, 2], "t1-bob": [1, 1]}
    assert sorted(responses["text"]) == ["D", "D", "E", "E"]

    plan = pd.read_parquet(fresh.file("results/plan/old_verdicts/replies/old_judge.parquet"))
    assert plan["item_id"].tolist() == ["t1-ann", "t1-bob"]
    assert [list(ordering) for ordering in plan["ordering"]] == [[5, 4, 3, 2, 1], [1, 2, 3, 4, 5]]
    answers = pd.read_parquet(fresh.file("results/responses/old_judge/1.parquet"))
    assert sorted(answers["text"]) == ["Score: 1", "Score: 5"]

    def planned() -> set[str]:
        run = fresh.snakemake("--dry-run", *TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
        assert run.returncode == 0, run.stdout + run.stderr
        return set(re.findall(r"^(?:local)?rule (\w+):", run.stdout, re.MULTILINE))

    module = tmp_path / "package/helpdesk/__init__.py"
    module.write_text("# A comment.\n")
    assert planned() == set()
    module.write_text("ADDED = 1\n")
    assert {"prepare_items", "plan_reads", "plan_recorded", "read_recorded"} <= planned()


def test_a_class_that_lacks_something_is_one_line_before_anything_runs(
    fresh: Project, helpdesk: dict[str, str], tmp_path: Path
):
    module = tmp_path / "package/helpdesk/letters.py"
    module.write_text(module.read_text().replace("def choose", "def chose"))
    run = fresh.snakemake("--dry-run", *TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
    assert run.returncode == 1
    entry = "package helpdesk-judging: entry point 'letter_order' of rubric_order.probes"
    expected = "expected a subclass of rubric_order.probes.Probe"
    assert f"config: studies/letters/probe: {entry}: {expected}" in run.stderr
    assert run.stderr.rstrip().endswith("lacks choose")
