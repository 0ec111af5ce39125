"""From scores to estimates: tidy tables, one row an estimate."""


rule estimate_position_selection:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/position_selection.parquet",
    log:
        "results/logs/estimate_position_selection.log",
    benchmark:
        "results/benchmarks/estimate_position_selection.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_position_selection.py"),
        entry=entry("estimate_position_selection.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_human_agreement:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/human_agreement.parquet",
    log:
        "results/logs/estimate_human_agreement.log",
    benchmark:
        "results/benchmarks/estimate_human_agreement.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_human_agreement.py"),
        entry=entry("estimate_human_agreement.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule count_parse_failures:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/parse_failures.parquet",
    log:
        "results/logs/count_parse_failures.log",
    benchmark:
        "results/benchmarks/count_parse_failures.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("count_parse_failures.py"),
        entry=entry("count_parse_failures.py"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule describe_datasets:
    input:
        item_tables=collect("results/items/{dataset}.parquet", dataset=described_datasets()),
        pair_tables=collect("results/pairs/{dataset}.parquet", dataset=described_datasets()),
    output:
        statistics="results/statistics/datasets.parquet",
    log:
        "results/logs/describe_datasets.log",
    benchmark:
        "results/benchmarks/describe_datasets.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("describe_datasets.py"),
        entry=entry("describe_datasets.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --items {input.item_tables:q} --pairs {input.pair_tables:q}"
        " --bootstrap {params.bootstrap:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"
