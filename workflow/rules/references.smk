"""Reference answers at every score: round by round, one judge writes and another one reviews."""


rule plan_references:
    input:
        item_table="<results>/items/{dataset}.parquet",
        rubric_table="<results>/rubrics/{dataset}.parquet",
        templates=references.templates,
        weights=references.weights,
        responses=references.steps,
    output:
        requests="<results>/references/{dataset}/{step}/requests/{judge}.parquet",
    log:
        "<results>/logs/plan_references/{dataset}/{step}/{judge}.log",
    benchmark:
        "<results>/benchmarks/plan_references/{dataset}/{step}/{judge}.jsonl"
    wildcard_constraints:
        step="[1-9][0-9]*_(write|review)",
        judge=one_of(run.live),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("plan_references.py"),
        responses=references.named_steps,
        settings=references.settings,
    shell:
        "python {params.entry:q} --items {input.item_table:q} --rubrics {input.rubric_table:q}"
        " --templates {input.templates:q} --weights {input.weights:q} --responses {params.responses:q}"
        " --settings {params.settings:q} --step {wildcards.step} --output {output.requests:q} 2> >(tee {log:q} >&2)"


# As `judge_shard`: what the judge's store knows is not asked again, and no model is loaded where nothing is open.
rule ask_references:
    input:
        requests="<results>/references/{dataset}/{step}/requests/{judge}.parquet",
        model=models.folder,
        weights=models.weights,
    output:
        responses="<results>/references/{dataset}/{step}/responses/{judge}.parquet",
    log:
        "<results>/logs/ask_references/{dataset}/{step}/{judge}.log",
    benchmark:
        "<results>/benchmarks/ask_references/{dataset}/{step}/{judge}.jsonl"
    wildcard_constraints:
        step="[1-9][0-9]*_(write|review)",
        judge=one_of(run.live),
    conda:
        judging.environment(in_image="judge_cpu")
    threads: judging.threads
    resources:
        **judging.resources,
    params:
        **run.script("judge_shard.py", judging.engine_module, f"probes/{REFERENCE_PROBE}.py"),
        probe=REFERENCE_PROBE,
        judge=references.judge,
        store="results/store/{judge}",
    shell:
        "python {params.entry:q} --requests {input.requests:q} --shard 1 --shards 1 --probes {params.probe}"
        " --judge {params.judge:q} --model-folder {input.model:q} --weights {input.weights:q}"
        " --gpus {resources.gpu} --store {params.store:q} --output {output.responses:q} 2> >(tee {log:q} >&2)"


rule collect_references:
    input:
        item_table="<results>/items/{dataset}.parquet",
        rubric_table="<results>/rubrics/{dataset}.parquet",
        templates=references.templates,
        weights=references.weights,
        responses=references.steps,
        own=references.own,
    output:
        references="<results>/references/{dataset}.parquet",
    log:
        "<results>/logs/collect_references/{dataset}.log",
    benchmark:
        "<results>/benchmarks/collect_references/{dataset}.jsonl"
    wildcard_constraints:
        dataset=one_of(references.made),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("collect_references.py"),
        responses=references.named_steps,
        settings=references.settings,
    shell:
        "python {params.entry:q} --items {input.item_table:q} --rubrics {input.rubric_table:q}"
        " --templates {input.templates:q} --weights {input.weights:q} --responses {params.responses:q}"
        " --settings {params.settings:q} --own {input.own:q} --output {output.references:q} 2> >(tee {log:q} >&2)"
