"""Judges whose answers exist already, in files: they become reads and responses like those of a live judge."""


rule plan_recorded:
    input:
        item_table=records.items,
        records=records.files,
    output:
        plan="<results>/plan/{study}/{dataset}/{judge}.parquet",
    log:
        "<results>/logs/plan_recorded/{study}/{dataset}/{judge}.log",
    benchmark:
        "<results>/benchmarks/plan_recorded/{study}/{dataset}/{judge}.jsonl"
    wildcard_constraints:
        judge=one_of(run.recorded),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("plan_recorded.py", records.importer_modules),
        judge=records.judge,
        dataset=records.compared,
    shell:
        "python {params.entry:q} --items {input.item_table:q} --records {input.records:q}"
        " --dataset {params.dataset:q} --study {wildcards.study} --judge-id {wildcards.judge}"
        " --judge {params.judge:q} --output {output.plan:q} 2> >(tee {log:q} >&2)"


rule read_recorded:
    input:
        records=records.files,
    output:
        responses="<results>/responses/{judge}/{shard}.parquet",
    log:
        "<results>/logs/read_recorded/{judge}/{shard}.log",
    benchmark:
        "<results>/benchmarks/read_recorded/{judge}/{shard}.jsonl"
    wildcard_constraints:
        judge=one_of(run.recorded),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("read_recorded.py", records.importer_modules),
        judge=records.judge,
    shell:
        "python {params.entry:q} --records {input.records:q} --judge {params.judge:q}"
        " --output {output.responses:q} 2> >(tee {log:q} >&2)"


# In a rehearsal, a simulated judge answers in the place of records.
rule rehearse_records:
    input:
        item_table="<results>/items/{dataset}.parquet",
        pair_table="<results>/pairs/{dataset}.parquet",
    output:
        records="<results>/recorded/{judge}/{dataset}.jsonl",
    log:
        "<results>/logs/rehearse_records/{judge}/{dataset}.log",
    benchmark:
        "<results>/benchmarks/rehearse_records/{judge}/{dataset}.jsonl"
    wildcard_constraints:
        judge=one_of(run.recorded if run.config.rehearse else ()),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("rehearse_records.py"),
        dataset=records.dataset,
        judge=records.judge,
    shell:
        "python {params.entry:q} --items {input.item_table:q} --pairs {input.pair_table:q}"
        " --dataset {params.dataset:q} --judge {params.judge:q} --output {output.records:q} 2> >(tee {log:q} >&2)"
