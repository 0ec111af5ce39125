"""A SLURM cluster of this machine, with four pretend GPUs, and studies that are run on it through the SLURM profile."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("slurm.sh")
# Snakemake that asks SLURM every second which jobs ended. By itself it waits ten seconds longer each time none has.
SNAKEMAKE = """
import asyncio, sys
from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
RemoteExecutor.sleep = lambda self: asyncio.sleep(1)
main(sys.argv[1:])
"""


class Cluster:
    """The running cluster. It is asked twice a second which job has which GPUs."""

    def __init__(self) -> None:
        self.samples: list[dict[str, list[str]]] = []
        self.began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def running(self) -> dict[str, list[str]]:
        """Running jobs, each with its GPUs."""
        found = {}
        for line in output("scontrol", "show", "jobs", "--details", "--oneliner").splitlines():
            if "JobState=RUNNING" in line:
                job = dict(field.partition("=")[::2] for field in line.split())
                name = f"{job['ArrayJobId']}_{job['ArrayTaskId']}" if "ArrayTaskId" in job else job["JobId"]
                devices = re.search(r"GRES=gpu:\d+\(IDX:([\d,-]+)\)", line)
                found[name] = numbers(devices[1]) if devices else []
        return found

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            with contextlib.suppress(subprocess.SubprocessError):  # SLURM is too busy to answer
                self.samples.append(self.running())

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def numbers(ranges: str) -> list[str]:
    """Numbers of an array that SLURM writes as 0-1,3."""
    bounds = [list(map(int, part.split("-"))) for part in ranges.split(",")]
    return [str(number) for bound in bounds for number in range(bound[0], bound[-1] + 1)]


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def wait_until(true: Callable[[], object], what: str, *, seconds: float = 240) -> None:
    for _ in range(int(seconds / 0.2)):
        if true():
            return
        time.sleep(0.2)
    raise AssertionError(f"it never happened: {what}")


# Filled in by `cluster`, printed at the end.
SEEN: list[str] = []
# Copies of what `Study.prepare` has made, by the text of the config.
PREPARED: dict[str, Path] = {}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("slurm")
    _leave_behind(tmp_path_factory.mktemp("killed"))
    started = subprocess.run([SCRIPT, "start", folder], capture_output=True, text=True, check=False)
    if started.returncode:
        pytest.exit(started.stderr.strip(), 1)
    cluster = Cluster()
    try:
        yield cluster
    finally:
        cluster.end()
        subprocess.run([SCRIPT, "stop", folder], check=True)
    SEEN.extend(summary(cluster))


def _leave_behind(folder: Path) -> None:
    """Lay the link that a killed test run leaves, to a cluster whose owner is gone. The next start takes over."""
    link = Path("/run/slurm/conf")
    if os.geteuid() == 0 and not os.path.lexists(link) and not os.path.lexists("/etc/slurm/slurm.conf"):
        ended = subprocess.Popen(["true"])
        ended.wait()
        (folder / "owner").write_text(f"{ended.pid} 1\n")
        (folder / "slurm.conf").write_text("ClusterName=rubric_order_test\n")
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(folder)


def summary(cluster: Cluster) -> list[str]:
    """SLURM's messages about the use of its GPUs."""
    at_once = Counter(sum(bool(devices) for devices in sample.values()) for sample in cluster.samples)
    jobs = {job: devices for sample in cluster.samples for job, devices in sample.items() if devices}
    lines = [f"GPU jobs at once: {number} in {count} of {at_once.total()} looks" for number, count in at_once.items()]
    return [*sorted(lines), *(f"job {job}: GPU {', '.join(devices)}" for job, devices in jobs.items())]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SEEN:
        terminalreporter.section("GPUs, as SLURM gave them to jobs")
        for line in SEEN:
            terminalreporter.write_line(line)


