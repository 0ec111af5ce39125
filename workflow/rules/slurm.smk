"""What SLURM's job arrays need beyond Snakemake's executor; elsewhere, nothing."""

from rubric_order.judging import slurm_arrays

# A task of an array is another job than the one that Snakemake was started with.
try:
    slurm_arrays.become_own_task(sys.argv)
except InputError as error:
    raise WorkflowError(str(error)) from None


onstart:
    arrays = getattr(workflow.executor_settings, "array_jobs", None)
    if arrays:
        try:
            needed = list(workflow.dag.needrun_jobs())
            jobs = [(job.rule.name, dict(job.resources)) for job in needed]
            slurm_arrays.check(jobs, arrays, workflow.resource_settings.nodes)
            executor, commands = workflow.scheduler._executor, {}
            for job in needed:
                if slurm_arrays.is_array(job.rule.name, arrays):
                    commands.setdefault(job.rule.name, []).append(executor.format_job_exec(job))
            as_script = workflow.executor_settings.pass_command_as_script
            slurm_arrays.check_length(commands, executor.max_array_size, as_script=as_script)
        except InputError as error:
            raise WorkflowError(str(error)) from None
