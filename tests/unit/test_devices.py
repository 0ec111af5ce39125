import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from processes import Holder

from rubric_order.base.errors import InputError
from rubric_order.judging import devices

CLAIM = """
import logging, sys
from rubric_order.judging import devices
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
devices.POLL_SECONDS = 0.05
with devices.claim({count}):
    sys.stdin.readline()
"""

# As vLLM does: its engine is a process of its own, which does not look whether its parent is there.
CLAIM_AND_START = """
import multiprocessing, os, sys, time
from rubric_order.judging import devices

def serve():
    print("started", os.getpid())
    time.sleep(600)

if __name__ == "__main__":
    multiprocessing.set_start_method("{method}")
    with devices.claim(1):
        multiprocessing.Process(target=serve, daemon=True).start()
        sys.stdin.readline()
    print("released")
    sys.stdin.readline()
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Start processes that claim among pretend devices; those that are left are killed."""
    for name in (devices.VISIBLE, "CUDA_DEVICE_ORDER", "SLURM_JOB_ID", "SLURM_STEP_ID", "RUBRIC_ORDER_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUBRIC_ORDER_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setattr(devices, "POLL_SECONDS", 0.05)
    started = []

    def start(count=1, code=CLAIM, **environment):
        environment = {"RUBRIC_ORDER_LOCK_DIR": str(tmp_path / "locks"), "RUBRIC_ORDER_DEVICES": "0,1,2"} | environment
        started.append(Holder(code.format(count=count), **environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def claimed(process):
    return set(process.line("claimed GPU").removeprefix("claimed GPU ").split(", "))


def test_jobs_claim_devices_of_their_own_and_wait_when_none_is_free(machine):
    jobs = [machine() for _ in range(3)]
    assert sorted(min(claimed(job)) for job in jobs) == ["0", "1", "2"]
    late = machine()
    assert late.line("waiting") == "waiting for 1 of GPU 0, 1, 2: 0 free"
    assert late.is_silent()
    assert jobs[1].end() == 0
    assert claimed(late) == set(jobs[1].line("released").removeprefix("released GPU ").split())


def test_two_jobs_that_want_two_of_three_devices_go_one_after_the_other(machine):
    jobs = [machine(2), machine(2)]
    said = [job.line().split()[0] for job in jobs]
    assert sorted(said) == ["claimed", "waiting"]
    first, second = (jobs[said.index(word)] for word in ("claimed", "waiting"))
    assert second.is_silent()
    assert first.end() == 0
    assert len(claimed(second)) == 2
    assert second.end() == 0


def test_devices_are_never_shared_among_many_jobs(machine, tmp_path):
    code = """
import os, random, sys, time
from rubric_order.judging import devices
devices.POLL_SECONDS = 0.01
for _ in range(20):
    with devices.claim({count}) as mine:
        for device in mine:
            os.close(os.open(f"{folder}/{{device}}", os.O_CREAT | os.O_EXCL))
        time.sleep(0.002)
        for device in mine:
            os.unlink(f"{folder}/{{device}}")
print("done")
""".replace("{folder}", str(tmp_path))
    jobs = [machine(count, code) for count in (1, 1, 2, 2, 3)]
    assert [job.end() for job in jobs] == [0] * 5
    assert [path.name for path in (tmp_path / "locks").iterdir()] == ["all.lock"]


def test_a_killed_jobs_device_is_taken_over_at_once(machine):
    killed = machine(RUBRIC_ORDER_DEVICES="0")
    assert claimed(killed) == {"0"}
    killed.kill()
    next_one = machine(RUBRIC_ORDER_DEVICES="0")
    assert next_one.line() == "claimed GPU 0"  # without waiting


@pytest.fixture
def engine(machine, tmp_path):
    """Start a job with an engine process; the job's script is a file, as engine processes import it."""

    def start(method):
        script = tmp_path / "job.py"
        script.write_text(CLAIM_AND_START.replace("{method}", method))
        code = f"import os, sys; os.execv(sys.executable, [sys.executable, '-u', {str(script)!r}])"
        job = machine(code=code, RUBRIC_ORDER_DEVICES="0")
        return job, int(job.line("started").split()[1])

    return start


def is_gone(pid):
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_engine_process_ends_with_a_job_that_is_killed(machine, engine, method):
    job, child = engine(method)
    job.kill()
    assert is_gone(child)
    assert claimed(machine(RUBRIC_ORDER_DEVICES="0")) == {"0"}


def test_an_engine_process_that_is_still_ending_keeps_the_device_after_the_job_let_go(machine, engine):
    job, child = engine("fork")
    waiting = machine(RUBRIC_ORDER_DEVICES="0")
    assert "0 free" in waiting.line()
    job.process.stdin.write("\n")
    job.process.stdin.flush()
    job.line("released")
    assert waiting.is_silent()
    os.kill(child, signal.SIGKILL)
    assert claimed(waiting) == {"0"}


@pytest.mark.parametrize("ids", ["3,1", "GPU-8932f937,GPU-0a1b2c3d", "MIG-1c2d/1/0,MIG-1c2d/2/0"])
def test_devices_that_are_visible_already_are_divided(machine, ids):
    jobs = [machine(CUDA_VISIBLE_DEVICES=ids) for _ in range(2)]
    assert set.union(*(claimed(job) for job in jobs)) == set(ids.split(","))


def test_a_device_is_one_whether_named_by_number_or_by_uuid(machine, tmp_path):
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho 'GPU 0: NVIDIA A (UUID: GPU-aaaa1111-22)'\necho 'GPU 1: NVIDIA A (UUID: GPU-bbbb3333-44)'\n"
    )
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    assert claimed(machine(CUDA_VISIBLE_DEVICES="GPU-bbbb", **path)) == {"GPU-bbbb"}
    assert claimed(machine(RUBRIC_ORDER_DEVICES="1,0", **path)) == {"0"}


def test_the_parts_of_a_divided_gpu_stand_for_it(monkeypatch, tmp_path):
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\ncat <<E\nGPU 0: NVIDIA H100 (UUID: GPU-aaaa)\n"
        "  MIG 3g.40gb     Device  0: (UUID: MIG-1111)\n  MIG 3g.40gb     Device  1: (UUID: MIG-2222)\n"
        "GPU 1: NVIDIA H100 (UUID: GPU-bbbb)\nE\n"
    )
    program.chmod(0o755)
    for name in (devices.VISIBLE, "RUBRIC_ORDER_DEVICES", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert devices.available() == ["MIG-1111", "MIG-2222", "1"]


def test_an_nvidia_smi_that_hangs_is_one_line(monkeypatch):
    def hang(command, **_):
        raise subprocess.TimeoutExpired(command, 60)

    for name in (devices.VISIBLE, "RUBRIC_ORDER_DEVICES", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(devices.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(devices.subprocess, "run", hang)
    with pytest.raises(InputError, match=r"^gpu: /usr/bin/nvidia-smi -L does not answer; CUDA_VISIBLE_DEVICES can"):
        devices.available()


def test_the_claimed_devices_are_visible_inside_the_block_alone(machine, monkeypatch):
    monkeypatch.setenv("RUBRIC_ORDER_DEVICES", "4,7")
    with devices.claim(2) as mine:
        assert mine == ["4", "7"]
        assert os.environ[devices.VISIBLE] == "4,7"
        assert os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert devices.VISIBLE not in os.environ
    assert "CUDA_DEVICE_ORDER" not in os.environ
    monkeypatch.setenv(devices.VISIBLE, "5,6,7")
    with devices.claim(1):
        assert os.environ[devices.VISIBLE] == "5"
    assert os.environ[devices.VISIBLE] == "5,6,7"
    with devices.claim(3):  # all are free again
        pass


@pytest.mark.parametrize(
    ("visible", "message"),
    [
        ("0", "gpu: the judge asks for 2, this job can use only 0 (CUDA_VISIBLE_DEVICES=0); 0 runs on the CPU"),
        ("", "gpu: the judge asks for 2, this job can use none (CUDA_VISIBLE_DEVICES=); 0 runs on the CPU"),
        ("NoDevFiles", "none (CUDA_VISIBLE_DEVICES=NoDevFiles)"),
        ("1,-1,2", "only 1 (CUDA_VISIBLE_DEVICES=1,-1,2)"),
        ("1, 1", "only 1 (CUDA_VISIBLE_DEVICES=1, 1)"),
    ],
)
def test_more_devices_than_there_are_is_the_users_mistake(machine, monkeypatch, visible, message):
    monkeypatch.setenv(devices.VISIBLE, visible)
    with pytest.raises(InputError) as error, devices.claim(2):
        pass
    assert message in str(error.value)


def test_a_machine_without_nvidia_smi_has_no_device(machine, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"can use none \(nvidia-smi -L\)"), devices.claim(1):
        pass


def test_in_a_slurm_job_the_devices_are_those_that_slurm_gave(machine, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "37")
    with pytest.raises(InputError, match="no GPU was asked of SLURM"), devices.claim(1):
        pass
    monkeypatch.setenv(devices.VISIBLE, "2,3")
    with devices.claim(2) as mine:
        assert mine == ["2", "3"]


def test_slurm_jobs_whose_devices_have_the_same_number_do_not_wait_for_each_other(machine):
    jobs = [machine(CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID=job, SLURM_STEP_ID="0") for job in ("37", "38")]
    assert [claimed(job) for job in jobs] == [{"0"}, {"0"}]
    within = machine(CUDA_VISIBLE_DEVICES="0", SLURM_JOB_ID="37", SLURM_STEP_ID="0")
    assert "0 free" in within.line()
    assert jobs[0].end() == 0
    assert claimed(within) == {"0"}


def test_locks_are_in_a_folder_of_the_users_own(machine, monkeypatch, tmp_path):
    monkeypatch.setenv("RUBRIC_ORDER_DEVICES", "0")
    with devices.claim(1):
        assert stat.S_IMODE((tmp_path / "locks").stat().st_mode) == 0o700
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("RUBRIC_ORDER_LOCK_DIR", str(file))
    with pytest.raises(InputError, match="RUBRIC_ORDER_LOCK_DIR"), devices.claim(1):
        pass
    if os.getuid() != Path("/").stat().st_uid:
        monkeypatch.setenv("RUBRIC_ORDER_LOCK_DIR", "/")
        with pytest.raises(InputError, match="of this user's own"), devices.claim(1):
            pass
