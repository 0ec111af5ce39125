"""From scores to estimates: tidy tables, one row an estimate. The record of a statistic says what it reads."""


rule estimate_statistic:
    input:
        statistics.files,
    output:
        statistics="<results>/statistics/{statistic}.parquet",
    log:
        "<results>/logs/estimate_statistic/{statistic}.log",
    benchmark:
        "<results>/benchmarks/estimate_statistic/{statistic}.jsonl"
    wildcard_constraints:
        statistic=one_of(registry.names("statistics")),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("estimate_statistic.py", statistics.module_file),
        module=statistics.module,
        inputs=statistics.options,
        settings=statistics.settings,
    shell:
        "python {params.entry:q} --module {params.module} {params.inputs:q} --settings {params.settings:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_by_criterion:
    input:
        statistics.files_by_criterion,
    output:
        statistics="<results>/statistics/by_criterion/{statistic}.parquet",
    log:
        "<results>/logs/estimate_by_criterion/{statistic}.log",
    benchmark:
        "<results>/benchmarks/estimate_by_criterion/{statistic}.jsonl"
    wildcard_constraints:
        statistic=one_of(of_cards.REQUIRED),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("estimate_by_criterion.py", statistics.module_file),
        module=statistics.module,
        inputs=statistics.options_by_criterion,
        settings=statistics.settings,
    shell:
        "python {params.entry:q} --module {params.module} {params.inputs:q} --settings {params.settings:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"
