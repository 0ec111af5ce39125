"""Snakemake's scheduler with one timer at a time."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from factories import ROOT
from snakemake.scheduling.job_scheduler import JobScheduler

from rubric_order.run import scheduling


class Passing(JobScheduler):
    """The real scheduler, but for what a run gives it: it counts its passes."""

    def __init__(self) -> None:
        self._open_jobs = threading.Semaphore(0)

    def passes(self, ends: int, timers: int) -> int:
        """Passes over ready jobs while so many jobs and timers end; each pass starts a timer, as in Snakemake."""
        before = threading.active_count()
        number = 0
        for _ in range(ends):
            self._schedule_reevalutation(0.01)
            number += 1
        for _ in range(timers):
            if not self._open_jobs.acquire(timeout=60):
                break
            self._schedule_reevalutation(0.01)
            number += 1
            self.most = max(getattr(self, "most", 0), threading.active_count() - before)
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.cancel()
                thread.join()
        return number


def test_each_pass_of_the_scheduler_has_at_most_one_timer():
    class Ours(Passing):
        pass

    scheduling.keep_one_timer(Ours)
    ours = Ours()
    assert ours.passes(ends=50, timers=20) == 70  # passes go on
    assert ours.most <= 2  # one that ends, one that starts

    theirs = Passing()
    theirs.passes(ends=50, timers=20)
    assert theirs.most > 10, "Snakemake's timers do not multiply any more: rubric_order.run.scheduling can go"


def test_delays_of_other_lengths_are_waited_for_beside_each_other():
    class Ours(Passing):
        pass

    scheduling.keep_one_timer(Ours)
    ours = Ours()
    ours._schedule_reevalutation(3600)
    ours._schedule_reevalutation(0.01)
    assert ours._open_jobs.acquire(timeout=60)
    ours.passes(ends=0, timers=0)  # ends what waits


def test_a_snakemake_without_such_timers_stays_as_it_is():
    class Other:
        pass

    scheduling.keep_one_timer(Other)
    assert not hasattr(Other, scheduling.STARTS_TIMER)


SNAKEFILE = """
import sys
sys.path.insert(0, {scripts!r})
from snakemake.scheduling.job_scheduler import JobScheduler
from rubric_order.run import scheduling
if config["ours"]:
    scheduling.keep_one_timer(JobScheduler)
rule all:
    input: expand("made/{{number}}", number=range(40))
rule one:
    output: touch("made/{{number}}")
    shell: "sleep 0.3"
"""


@pytest.mark.slow
def test_a_run_of_many_jobs_has_few_passes(tmp_path: Path):
    def passes(ours: int) -> int:
        folder = tmp_path / str(ours)
        folder.mkdir()
        (folder / "Snakefile").write_text(SNAKEFILE.format(scripts=str(ROOT / "workflow/scripts")))
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--verbose", "--scheduler", "greedy"]
        run = subprocess.run([*command, "--config", f"ours={ours}"], cwd=folder, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stderr.count("Ready jobs: ")

    assert 20 <= passes(ours=1) < passes(ours=0) / 2
