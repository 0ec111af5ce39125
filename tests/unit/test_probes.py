"""Probes: what they ask, in which orders, and what comes of the answers."""

import math

import numpy as np
import pandas as pd
import pytest
from factories import changed

from rubric_order import datasets, probes
from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE
from rubric_order.datasets.rubrics import Rubric
from rubric_order.judging.engines.label_places import lines_pattern
from rubric_order.judging.engines.vllm_offline import read_several
from rubric_order.parsing.choices import numbers
from rubric_order.planning import reads as planned
from rubric_order.planning import requests as asked
from rubric_order.probes import Question, Shown
from rubric_order.probes.criterion_order import texts as texts_of
from rubric_order.prompts import frames, orderings
from rubric_order.scoring.scores import score_reads
from rubric_order.settings.base import Role, fields
from rubric_order.settings.judges import Judge

criterion_order, score_order = map(probes.load, ("criterion_order", "score_order"))

CRITERIA = ("wit", "plot", "fine_style")


def item(group="g", candidate="a", criterion="wit", response=None, score=3.0, **rubric):
    rubric = {"name": None, "short": f"How much {criterion}.", **rubric}
    levels = tuple(f"{criterion} level {k}" for k in range(1, 6))
    return datasets.Item(
        where=f"{group} {candidate} {criterion}",
        item_id=f"{group}.{candidate}.{criterion}.{response}",
        group_id=group,
        candidate=candidate,
        instruction=f"Task {group}.",
        response=response or f"{candidate} on {group} {{{{ n }}}}.",
        rubric=Rubric(f"r_{criterion}", criterion, f"Is there {criterion}?", levels, **rubric),
        human_scores=[score],
    )


def prepare(*items):
    tables = datasets.prepare("d", items)
    return tables.items, tables.rubrics, tables.pairs


@pytest.fixture
def two():
    """Two texts under three criteria each; the second names them in another order."""
    items = [item("g", "a", name, score=k) for k, name in enumerate(CRITERIA, start=1)]
    return prepare(*items, *(item("h", "b", name, score=5) for name in reversed(CRITERIA)))


@pytest.fixture
def criteria_template(root):
    return frames.load_template(root / "resources/templates/criteria.jinja")


@pytest.fixture
def make(two, judge, criteria_template):
    def plan_two(tables=two, judge=judge, **design):
        design = planned.Design(**{"scales": [5], "strategies": ["balanced"], "seed": 1, **design})
        named = {"study": "s", "judge_id": "j", "judge": judge, "template": criteria_template}
        return planned.plan_reads(*tables, **named, design=design, probe="criterion_order")

    return plan_two


# The protocol.


@pytest.mark.parametrize("name", probes.names())
def test_every_probe_offers_what_the_protocol_says(name):
    probe = probes.load(name)
    assert probe.CONDITIONS[0] == BASELINE
    assert set(probe.IDENTITY) <= set(fields(Judge, {Role.FORMAT}))
    assert probe.STRATEGIES
    assert {"question", "score", "position", "pattern", "failure", "expected_score"} <= set(probe.COLUMNS)
    assert all(hasattr(probe, name) for name in vars(probes.Probe)["__annotations__"])


def test_probes_are_those_that_are_registered():
    assert probes.names() == ("criterion_order", "list_order", "pair_order", "score_order")


# Texts.


def test_items_of_one_text_are_one_unit_with_its_criteria_in_the_order_of_the_items(two):
    texts = texts_of(*two[:2])
    assert texts["unit_id"].tolist() == ["g-a", "h-b"]
    assert texts["criterion_ids"].tolist() == [list(CRITERIA), list(reversed(CRITERIA))]
    assert texts["criterion_names"].tolist() == [["Wit", "Plot", "Fine style"], ["Fine style", "Plot", "Wit"]]
    assert texts["criterion_human_scores"].tolist() == [[1, 2, 3], [5, 5, 5]]
    assert texts["criterion_items"][0] == ["g.a.wit.None", "g.a.plot.None", "g.a.fine_style.None"]


