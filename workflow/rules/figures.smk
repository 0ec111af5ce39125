"""From statistics to figures, each with a block of config of its own."""


rule draw_figure:
    input:
        figures.files,
        style=run.source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "<results>/figures/{figure}.svg",
            caption="../report/result.rst",
            category=figures.category,
            labels=figures.labels,
        ),
        png="<results>/figures/{figure}.png",
        pdf="<results>/figures/{figure}.pdf",
    log:
        "<results>/logs/draw_figure/{figure}.log",
    benchmark:
        "<results>/benchmarks/draw_figure/{figure}.jsonl"
    wildcard_constraints:
        figure=one_of(registry.names("figures")),
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("draw_figure.py", figures.module_file),
        module=figures.module,
        statistics=figures.named_files,
        settings=figures.settings,
        labels=figures.known_labels,
        caption=figures.caption,
        note=figures.note,
    shell:
        "python {params.entry:q} --module {params.module} --statistics {params.statistics:q}"
        " --settings {params.settings:q} --labels {params.labels:q} --style {input.style:q}"
        " --note={params.note:q} --outputs {output:q} 2> >(tee {log:q} >&2)"
