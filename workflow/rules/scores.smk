"""From raw answers to scores."""


rule parse_scores:
    input:
        plan="results/plan/{study}/{dataset}/{judge}.parquet",
        responses=responses,
    output:
        scores="results/scores/{study}/{dataset}/{judge}.parquet",
    log:
        "results/logs/parse_scores/{study}/{dataset}/{judge}.log",
    benchmark:
        "results/benchmarks/parse_scores/{study}/{dataset}/{judge}.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("parse_scores.py", probe_module),
        entry=entry("parse_scores.py"),
        folder="results/responses/{judge}",
        shards=lookup("judges/{judge}/shards", within=config),
        probe=lookup("studies/{study}/probe", within=config),
        answer=answer_settings,
    shell:
        "python {params.entry:q} --plan {input.plan:q} --responses {params.folder:q} --shards {params.shards}"
        " --probe {params.probe} --answer {params.answer:q} --output {output.scores:q} 2> >(tee {log:q} >&2)"
