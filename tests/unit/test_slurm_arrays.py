import base64
import hashlib
import json
import logging
import os
import re
import shlex
import sys
import zlib
from types import SimpleNamespace

import pytest
import snakemake_executor_plugin_slurm as slurm
import snakemake_executor_plugin_slurm_jobstep as jobstep

from rubric_order.base.errors import InputError
from rubric_order.judging import slurm_arrays

COMMANDS = {"2": "python -m snakemake --target-jobs 'judge_shard:shard=2'", "3": "echo \N{SNOWMAN}"}
# As the executor writes them; the first task's is the rest of the command line.
PAYLOAD = base64.b64encode(
    json.dumps({task: zlib.compress(command.encode(), level=9).hex() for task, command in COMMANDS.items()}).encode()
).decode()
ARGUMENTS = ["snakemake", "--target-jobs", "judge_shard:shard=1", f"{slurm_arrays.OPTION}={PAYLOAD}"]


@pytest.mark.parametrize(("task", "command"), [("1", None), *COMMANDS.items()])
def test_a_task_runs_the_command_of_its_own_job(task, command):
    assert slurm_arrays.command_of_task(ARGUMENTS, {"SLURM_ARRAY_TASK_ID": task}) == command


def test_outside_an_array_nothing_else_is_run():
    assert slurm_arrays.command_of_task(ARGUMENTS, {}) is None
    assert slurm_arrays.command_of_task(ARGUMENTS[:-1], {"SLURM_ARRAY_TASK_ID": "2"}) is None


def test_the_option_and_the_format_are_those_of_the_installed_executor():
    assert "array_execs" in jobstep.ExecutorSettings.__dataclass_fields__
    assert jobstep._decompress_array_task_call(PAYLOAD, 3) == COMMANDS["3"]


@pytest.mark.parametrize("form", [[f"{slurm_arrays.OPTION}={PAYLOAD}"], [slurm_arrays.OPTION, PAYLOAD]])
def test_both_forms_of_the_option_are_read(form):
    found = slurm_arrays.command_of_task([*ARGUMENTS[:-1], *form], {"SLURM_ARRAY_TASK_ID": "3"})
    assert found == COMMANDS["3"]


def test_a_task_whose_command_is_lost_runs_no_other_job():
    lost = ["snakemake", "--executor", "slurm-jobstep"]
    of_task = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "1"}
    with pytest.raises(InputError, match=r"^slurm-array-jobs: task 2 of the array has no command of its own"):
        slurm_arrays.command_of_task(lost, of_task)
    for first_or_own in ({"SLURM_ARRAY_TASK_MIN": "2"}, {slurm_arrays.OWN_COMMAND: "2"}):
        assert slurm_arrays.command_of_task(lost, of_task | first_or_own) is None
    assert slurm_arrays.command_of_task(["snakemake", "--cores", "1"], of_task) is None  # a user's own array


def command_of(shard: int) -> str:
    """A command of a judge job, as long as Snakemake's executor makes it; each has characters of its own."""
    own = base64.b64encode(hashlib.blake2b(str(shard).encode()).digest() * 2).decode()
    return (
        "/home/me/rubric-order/.venv/bin/python -m snakemake --snakefile /home/me/rubric-order/Snakefile --target-jobs"
        f" 'judge_shard:judge=a,shard={shard}' --allowed-rules judge_shard --cores all --attempt 1 --force-use-threads"
        f" --resources mem_mb=500 gpu=1 --wait-for-files results/requests/position_bias/a.parquet --set-resources"
        f" base64//{own} --configfiles /home/me/study.yaml --executor slurm-jobstep --jobs 1 --mode remote"
    )


class Submission:
    """The executor's own submission of an array, to an ``sbatch`` that keeps what it is given."""

    def __init__(self, folder, monkeypatch, limit):
        self.folder, self.limit, self.failed = folder, limit, []
        sbatch = folder / "sbatch"
        sbatch.write_text(
            f"#!{sys.executable}\nimport json, sys\n"
            f"with open({str(folder / 'calls')!r}, 'a') as calls:\n"
            "    print(json.dumps([sys.argv[1:], '' if sys.stdin.isatty() else sys.stdin.read()]), file=calls)\n"
            "print(7)\n"
        )
        sbatch.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.setattr(slurm, "get_submit_command", lambda *_, **__: "sbatch --parsable")
        monkeypatch.setattr(slurm, "set_gres_string", lambda job: " --gres=gpu:1")
        monkeypatch.setattr(slurm, "validate_slurm_extra", lambda job: None)

    def submit(self, commands):
        jobs = [
            SimpleNamespace(
                rule=SimpleNamespace(name="judge_shard"),
                name="judge_shard",
                jobid=number,
                is_group=lambda: False,
                wildcards=[],
                resources={"runtime": 1, "mem_mb": 1},
                command=command,
            )
            for number, command in enumerate(commands)
        ]
        settings = SimpleNamespace(disable_memory_fudge=True, pass_command_as_script=False)
        executor = SimpleNamespace(
            logger=logging.getLogger("slurm"),
            slurm_logdir=self.folder,
            run_uuid="run",
            get_account_arg=lambda job: iter([""]),
            get_partition_arg=lambda job: "",
            workflow=SimpleNamespace(workdir_init=self.folder, executor_settings=settings),
            format_job_exec=lambda job: job.command,
            _failed_nodes=[],
            max_array_size=self.limit,
            _report_job_submission_threadsafe=lambda info: None,
            _report_job_error_threadsafe=lambda info, message: self.failed.append(message),
            _submitted_job_clusters=set(),
        )
        slurm.Executor.run_array_jobs(executor, jobs)
        assert self.failed == []
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    def run(self, calls):
        """The command of each task, as its shell starts it."""
        ran = {}
        for arguments, script in calls:
            (tasks,) = (entry.removeprefix("--array=") for entry in arguments if entry.startswith("--array="))
            first, last = map(int, tasks.split("-"))
            wrapped = [entry.removeprefix("--wrap=") for entry in arguments if entry.startswith("--wrap=")]
            line = wrapped[0] if wrapped else script.splitlines()[1]
            started = shlex.split(line)
            for task in range(first, last + 1):
                environment = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": str(first)}
                own = slurm_arrays.command_of_task(started, environment)
                ran[task] = own if own is not None else line.partition(f" {slurm_arrays.OPTION}")[0]
        return ran


