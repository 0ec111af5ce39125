"""Cost of 1,000 items: from the tokens of answers to a cell of the table of judges."""

import json
import math

import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.base import parquet
from rubric_order.base.labels import Labels
from rubric_order.cards import row, summary
from rubric_order.extras.gate import runs
from rubric_order.jobs.render_summary import render_summary
from rubric_order.library import estimates
from rubric_order.scoring import usage
from rubric_order.settings.judges.metered import Prices

KEYS = {"profile": "default", "condition": "baseline", "n": 5}
PRICES = {"prompt": 2.0, "completion": 8.0, "cached": 0.5}


def reads(**strategies):
    """Reads of a plan: of each strategy the units and requests, as pairs."""
    return pd.DataFrame(
        [
            KEYS | {"strategy": strategy, "unit_id": unit, "request_id": request}
            for strategy, pairs in strategies.items()
            for unit, request in pairs
        ]
    )


def responses(**tokens):
    rows = [{"request_id": name, "prompt_tokens": p, "completion_tokens": c} for name, (p, c) in tokens.items()]
    return pd.DataFrame(rows, columns=["request_id", *usage.TOKENS])


def test_each_request_counts_once_a_strategy_and_is_shared_by_strategies():
    plan = reads(balanced=[("a", "x"), ("a", "y"), ("b", "z"), ("b", "z")], single=[("a", "x"), ("b", "z")])
    balanced, single = usage.tokens(plan, responses(x=(100, 1), y=(200, 2), z=(300, 3), other=(999, 9)))
    sizes = {"n_items": 2, "n_requests": 3, "n_counted": 3, "prompt_tokens": 600, "completion_tokens": 6}
    assert balanced == KEYS | {"strategy": "balanced"} | sizes
    assert (single["n_requests"], single["prompt_tokens"]) == (2, 400)
    # By hand: (600 * 2 + 6 * 8) / 1,000,000 for two items.
    assert usage.per_1000_items(balanced, Prices(**PRICES)) == pytest.approx(1248 / 1e6 / 2 * 1000)


def test_requests_without_tokens_count_as_the_others_and_none_at_all_is_not_known(tmp_path):
    scores = tmp_path / "s/d/a.parquet"
    scores.parent.mkdir(parents=True)

    def costs(part, prices):
        parquet.write(pd.DataFrame(), scores, tokens=[part])
        return usage.costs(scores, prices)

    plan = reads(balanced=[("a", "x"), ("b", "y")])
    (half,) = usage.tokens(plan, responses(x=(100, 0), y=(None, None)))
    assert (half["n_requests"], half["n_counted"]) == (2, 1)
    assert usage.per_1000_items(half, Prices(**PRICES)) == pytest.approx(2 * 200 / 1e6 / 2 * 1000)
    for unknown in (responses(), responses(x=(None, None)).drop(columns=[*usage.TOKENS])):
        (nothing,) = usage.tokens(plan, unknown)
        assert usage.per_1000_items(nothing, Prices(**PRICES)) is None
        assert costs(nothing, {"a": PRICES}) == {}
    assert costs(half, {"b": PRICES}) == {}
    assert len(costs(half, {"a": PRICES})) == 1


@pytest.mark.parametrize(
    ("amount", "text"), [(0.0, "0.00 USD"), (12.345, "12.35 USD"), (1234.5, "1,234.50 USD"), (0.00432, "0.0043 USD")]
)
def test_a_cost_is_written_with_two_digits_at_least(amount, text):
    reads = simulated_reads(groups=6, candidates=1, strategies=("balanced",))
    (card,) = summary.made(estimates.card_statistics(reads))
    cell = {
        cell.label: cell for cell in row.cells(card.to_dict() | {"cost": {"per_1000_items": amount, "currency": "USD"}})
    }
    assert (cell[row.COST].text, cell[row.COST].sort) == (text, amount)


@pytest.fixture
def written(tmp_path):
    """Files that a summary is made from: of two judges, of which one has prices and tokens."""
    table = pd.concat(
        [simulated_reads(groups=30, candidates=1, strategies=("balanced",), judge=judge) for judge in ("paid", "free")]
    )
    statistics = {}
    for name, estimated in estimates.card_statistics(table).items():
        statistics[name] = tmp_path / f"{name}.parquet"
        estimated.to_parquet(statistics[name])
    scores = []
    for judge in ("paid", "free"):
        plan = reads(balanced=[("a", "x"), ("b", "y")])
        scored = plan.assign(failure=pd.Series([None, None], dtype="string"), expected_score=1.0)
        path = tmp_path / f"scores/s/d/{judge}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = usage.tokens(plan, responses(x=(1000, 10), y=(1000, 10)))
        parquet.write(scored, path, tokens=parts)
        scores.append(path)
    return statistics, scores


def test_a_summary_has_the_cost_of_each_judge_and_what_is_not_known_is_last(written, tmp_path):
    statistics, scores = written
    data, page = tmp_path / "summary.json", tmp_path / "summary.html"
    labels = Labels({"paid": "Paid", "free": "Free"}, {"d": "Data"})
    shown = {"tables": [], "figures": []}
    others = {"scores": scores, "prices": {"paid": PRICES | {"currency": "EUR"}}}
    render_summary(statistics, shown, labels, {}, {}, data, page, **others)
    by_judge = {card["judge"]: card for card in summary.read(data)}
    # 1,000 tokens at 2 and 10 at 8 a million, one request per item: 2.08 for 1,000 items.
    assert by_judge["paid"]["cost"] == {"per_1000_items": pytest.approx(2.08), "currency": "EUR"}
    assert "cost" not in by_judge["free"]
    cells = {judge: {cell.label: cell for cell in row.cells(card)}[row.COST] for judge, card in by_judge.items()}
    assert cells["paid"].text == "2.08 EUR"
    assert (cells["free"].text, math.isnan(cells["free"].sort)) == ("unknown", True)
    html = page.read_text(encoding="utf-8")
    assert '<button type="button">cost of 1,000 items</button>' in html
    assert 'data-label="cost of 1,000 items" data-sort="2.08"><span>2.08 EUR</span>' in html
    assert 'data-label="cost of 1,000 items" data-sort=""><span>unknown</span>' in html
    (listed, _) = runs.content(runs.histories(runs.read([data])))
    assert listed["runs"][0]["cost"] in (None, by_judge["paid"]["cost"])
    assert json.dumps(listed)
