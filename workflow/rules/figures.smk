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


rule plot_power:
    input:
        statistics="results/statistics/power.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/power.svg",
            caption="../report/power_figure.rst",
            category="Position bias",
            labels={"result": "Smallest detectable bias, figure"},
        ),
        png="results/figures/power.png",
        pdf="results/figures/power.pdf",
    log:
        "results/logs/plot_power.log",
    benchmark:
        "results/benchmarks/plot_power.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_power.py"),
        entry=entry("plot_power.py"),
        figure=settings("figures/power"),
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


rule plot_budget_curve:
    input:
        statistics="results/statistics/budget_curve.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/budget_curve.svg",
            caption="../report/budget_curve_figure.rst",
            category="Human agreement",
            labels={"result": "Number of reads, figure"},
        ),
        png="results/figures/budget_curve.png",
        pdf="results/figures/budget_curve.pdf",
    log:
        "results/logs/plot_budget_curve.log",
    benchmark:
        "results/benchmarks/plot_budget_curve.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_budget_curve.py"),
        entry=entry("plot_budget_curve.py"),
        figure=settings("figures/budget_curve"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"


rule plot_position_selection_by_dataset:
    input:
        statistics="results/statistics/position_selection.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/position_selection_by_dataset.svg",
            caption="../report/position_selection_by_dataset_figure.rst",
            category="Position bias",
            labels={"result": "Position selection by dataset, figure"},
        ),
        png="results/figures/position_selection_by_dataset.png",
        pdf="results/figures/position_selection_by_dataset.pdf",
    log:
        "results/logs/plot_position_selection_by_dataset.log",
    benchmark:
        "results/benchmarks/plot_position_selection_by_dataset.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_position_selection_by_dataset.py"),
        entry=entry("plot_position_selection_by_dataset.py"),
        figure=settings("figures/position_selection_by_dataset"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"


rule plot_score_position:
    input:
        statistics="results/statistics/score_position.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/score_position.svg",
            caption="../report/score_position_figure.rst",
            category="Position bias",
            labels={"result": "Scores by position, figure"},
        ),
        png="results/figures/score_position.png",
        pdf="results/figures/score_position.pdf",
    log:
        "results/logs/plot_score_position.log",
    benchmark:
        "results/benchmarks/plot_score_position.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_score_position.py"),
        entry=entry("plot_score_position.py"),
        figure=settings("figures/score_position"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"


rule plot_strategy_forest:
    input:
        statistics="results/statistics/human_agreement.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/strategy_forest.svg",
            caption="../report/strategy_forest_figure.rst",
            category="Human agreement",
            labels={"result": "Strategies, figure"},
        ),
        png="results/figures/strategy_forest.png",
        pdf="results/figures/strategy_forest.pdf",
    log:
        "results/logs/plot_strategy_forest.log",
    benchmark:
        "results/benchmarks/plot_strategy_forest.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_strategy_forest.py"),
        entry=entry("plot_strategy_forest.py"),
        figure=settings("figures/strategy_forest"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"


rule plot_temperature_sweep:
    input:
        selection="results/statistics/position_selection.parquet",
        agreement="results/statistics/human_agreement.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/temperature_sweep.svg",
            caption="../report/temperature_sweep_figure.rst",
            category="Sweeps",
            labels={"result": "Temperature sweep"},
        ),
        png="results/figures/temperature_sweep.png",
        pdf="results/figures/temperature_sweep.pdf",
    log:
        "results/logs/plot_temperature_sweep.log",
    benchmark:
        "results/benchmarks/plot_temperature_sweep.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_temperature_sweep.py"),
        entry=entry("plot_temperature_sweep.py"),
        figure=settings("figures/temperature_sweep"),
        values=varied("temperature_sweep"),
    shell:
        "python {params.entry:q} --selection {input.selection:q} --agreement {input.agreement:q} --style {input.style:q}"
        " --figure {params.figure:q} --values {params.values:q} --outputs {output:q} 2> >(tee {log:q} >&2)"


rule plot_effort_sweep:
    input:
        selection="results/statistics/position_selection.parquet",
        agreement="results/statistics/human_agreement.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/effort_sweep.svg",
            caption="../report/effort_sweep_figure.rst",
            category="Sweeps",
            labels={"result": "Reasoning effort sweep"},
        ),
        png="results/figures/effort_sweep.png",
        pdf="results/figures/effort_sweep.pdf",
    log:
        "results/logs/plot_effort_sweep.log",
    benchmark:
        "results/benchmarks/plot_effort_sweep.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_effort_sweep.py"),
        entry=entry("plot_effort_sweep.py"),
        figure=settings("figures/effort_sweep"),
        values=varied("effort_sweep"),
    shell:
        "python {params.entry:q} --selection {input.selection:q} --agreement {input.agreement:q} --style {input.style:q}"
        " --figure {params.figure:q} --values {params.values:q} --outputs {output:q} 2> >(tee {log:q} >&2)"


rule plot_criterion_order:
    input:
        statistics="results/statistics/criterion_order.parquet",
        style=source("resources/rubric_order.mplstyle"),
    output:
        svg=report(
            "results/figures/criterion_order.svg",
            caption="../report/criterion_order_figure.rst",
            category="Criterion order",
            labels={"result": "Shift by position, figure"},
        ),
        png="results/figures/criterion_order.png",
        pdf="results/figures/criterion_order.pdf",
    log:
        "results/logs/plot_criterion_order.log",
    benchmark:
        "results/benchmarks/plot_criterion_order.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("plot_criterion_order.py"),
        entry=entry("plot_criterion_order.py"),
        figure=settings("figures/criterion_order"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --style {input.style:q} --figure {params.figure:q}"
        " --outputs {output:q} 2> >(tee {log:q} >&2)"
