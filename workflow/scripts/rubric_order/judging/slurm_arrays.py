"""Job arrays of Snakemake's executor for SLURM, of which version 2.8 gets three things wrong.

- It starts every task of an array as a Snakemake for the array's first job, which runs the command of the task's own
  job, but then checks, and after a failure removes, the output of the first one (its issue 447). The commands of all
  tasks are among the arguments, so that a task can run its own instead.
- It asks SLURM for what the first job needs, for all of them.
- Jobs that Snakemake may not start all at once are forgotten, and Snakemake waits for ever (its issue 473).
"""

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rubric_order.base.errors import InputError

SAME = ("gpu", "gpu_model", "mem_mb", "runtime", "slurm_partition", "slurm_account")  # what counts for SLURM
OPTION = "--slurm-jobstep-array-execs"


def command_of_task(arguments: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """The shell command of this task's own job.

    Args:
        arguments: of the command line of this Snakemake.
        environment: the variables that tell SLURM's jobs who they are.

    Returns:
        None where this Snakemake is the right one: not in an array, or in an array's first task.
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
        rules: the rules whose jobs become arrays, as the executor takes them: names with commas, or ``all``.
        limit: jobs that Snakemake starts at once, at most.

    Raises:
        InputError: one line with the rule, and what its jobs ask for.
    """
    wanted = {rule.strip() for rule in rules.replace(";", ",").split(",")}
    counts, asked = defaultdict(int), defaultdict(set)
    for rule, resources in jobs:
        if rule in wanted or "all" in wanted:
            counts[rule] += 1
            asked[rule].add(", ".join(f"{name}={resources[name]}" for name in SAME if name in resources))
    for rule, different in asked.items():
        if len(different) > 1:
            found = " and ".join(sorted(different))
            raise InputError(f"slurm-array-jobs: jobs of {rule} in one array need the same, found {found}")
    for rule, count in counts.items():
        if limit is not None and count > limit:
            raise InputError(f"slurm-array-jobs: {rule} has {count} jobs, expected at most --jobs, which is {limit}")
