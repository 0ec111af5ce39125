"""From items to reads, and from reads to the distinct requests of a judge."""


rule write_prompt:
    output:
        prompt="<results>/prompts/{judge}.json",
    log:
        "<results>/logs/write_prompt/{judge}.log",
    benchmark:
        "<results>/benchmarks/write_prompt/{judge}.jsonl"
    wildcard_constraints:
        judge=one_of(run.live),
    conda:
        "../../envs/analysis.yaml"
    params:
        messages=planning.messages,
    shell:
        "cp {params.messages:q} {output.prompt:q} 2> >(tee {log:q} >&2)"


rule plan_reads:
    input:
        item_table="<results>/items/{dataset}.parquet",
        rubric_table="<results>/rubrics/{dataset}.parquet",
        pair_table="<results>/pairs/{dataset}.parquet",
        references=planning.references,
        template=planning.template,
        weights=models.weights,
    output:
        plan="<results>/plan/{study}/{dataset}/{judge}.parquet",
    log:
        "<results>/logs/plan_reads/{study}/{dataset}/{judge}.log",
    benchmark:
        "<results>/benchmarks/plan_reads/{study}/{dataset}/{judge}.jsonl"
    wildcard_constraints:
        judge=one_of(run.live),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("plan_reads.py", planning.probe_module),
        judge=planning.judge,
        probe=planning.probe,
        profiles=planning.profiles,
        design=planning.design,
    shell:
        "python {params.entry:q} --items {input.item_table:q} --rubrics {input.rubric_table:q}"
        " --pairs {input.pair_table:q} --references {input.references:q} --template {input.template:q}"
        " --study {wildcards.study} --judge-id {wildcards.judge} --judge {params.judge:q}"
        " --weights {input.weights:q} --probe {params.probe} --profiles {params.profiles}"
        " --design {params.design:q} --output {output.plan:q} 2> >(tee {log:q} >&2)"


rule collect_requests:
    input:
        plans=planning.dataset_files("<results>/plan/{study}/{dataset}/{judge}.parquet"),
        item_table=planning.dataset_files("<results>/items/{dataset}.parquet"),
        rubric_table=planning.dataset_files("<results>/rubrics/{dataset}.parquet"),
        pair_table=planning.dataset_files("<results>/pairs/{dataset}.parquet"),
        references=planning.references_of_study,
        earlier=planning.earlier_requests,
        template=planning.template,
    output:
        requests="<results>/requests/{study}/{judge}.parquet",
    log:
        "<results>/logs/collect_requests/{study}/{judge}.log",
    benchmark:
        "<results>/benchmarks/collect_requests/{study}/{judge}.jsonl"
    wildcard_constraints:
        judge=one_of(run.live),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("collect_requests.py", planning.probe_module),
        judge=planning.judge,
        probe=planning.probe,
        comparisons=planning.comparisons,
    shell:
        "python {params.entry:q} --plans {input.plans:q} --items {input.item_table:q}"
        " --rubrics {input.rubric_table:q} --pairs {input.pair_table:q} --references {input.references:q}"
        " --earlier {input.earlier:q} --template {input.template:q} --probe {params.probe}"
        " --judge {params.judge:q} --comparisons {params.comparisons:q} --output {output.requests:q}"
        " 2> >(tee {log:q} >&2)"
