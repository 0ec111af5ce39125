"""From statistics to tables, each with a block of config of its own."""


rule render_table:
    input:
        TABLES.files,
    output:
        csv="results/tables/{table}.csv",
        markdown="results/tables/{table}.md",
        latex="results/tables/{table}.tex",
        html=report(
            "results/tables/{table}.html",
            caption="../report/result.rst",
            category=TABLES.category,
            labels=TABLES.labels,
        ),
    log:
        "results/logs/render_table/{table}.log",
    benchmark:
        "results/benchmarks/render_table/{table}.jsonl"
    wildcard_constraints:
        table=one_of(catalogue.TABLES),
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_table.py", TABLES.module_file),
        entry=entry("render_table.py"),
        module=TABLES.module,
        statistics=TABLES.named_files,
        settings=TABLES.settings,
        labels=TABLES.known_labels,
        caption=TABLES.caption,
    shell:
        "python {params.entry:q} --module {params.module} --statistics {params.statistics:q}"
        " --settings {params.settings:q} --labels {params.labels:q} --caption {params.caption:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"
