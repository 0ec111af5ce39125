"""From statistics to tables, each with a block of config of its own."""


rule render_table:
    input:
        tables.files,
    output:
        csv="<results>/tables/{table}.csv",
        markdown="<results>/tables/{table}.md",
        latex="<results>/tables/{table}.tex",
        html=report(
            "<results>/tables/{table}.html",
            caption="../report/result.rst",
            category=tables.category,
            labels=tables.labels,
        ),
    log:
        "<results>/logs/render_table/{table}.log",
    benchmark:
        "<results>/benchmarks/render_table/{table}.jsonl"
    wildcard_constraints:
        table=one_of(registry.names("tables")),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("render_table.py", tables.module_file),
        module=tables.module,
        statistics=tables.named_files,
        settings=tables.settings,
        labels=tables.known_labels,
        caption=tables.caption,
    shell:
        "python {params.entry:q} --module {params.module} --statistics {params.statistics:q}"
        " --settings {params.settings:q} --labels {params.labels:q} --caption {params.caption:q}"
        " --output {output.csv:q} 2> >(tee {log:q} >&2)"
