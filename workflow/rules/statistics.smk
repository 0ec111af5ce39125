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
        direction=settings("statistics/direction"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --direction {params.direction:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_power:
    input:
        statistics="results/statistics/position_selection.parquet",
    output:
        statistics="results/statistics/power.parquet",
    log:
        "results/logs/estimate_power.log",
    benchmark:
        "results/benchmarks/estimate_power.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_power.py"),
        entry=entry("estimate_power.py"),
        settings=settings("statistics/power"),
    shell:
        "python {params.entry:q} --statistics {input.statistics:q} --settings {params.settings:q}"
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
        human_scales=human_scales,
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --human-scales {params.human_scales:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_strategy_comparison:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/strategy_comparison.parquet",
    log:
        "results/logs/estimate_strategy_comparison.log",
    benchmark:
        "results/benchmarks/estimate_strategy_comparison.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_strategy_comparison.py"),
        entry=entry("estimate_strategy_comparison.py"),
        bootstrap=settings("statistics/bootstrap"),
        paired=settings("statistics/paired"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --paired {params.paired:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


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


rule estimate_budget_curve:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/budget_curve.parquet",
    log:
        "results/logs/estimate_budget_curve.log",
    benchmark:
        "results/benchmarks/estimate_budget_curve.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_budget_curve.py"),
        entry=entry("estimate_budget_curve.py"),
        bootstrap=settings("statistics/bootstrap"),
        budget=settings("statistics/budget_curve"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --budget {params.budget:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_rank_reversal:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/rank_reversal.parquet",
    log:
        "results/logs/estimate_rank_reversal.log",
    benchmark:
        "results/benchmarks/estimate_rank_reversal.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_rank_reversal.py"),
        entry=entry("estimate_rank_reversal.py"),
        bootstrap=settings("statistics/bootstrap"),
        halves=settings("statistics/rank_reversal"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --halves {params.halves:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_within_item_deviation:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/within_item_deviation.parquet",
    log:
        "results/logs/estimate_within_item_deviation.log",
    benchmark:
        "results/benchmarks/estimate_within_item_deviation.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_within_item_deviation.py"),
        entry=entry("estimate_within_item_deviation.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_canonical_rank:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/canonical_rank.parquet",
    log:
        "results/logs/estimate_canonical_rank.log",
    benchmark:
        "results/benchmarks/estimate_canonical_rank.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_canonical_rank.py"),
        entry=entry("estimate_canonical_rank.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_score_position:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/score_position.parquet",
    log:
        "results/logs/estimate_score_position.log",
    benchmark:
        "results/benchmarks/estimate_score_position.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_score_position.py"),
        entry=entry("estimate_score_position.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_bias_cost:
    input:
        scores=score_files_of("score_order"),
    output:
        statistics="results/statistics/bias_cost.parquet",
    log:
        "results/logs/estimate_bias_cost.log",
    benchmark:
        "results/benchmarks/estimate_bias_cost.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_bias_cost.py"),
        entry=entry("estimate_bias_cost.py"),
        bootstrap=settings("statistics/bootstrap"),
        splits=settings("statistics/bias_cost"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --splits {params.splits:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


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


rule estimate_criterion_order:
    input:
        scores=score_files_of("criterion_order"),
    output:
        statistics="results/statistics/criterion_order.parquet",
    log:
        "results/logs/estimate_criterion_order.log",
    benchmark:
        "results/benchmarks/estimate_criterion_order.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_criterion_order.py"),
        entry=entry("estimate_criterion_order.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_carry_over:
    input:
        scores=score_files_of("criterion_order"),
    output:
        statistics="results/statistics/carry_over.parquet",
    log:
        "results/logs/estimate_carry_over.log",
    benchmark:
        "results/benchmarks/estimate_carry_over.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_carry_over.py"),
        entry=entry("estimate_carry_over.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_criteria_agreement:
    input:
        scores=score_files_of("criterion_order"),
    output:
        statistics="results/statistics/criteria_agreement.parquet",
    log:
        "results/logs/estimate_criteria_agreement.log",
    benchmark:
        "results/benchmarks/estimate_criteria_agreement.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_criteria_agreement.py"),
        entry=entry("estimate_criteria_agreement.py"),
        bootstrap=settings("statistics/bootstrap"),
        paired=settings("statistics/paired"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --paired {params.paired:q} --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_crossed_orders:
    input:
        scores=score_files_of("criterion_order"),
    output:
        statistics="results/statistics/crossed_orders.parquet",
    log:
        "results/logs/estimate_crossed_orders.log",
    benchmark:
        "results/benchmarks/estimate_crossed_orders.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_crossed_orders.py"),
        entry=entry("estimate_crossed_orders.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule estimate_halo:
    input:
        scores=score_files_of("criterion_order"),
        alone=scores_alone,
    output:
        statistics="results/statistics/halo.parquet",
    log:
        "results/logs/estimate_halo.log",
    benchmark:
        "results/benchmarks/estimate_halo.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("estimate_halo.py"),
        entry=entry("estimate_halo.py"),
        bootstrap=settings("statistics/bootstrap"),
    shell:
        "python {params.entry:q} --scores {input.scores:q} --alone {input.alone:q} --bootstrap {params.bootstrap:q}"
        " --output {output.statistics:q} 2> >(tee {log:q} >&2)"


rule count_criteria_failures:
    input:
        scores=score_files_of("criterion_order"),
    output:
        statistics="results/statistics/criteria_failures.parquet",
    log:
        "results/logs/count_criteria_failures.log",
    benchmark:
        "results/benchmarks/count_criteria_failures.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("count_criteria_failures.py"),
        entry=entry("count_criteria_failures.py"),
    shell:
        "python {params.entry:q} --scores {input.scores:q}" " --output {output.statistics:q} 2> >(tee {log:q} >&2)"
