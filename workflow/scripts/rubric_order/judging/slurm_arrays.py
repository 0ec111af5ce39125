"""Job arrays of Snakemake's executor for SLURM, and ways around four faults of its version 2.8.

- Each task starts Snakemake for the array's first job, and after a failure removes that job's output (the executor's
  issue 447). The arguments hold the commands of all tasks, so a task can run its own instead.
- All tasks get the resources of the first job, so the jobs of an array must need the same.
- The executor forgets jobs that may not start at once (its issue 473), so ``--jobs`` must be at least the jobs of each
  rule.
- Commands too long for one argument of ``sbatch --wrap`` are submitted as a script: all tasks run the first job.
"""

import base64
import bisect
import itertools
import json
import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rubric_order.base.errors import InputError

# Resources that the executor asks SLURM for: they must be equal for all jobs of one array.
SLURM_RESOURCES = ("gpu", "gpu_model", "mem_mb", "runtime", "slurm_partition", "slurm_account")
OPTION = "--slurm-jobstep-array-execs"

LONGEST_ARGUMENT = 128 * 1024  # bytes: Linux's MAX_ARG_STRLEN, with pages of 4 KiB
OTHER_BYTES = 8 * 1024  # upper bound on the bytes beside the commands: options of sbatch with their paths

TASK = "SLURM_ARRAY_TASK_ID"
# Set in a task that runs its own command: the Snakemakes that it starts belong to no array.
OWN_COMMAND = "RUBRIC_ORDER_ARRAY_TASK"


def become_own_task(arguments: Sequence[str]) -> None:
    """Replace this Snakemake with the command of its own task, if it is a task of an array."""
    command = command_of_task(arguments, os.environ)
    if command is not None:
        os.environ[OWN_COMMAND] = os.environ[TASK]
        os.execl("/bin/sh", "sh", "-c", command)  # noqa: S606 - the shell is what is started


def command_of_task(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The shell command of this task's own job; None if this Snakemake needs no other one: it is no task, runs its own
    command already, or is the first task. Without a command for any other task it would run the first one's job: an
    `InputError`.
    """
    task = environment.get(TASK)
    if task is None or environment.get(OWN_COMMAND) == task:
        return None
    commands = _commands(arguments)
    if task in commands:
        return zlib.decompress(bytes.fromhex(commands[task])).decode()
    of_executor = "slurm-jobstep" in arguments  # not a Snakemake that somebody runs in an array of their own
    if of_executor and task != environment.get("SLURM_ARRAY_TASK_MIN", task):
        raise InputError(
            f"slurm-array-jobs: task {task} of the array has no command of its own: the commands of all tasks were too"
            " long for one submission, or slurm-pass-command-as-script is set; use a smaller slurm-array-limit"
        )
    return None


def _commands(arguments: Sequence[str]) -> dict[str, str]:
    for entry, following in zip(arguments, [*arguments[1:], ""], strict=True):
        key, separator, value = entry.partition("=")
        if key == OPTION:
            return json.loads(base64.b64decode(value if separator else following))
    return {}


def check_length(commands: Mapping[str, Sequence[str]], limit: int, *, as_script: bool) -> None:
    """Check that each submission's commands fit into one argument.

    Args:
        commands: shell commands of the jobs of each rule.
        limit: most tasks of one submission.
        as_script: whether ``slurm-pass-command-as-script`` is set, which arrays do not survive.
    """
    if as_script and any(len(of_rule) > 1 for of_rule in commands.values()):
        raise InputError("slurm-array-jobs: tasks of an array need slurm-pass-command-as-script to be unset")
    for rule, of_rule in commands.items():
        # It is not known yet which jobs are submitted together, so assume those with the longest commands.
        lengths = sorted((_length(command) for command in of_rule), reverse=True)
        longest = max((len(command.encode()) for command in of_rule), default=0)
        room = LONGEST_ARGUMENT - OTHER_BYTES - longest
        fitting = bisect.bisect_right(list(itertools.accumulate(lengths)), room)
        if min(limit, len(lengths)) > fitting:
            raise InputError(
                f"slurm-array-jobs: the commands of {min(limit, len(lengths))} jobs of {rule} are too long for one"
                f" submission, expected slurm-array-limit of at most {fitting}, found {limit}"
            )


def _length(command: str) -> int:
    return -(-(2 * len(zlib.compress(command.encode(), level=9)) + len('"1000": "", ')) * 4 // 3)


def is_array(rule: str, rules: str) -> bool:
    return not {rule, "all"}.isdisjoint(name.strip() for name in rules.replace(";", ",").split(","))


def check(jobs: Iterable[tuple[str, Mapping[str, object]]], rules: str, limit: int | None) -> None:
    """Check that jobs of one array need the same, and that no rule has more than `limit` jobs (those that run at once).
    `rules`: those whose jobs become arrays, with commas, or ``all``.
    """
    counts: dict[str, int] = defaultdict(int)
    asked: dict[str, set[str]] = defaultdict(set)
    for rule, resources in jobs:
        if is_array(rule, rules):
            counts[rule] += 1
            asked[rule].add(", ".join(f"{name}={resources[name]}" for name in SLURM_RESOURCES if name in resources))
    for rule, different in asked.items():
        if len(different) > 1:
            listed = " and ".join(sorted(different))
            raise InputError(f"slurm-array-jobs: jobs of {rule} in one array need the same, found {listed}")
    for rule, count in counts.items():
        if limit is not None and count > limit:
            raise InputError(f"slurm-array-jobs: {rule} has {count} jobs, expected at most --jobs, which is {limit}")


def check_run(workflow: Any) -> None:
    """Check the jobs of a run that asks for arrays; `workflow` is Snakemake's, when its first job is about to start."""
    settings = workflow.executor_settings
    if not (arrays := getattr(settings, "array_jobs", None)):
        return
    needed = list(workflow.dag.needrun_jobs())
    check([(job.rule.name, dict(job.resources)) for job in needed], arrays, workflow.resource_settings.nodes)
    executor, commands = workflow.scheduler._executor, defaultdict[str, list[str]](list)
    for job in needed:
        if is_array(job.rule.name, arrays):
            commands[job.rule.name].append(executor.format_job_exec(job))
    check_length(commands, executor.max_array_size, as_script=settings.pass_command_as_script)
