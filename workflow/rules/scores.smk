"""From raw answers to scores."""


# One small file instead of all shards: the scores of a study do not have to name each of them.
rule list_responses:
    input:
        responses=scores.responses,
    output:
        answers="<results>/responses/{judge}.json",
    log:
        "<results>/logs/list_responses/{judge}.log",
    benchmark:
        "<results>/benchmarks/list_responses/{judge}.jsonl"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("list_responses.py"),
        folder=scores.folder,
        shards=judging.shards,
        judge=scores.judge,
    shell:
        "python {params.entry:q} --responses {params.folder:q} --shards {params.shards}"
        " --judge {params.judge:q} --output {output.answers:q} 2> >(tee {log:q} >&2)"


rule parse_scores:
    input:
        plan="<results>/plan/{study}/{dataset}/{judge}.parquet",
        answers=scores.answers(ancient),
    output:
        scores="<results>/scores/{study}/{dataset}/{judge}.parquet",
    log:
        "<results>/logs/parse_scores/{study}/{dataset}/{judge}.log",
    benchmark:
        "<results>/benchmarks/parse_scores/{study}/{dataset}/{judge}.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=scores.code,
        entry=run.entry("parse_scores.py"),
        folder=scores.folder,
        shards=scores.shards,
        probe=planning.probe,
        answer=scores.answer,
        studies=scores.studies,
        made_by=scores.made_by,
        second_request=scores.second_request,  # another one changes answers of the same requests
    shell:
        "python {params.entry:q} --plan {input.plan:q} --responses {params.folder:q}"
        " --answers {input.answers:q} --studies {params.studies} --shards {params.shards}"
        " --probe {params.probe} --answer {params.answer:q} --made-by {params.made_by}"
        " --output {output.scores:q} 2> >(tee {log:q} >&2)"
