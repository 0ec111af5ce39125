"""The picture of the rules in docs/architecture.md is that of the workflow."""

import html
import re

from .conftest import ROOT, Project


def edges(names: dict[str, str], pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(names[start], names[end]) for start, end in pairs}


def test_the_picture_has_the_rules_and_arrows_of_the_workflow(fresh: Project):
    run = fresh.snakemake("--rulegraph", "--configfile", "config/papers/position_bias_small.yaml")
    assert run.returncode == 0, run.stderr
    rules = dict(re.findall(r'(\d+)\[label = "(\w+)"', run.stdout))
    assert {"plan_reads", "judge_shard", "estimate_statistic"} <= set(rules.values())

    picture = html.unescape((ROOT / "docs/images/rule_graph.svg").read_text(encoding="utf-8"))
    drawn = dict(re.findall(r"<title>(\d+)</title>.*?<text[^>]*>(\w+)</text>", picture, re.DOTALL))
    arrows = re.findall(r"<title>(\d+)->(\d+)</title>", picture)
    assert sorted(drawn.values()) == sorted(rules.values()), "make rule-graph draws the picture anew"
    assert edges(drawn, arrows) == edges(rules, re.findall(r"(\d+) -> (\d+)", run.stdout)), "see make rule-graph"
