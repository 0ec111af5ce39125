"""Job arrays of Snakemake's executor for SLURM. Version 2.8 of it has three faults, which this module works around.

- Every task of an array starts a Snakemake for the array's first job. That Snakemake runs the command of the task's own
  job, but then checks the output of the first job, and removes it after a failure (its issue 447). The commands of all
  tasks are among the arguments, so a task can run its own command instead.
- All tasks ask SLURM for the resources of the first job. So the jobs of an array must need the same.
- The executor forgets jobs that Snakemake may not start at once, and Snakemake waits for ever (its issue 473). So
  ``--jobs`` must be as many as there are jobs.
"""

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rubric_order.base.errors import InputError

# Resources that the executor asks SLURM for: jobs of one array must have the same ones.
SLURM_RESOURCES = ("gpu", "gpu_model", "mem_mb", "runtime", "slurm_partition", "slurm_account")
OPTION = "--slurm-jobstep-array-execs"


def command_of_task(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The shell command of this task's own job.

    Args:
        arguments: the command line of this Snakemake.
        environment: its environment variables.

    Returns:
        The command; None where this Snakemake needs no other command: outside an array, or in its first task.
    """
    task = environment.get("SLURM_ARRAY_TASK_ID")
    found = [value for key, separator, value in (entry.partition("=") for entry in arguments) if key == OPTION]
    if task is None or not found:
        return None
    commands = json.loads(base64.b64decode(found[0]))
    return zlib.decompress(bytes.fromhex(commands[task])).decode() if task in commands else None


def check(jobs: Iterable[tuple[str, Mapping[str, object]]], rules: str, limit: int | None) -> None:
    """Check that the jobs of a run can be submitted as arrays.

    Args:
        jobs: rule and resources of each job.
        rules: the rules whose jobs become arrays, in the executor's form: names with commas between them, or ``all``.
        limit: most jobs that Snakemake runs at once; None for no limit.

    Raises:
        InputError: jobs of one array need different resources, or are more than `limit`.
    """
    wanted = {rule.strip() for rule in rules.replace(";", ",").split(",")}
    counts, asked = defaultdict(int), defaultdict(set)
    for rule, resources in jobs:
        if rule in wanted or "all" in wanted:
            counts[rule] += 1
            asked[rule].add(", ".join(f"{name}={resources[name]}" for name in SLURM_RESOURCES if name in resources))
    for rule, different in asked.items():
        if len(different) > 1:
            found = " and ".join(sorted(different))
            raise InputError(f"slurm-array-jobs: jobs of {rule} in one array need the same, found {found}")
    for rule, count in counts.items():
        if limit is not None and count > limit:
            raise InputError(f"slurm-array-jobs: {rule} has {count} jobs, expected at most --jobs, which is {limit}")