def test_several_texts_of_one_candidate_are_counted():
    tables = prepare(*(item(criterion=name, response=text) for text in ("one", "two") for name in CRITERIA))
    assert texts_of(*tables[:2])["unit_id"].tolist() == ["g-a", "g-a-2"]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([item()], "text 'g-a' has the one criterion 'wit'; probe criterion_order needs two or more"),
        ([item(), item(criterion="plot", name="WIT")], "text 'g-a': criterion called 'wit' stands twice"),
        ([item(), item(criterion="plot", name="!?")], "text 'g-a': criterion called '' stands there"),
        (
            [item(criterion=name) for name in CRITERIA]
            + [item(candidate="a-2", criterion=name, response="x") for name in CRITERIA]
            + [item(criterion=name, response="y") for name in CRITERIA],
            "two texts would be called 'g-a-2'; rename a candidate",
        ),
    ],
)
def test_texts_that_cannot_be_asked_about_are_one_error(items, message):
    with pytest.raises(InputError, match="dataset 'd'") as error:
        texts_of(*prepare(*items)[:2])
    assert message in str(error.value)


def test_one_criterion_twice_is_an_error():
    again = item()
    again.item_id = "other"
    with pytest.raises(InputError, match="criterion 'wit' stands twice"):
        texts_of(*prepare(item(), item(criterion="plot"), again)[:2])


# Prompts.


def test_a_prompt_lists_the_criteria_in_the_order_that_is_asked_for(two, criteria_template):
    unit = next(criterion_order.units(*two, n=5, template=criteria_template))
    prompt = unit.prompt(Shown((2, 3, 1)))
    section = prompt.split("###Criteria (judge them in this order):\n")[1].split("\n\n###The instruction")[0]
    assert section == "- Plot: How much plot.\n- Fine style: How much fine_style.\n- Wit: How much wit."
    assert "from 1 to 5 for each criterion" in prompt
    assert "Write exactly 3 lines" in prompt
    assert "\na on g {{ n }}.\n" in prompt
    assert [question.name for question in unit.questions(Shown((2, 3, 1)))] == ["Plot", "Fine style", "Wit"]
    assert unit.options == CRITERIA


def test_prompts_of_two_orders_differ_in_the_lines_of_the_criteria_alone(two, criteria_template):
    unit = next(criterion_order.units(*two, n=5, template=criteria_template))
    one, other = (sorted(unit.prompt(Shown(ordering)).splitlines()) for ordering in ((1, 2, 3), (3, 1, 2)))
    assert one == other


def test_a_crossed_prompt_lists_the_levels_of_every_criterion_in_the_order_that_is_asked_for(two, criteria_template):
    unit = next(criterion_order.units(*two, n=3, template=criteria_template))
    prompt = unit.prompt(Shown((1, 3, 2), (3, 1, 2)))
    expected = "- Wit: How much wit.\nScore 3: wit level 5\nScore 1: wit level 1\nScore 2: wit level 3\n- Fine style: "
    assert expected in prompt


def test_a_crossed_prompt_needs_a_scale_that_the_rubric_has(make):
    assert len(make(scales=[4])) == 12  # without levels any scale is asked for
    with pytest.raises(InputError, match="study s: scale 4: rubric 'r_wit'"):
        make(scales=[4], crossed=True)


# Plans.


def test_the_budget_is_twice_the_number_of_criteria(make):
    strategies = ["balanced", "random", "fixed", "single", "balanced_williams"]
    reads = make(strategies=strategies)
    counts = reads.groupby(["unit_id", "strategy"]).size().unstack()
    assert counts.loc[["g-a", "h-b"], strategies].to_numpy().tolist() == [[6, 6, 6, 1, 6]] * 2
    assert set(make(strategies=["random"], budget=4).groupby("unit_id").size()) == {4}
    shown = np.array(
        reads[(reads["strategy"] == "balanced_williams") & (reads["unit_id"] == "g-a")]["ordering"].tolist()
    )
    assert shown.tolist() == orderings.balanced_williams(3).tolist()


