"""Packages that some tests need beside the environment's, installed from a list with checksums into a folder."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from factories import ROOT


def installed(factory: pytest.TempPathFactory, name: str) -> Path:
    """Folder with the packages of requirements/NAME.lock, made by the first worker that needs it."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, made = shared / f"packages_{name}", shared / f"packages_{name}.made"
    with (shared / f"packages_{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
            if uv is None:
                subprocess.run([sys.executable, "-m", "ensurepip"], check=True, capture_output=True)
            tool = (
                [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
            )
            listed = ["--no-deps", "--require-hashes", "-r", str(ROOT / f"requirements/{name}.lock")]
            run = subprocess.run(
                [*tool, "--quiet", *listed, "--target", str(folder)], capture_output=True, text=True, check=False
            )
            assert run.returncode == 0, run.stdout + run.stderr
            made.touch()
    return folder
