"""Figures: each reads statistics alone and has a config block of its own."""


rule plot_position_selection:
    input:
        statistics="results/statistics/position_selection.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/position_selection.svg",
            caption="../report/position_selection_figure.rst",
            category="Position bias",
            labels={"result": "Position selection, figure"},
        ),
        png="results/figures/position_selection.png",
        pdf="results/figures/position_selection.pdf",
    log:
        "results/logs/plot_position_selection.log",
    benchmark:
        "results/benchmarks/plot_position_selection.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_position_selection.py"),
        entry=entry("plot_position_selection.py"),
        figure=settings("figures/position_selection"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"
