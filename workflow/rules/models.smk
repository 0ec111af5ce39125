"""Weights of judges: which they are, and those that a Python package ships as a GGUF file."""


# Requests are named by it. The hub is asked once: the answer stays until the file is removed.
rule describe_weights:
    output:
        weights="<results>/weights/{judge}.json",
    log:
        "<results>/logs/describe_weights/{judge}.log",
    benchmark:
        "<results>/benchmarks/describe_weights/{judge}.jsonl"
    wildcard_constraints:
        judge=one_of(run.live),
    localrule: True
    conda:
        judging.environment(in_image="judge")
    params:
        **run.script("describe_weights.py"),
        model=models.source,
    shell:
        "python {params.entry:q} --model {params.model:q} --output {output.weights:q} 2> >(tee {log:q} >&2)"


rule convert_gguf:
    output:
        model=directory("results/models/{model}"),
    log:
        "<results>/logs/convert_gguf/{model}.log",
    benchmark:
        "<results>/benchmarks/convert_gguf/{model}.jsonl"
    conda:
        "../../envs/judge_cpu.yaml"
    params:
        **run.script("convert_gguf.py"),
        gguf=models.gguf,
    shell:
        "python {params.entry:q} --gguf {params.gguf:q} --output {output.model:q} 2> >(tee {log:q} >&2)"
