"""Snakemake's scheduler with one timer at a time, and with room for its files."""

import errno
import os
import runpy
import tempfile
import threading

import pytest
from factories import ROOT
from snakemake.scheduling.job_scheduler import JobScheduler

from rubric_order.base.errors import InputError
from rubric_order.run import scheduling


class Waiting(JobScheduler):
    """The real scheduler, but for what a run gives it."""

    def __init__(self) -> None:
        self._open_jobs = threading.Semaphore(0)

    def timers(self, passes: int, delay: float = 3600) -> int:
        """Number of timers that so many passes start; they are ended."""
        before = set(threading.enumerate())
        for _ in range(passes):
            self._schedule_reevalutation(delay)
        started = [thread for thread in threading.enumerate() if thread not in before]
        for thread in started:
            thread.cancel()
            thread.join()
        return len(started)


def ours() -> Waiting:
    class Ours(Waiting):
        pass

    scheduling.keep_one_timer(Ours)
    return Ours()


def test_passes_of_the_scheduler_share_a_timer():
    assert ours().timers(passes=50) == 1
    # Where this fails, Snakemake's timers do not multiply any more, and `rubric_order.run.scheduling` can go.
    assert Waiting().timers(passes=50) == 50


def test_a_timer_that_ends_makes_a_pass_and_lets_another_one_start():
    scheduler = ours()
    for _ in range(3):
        scheduler._schedule_reevalutation(0.01)
        assert scheduler._open_jobs.acquire(timeout=300)


def test_delays_of_other_lengths_are_waited_for_beside_each_other():
    scheduler = ours()
    scheduler._schedule_reevalutation(0.01)
    assert scheduler.timers(passes=2) == 1
    assert scheduler._open_jobs.acquire(timeout=300)


def test_a_snakemake_without_such_timers_stays_as_it_is():
    class Other:
        pass

    scheduling.keep_one_timer(Other)
    assert not hasattr(Other, scheduling.STARTS_TIMER)


def test_a_snakemake_whose_scheduler_is_elsewhere_runs_without_us(monkeypatch: pytest.MonkeyPatch):
    assert scheduling.scheduler_class() is JobScheduler
    monkeypatch.setattr(scheduling, "CLASS", "NoSuchScheduler")
    assert scheduling.scheduler_class() is None
    monkeypatch.setattr(scheduling, "MODULE", "snakemake.no_such_module")
    assert scheduling.scheduler_class() is None
    scheduling.keep_one_timer(None)


@pytest.mark.slow
def test_a_run_of_many_jobs_has_few_passes():
    run = runpy.run_path(str(ROOT / "tests/benchmarks/scheduler.py"))["run"]
    (ours, _), (theirs, _) = run(40, ours=True), run(40, ours=False)
    assert 20 <= ours < theirs / 2


def test_a_full_folder_of_temporary_files_is_one_line(tmp_path, monkeypatch):
    def full(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    scheduling.check_room()
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(InputError) as error:
        scheduling.check_room()
    assert str(error.value) == f"{tmp_path}: No space left on device; make room, or set TMPDIR to another folder"
