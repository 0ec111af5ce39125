import base64
import json
import zlib

import pytest
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
