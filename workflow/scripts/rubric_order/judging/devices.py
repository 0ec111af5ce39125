"""Claiming GPUs by a lock on a file per device, since Snakemake counts GPUs (``--resources gpu=4``) and assigns none.

A killed job's locks end with it. vLLM's engine is a process of its own and would keep the device, so Linux kills the
children of a claimant that ends: forked ones, and spawned ones since they import this module with the job's script.
"""

import contextlib
import ctypes
import fcntl
import logging
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from rubric_order.base.errors import InputError

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # time between two tries
VISIBLE = "CUDA_VISIBLE_DEVICES"
CLAIMANT = "RUBRIC_ORDER_CLAIMANT"  # id of the process that claimed devices: this process or an ancestor
PR_SET_PDEATHSIG = 1  # prctl(2)

_libc = ctypes.CDLL(None)


def _end_with_parent() -> None:
    """Have Linux kill this process when its parent ends, if it is a child of a claimant."""
    if os.environ.get(CLAIMANT, str(os.getpid())) != str(os.getpid()):
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


os.register_at_fork(after_in_child=_end_with_parent)
_end_with_parent()


@contextlib.contextmanager
def claim(count: int) -> Iterator[list[str]]:
    """Claim `count` GPUs, waiting until they are free, and set ``CUDA_VISIBLE_DEVICES`` to them within the block. All
    at once or none, so that no two jobs wait for each other; among those that ``CUDA_VISIBLE_DEVICES``, else
    ``RUBRIC_ORDER_DEVICES``, names; else all.
    """
    devices = available()
    if len(devices) < count:
        have = f"only {', '.join(devices)}" if devices else "none"
        raise InputError(f"gpu: the judge asks for {count}, this job can use {have} ({_source()}); 0 runs on the CPU")
    held = _wait_for(count, devices)
    before = {name: os.environ.get(name) for name in (VISIBLE, "CUDA_DEVICE_ORDER", CLAIMANT)}
    if before[VISIBLE] is None:
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # the order in which nvidia-smi counts
    os.environ.update({VISIBLE: ",".join(held), CLAIMANT: str(os.getpid())})
    log.info("claimed GPU %s", ", ".join(held))
    try:
        yield list(held)
    finally:
        os.environ.update({name: value for name, value in before.items() if value is not None})
        for name in [name for name, value in before.items() if value is None]:
            os.environ.pop(name, None)
        log.info("released GPU %s", ", ".join(held))
        _release(held)


def available() -> list[str]:
    """Ids of the devices that this process may use, free or not."""
    for name in (VISIBLE, "RUBRIC_ORDER_DEVICES"):
        if name in os.environ:
            ids = [entry.strip() for entry in os.environ[name].split(",")]
            # CUDA ignores all that follows an invalid id; so does this function.
            end = next((place for place, entry in enumerate(ids) if not re.match("[0-9]|GPU-|MIG-", entry)), len(ids))
            return list(dict.fromkeys(ids[:end]))
    if _slurm_step():
        return []  # the devices of the node belong to other jobs
    return list(_installed().values())


def _source() -> str:
    for name in (VISIBLE, "RUBRIC_ORDER_DEVICES"):
        if name in os.environ:
            return f"{name}={os.environ[name]}"
    return "no GPU was asked of SLURM" if _slurm_step() else "nvidia-smi -L"


def _installed() -> dict[str, str]:
    """Index of each device of this machine by UUID; each part of a divided GPU (MIG) stands for itself, under its own
    UUID.
    """
    program = shutil.which("nvidia-smi")
    if not program:
        return {}
    try:
        listed = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise InputError(f"gpu: {program} -L does not answer; {VISIBLE} can name the devices") from None
    by_uuid: dict[str, str] = {}
    whole = ""
    for index, uuid, part in re.findall(
        r"^(?:GPU (\d+):.*\(UUID: (GPU-\S+)\)|\s+MIG .*\(UUID: (MIG-\S+)\))", listed.stdout, re.MULTILINE
    ):
        if part:
            by_uuid.pop(whole, None)
            by_uuid[part] = part
        else:
            whole = uuid
            by_uuid[uuid] = index
    return by_uuid


def _slurm_step() -> str | None:
    """``job.step`` of SLURM: locks contain it, since in two steps of one job different devices can have the
    same index.
    """
    job = os.environ.get("SLURM_JOB_ID")
    return job and f"{job}.{os.environ.get('SLURM_STEP_ID', 'batch')}"


def _folder() -> Path:
    """Folder of the lock files, the same for all jobs of a user on a machine, whatever their TMPDIR."""
    default = f"/tmp/rubric-order-{os.getuid()}"  # noqa: S108 - checked below
    folder = Path(os.environ.get("RUBRIC_ORDER_LOCK_DIR") or default)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: no folder for locks: {error.strerror}; RUBRIC_ORDER_LOCK_DIR names one") from None
    if folder.stat().st_uid != os.getuid():
        raise InputError(f"{folder}: expected a folder of this user's own; RUBRIC_ORDER_LOCK_DIR names another")
    return folder


def _wait_for(count: int, found: list[str]) -> dict[str, TextIO]:
    """Lock `count` of the devices, waiting until they are free; returns the locked files."""
    waited = 0.0
    while True:
        with _all_locks() as folder:
            paths = _lock_paths(found, folder)
            held: dict[str, Any] = {}
            for device, path in paths.items():
                if len(held) < count and (file := _try(path)):
                    held[device] = file
            if len(held) == count:
                return held
            for device, file in held.items():  # this process holds them, so their files can be removed
                paths[device].unlink()
                file.close()
        if waited % 60 < POLL_SECONDS:
            log.info("waiting for %d of GPU %s: %d free", count, ", ".join(found), len(held))
        time.sleep(POLL_SECONDS)
        waited += POLL_SECONDS


def _release(held: dict[str, TextIO]) -> None:
    with _all_locks() as folder:
        for device, path in _lock_paths(list(held), folder).items():
            held[device].close()
            if file := _try(path):  # None where a child process still holds the lock
                path.unlink()
                file.close()


@contextlib.contextmanager
def _all_locks() -> Iterator[Path]:
    folder = _folder()
    with open(folder / "all.lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder


def _lock_paths(devices: list[str], folder: Path) -> dict[str, Path]:
    """Lock file of each device, the same whether it is named by index or UUID."""
    uuids = _installed() if any(device.startswith("GPU-") for device in devices) else {}
    scope = f"{os.uname().nodename}-{_slurm_step() or 'host'}"
    paths = {}
    for device in devices:
        # CUDA accepts the beginning of a UUID.
        index = next(
            (index for uuid, index in uuids.items() if device[:4] == "GPU-" and uuid.startswith(device)), device
        )
        paths[device] = folder / f"{scope}-gpu-{re.sub('[^A-Za-z0-9-]', '_', index)}.lock"
    return paths


def _try(path: Path) -> TextIO | None:
    file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - open as long as the lock is held
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
