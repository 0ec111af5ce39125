"""The workflow where Snakemake's own tools take it: into an image, and into a folder that has only its configs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from installed import installed

from .conftest import ROOT, Project

ADDRESS = "https://github.com/someone/rubric-order"
STUDY = {
    "datasets": {"demo": {"limit": 1}},
    "judges": {"planted": {"engine": "simulated", "model": "m", "answer_format": "score", "simulation": {}}},
    "studies": {"position_bias": {"datasets": ["demo"], "judges": ["planted"], "strategies": ["balanced"]}},
    "tables": {"parse_failures": {}},
}
GIT = ("git", "-c", "user.name=someone", "-c", "user.email=someone@example.org", "-c", "commit.gpgsign=false")


@pytest.fixture
def conda(tmp_path: Path) -> dict[str, str]:
    """Environment with a conda that only says which platform it is on: Snakemake asks it before it writes an image."""
    program = tmp_path / "tools/conda"
    program.parent.mkdir()
    about: dict[str, object] = {"platform": "linux-64", "conda_prefix": "/opt/conda", "conda_version": "25.9.1"}
    about["get"] = {"channel_priority": "strict"}
    program.write_text(f"#!/bin/sh\necho '{json.dumps(about)}'\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.slow
@pytest.mark.parametrize("config", [None, "config/demo.yaml", "config/papers/scoring_bias.yaml"])
def test_an_image_has_all_environments_whatever_the_config(fresh: Project, conda: dict[str, str], config: str | None):
    words = ["--configfile", config] if config else []
    run = fresh.snakemake("--containerize", *words, alone=True, environment=conda)
    assert run.returncode == 0, run.stderr
    copied = re.findall(r"^COPY (\S+) (/conda-envs/\w+)/environment.yaml$", run.stdout, re.MULTILINE)
    assert [source for source, _ in copied] == sorted(f"envs/{path.name}" for path in (ROOT / "envs").iterdir())
    for _, folder in copied:
        assert f"conda env create --prefix {folder} --file {folder}/environment.yaml &&" in run.stdout


@pytest.fixture
def repository(fresh: Project) -> Project:
    """The project as a repository with a tag."""
    subprocess.run(["git", "init", "--quiet"], cwd=fresh.folder, check=True)
    commit(fresh, "v1")
    return fresh


def commit(repository: Project, tag: str) -> None:
    for words in (["add", "--all"], ["commit", "--quiet", "--message", tag], ["tag", tag]):
        subprocess.run([*GIT, *words], cwd=repository.folder, check=True)


def hosted(repository: Project, cache: Path) -> dict[str, str]:
    """Environment in which git and Snakemake find the repository where `ADDRESS` says, without a network."""
    replaced = {"COUNT": "1", "KEY_0": f"url.file://{repository.folder}.insteadOf", "VALUE_0": ADDRESS}
    return {"XDG_CACHE_HOME": str(cache)} | {f"GIT_CONFIG_{name}": value for name, value in replaced.items()}


def deploy(factory: pytest.TempPathFactory, source: str, folder: Path, environment: dict[str, str]) -> Project:
    """The workflow as the real snakedeploy puts it into a folder."""
    packages = installed(factory, "packaging")
    program = [sys.executable, packages / "bin/snakedeploy", "deploy-workflow", source, folder, "--tag", "v1"]
    run = subprocess.run(
        program,
        env=os.environ | environment | {"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert not (folder / "resources").exists()
    return Project(folder)


@pytest.mark.slow
def test_what_snakedeploy_takes_from_a_repository_runs_and_stays_when_another_version_does_the_same(
    repository: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    environment = hosted(repository, tmp_path / "cache")
    here = deploy(tmp_path_factory, ADDRESS, tmp_path / "here", environment)
    assert 'github("someone/rubric-order", path="workflow/Snakefile", tag="v1")' in here.file(
        "workflow/Snakefile"
    ).read_text(encoding="utf-8")
    here.file("mine.yaml").write_text(yaml.safe_dump(STUDY))
    target = "results/plan/position_bias/demo/planted.parquet"
    run = here.snakemake(target, "--configfile", "mine.yaml", environment=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert here.file(target).exists()

    card = repository.file("workflow/scripts/rubric_order/cards/card.py")
    card.write_text(card.read_text() + "\nNEW = 1\n")
    commit(repository, "v2")
    snakefile = here.file("workflow/Snakefile")
    snakefile.write_text(snakefile.read_text().replace('tag="v1"', 'branch="master"'))
    subprocess.run(["git", "branch", "--force", "--move", "master"], cwd=repository.folder, check=True)
    again = here.snakemake(target, "--dry-run", "--configfile", "mine.yaml", environment=environment)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "Nothing to be done" in again.stdout + again.stderr
    taken = here.file(".snakemake/rubric_order/current/workflow/scripts/rubric_order/cards/card.py")
    assert taken.read_text().endswith("NEW = 1\n")


@pytest.mark.slow
def test_what_snakedeploy_takes_from_a_folder_runs_once_its_path_is_written(
    repository: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
):
    """For a folder, snakedeploy 0.17 writes a path that leads nowhere; docs/install.md has the remedy."""
    here = deploy(tmp_path_factory, str(repository.folder), tmp_path / "here", {})
    here.file("mine.yaml").write_text(yaml.safe_dump(STUDY))
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^sed .*workflow/Snakefile$", page, re.MULTILINE)
    command = command.replace("/path/to/rubric-order", str(repository.folder)).replace("mine/", "")
    subprocess.run(["sh", "-c", command], cwd=here.folder, check=True)
    run = here.snakemake("--dry-run", "--configfile", "mine.yaml")
    assert run.returncode == 0, run.stdout + run.stderr
    assert {"prepare_items", "judge_shard", "render_table"} <= set(
        re.findall(r"^(?:local)?rule (\w+):", run.stdout, re.M)
    )
