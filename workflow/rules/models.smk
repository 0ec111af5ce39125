"""Judges whose weights a Python package ships as a GGUF file."""


rule convert_gguf:
    output:
        model=directory("results/models/{model}"),
    log:
        "results/logs/convert_gguf/{model}.log",
    benchmark:
        "results/benchmarks/convert_gguf/{model}.jsonl"
    conda:
        "../../envs/judge_cpu.yaml"
    params:
        code=code("convert_gguf.py"),
        entry=entry("convert_gguf.py"),
        gguf=gguf_settings,
    shell:
        "python {params.entry:q} --gguf {params.gguf:q} --output {output.model:q} 2> >(tee {log:q} >&2)"
