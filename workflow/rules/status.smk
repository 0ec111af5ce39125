"""Cost and progress of judging: reports on the moment, which are made anew whenever they are asked for."""


rule plan_cost:
    input:
        plans=planning.planned("<results>/plan/{study}/{dataset}/{judge}.parquet"),
        requests=planning.planned("<results>/requests/{study}/{judge}.parquet"),
        references=status.parts_of_unmade,
    output:
        csv="<results>/status/plan_cost.csv",
        markdown="<results>/status/plan_cost.md",
        latex="<results>/status/plan_cost.tex",
        html="<results>/status/plan_cost.html",
    log:
        "<results>/logs/plan_cost.log",
    benchmark:
        "<results>/benchmarks/plan_cost.jsonl"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("plan_cost.py"),
        judges=status.judges_to_plan,
        results=status.results,
        references=status.unmade,
        asked=status.now,
    shell:
        "python {params.entry:q} --judges {params.judges:q} --references {params.references:q}"
        " --plans {params.results:q}/plan --requests {params.results:q}/requests --stores results/store"
        " --models results/models --output {output.csv:q} 2> >(tee {log:q} >&2)"


rule pilot:
    input:
        status.pilots,
    localrule: True


# It has no input, so that it tells of what is there and starts nothing.
rule judge_status:
    output:
        csv="<results>/status/judge_status.csv",
        markdown="<results>/status/judge_status.md",
        latex="<results>/status/judge_status.tex",
        html="<results>/status/judge_status.html",
        batches="<results>/status/open_batches.csv",
        batches_markdown="<results>/status/open_batches.md",
        batches_latex="<results>/status/open_batches.tex",
        batches_html="<results>/status/open_batches.html",
    log:
        "<results>/logs/judge_status.log",
    benchmark:
        "<results>/benchmarks/judge_status.jsonl"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("judge_status.py"),
        judges=status.judges_to_ask,
        results=status.results,
        asked=status.now,
    shell:
        "python {params.entry:q} --judges {params.judges:q} --requests {params.results:q}/requests"
        " --references {params.results:q}/references --stores results/store --output {output.csv:q}"
        " --batches {output.batches:q} 2> >(tee {log:q} >&2)"
