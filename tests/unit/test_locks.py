import json
import os
import signal

import pytest
from processes import Holder

from rubric_order.base import locks

WRITE = """
import logging, os, sys, time
from pathlib import Path
from rubric_order.base import locks
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
locks.POLL_SECONDS = 0.05
with locks.only_writer(Path({output!r})):
    print("writing")
    {work}
print("done")
"""


@pytest.fixture
def output(tmp_path):
    return tmp_path / "responses" / "1.parquet"


@pytest.fixture
def writer(output):
    """Start processes that write one output; those that are left are killed."""
    started = []

    def start(work="sys.stdin.readline()", **environment):
        started.append(Holder(WRITE.format(output=str(output), work=work), **environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def lock_file(output):
    return output.with_name(".1.parquet.lock")


def elsewhere(job):
    return {"host": "other-node", "pid_namespace": 1, "pid": 1, "started": 1, "slurm_job": job}


def test_the_second_writer_waits_and_says_for_whom(writer, output):
    first = writer(SLURM_JOB_ID="37")
    first.line("writing")
    second = writer()
    host = os.uname().nodename
    assert second.line() == f"waiting for SLURM job 37, process {first.process.pid} on {host}, which makes {output}"
    assert second.is_silent()
    assert first.end() == 0
    assert second.line() == "writing"
    assert second.end() == 0
    assert list(output.parent.iterdir()) == []


def test_a_task_of_a_job_array_is_named_as_scancel_takes_it(writer, output):
    writer(SLURM_JOB_ID="39", SLURM_ARRAY_JOB_ID="37", SLURM_ARRAY_TASK_ID="2").line("writing")
    assert writer().line().startswith("waiting for SLURM job 37_2, process ")


def test_writers_of_different_outputs_do_not_wait(writer, output):
    writer().line("writing")
    other = Holder(WRITE.format(output=str(output.with_name("2.parquet")), work="pass"))
    assert other.line() == "writing"
    assert other.end() == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_writer_that_is_killed_is_succeeded_at_once(writer, output, how):
    first = writer()
    first.line("writing")
    first.process.send_signal(how)
    first.process.wait(timeout=60)
    assert json.loads(lock_file(output).read_text())["pid"] == first.process.pid
    second = writer()
    assert second.line() == "writing"  # without waiting
    assert second.end() == 0
    assert not lock_file(output).exists()


def test_a_child_that_outlives_its_writer_does_not_write(writer):
    """An engine process that is left over writes no output: the next job need not wait for it."""
    first = writer("child = os.fork() or time.sleep(600); print('forked', child); sys.stdin.readline()")
    child = int(first.line("forked").split()[1])
    try:
        first.kill()
        assert writer().line() == "writing"
    finally:
        os.kill(child, signal.SIGKILL)


def test_there_is_never_a_second_writer_among_many(writer, output):
    trace = output.with_name("in_use")
    work = f"os.close(os.open({str(trace)!r}, os.O_CREAT | os.O_EXCL)); time.sleep(0.02); os.unlink({str(trace)!r})"
    writers = [writer(work) for _ in range(8)]
    assert [each.end() for each in writers] == [0] * 8
    assert list(output.parent.iterdir()) == []


def test_a_holder_on_a_node_whose_locks_do_not_reach_here_is_asked_for_at_slurm(writer, output, tmp_path):
    """Some file systems keep locks apart on each node: the lock is free here, and yet another job writes."""
    running = tmp_path / "running"
    running.write_text("37\n")
    squeue = tmp_path / "bin/squeue"
    squeue.parent.mkdir()
    squeue.write_text(f'#!/bin/sh\ncase "$*" in *--jobs=37*) cat {running};; *) exit 1;; esac\n')
    squeue.chmod(0o755)
    output.parent.mkdir()
    lock_file(output).write_text(json.dumps(elsewhere("37")))
    waiting = writer(PATH=f"{squeue.parent}:{os.environ['PATH']}", SLURM_JOB_ID="40")
    assert waiting.line() == f"waiting for SLURM job 37, process 1 on other-node, which makes {output}"
    assert waiting.is_silent()
    running.write_text("")
    assert waiting.line() == "writing"


@pytest.mark.parametrize("left", ["", '{"pid": 1, "st', json.dumps(elsewhere(None)), json.dumps(elsewhere("37"))])
def test_what_a_lock_file_says_counts_only_where_it_can_be_checked(writer, output, left):
    """Half a record, a holder on another node outside SLURM, and the same job, requeued by SLURM."""
    output.parent.mkdir()
    lock_file(output).write_text(left)
    assert writer(SLURM_JOB_ID="37").line() == "writing"


def test_a_lock_file_that_this_process_could_not_remove_is_no_lock_and_its_threads_wait_for_each_other(output):
    output.parent.mkdir()
    lock_file(output).write_text(json.dumps(locks._this_process()))
    with locks.only_writer(output, patience=0) as alone:
        assert alone
        with locks.only_writer(output, patience=0) as second:
            assert not second
    assert not lock_file(output).exists()


def test_a_process_id_that_was_given_again_is_another_process(tmp_path):
    with open(tmp_path / "lock", "a+") as file:
        locks._write_holder(file)
        mine = locks._read_holder(file)
    assert locks.alive(mine) is True
    assert locks.alive(mine | {"started": mine["started"] - 1}) is False
    assert locks.alive(mine | {"pid_namespace": 1}) is None
    assert locks.alive({}) is None


def test_a_process_that_ended_and_is_not_yet_reaped_is_not_alive(tmp_path):
    child = os.fork()
    if child == 0:
        with open(tmp_path / "lock", "a+") as file:
            locks._write_holder(file)
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    with open(tmp_path / "lock") as file:
        assert locks.alive(locks._read_holder(file)) is False
    os.waitpid(child, 0)


def test_a_squeue_that_hangs_is_given_up(monkeypatch, tmp_path, caplog):
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\nexec sleep 60\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(locks, "SQUEUE_SECONDS", 0.2)
    assert locks.alive(elsewhere("37")) is None
    assert "squeue does not say whether SLURM job 37 runs" in caplog.text
