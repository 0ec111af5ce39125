"""Asking the judges: the only jobs that need a GPU or an endpoint."""


# Finished requests are kept in the judge's response store as they come, so that a job that is killed loses nothing, and
# a job that has nothing new to ask loads no model. One job asks a shard of all studies, so that a model is loaded once for
# them. The store is not an output: Snakemake never removes it.
rule judge_shard:
    input:
        requests=judging.requests,
        model=models.folder,
        weights=models.weights,
    output:
        responses="<results>/responses/{judge}/{shard}.parquet",
    log:
        "<results>/logs/judge_shard/{judge}/{shard}.log",
    benchmark:
        "<results>/benchmarks/judge_shard/{judge}/{shard}.jsonl"
    wildcard_constraints:
        judge=one_of(run.live),
    conda:
        judging.environment(in_image="judge")
    threads: judging.threads
    resources:
        **judging.resources,
    params:
        **run.script("judge_shard.py", judging.engine_module, judging.reader_modules),
        probes=judging.probes,
        judge=judging.judge,
        shards=judging.shards,
        store="results/store/{judge}",
    shell:
        "python {params.entry:q} --requests {input.requests:q} --shard {wildcards.shard}"
        " --shards {params.shards} --probes {params.probes} --judge {params.judge:q}"
        " --model-folder {input.model:q} --weights {input.weights:q} --gpus {resources.gpu}"
        " --store {params.store:q} --output {output.responses:q} 2> >(tee {log:q} >&2)"


# A sample of the requests of all studies, so that time and money of the others are known before they are asked.
rule pilot_judge:
    input:
        requests=judging.requests,
        model=models.folder,
        weights=models.weights,
    output:
        note="<results>/pilot/{judge}.json",
    log:
        "<results>/logs/pilot_judge/{judge}.log",
    benchmark:
        "<results>/benchmarks/pilot_judge/{judge}.jsonl"
    wildcard_constraints:
        judge=one_of(run.live),
    conda:
        judging.environment(in_image="endpoint")
    threads: judging.threads
    resources:
        **judging.resources,
    params:
        **run.script("pilot_judge.py", judging.engine_module),
        probes=judging.probes,
        judge=judging.judge,
        store="results/store/{judge}",
    shell:
        "python {params.entry:q} --requests {input.requests:q} --probes {params.probes}"
        " --judge {params.judge:q} --model-folder {input.model:q} --weights {input.weights:q}"
        " --gpus {resources.gpu} --store {params.store:q} --output {output.note:q} 2> >(tee {log:q} >&2)"
