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


rule plot_human_scores:
    input:
        statistics="results/statistics/datasets.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/human_scores.svg",
            caption="../report/human_scores_figure.rst",
            category="Datasets",
            labels={"result": "Human scores, figure"},
        ),
        png="results/figures/human_scores.png",
        pdf="results/figures/human_scores.pdf",
    log:
        "results/logs/plot_human_scores.log",
    benchmark:
        "results/benchmarks/plot_human_scores.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_human_scores.py"),
        entry=entry("plot_human_scores.py"),
        figure=settings("figures/human_scores"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"