class Study:
    """A study in a folder of its own: ten orderings of each item, judged by simulated judges with GPUs."""

    def __init__(self, folder: Path, n_items: int, judges: dict[str, dict], *, scales: tuple[int, ...] = (5,)) -> None:
        """Write the config. `judges` has settings of each judge, and `seconds_per_request`; each scale is a study."""
        self.folder = folder
        self.judges = {name: self._judge(name, **settings) for name, settings in judges.items()}
        self.studies = ["position_bias", *(f"scale_{n}" for n in scales[1:])]
        read = {"datasets": ["sim"], "judges": list(judges), "strategies": ["balanced"]}
        self.config = {
            "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": n_items, "n_candidates": 1}}},
            "judges": self.judges,
            "studies": {name: {**read, "scales": [n]} for name, n in zip(self.studies, scales, strict=True)},
            "figures": {"position_selection": {"study": "position_bias"}},
            "tables": {"position_selection": {}},
        }
        self._write()

    def _write(self) -> None:
        (self.folder / "study.yaml").write_text(yaml.safe_dump(self.config))

    def change(self, judge: str, **settings: object) -> None:
        """Change settings of a judge; what runs already has the old ones."""
        self.judges[judge] |= settings
        self._write()

    def _judge(self, name: str, *, seconds_per_request: float, **settings: object) -> dict:
        return {
            "engine": "simulated",
            "model": name,
            "answer_format": "score",
            "sampling": {"temperature": 1},
            "simulation": {"preference": "first", "seconds_per_request": seconds_per_request},
            "gpu": 1,
            "mem": "500MB",
            "runtime": "10m",
            **settings,
        }

    def command(self, *arguments: str) -> list[str]:
        snakemake = [sys.executable, "-c", SNAKEMAKE, *arguments, "--snakefile", str(ROOT / "Snakefile"), "--nocolor"]
        return [*snakemake, "--configfile", "study.yaml"]

    def run_here(self, *arguments: str) -> None:
        """Run Snakemake on this machine, without SLURM."""
        done = subprocess.run(self.command(*arguments), cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def prepare(self) -> None:
        """Make the requests here: what is tested comes after them. Studies of one config take each other's."""
        text = (self.folder / "study.yaml").read_text()
        if text in PREPARED:
            shutil.copytree(PREPARED[text], self.folder, dirs_exist_ok=True)
            return
        self.run_here(
            "--cores",
            "2",
            *(f"results/requests/{study}/{judge}.parquet" for study in self.studies for judge in self.judges),
        )
        PREPARED[text] = self.folder.with_name(f"{self.folder.name}_prepared")
        shutil.copytree(self.folder, PREPARED[text])

    def submit(self, *targets: str, arguments: tuple[str, ...] = ()) -> subprocess.Popen:
        """Start Snakemake with the SLURM profile; what it prints goes to `controller.log`."""
        quick = (
            "--slurm-init-seconds-before-status-checks",
            "2",
            "--latency-wait",
            "10",
            "--slurm-keep-successful-logs",
        )
        profile = ("--profile", str(ROOT / "workflow/profiles/slurm"))
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "RUBRIC_ORDER"))}
        with open(self.folder / "controller.log", "a") as log:
            return subprocess.Popen(
                self.command(*targets, *profile, *quick, *arguments),
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=kept,
            )

    def responses(self) -> list[str]:
        return [
            f"results/responses/{name}/{shard}.parquet"
            for name, judge in self.judges.items()
            for shard in range(1, judge.get("shards", 1) + 1)
        ]

    @property
    def printed(self) -> str:
        """All that Snakemake has printed."""
        return (self.folder / "controller.log").read_text()

    def log(self, judge: str, shard: int) -> str:
        try:
            return (self.folder / f"results/logs/judge_shard/{judge}/{shard}.log").read_text()
        except FileNotFoundError:  # Snakemake removes the log of a job that it starts again
            return ""

    def starts(self) -> int:
        """The number of engines that all SLURM jobs of all runs have started. No job has started two."""
        logs = (self.folder / ".snakemake/slurm_logs").rglob("*.log")
        counts = [log.read_text().count("engine ready") for log in logs]
        assert max(counts, default=0) <= 1
        return sum(counts)

    def writers(self, judge: str, shards: list[int], *, stop: bool = False) -> list[dict]:
        """Who answers some shards, once all have begun to ask; stopped at once, if so wanted."""
        found = {}

        def all_found() -> bool:
            for shard in set(shards) - set(found):
                if "engine ready" in self.log(judge, shard):
                    lock = self.folder / f"results/responses/{judge}/.{shard}.parquet.lock"
                    found[shard] = json.loads(lock.read_text())
                    if stop:
                        os.kill(found[shard]["pid"], signal.SIGSTOP)
            return len(found) == len(shards)

        wait_until(all_found, f"{judge} {shards} begin")
        return [found[shard] for shard in shards]


@pytest.fixture
def study(cluster: Cluster, tmp_path: Path):
    """Make a study; what is left of its Snakemake at the end is ended."""
    yield from _studies(tmp_path)


@pytest.fixture(scope="session")
def early_study(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory):
    """The same, for a study that goes on while other tests run."""
    yield from _studies(tmp_path_factory.mktemp("early"))


def _studies(folder: Path):
    started = []

    class Ended(Study):
        def submit(self, *targets: str, **options: object) -> subprocess.Popen:
            started.append(super().submit(*targets, **options))
            return started[-1]

    yield lambda *arguments, **options: Ended(folder, *arguments, **options)
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # it cancels its jobs
            process.wait(timeout=120)
