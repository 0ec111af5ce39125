"""From statistics to figures, each with a block of config of its own."""


rule draw_figure:
    input:
        FIGURES.files,
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/{figure}.svg",
            caption="../report/result.rst",
            category=FIGURES.category,
            labels=FIGURES.labels,
        ),
        png="results/figures/{figure}.png",
        pdf="results/figures/{figure}.pdf",
    log:
        "results/logs/draw_figure/{figure}.log",
    benchmark:
        "results/benchmarks/draw_figure/{figure}.jsonl"
    wildcard_constraints:
        figure=one_of(catalogue.FIGURES),
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("draw_figure.py", FIGURES.module_file),
        entry=entry("draw_figure.py"),
        module=FIGURES.module,
        statistics=FIGURES.named_files,
        settings=FIGURES.settings,
        labels=FIGURES.known_labels,
        caption=FIGURES.caption,
        note=rehearsal_note,
    shell:
        "python {params.entry:q} --module {params.module} --statistics {params.statistics:q}"
        " --settings {params.settings:q} --labels {params.labels:q} --style {input.style:q} --note={params.note:q} --outputs {output:q} 2> >(tee {log:q} >&2)"