def test_requests_are_named_apart_from_those_of_one_score_and_by_the_format_alone(make, judge):
    ids = [
        set(make(judge=changed(judge, **settings))["request_id"])
        for settings in ({}, {"criteria_format": "lines"}, {"answer_format": "feedback", "answer_prefix": ""})
    ]
    assert not ids[0] & ids[1]
    assert ids[0] == ids[2]
    name, other = (asked.namer(judge, 5, probe) for probe in (criterion_order, score_order))
    assert name(b"prompt", 0) != other(b"prompt", 0)


def test_random_orders_of_criteria_are_drawn_apart_from_those_of_levels(make):
    reads = make(strategies=["random"], crossed=True)
    assert [sorted(row) for row in reads["ordering"]] == [[1, 2, 3]] * 12
    assert [sorted(row) for row in reads["levels"]] == [[1, 2, 3, 4, 5]] * 12
    plain = make(strategies=["random"])
    assert reads["ordering"].tolist() == plain["ordering"].tolist()
    assert plain["levels"].tolist() == [[]] * 12
    assert len({tuple(row) for row in reads["levels"]}) > 6


@pytest.mark.parametrize(("strategy", "n", "n_criteria"), [("balanced", 5, 3), ("balanced_williams", 3, 4)])
def test_over_2n_texts_each_order_of_criteria_meets_each_order_of_levels_equally_often(strategy, n, n_criteria):
    rows = [tuple(row) for row in orderings.choose(strategy, n_criteria).tolist()]
    levels = [orderings.levels_beside(strategy, len(rows), n, start=text, rng=None).tolist() for text in range(2 * n)]
    counts = pd.Series([(row, tuple(level)) for text in levels for row, level in zip(rows, text, strict=True)])
    counts = counts.value_counts()
    assert len(counts) == 2 * n_criteria * 2 * n
    assert set(counts) == {1}
    for text in levels:  # and within a text no order of levels comes more than once oftener than another
        assert np.ptp(pd.Series(list(map(tuple, text))).value_counts()) <= 1


def test_fixed_reads_of_a_crossed_design_keep_both_canonical_orders(make):
    reads = make(strategies=["fixed"], crossed=True)
    assert reads["ordering"].map(tuple).unique().tolist() == [(1, 2, 3)]
    assert reads["levels"].map(tuple).unique().tolist() == [(1, 2, 3, 4, 5)]


def test_requests_name_the_criteria_in_the_order_in_which_they_are_asked(make, two, criteria_template):
    reads = make(crossed=True)
    requests = asked.distinct_requests(reads, owned_elsewhere=set())
    units = asked.units_asked(requests, *two, criteria_template, probe="criterion_order")
    rendered = asked.render_requests(requests, units)
    for row in rendered.itertuples():
        lines = [line for line in row.prompt.splitlines() if line.startswith("- ")]
        assert [line[2:].partition(":")[0] for line in lines] == [question["name"] for question in row.questions]


# Scores.


def answers(reads, text, **columns):
    ids = reads["request_id"].drop_duplicates().tolist()
    blank = {"error": None, "finish_reason": "stop", "option_logprobs": None}
    return pd.DataFrame([blank | {"request_id": name, "text": text} | columns for name in ids])


def test_an_answer_becomes_a_row_for_each_criterion(make):
    reads = make(strategies=["single"]).assign(ordering=[[2, 3, 1], [1, 2, 3]])
    given = answers(reads, "[Plot] 4\n[Fine style] 6\n")
    never = -math.inf
    of_plot, of_wit = [math.log(0.1), never, never, math.log(0.3), math.log(0.4)], [math.log(0.2)] * 5
    given["option_logprobs"] = [[*of_plot, *[math.nan] * 5, *of_wit], None]
    table = score_reads(reads, given, probe="criterion_order")
    first = table[table["unit_id"] == "g-a"]
    assert first["criterion"].tolist() == list(CRITERIA)
    assert first["item_id"].tolist() == ["g.a.wit.None", "g.a.plot.None", "g.a.fine_style.None"]
    assert first["human_score"].tolist() == [1, 2, 3]
    assert first["criterion_position"].tolist() == [3, 1, 2]
    assert first["predecessor"].fillna("none").tolist() == ["fine_style", "none", "plot"]
    assert first["score"].tolist() == [pd.NA, 4, pd.NA]
    assert first["failure"].fillna("none").tolist() == ["no_score", "none", "out_of_range"]
    assert first["expected_score"].tolist() == pytest.approx([math.nan, (0.1 + 1.2 + 2) / 0.8, math.nan], nan_ok=True)
    assert first["option_mass"].tolist() == pytest.approx([math.nan, 0.8, math.nan], nan_ok=True)
    second = table[table["unit_id"] == "h-b"]
    assert second["criterion"].tolist() == list(reversed(CRITERIA))
    assert second["score"].tolist() == [pd.NA, 4, pd.NA]
    assert second["expected_score"].isna().all()
    assert not table["levels"].map(len).any()
    assert table["position"].isna().all()
    assert not [name for name in table.columns if name.startswith("criterion_") and name != "criterion_position"]


