"""The pages that a reader opens: single reads, and the summary, which is the front door of a run."""


# A script that hands data to the page: a page that is opened from disk may load nothing else.
rule choose_reads:
    input:
        scores="<results>/scores/{study}/{dataset}/{judge}.parquet",
        requests=pages.requests,
        item_table=pages.items_with_raters,
    output:
        reads="<results>/reads/{study}/{dataset}/{judge}.js",
    log:
        "<results>/logs/choose_reads/{study}/{dataset}/{judge}.log",
    benchmark:
        "<results>/benchmarks/choose_reads/{study}/{dataset}/{judge}.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("choose_reads.py"),
        folder=scores.folder,
        shards=scores.shards,
        about=pages.reads_about,
        caps=pages.reads_settings,
    shell:
        "python {params.entry:q} --scores {input.scores:q} --requests {input.requests:q}"
        " --items {input.item_table:q} --responses {params.folder:q} --shards {params.shards}"
        " --about {params.about:q} --caps {params.caps:q} --output {output.reads:q} 2> >(tee {log:q} >&2)"


rule render_reads:
    input:
        pages.reads_of_study,
        pages.parts("base.html.jinja", "reads.html.jinja", "reads.js", "style.css"),
    output:
        page="<results>/reads/{study}/index.html",
    log:
        "<results>/logs/render_reads/{study}.log",
    benchmark:
        "<results>/benchmarks/render_reads/{study}.jsonl"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("render_reads.py"),
        study=pages.study,
    shell:
        "python {params.entry:q} --study {params.study:q} --output {output.page:q} 2> >(tee {log:q} >&2)"


rule render_summary:
    input:
        statistics=pages.card_files,
        by_criterion=pages.criterion_card_files,
        scores=pages.all_scores,
        chosen=pages.all_reads,
        tables=collect("<results>/tables/{table}.html", table=run.config.tables),
        figures=collect("<results>/figures/{figure}.svg", figure=run.config.figures),
        reads=collect("<results>/reads/{study}/index.html", study=run.config.studies),
        parts=pages.parts("base.html.jinja", "judges.html.jinja", "summary.html.jinja", "style.css", "summary.js"),
    output:
        data="<results>/summary.json",
        page=report(
            "<results>/summary.html",
            caption="../report/summary.rst",
            category="Summary",
            labels={"result": "Bias cards"},
        ),
    log:
        "<results>/logs/render_summary.log",
    benchmark:
        "<results>/benchmarks/render_summary.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("render_summary.py"),
        statistics=pages.named(pages.card_files),
        by_criterion=pages.named(pages.criterion_card_files),
        shown=pages.shown,
        labels=pages.labels,
        run=pages.facts,
        reads=pages.reads,
        margin=pages.margin,
        prices=pages.prices,
    shell:
        "python {params.entry:q} --statistics {params.statistics:q} --by-criterion {params.by_criterion:q}"
        " --margin {params.margin} --scores {input.scores:q} --chosen {input.chosen:q} --prices {params.prices:q}"
        " --shown {params.shown:q} --labels {params.labels:q} --run {params.run:q} --reads {params.reads:q}"
        " --data {output.data:q} --page {output.page:q} 2> >(tee {log:q} >&2)"


# It has no output, so that it prints whenever it is asked for.
rule show_cards:
    input:
        data="<results>/summary.json",
        page="<results>/summary.html",
    log:
        "<results>/logs/show_cards.log",
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("show_cards.py"),
        rehearsal=rehearsal.folder(run.config),
    shell:
        "python {params.entry:q} --data {input.data:q} --page {input.page:q} --rehearsal={params.rehearsal:q}"
        " 2> >(tee {log:q} >&2)"


rule describe_methods:
    input:
        scores=run.score_files(run.config.studies),
        answers=pages.answer_files,
        made=references.made_files,
        library=run.source("workflow/scripts/rubric_order/cards/references.bib"),
    output:
        page="<results>/methods.md",
        references="<results>/methods.bib",
    log:
        "<results>/logs/describe_methods.log",
    benchmark:
        "<results>/benchmarks/describe_methods.jsonl"
    conda:
        "../../envs/analysis.yaml"
    params:
        **run.script("describe_methods.py"),
        answers=pages.named(pages.answer_files),
        made=pages.named(references.made_files),
        statistics=pages.statistics,
        run=pages.methods,
    shell:
        "python {params.entry:q} --scores {input.scores:q} --answers {params.answers:q}"
        " --made {params.made:q} --statistics {params.statistics:q} --run {params.run:q}"
        " --library {input.library:q} --page {output.page:q} --references {output.references:q}"
        " 2> >(tee {log:q} >&2)"
