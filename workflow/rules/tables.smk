"""Tables: each reads statistics alone and has a config block of its own."""


rule render_position_selection:
    input:
        statistics="results/statistics/position_selection.parquet",
    output:
        csv="results/tables/position_selection.csv",
        markdown="results/tables/position_selection.md",
        latex="results/tables/position_selection.tex",
        html=report(
            "results/tables/position_selection.html",
            caption="../report/position_selection_table.rst",
            category="Position bias",
            labels={"result": "Position selection, table"},
        ),
    log:
        "results/logs/render_position_selection.log",
    benchmark:
        "results/benchmarks/render_position_selection.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_position_selection.py"),
        entry=entry("render_position_selection.py"),
        table=settings("tables/position_selection"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_scales:
    input:
        statistics="results/statistics/position_selection.parquet",
    output:
        csv="results/tables/scales.csv",
        markdown="results/tables/scales.md",
        latex="results/tables/scales.tex",
        html=report(
            "results/tables/scales.html",
            caption="../report/scales_table.rst",
            category="Position bias",
            labels={"result": "Number of score levels, table"},
        ),
    log:
        "results/logs/render_scales.log",
    benchmark:
        "results/benchmarks/render_scales.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_scales.py"),
        entry=entry("render_scales.py"),
        table=settings("tables/scales"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_human_agreement:
    input:
        statistics="results/statistics/human_agreement.parquet",
    output:
        csv="results/tables/human_agreement.csv",
        markdown="results/tables/human_agreement.md",
        latex="results/tables/human_agreement.tex",
        html=report(
            "results/tables/human_agreement.html",
            caption="../report/human_agreement_table.rst",
            category="Human agreement",
            labels={"result": "Agreement with human scores"},
        ),
    log:
        "results/logs/render_human_agreement.log",
    benchmark:
        "results/benchmarks/render_human_agreement.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_human_agreement.py"),
        entry=entry("render_human_agreement.py"),
        table=settings("tables/human_agreement"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_strategy_comparison:
    input:
        agreement="results/statistics/human_agreement.parquet",
        comparison="results/statistics/strategy_comparison.parquet",
    output:
        csv="results/tables/strategy_comparison.csv",
        markdown="results/tables/strategy_comparison.md",
        latex="results/tables/strategy_comparison.tex",
        html=report(
            "results/tables/strategy_comparison.html",
            caption="../report/strategy_comparison_table.rst",
            category="Human agreement",
            labels={"result": "Strategies compared, table"},
        ),
    log:
        "results/logs/render_strategy_comparison.log",
    benchmark:
        "results/benchmarks/render_strategy_comparison.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_strategy_comparison.py"),
        entry=entry("render_strategy_comparison.py"),
        table=settings("tables/strategy_comparison"),
    shell:
        "python {params.entry:q} --agreement {input.agreement:q} --comparison {input.comparison:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_permutation_vs_repeat:
    input:
        agreement="results/statistics/human_agreement.parquet",
        comparison="results/statistics/strategy_comparison.parquet",
    output:
        csv="results/tables/permutation_vs_repeat.csv",
        markdown="results/tables/permutation_vs_repeat.md",
        latex="results/tables/permutation_vs_repeat.tex",
        html=report(
            "results/tables/permutation_vs_repeat.html",
            caption="../report/permutation_vs_repeat_table.rst",
            category="Human agreement",
            labels={"result": "Permutation against repeats, table"},
        ),
    log:
        "results/logs/render_permutation_vs_repeat.log",
    benchmark:
        "results/benchmarks/render_permutation_vs_repeat.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_permutation_vs_repeat.py"),
        entry=entry("render_permutation_vs_repeat.py"),
        table=settings("tables/permutation_vs_repeat"),
    shell:
        "python {params.entry:q} --agreement {input.agreement:q} --comparison {input.comparison:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_parse_failures:
    input:
        statistics="results/statistics/parse_failures.parquet",
    output:
        csv="results/tables/parse_failures.csv",
        markdown="results/tables/parse_failures.md",
        latex="results/tables/parse_failures.tex",
        html=report(
            "results/tables/parse_failures.html",
            caption="../report/parse_failures_table.rst",
            category="Reads without a score",
            labels={"result": "Parse failures"},
        ),
    log:
        "results/logs/render_parse_failures.log",
    benchmark:
        "results/benchmarks/render_parse_failures.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_parse_failures.py"),
        entry=entry("render_parse_failures.py"),
        table=settings("tables/parse_failures"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_rank_reversal:
    input:
        statistics="results/statistics/rank_reversal.parquet",
    output:
        csv="results/tables/rank_reversal.csv",
        markdown="results/tables/rank_reversal.md",
        latex="results/tables/rank_reversal.tex",
        html=report(
            "results/tables/rank_reversal.html",
            caption="../report/rank_reversal_table.rst",
            category="Ranking",
            labels={"result": "Rank reversal"},
        ),
    log:
        "results/logs/render_rank_reversal.log",
    benchmark:
        "results/benchmarks/render_rank_reversal.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_rank_reversal.py"),
        entry=entry("render_rank_reversal.py"),
        table=settings("tables/rank_reversal"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_within_item_deviation:
    input:
        statistics="results/statistics/within_item_deviation.parquet",
    output:
        csv="results/tables/within_item_deviation.csv",
        markdown="results/tables/within_item_deviation.md",
        latex="results/tables/within_item_deviation.tex",
        html=report(
            "results/tables/within_item_deviation.html",
            caption="../report/within_item_deviation_table.rst",
            category="Position bias",
            labels={"result": "Variation within items"},
        ),
    log:
        "results/logs/render_within_item_deviation.log",
    benchmark:
        "results/benchmarks/render_within_item_deviation.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_within_item_deviation.py"),
        entry=entry("render_within_item_deviation.py"),
        table=settings("tables/within_item_deviation"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_canonical_rank:
    input:
        statistics="results/statistics/canonical_rank.parquet",
    output:
        csv="results/tables/canonical_rank.csv",
        markdown="results/tables/canonical_rank.md",
        latex="results/tables/canonical_rank.tex",
        html=report(
            "results/tables/canonical_rank.html",
            caption="../report/canonical_rank_table.rst",
            category="Human agreement",
            labels={"result": "Rank of the canonical ordering"},
        ),
    log:
        "results/logs/render_canonical_rank.log",
    benchmark:
        "results/benchmarks/render_canonical_rank.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_canonical_rank.py"),
        entry=entry("render_canonical_rank.py"),
        table=settings("tables/canonical_rank"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_score_position:
    input:
        statistics="results/statistics/score_position.parquet",
    output:
        csv="results/tables/score_position.csv",
        markdown="results/tables/score_position.md",
        latex="results/tables/score_position.tex",
        html=report(
            "results/tables/score_position.html",
            caption="../report/score_position_table.rst",
            category="Position bias",
            labels={"result": "Scores by position, table"},
        ),
    log:
        "results/logs/render_score_position.log",
    benchmark:
        "results/benchmarks/render_score_position.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_score_position.py"),
        entry=entry("render_score_position.py"),
        table=settings("tables/score_position"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_bias_cost:
    input:
        statistics="results/statistics/bias_cost.parquet",
    output:
        csv="results/tables/bias_cost.csv",
        markdown="results/tables/bias_cost.md",
        latex="results/tables/bias_cost.tex",
        html=report(
            "results/tables/bias_cost.html",
            caption="../report/bias_cost_table.rst",
            category="Position bias",
            labels={"result": "Bias Cost"},
        ),
    log:
        "results/logs/render_bias_cost.log",
    benchmark:
        "results/benchmarks/render_bias_cost.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_bias_cost.py"),
        entry=entry("render_bias_cost.py"),
        table=settings("tables/bias_cost"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --table {params.table:q} --output {output.csv:q}"
        " 2> >(tee {log:q} >&2)"


rule render_datasets:
    input:
        statistics="results/statistics/datasets.parquet",
    output:
        csv="results/tables/datasets.csv",
        markdown="results/tables/datasets.md",
        latex="results/tables/datasets.tex",
        html=report(
            "results/tables/datasets.html",
            caption="../report/datasets_table.rst",
            category="Datasets",
            labels={"result": "Data cards, table"},
        ),
    log:
        "results/logs/render_datasets.log",
    benchmark:
        "results/benchmarks/render_datasets.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_datasets.py"),
        entry=entry("render_datasets.py"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_replication:
    input:
        statistics=collect("results/statistics/{quantity}.parquet", quantity=compared_statistics()),
        published=published_tables,
    output:
        csv="results/tables/replication.csv",
        markdown="results/tables/replication.md",
        latex="results/tables/replication.tex",
        html=report(
            "results/tables/replication.html",
            caption="../report/replication_table.rst",
            category="Replication",
            labels={"result": "Published numbers beside ours"},
        ),
    log:
        "results/logs/render_replication.log",
    benchmark:
        "results/benchmarks/render_replication.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_replication.py"),
        entry=entry("render_replication.py"),
        table=settings("tables/replication"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --published {input.published:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_criterion_order:
    input:
        statistics="results/statistics/criterion_order.parquet",
        agreement="results/statistics/criteria_agreement.parquet",
    output:
        csv="results/tables/criterion_order.csv",
        markdown="results/tables/criterion_order.md",
        latex="results/tables/criterion_order.tex",
        html=report(
            "results/tables/criterion_order.html",
            caption="../report/criterion_order_table.rst",
            category="Criterion order",
            labels={"result": "Position gaps, table"},
        ),
    log:
        "results/logs/render_criterion_order.log",
    benchmark:
        "results/benchmarks/render_criterion_order.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_criterion_order.py"),
        entry=entry("render_criterion_order.py"),
        table=settings("tables/criterion_order"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --agreement {input.agreement:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_criteria_agreement:
    input:
        statistics="results/statistics/criteria_agreement.parquet",
    output:
        csv="results/tables/criteria_agreement.csv",
        markdown="results/tables/criteria_agreement.md",
        latex="results/tables/criteria_agreement.tex",
        html=report(
            "results/tables/criteria_agreement.html",
            caption="../report/criteria_agreement_table.rst",
            category="Criterion order",
            labels={"result": "Agreement by strategy"},
        ),
    log:
        "results/logs/render_criteria_agreement.log",
    benchmark:
        "results/benchmarks/render_criteria_agreement.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_criteria_agreement.py"),
        entry=entry("render_criteria_agreement.py"),
        table=settings("tables/criteria_agreement"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_carry_over:
    input:
        statistics="results/statistics/carry_over.parquet",
    output:
        csv="results/tables/carry_over.csv",
        markdown="results/tables/carry_over.md",
        latex="results/tables/carry_over.tex",
        html=report(
            "results/tables/carry_over.html",
            caption="../report/carry_over_table.rst",
            category="Criterion order",
            labels={"result": "Carry-over"},
        ),
    log:
        "results/logs/render_carry_over.log",
    benchmark:
        "results/benchmarks/render_carry_over.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_carry_over.py"),
        entry=entry("render_carry_over.py"),
        table=settings("tables/carry_over"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_halo:
    input:
        statistics="results/statistics/halo.parquet",
    output:
        csv="results/tables/halo.csv",
        markdown="results/tables/halo.md",
        latex="results/tables/halo.tex",
        html=report(
            "results/tables/halo.html",
            caption="../report/halo_table.rst",
            category="Criterion order",
            labels={"result": "Halo"},
        ),
    log:
        "results/logs/render_halo.log",
    benchmark:
        "results/benchmarks/render_halo.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_halo.py"),
        entry=entry("render_halo.py"),
        table=settings("tables/halo"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_crossed_orders:
    input:
        statistics="results/statistics/crossed_orders.parquet",
    output:
        csv="results/tables/crossed_orders.csv",
        markdown="results/tables/crossed_orders.md",
        latex="results/tables/crossed_orders.tex",
        html=report(
            "results/tables/crossed_orders.html",
            caption="../report/crossed_orders_table.rst",
            category="Criterion order",
            labels={"result": "Crossed orders"},
        ),
    log:
        "results/logs/render_crossed_orders.log",
    benchmark:
        "results/benchmarks/render_crossed_orders.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_crossed_orders.py"),
        entry=entry("render_crossed_orders.py"),
        table=settings("tables/crossed_orders"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule render_criteria_failures:
    input:
        statistics="results/statistics/criteria_failures.parquet",
    output:
        csv="results/tables/criteria_failures.csv",
        markdown="results/tables/criteria_failures.md",
        latex="results/tables/criteria_failures.tex",
        html=report(
            "results/tables/criteria_failures.html",
            caption="../report/criteria_failures_table.rst",
            category="Criterion order",
            labels={"result": "Missing scores"},
        ),
    log:
        "results/logs/render_criteria_failures.log",
    benchmark:
        "results/benchmarks/render_criteria_failures.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_criteria_failures.py"),
        entry=entry("render_criteria_failures.py"),
        table=settings("tables/criteria_failures"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q}"
        " --table {params.table:q} --output {output.csv:q} 2> >(tee {log:q} >&2)"
