"""One writer of an output at a time: jobs of a killed run go on, and the next run must not send their requests again.

A POSIX record lock ends with its process, and network file systems keep it between nodes (NFSv4, Lustre, GPFS, CephFS).
Where they do not, the second job looks for the holder that the lock file names: in ``/proc``, or by ``squeue``.
"""

import contextlib
import errno
import json
import logging
import math
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # longest time between two tries; the first tries follow each other sooner
FAR = 2**30  # offset of the byte that is locked on Windows, beyond all bytes that are read
SQUEUE_SECONDS = 20.0  # time that squeue gets to answer

# The process and the lock file of each lock that is held here: a POSIX lock keeps no thread of its own process out.
_HELD: set[tuple[int, Path]] = set()
_TURN = threading.Lock()


@contextlib.contextmanager
def only_writer(output: Path, *, patience: float = math.inf) -> Iterator[bool]:
    """Hold an exclusive lock on an output, ``.NAME.lock`` beside it, while the block runs.

    Yields False if another job still holds it after `patience` seconds.
    """
    path = output.parent.resolve() / f".{output.name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    reported, begun, pause = None, time.monotonic(), POLL_SECONDS / 40
    while True:
        with _TURN:
            file, holder = _take(path)
        if file is not None:
            break
        if time.monotonic() - begun >= patience:
            yield False
            return
        if reported != holder:
            log.warning("waiting for %s, which makes %s", _name(holder), output)
            reported = holder
        time.sleep(pause)
        pause = min(2 * pause, POLL_SECONDS)
    try:
        _write_holder(file)
        yield True
    finally:
        if sys.platform == "win32":  # an open file cannot be removed on Windows
            file.close()
        with contextlib.suppress(OSError):  # a lock file that stays, as on a disk that is read-only now, is no lock
            path.unlink(missing_ok=True)
        file.close()
        _HELD.discard((os.getpid(), path))


def _take(path: Path) -> tuple[TextIO | None, dict[str, Any]]:
    """Try to take a lock. Returns its open file, or None, and the holder that the file names."""
    if (os.getpid(), path) in _HELD:
        return None, _this_process()
    file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - open as long as the lock is held
    locked, holder = _lock(file, path), _read_holder(file)
    if locked and (holder == _this_process() or not alive(holder)):  # this process has left the file
        _HELD.add((os.getpid(), path))
        return file, holder
    file.close()
    return None, holder


def _this_process() -> dict[str, Any]:
    mine = {"pid": os.getpid(), "started": _started(os.getpid()), "slurm_job": _slurm_job()}
    return _place() | mine


def _write_holder(file: TextIO) -> None:
    with contextlib.suppress(OSError):
        os.ftruncate(file.fileno(), 0)
        os.write(file.fileno(), json.dumps(_this_process()).encode())


def _read_holder(file: TextIO) -> dict[str, Any]:
    file.seek(0)
    try:
        return json.loads(file.read() or "{}")
    except ValueError:
        return {}


def alive(holder: dict[str, Any]) -> bool | None:
    """True if the holder's process still runs, False if it has ended; None if this machine cannot know."""
    if not holder:
        return None
    if {key: holder[key] for key in _place()} == _place():
        started = holder["started"]
        return None if started is None else _started(holder["pid"]) == started
    if holder["slurm_job"] in (None, _slurm_job()) or not shutil.which("squeue"):
        return None
    return _runs(holder["slurm_job"])


def _lock(file: TextIO, path: Path) -> bool:
    """Try to lock an open file. False if another process holds the lock, or has removed or replaced the file."""
    try:
        if sys.platform == "win32":
            file.seek(FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP):
            raise
        log.warning("%s: the file system has no locks (%s)", path, error.strerror)
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _place() -> dict[str, Any]:
    namespace = os.stat("/proc/self/ns/pid").st_ino if sys.platform == "linux" else 0
    return {"host": platform.node(), "pid_namespace": namespace}


def _name(holder: dict[str, Any]) -> str:
    if not holder:
        return "another job"
    job = f"SLURM job {holder['slurm_job']}, " if holder["slurm_job"] else ""
    return f"{job}process {holder['pid']} on {holder['host']}"


def _started(pid: int) -> int | None:
    """Start of a process in clock ticks since boot, with its id its identity; None if it has ended or the system is
    silent.
    """
    if sys.platform != "linux":
        return None
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


def _slurm_job() -> str | None:
    """Name under which squeue and scancel know the job."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else os.environ.get("SLURM_JOB_ID")


def _runs(job: str) -> bool | None:
    """True if SLURM says that a job runs; None if squeue cannot be run or does not answer in time; else False."""
    states = "RUNNING,SUSPENDED,COMPLETING"
    command = ["squeue", "--noheader", f"--states={states}", "--format=%i", f"--jobs={job}"]
    try:
        asked = subprocess.run(  # noqa: S603 - no shell
            command, capture_output=True, text=True, timeout=SQUEUE_SECONDS, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        log.warning("squeue does not say whether SLURM job %s runs: %s", job, error)
        return None
    return asked.returncode == 0 and bool(asked.stdout.strip())
