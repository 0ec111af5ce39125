"""Job arrays of Snakemake's executor for SLURM. Its version 2.8 has four faults, which this module works around.

- Every task of an array starts a process of Snakemake for the array's first job. This process runs the command of the
  task's own job. But it then checks the output of the first job, and removes that output after a failure (the
  executor's issue 447). The commands of all tasks are among the arguments, so a task can run its own command instead.
- All tasks ask SLURM for the resources of the first job. So the jobs of an array must need the same resources.
- The executor forgets jobs that Snakemake may not start at once, and Snakemake waits for ever (the executor's issue
  473). So ``--jobs`` must be at least the number of jobs of each rule whose jobs become arrays.
- The commands of all tasks are one argument of ``sbatch --wrap``. If this argument is longer than Linux allows, the
  executor submits a script instead, with the commands on a separate line. Then no task gets a command, and all tasks
  run the first job. So the commands of one submission must fit into one argument.
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
    """Replace this Snakemake with the command of the task's own job, if it is a task of an array; else do nothing.

    Raises:
        InputError: see `command_of_task`.
    """
    command = command_of_task(arguments, os.environ)
    if command is not None:
        os.environ[OWN_COMMAND] = os.environ[TASK]
        os.execl("/bin/sh", "sh", "-c", command)  # noqa: S606 - the shell is what is started


def command_of_task(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The shell command of this task's own job.

    Args:
        arguments: the command line of this Snakemake.
        environment: its environment variables.

    Returns:
        The command. None if this Snakemake needs no other command, in one of three cases:

        - It is no task of an array.
        - It runs the task's own command already.
        - The arguments have no command for the task. Either the task is the first of its array, or the executor did not
          start this Snakemake.

    Raises:
        InputError: the executor started this Snakemake, the task is not the first of its array, and the arguments have
            no command for the task. Without the error, the task would run the job of the first task.
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
    """Dictionary from each task to its compressed command. The option that holds them is one argument, or two."""
    for entry, following in zip(arguments, [*arguments[1:], ""], strict=True):
        key, separator, value = entry.partition("=")
        if key == OPTION:
            return json.loads(base64.b64decode(value if separator else following))
    return {}


def check_length(commands: Mapping[str, Sequence[str]], limit: int, *, as_script: bool) -> None:
    """Check that each submission's commands fit into one argument.

    Args:
        commands: dictionary from a rule to the shell commands of its jobs.
        limit: most tasks of one submission.
        as_script: whether commands are submitted as a script (``slurm-pass-command-as-script``).

    Raises:
        InputError: the commands do not fit, or are submitted as a script.
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
    """Bytes that a command adds to the argument: compressed, in hexadecimal digits, with its key, all in base 64."""
    return -(-(2 * len(zlib.compress(command.encode(), level=9)) + len('"1000": "", ')) * 4 // 3)


def is_array(rule: str, rules: str) -> bool:
    """Tell whether jobs of a rule become arrays, for `rules` in the executor's form."""
    return not {rule, "all"}.isdisjoint(name.strip() for name in rules.replace(";", ",").split(","))


def check(jobs: Iterable[tuple[str, Mapping[str, object]]], rules: str, limit: int | None) -> None:
    """Check that the jobs of a run can be submitted as arrays.

    Args:
        jobs: rule and resources of each job.
        rules: the rules whose jobs become arrays, in the executor's form: names with commas between them, or ``all``.
        limit: most jobs that Snakemake runs at once; None for no limit.

    Raises:
        InputError: jobs of one array need different resources, or a rule has more than `limit` jobs.
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
    """Check the jobs of a run that asks for arrays, see `check` and `check_length`; do nothing in other runs.

    Args:
        workflow: Snakemake's workflow, when its first job is about to start.

    Raises:
        InputError: see `check` and `check_length`.
    """
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
