"""A finished run of the real workflow, in a copy of the project: real data, the real judge, vLLM."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COPIED = ("Snakefile", "config", "envs", "resources", "workflow")


@dataclass
class Project:
    """A copy of the project that a test may edit and run."""

    folder: Path

    def snakemake(self, *arguments: str, **options: object) -> subprocess.CompletedProcess:
        """Run Snakemake in this project to its end, see `start`."""
        with self.start(*arguments, **options) as process:
            stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def start(
        self, *arguments: str, config: dict | None = None, cores: int = 2, environment: dict | None = None
    ) -> subprocess.Popen:
        """Start Snakemake in this project, with `config` over its default config, in an environment of this process."""
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--nocolor", *arguments]
        if config is not None:
            (self.folder / "extra.yaml").write_text(yaml.safe_dump(config))
            command += ["--configfile", "extra.yaml"]
        kept = {key: value for key, value in os.environ.items() if not key.startswith("RUBRIC_ORDER")}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=kept | (environment or {}),
        )

    def planned(self, *arguments: str, config: dict | None = None) -> list[str]:
        """Rules of the jobs that a dry run plans, one entry a job, without targets."""
        run = self.snakemake("--dry-run", *arguments, config=config)
        assert run.returncode == 0, run.stdout + run.stderr
        rules = re.findall(r"^(?:local)?rule (\w+):$", run.stdout + run.stderr, flags=re.MULTILINE)
        return sorted(rule for rule in rules if rule != "all")

    def file(self, path: str) -> Path:
        return self.folder / path


def copy_project(folder: Path) -> Project:
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy2(source, folder / name)
    return Project(folder)


# One task of the demo: four responses, read in both strategies.
SMALL = {"datasets": {"demo": {"limit": 1}}, "statistics": {"bootstrap": {"resamples": 100}}}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small run of the demo that has ended. Tests that change it must work on `project`."""
    project = copy_project(tmp_path_factory.mktemp("finished") / "project")
    run = project.snakemake(config=SMALL)
    assert run.returncode == 0, run.stdout + run.stderr
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished run, with its records of what was made from what."""
    shutil.copytree(finished.folder, tmp_path / "project", symlinks=True)
    return Project(tmp_path / "project")


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """A copy of the project in which nothing has run."""
    return copy_project(tmp_path / "fresh")
