"""Signals that end a job, at any place of Python where they come."""

import signal
import subprocess
import sys

import pytest

JOB = """
import os, sys, time
from rubric_order.base import signals

class Finalised:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        for _ in range(1000):  # Python calls the handler here, and drops what it raises
            pass

signals.end_once()
made = Finalised()
del made
print("went on", flush=True)
deadline = time.monotonic() + 20
while time.monotonic() < deadline:
    time.sleep(0.01)
print("was not ended", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_comes_while_an_object_is_finalised_ends_the_job(root, number):
    job = subprocess.run(
        [sys.executable, "-c", JOB, str(int(number))],
        env={"PYTHONPATH": str(root / "workflow/scripts")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert job.stdout == "went on\n"
    assert job.returncode != 0
    assert ("ended on request" if number == signal.SIGTERM else "KeyboardInterrupt") in job.stderr
