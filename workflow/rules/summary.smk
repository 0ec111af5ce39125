"""The pages that a reader opens: single reads, and the summary, which is the front door of a run."""


# A script that hands data to the page: a page that is opened from disk may load nothing else.
rule choose_reads:
    input:
        scores="results/scores/{study}/{dataset}/{judge}.parquet",
        requests=requests_until,
        item_table=items_with_raters,
    output:
        reads="results/reads/{study}/{dataset}/{judge}.js",
    log:
        "results/logs/choose_reads/{study}/{dataset}/{judge}.log",
    benchmark:
        "results/benchmarks/choose_reads/{study}/{dataset}/{judge}.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("choose_reads.py"),
        entry=entry("choose_reads.py"),
        folder="results/responses/{judge}",
        shards=shards_to_read,
        about=reads_about,
        caps=settings_of_reads,
    shell:
        "python {params.entry:q} --scores {input.scores:q} --requests {input.requests:q} --items {input.item_table:q}"
        " --responses {params.folder:q} --shards {params.shards} --about {params.about:q} --caps {params.caps:q}"
        " --output {output.reads:q} 2> >(tee {log:q} >&2)"


rule render_reads:
    input:
        reads_of_study,
        pages("base.html.jinja", "reads.html.jinja", "reads.js", "style.css"),
    output:
        page="results/reads/{study}/index.html",
    log:
        "results/logs/render_reads/{study}.log",
    benchmark:
        "results/benchmarks/render_reads/{study}.jsonl"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_reads.py"),
        entry=entry("render_reads.py"),
        study=study_of_page,
    shell:
        "python {params.entry:q} --study {params.study:q} --output {output.page:q} 2> >(tee {log:q} >&2)"


rule render_summary:
    input:
        statistics=card_files,
        tables=collect("results/tables/{table}.html", table=config["tables"]),
        figures=collect("results/figures/{figure}.svg", figure=config["figures"]),
        reads=collect("results/reads/{study}/index.html", study=config["studies"]),
        parts=pages("base.html.jinja", "summary.html.jinja", "style.css"),
    output:
        data="results/summary.json",
        page=report(
            "results/summary.html",
            caption="../report/summary.rst",
            category="Summary",
            labels={"result": "Bias cards"},
        ),
    log:
        "results/logs/render_summary.log",
    benchmark:
        "results/benchmarks/render_summary.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("render_summary.py"),
        entry=entry("render_summary.py"),
        statistics=named(card_files),
        shown=shown_results,
        labels=summary_labels,
        run=run_settings,
        reads=reads_pages,
    shell:
        "python {params.entry:q} --statistics {params.statistics:q} --shown {params.shown:q} --labels {params.labels:q}"
        " --run {params.run:q} --reads {params.reads:q} --data {output.data:q} --page {output.page:q}"
        " 2> >(tee {log:q} >&2)"


rule describe_methods:
    input:
        scores=score_files(config["studies"]),
        answers=answer_files,
        made=made_references,
        library=source("workflow/scripts/rubric_order/cards/references.bib"),
    output:
        page="results/methods.md",
        references="results/methods.bib",
    log:
        "results/logs/describe_methods.log",
    benchmark:
        "results/benchmarks/describe_methods.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        code=code("describe_methods.py"),
        entry=entry("describe_methods.py"),
        answers=named(answer_files),
        made=named(made_references),
        statistics=statistics_made,
        run=settings_of_methods,
    shell:
        "python {params.entry:q} --scores {input.scores:q} --answers {params.answers:q} --made {params.made:q} --statistics {params.statistics:q}"
        " --run {params.run:q} --library {input.library:q} --page {output.page:q} --references {output.references:q} 2> >(tee {log:q} >&2)"