@pytest.mark.parametrize(("limit", "submissions"), [(50, 3), (100, 2)])
def test_each_task_of_the_executors_own_submission_runs_its_own_job(tmp_path, monkeypatch, limit, submissions):
    commands = [command_of(shard) for shard in range(130)]
    submission = Submission(tmp_path, monkeypatch, limit)
    slurm_arrays.check_length({"judge_shard": commands}, limit, as_script=False)
    calls = submission.submit(commands)
    assert len(calls) == submissions
    assert submission.run(calls) == dict(enumerate(commands, start=1))


SMALL = {"gpu": 1, "mem_mb": 16000, "runtime": 240, "tmpdir": "a"}


@pytest.mark.parametrize("rules", ["judge_shard", "all", "plan_reads, judge_shard;parse_scores"])
def test_jobs_of_one_array_need_the_same(rules):
    alike = [("judge_shard", SMALL), ("judge_shard", SMALL | {"tmpdir": "b"}), ("parse_scores", {"mem_mb": 1})]
    slurm_arrays.check(alike, rules, 10)
    with pytest.raises(InputError) as error:
        slurm_arrays.check([*alike, ("judge_shard", SMALL | {"gpu": 2})], rules, 10)
    assert str(error.value) == (
        "slurm-array-jobs: jobs of judge_shard in one array need the same, found"
        " gpu=1, mem_mb=16000, runtime=240 and gpu=2, mem_mb=16000, runtime=240"
    )


def test_jobs_outside_arrays_may_need_what_they_like():
    slurm_arrays.check([("parse_scores", {"mem_mb": 1}), ("parse_scores", {"mem_mb": 2})], "judge_shard", 1)


def test_more_jobs_than_may_run_at_once_are_refused():
    jobs = [("judge_shard", SMALL)] * 6
    slurm_arrays.check(jobs, "judge_shard", 6)
    slurm_arrays.check(jobs, "judge_shard", None)
    with pytest.raises(InputError, match="judge_shard has 6 jobs, expected at most --jobs, which is 5"):
        slurm_arrays.check(jobs, "judge_shard", 5)


def test_commands_that_are_too_long_for_one_submission_are_refused(tmp_path, monkeypatch):
    """And rightly: the executor submits a script, in which the tasks have lost their commands."""
    commands = [command_of(shard) for shard in range(400)]
    with pytest.raises(InputError) as error:
        slurm_arrays.check_length({"judge_shard": commands}, 400, as_script=False)
    found = re.fullmatch(
        "slurm-array-jobs: the commands of 400 jobs of judge_shard are too long for one submission,"
        r" expected slurm-array-limit of at most (\d+), found 400",
        str(error.value),
    )
    slurm_arrays.check_length({"judge_shard": commands}, int(found[1]), as_script=False)
    submission = Submission(tmp_path, monkeypatch, 400)
    ((arguments, script),) = submission.submit(commands)
    assert arguments[-1] == "/dev/stdin"
    assert script.splitlines()[2] == slurm_arrays.OPTION  # on a line of its own: no argument of anything
    with pytest.raises(InputError, match="task 2 of the array has no command of its own"):
        submission.run([(arguments, script)])


def test_the_bound_is_tight(tmp_path, monkeypatch):
    """The largest array that is taken is submitted as one argument that Linux takes."""
    commands = [command_of(shard) for shard in range(200)]
    with pytest.raises(InputError) as error:
        slurm_arrays.check_length({"judge_shard": commands}, 200, as_script=False)
    fitting = int(re.search(r"at most (\d+)", str(error.value))[1])
    submission = Submission(tmp_path, monkeypatch, fitting)
    ((arguments, _),) = submission.submit(commands[:fitting])
    (wrapped,) = (entry for entry in arguments if entry.startswith("--wrap="))
    assert slurm_arrays.LONGEST_ARGUMENT - 2 * slurm_arrays.OTHER_BYTES < len(wrapped) < slurm_arrays.LONGEST_ARGUMENT


def test_arrays_and_commands_as_scripts_exclude_each_other():
    slurm_arrays.check_length({"judge_shard": ["a"]}, 9, as_script=True)
    with pytest.raises(InputError, match="need slurm-pass-command-as-script to be unset"):
        slurm_arrays.check_length({"judge_shard": ["a", "b"]}, 9, as_script=True)
