"""Runs of the real workflow in copies of the project: one by a judge that takes no time, one by the demo's."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import forks
import pytest
import yaml

ROOT = Path(__file__).parents[2]
COPIED = ("Snakefile", "config", "envs", "profiles", "resources", "workflow")


# The first file runs the demo's judge. The other files need that run and come last, so that no process waits for it.
JUDGED_FIRST = "test_engine.py"
JUDGED_LAST = ("test_endpoint.py", "test_foreign_decisions.py", "test_outputs.py", "test_vllm_killed.py")
LARGE = 1_000_000  # bytes


def of_tasks(number: int) -> dict:
    """Settings of the demo's dataset over those of the demo: all four responses to its first tasks."""
    return {"demo": {"limit": number, "options": {"responses": 4}}}


# Over the demo: eight responses, read in three strategies by a judge that takes no time.
SMALL = {
    "datasets": of_tasks(2),
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": "planted",
            "answer_format": "score",
            "sampling": {"temperature": 0},
            "simulation": {"preference": "first"},
        }
    },
    "studies": {"position_bias": {"judges": ["planted"], "strategies": ["balanced", "random", "fixed"]}},
    "statistics": {"bootstrap": {"resamples": 100}},
}
# Over the demo: four responses in ten orderings each, read by the demo's judge; of a task with short texts.
SHORT_TASK = ROOT / "tests/data/short_task.yaml"
ONE_TASK = {
    "datasets": of_tasks(1),
    "studies": {"position_bias": {"strategies": ["balanced"]}},
    "statistics": {"bootstrap": {"resamples": 100}},
}
PAGES = ["results/summary.html"]
ONE_TABLE = "results/tables/parse_failures.csv"  # made from all scores of the study


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of this folder in the order that `JUDGED_FIRST` and `JUDGED_LAST` say; others keep their places.

    Tests that need the demo's judge are slow: on two cores it takes two minutes to start and to judge one task.
    """
    places = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    for place in places:
        if "judged" in getattr(items[place], "fixturenames", ()):
            items[place].add_marker(pytest.mark.slow)
    ours = sorted(
        (items[place] for place in places),
        key=lambda item: (item.path.name != JUDGED_FIRST, item.path.name in JUDGED_LAST),
    )
    for place, item in zip(places, ours, strict=True):
        items[place] = item


@dataclass
class Project:
    """A copy of the project that a test may edit and run."""

    folder: Path

    def snakemake(
        self, *arguments: str, environment: dict | None = None, fork: bool = True, **options: object
    ) -> subprocess.CompletedProcess:
        """Run Snakemake in this project to its end, with the arguments that `arguments` makes.

        It is forked from a process that has imported it, and so are its jobs if the test has edited no script, see
        `forks.py`. With `fork` false all are started as a user does: for jobs that load a model.
        """
        words = self.arguments(*arguments, **options)
        environment = forks.environment() | (environment or {})
        if fork:
            forked_jobs = "--dry-run" not in words and forks.is_unedited(self.folder)
            return forks.snakemake(words, self.folder, environment, forked_jobs=forked_jobs)
        command = [sys.executable, "-m", "snakemake", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=environment, check=False)

    def start(
        self, *arguments: str, environment: dict | None = None, start_new_session: bool = False, **options: object
    ) -> subprocess.Popen:
        """Start Snakemake in this project, with the arguments that `arguments` makes, as a user does."""
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *self.arguments(*arguments, **options)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=forks.environment() | (environment or {}),
            start_new_session=start_new_session,
        )

    def arguments(self, *arguments: str, config: dict | None = None, alone: bool = False, cores: int = 2) -> list[str]:
        """Arguments of Snakemake, with `config` over the demo's or alone.

        Arguments that name a config are all that it gets. Beside other tests a model gets one thread: threads of
        several models that wait for each other take many times as long.
        """
        beside_others = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > 1
        threads = ["--set-threads", "judge_shard=1"] if beside_others else []
        words = [*threads, "--cores", str(cores), "--nocolor", *arguments]
        files = [] if alone else ["config/demo.yaml"]
        if config is not None:
            (self.folder / "extra.yaml").write_text(yaml.safe_dump(config))
            files.append("extra.yaml")
        if files and "--configfile" not in arguments:
            words += ["--configfile", *files]
        return words

    def planned(self, *arguments: str, config: dict | None = None) -> list[str]:
        """The plan of a dry run: of results their names (`figures/human_scores`), of other jobs their rules."""
        run = self.snakemake("--dry-run", *arguments, config=config)
        assert run.returncode == 0, run.stdout + run.stderr
        jobs = re.findall(r"^(?:local)?rule (\w+):\n(?:    input: .*\n)?    output: (\S+)", run.stdout, re.MULTILINE)
        results = (re.match(r"results/((?:statistics|tables|figures)/\w+)\.", output) for _, output in jobs)
        return sorted(result[1] if result else rule for result, (rule, _) in zip(results, jobs, strict=True))

    def own(self, config: dict) -> list[str]:
        """Arguments that name a config which stands alone."""
        (self.folder / "own.yaml").write_text(yaml.safe_dump(config))
        return ["--configfile", "own.yaml"]

    def copied_to(self, folder: Path) -> "Project":
        """A copy, with the records of what was made from what. Large files, which no test writes into, are linked."""
        shutil.copytree(self.folder, folder, symlinks=True, copy_function=link_or_copy)
        return Project(folder)

    def file(self, path: str) -> Path:
        return self.folder / path


def copy_project(folder: Path) -> Project:
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            # Compiled modules too, which spares every job to compile them; but not those that are just being written.
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.pyc.*", "*.json.*", "*.egg-info"))
        else:
            shutil.copy2(source, folder / name)
    return Project(folder)


def link_or_copy(source: str, target: str) -> None:
    if os.path.getsize(source) > LARGE:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


def made_once(
    factory: pytest.TempPathFactory, name: str, *targets: str, config: dict, fork: bool, tasks: Path | None = None
) -> Project:
    """A finished run of the demo with another config over it, made by the first worker that needs it.

    Args:
        tasks: tasks in the place of the demo's.
    """
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, made = shared / name, shared / f"{name}.made"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            project = copy_project(folder)
            if tasks is not None:
                shutil.copyfile(tasks, project.file("resources/demo/tasks.yaml"))
            run = project.snakemake(*targets, config=config, fork=fork)
            assert run.returncode == 0, run.stdout + run.stderr
            made.touch()
    return Project(folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run that has ended, of a simulated judge. Tests that change it must work on `project`."""
    return made_once(tmp_path_factory, "finished", "all", *PAGES, config=SMALL, fork=True)


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished run."""
    return finished.copied_to(tmp_path / "project")


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run by the demo's judge up to one table. Tests that change it must work on a copy."""
    return made_once(tmp_path_factory, "judged", ONE_TABLE, config=ONE_TASK, fork=False, tasks=SHORT_TASK)


@pytest.fixture
def fresh(tmp_path: Path) -> Project:
    """A copy of the project in which nothing has run."""
    return copy_project(tmp_path / "fresh")
