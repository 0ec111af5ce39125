"""From a dataset's files to its items."""


rule fetch_dataset:
    output:
        file="results/data/{dataset}/{file}",
    log:
        "<results>/logs/fetch_dataset/{dataset}/{file}.log",
    benchmark:
        "<results>/benchmarks/fetch_dataset/{dataset}/{file}.jsonl"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("fetch_dataset.py"),
        source=datasets.file_source,
        mirror=datasets.mirror,
    shell:
        "python {params.entry:q} --source {params.source:q} --mirror {params.mirror:q}"
        " --what '{wildcards.dataset}/{wildcards.file}' --output {output.file:q} 2> >(tee {log:q} >&2)"


rule prepare_items:
    input:
        files=datasets.files,
    output:
        item_table="<results>/items/{dataset}.parquet",
        rubric_table="<results>/rubrics/{dataset}.parquet",
        pair_table="<results>/pairs/{dataset}.parquet",
    log:
        "<results>/logs/prepare_items/{dataset}.log",
    benchmark:
        "<results>/benchmarks/prepare_items/{dataset}.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("prepare_items.py", datasets.adapter_module),
        files=datasets.named_files,
        settings=datasets.settings,
    shell:
        "python {params.entry:q} --dataset {wildcards.dataset} --files {params.files:q}"
        " --settings {params.settings:q} --items {output.item_table:q} --rubrics {output.rubric_table:q}"
        " --pairs {output.pair_table:q} 2> >(tee {log:q} >&2)"
