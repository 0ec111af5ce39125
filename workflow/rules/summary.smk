"""The front door of a run: a bias card for each judge, figures and tables, on one page and as data."""


rule render_summary:
    input:
        statistics=card_files,
        tables=collect("results/tables/{table}.html", table=config["tables"]),
        figures=collect("results/figures/{figure}.svg", figure=config["figures"]),
        template=source("workflow/scripts/rubric_order/cards/summary.html.jinja"),
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
        statistics=named_card_files,
        shown=shown_results,
        labels=summary_labels,
        run=run_settings,
    shell:
        "python {params.entry:q} --statistics {params.statistics:q} --shown {params.shown:q} --labels {params.labels:q}"
        " --run {params.run:q} --template {input.template:q} --data {output.data:q} --page {output.page:q}"
        " 2> >(tee {log:q} >&2)"
