"""What SLURM's job arrays need beyond Snakemake's executor; elsewhere, nothing."""

from rubric_order.judging import slurm_arrays

# A task of an array is another job than the one that Snakemake was started with.
command = slurm_arrays.command_of_task(sys.argv, os.environ)
if command is not None:
    os.execlp("sh", "sh", "-c", command)


onstart:
    arrays = getattr(workflow.executor_settings, "array_jobs", None)
    if arrays:
        try:
            jobs = [(job.rule.name, dict(job.resources)) for job in workflow.dag.needrun_jobs()]
            slurm_arrays.check(jobs, arrays, workflow.resource_settings.nodes)
        except InputError as error:
            raise WorkflowError(str(error)) from None
