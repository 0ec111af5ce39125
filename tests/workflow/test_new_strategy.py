"""A new strategy is one record. A study plans it, and its tables, figures and methods text name it."""

import pandas as pd
import pytest

from .conftest import SMALL, Project

STRATEGIES = "workflow/scripts/rubric_order/strategies.py"
RECORD = """    Strategy(
        "ends",
        "the usual ordering and its reverse, in turn",
        ("score_order", "criterion_order"),
        lambda wanted: fixed(wanted.n, 2) * [[1], [-1]] + [[0], [wanted.n + 1]],
        colour="#7a5400",
        marker="d",
        compared=99,
        one_ordering_a_read=True,
        fits=_fits("compared", "budget_curve"),
    ),
"""


@pytest.mark.slow
def test_a_new_strategy_is_one_record(project: Project):
    path = project.file(STRATEGIES)
    text, begin = path.read_text(), "_EVERY = (\n"
    assert text.count(begin) == 1
    path.write_text(text.replace(begin, f"{begin}{RECORD}"))

    config = SMALL | {
        "studies": {"position_bias": {"judges": ["planted"], "strategies": ["balanced", "fixed", "ends"]}},
        "tables": {"strategy_comparison": {"strategy": "ends"}, "rank_reversal": {"strategy": "ends"}},
        "figures": {"strategy_forest": {}, "budget_curve": {"strategies": ["balanced", "ends"]}},
    }
    run = project.snakemake("all", "results/methods.md", config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    plan = pd.read_parquet(project.file("results/plan/position_bias/demo/planted.parquet"))
    orderings = plan[plan["strategy"] == "ends"].groupby("unit_id")["ordering"].agg(lambda rows: [*map(list, rows)])
    assert orderings.tolist() == [[[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]] * len(orderings) != []
    assert "ends r" in project.file("results/tables/strategy_comparison.md").read_text()
    assert "ends: the usual ordering and its reverse, in turn" in project.file("results/methods.md").read_text()
    assert "#7a5400" in project.file("results/figures/strategy_forest.svg").read_text()