def test_in_a_crossed_design_the_score_has_a_position_among_the_levels(make):
    reads = make(strategies=["single"], crossed=True).assign(ordering=[[2, 3, 1]] * 2, levels=[[5, 4, 3, 2, 1]] * 2)
    table = score_reads(reads, answers(reads, "[Plot] 4\n[Fine style] 1\n[Wit] x"), probe="criterion_order")
    first = table[table["unit_id"] == "g-a"]
    assert first["ordering"].map(list).tolist() == [[2, 3, 1]] * 3
    assert first["levels"].map(list).tolist() == [[5, 4, 3, 2, 1]] * 3
    assert first["position"].tolist() == [pd.NA, 2, 5]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"error": "prompt_too_long: 9 tokens"}, "prompt_too_long"),
        ({"text": None}, "empty"),
        ({"finish_reason": "length", "text": "The"}, "truncated"),
        ({"request_id": "of something else"}, "no_response"),
    ],
)
def test_a_read_without_an_answer_fails_under_every_criterion(make, columns, reason):
    reads = make(strategies=["single"])
    given = answers(reads, "").assign(**columns).drop_duplicates("request_id")
    table = score_reads(reads, given, probe="criterion_order")
    assert table["failure"].tolist() == [reason] * 6
    assert table["score"].isna().all()


# What the engine reads beside the text.


def tokens_of(text):
    """A tokenizer of single characters, digits being their own token numbers."""
    return [int(character) if character.isdigit() else 1000 + ord(character) for character in text]


def asks(*names, n=5):
    return [Question(name, numbers(n), "level") for name in names]


def read(text, criteria=("Wit", "Plot")):
    token_ids = tokens_of(text)
    logprobs = [
        {token: type("Logprob", (), {"logprob": -10.0 * place - token})() for token in range(10)}
        for place in range(len(token_ids))
    ]
    return read_several(token_ids, logprobs, [[k] for k in range(1, 6)], list(text), asks(*criteria))


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("[Wit] 4\n[Plot] 2", (6, 15)),
        ("[plot] 2\n**WIT**: 4/5", (18, 7)),
        ('{"wit": 14, "plot": 3}', (None, 20)),
        ("Wit score: 4", (11, None)),
        ("Wit has 3 parts. [Plot] 4.5", (None, None)),
        ("Wit: 1\nNo. [Wit] 2\nPlot 3", (17, 24)),
    ],
)
def test_log_probabilities_are_read_where_the_scores_are_written(text, offsets):
    expected = [math.nan if at is None else -10 * at - k for at in offsets for k in range(1, 6)]
    found = read(text)
    if set(offsets) == {None}:
        assert found is None
    else:
        assert found == pytest.approx(expected, nan_ok=True)


def test_a_score_that_shares_its_token_has_no_log_probabilities():
    token_ids = [7, 8]
    assert read_several(token_ids, [{}, {}], [[1], [2]], ["[Wit] 2", "\n"], asks("Wit")) is None


def test_the_pattern_of_lines_takes_names_as_they_are():
    assert lines_pattern(asks("A (b)", "C.d", n=3)) == r"\[A \(b\)\] (?:1|2|3)\n\[C\.d\] (?:1|2|3)"
