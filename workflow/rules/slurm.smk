"""Additions to Snakemake's executor for SLURM's job arrays; elsewhere, nothing."""

from rubric_order.judging import slurm_arrays

# A task of an array is another job than the one that Snakemake was started with.
try:
    slurm_arrays.become_own_task(sys.argv)
except InputError as error:
    raise WorkflowError(str(error)) from None


onstart:
    try:
        slurm_arrays.check_run(workflow)
    except InputError as error:
        raise WorkflowError(str(error)) from None
