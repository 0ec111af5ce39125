"""Real processes: judge jobs, and programs that hold something until they are told to end, or are killed."""

import multiprocessing
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

SCRIPTS = Path(__file__).parents[2] / "workflow/scripts"

# Judge jobs are forked from a process that has imported what they need: a real process each, without its start-up time.
# It finds the library and the modules of tests in the folders of `JOB_PATH`, which a test sets as PYTHONPATH.
forked = multiprocessing.get_context("forkserver")
ENGINES = ("batches.engine", "decisions", "openai_api", "python.engine", "simulated")
PRELOADED = ["rubric_order.jobs.judge_shard", *(f"rubric_order.judging.engines.{name}" for name in ENGINES)]
forked.set_forkserver_preload(
    [*PRELOADED, "pytest", "psutil", "factories", "endpoint", "batch_server", "decision_model"]
)
JOB_PATH = os.pathsep.join(map(str, (SCRIPTS, Path(__file__).parents[1], Path(__file__).parent)))


class Holder:
    """A Python process that runs some lines; what it prints is read line by line."""

    def __init__(self, code: str, **environment: str) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SLURM_", "CUDA_", "RUBRIC_"))}
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=kept | {"PYTHONPATH": str(SCRIPTS)} | environment,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def line(self, containing: str = "", *, seconds: float = 300.0) -> str:
        """The next line that contains a text; fails where none comes."""
        while containing not in (line := self.lines.get(timeout=seconds)):
            pass
        return line

    def is_silent(self, *, seconds: float = 0.5) -> bool:
        """True where nothing is printed for a while."""
        try:
            return self.lines.get(timeout=seconds) is None
        except queue.Empty:
            return True

    def end(self) -> int:
        """Let it go on to its end."""
        if self.process.poll() is None:
            self.process.stdin.close()
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=60)
