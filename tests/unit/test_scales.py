"""Scales of 2 to 11 levels from 0 or 1: prompts, answers, probabilities, orderings and pages."""

import json
import re
import types

import numpy as np
import pytest
from endpoint import Reply, completion, running
from factories import changed, complete_judge
from test_messages import CRITERIA, FEW_SHOT, template_of
from typer.testing import CliRunner

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.judging import engines, shard
from rubric_order.judging.engines import label_tokens
from rubric_order.judging.store import Store
from rubric_order.pages import reads as page
from rubric_order.parsing import one_score, several_scores
from rubric_order.parsing.choices import OUT_OF_RANGE, Scale, numbers
from rubric_order.planning import reads as planning
from rubric_order.planning import requests as planned
from rubric_order.probes import Question, criterion_order
from rubric_order.prompts import orderings
from rubric_order.scoring.scores import score_reads

SCALES = [(lowest, n) for lowest in (0, 1) for n in range(2, 12)]


@pytest.mark.parametrize(("lowest", "n"), SCALES)
def test_every_score_of_a_scale_is_read_and_its_neighbours_are_out_of_range(lowest, n):
    labels, top = numbers(n, lowest), lowest + n - 1
    forms = ("{k}", '{{"score": {k}}}', "Feedback: fine. [RESULT] {k}", "Score: {k}", "I rate it {k}/{top}.")
    forms += (
        "The score is {k} out of {top}.",
        "**{k}**\nIt flows.",
        "On a scale of {lowest} to {top}, I give it a {k}.",
    )
    for form in forms:
        for k in range(lowest, top + 1):
            text = form.format(k=k, top=top, lowest=lowest)
            assert one_score.parse_score(text, labels).label == str(k), text
        for k in (top + 1, top + 90):
            assert one_score.parse_score(form.format(k=k, top=top, lowest=lowest), labels).reason == OUT_OF_RANGE
    assert one_score.parse_score(f"Score: {lowest - 1}", labels).reason == OUT_OF_RANGE
    assert one_score.parse_score(f"Score: 1/{top + 2}", labels).reason == OUT_OF_RANGE


@pytest.mark.parametrize(("lowest", "n"), SCALES)
def test_fields_and_lines_of_several_criteria_are_read_on_every_scale(lowest, n):
    labels, top = numbers(n, lowest), lowest + n - 1
    names = ["Coherence", "Plain language"]
    for text in (
        f'{{"coherence": {top}, "plain_language": {lowest}}}',
        f"[Coherence] {top}\n[Plain language] {lowest}",
        f"Coherence: {top}/{top}\nPlain language: {lowest}/{top}",
    ):
        given = several_scores.parse_scores(text, names, labels)
        assert [choice.label for choice in given] == [str(top), str(lowest)], text
    beyond = several_scores.parse_scores(f'{{"coherence": {top + 1}, "plain_language": {lowest - 1}}}', names, labels)
    assert [choice.reason for choice in beyond] == [OUT_OF_RANGE] * 2


@pytest.mark.parametrize("n", range(2, 12))
def test_orderings_balance_every_level_over_every_position(n):
    for strategy in ("balanced", "balanced_williams"):
        rows = orderings.choose(strategy, n)
        assert rows.shape == (2 * n, n)
        for column in rows.T:
            assert np.bincount(column, minlength=n + 1)[1:].tolist() == [2] * n


def test_labels_that_are_numbers_have_a_scale():
    assert Scale.of(numbers(11, 0)) == (0, 10)
    assert Scale.of(tuple(reversed(numbers(10)))) == (1, 10)
    assert Scale.of(("0", "2")) is None
    assert Scale.of("ABC") is None


# --- probabilities


def test_a_score_that_begins_as_another_has_no_probability_of_the_next_token():
    digits = [[[ord(digit) for digit in text] for text in (label, f" {label}")] for label in numbers(10)]
    assert label_tokens.problem(numbers(10), digits) == "the tokenizer has no single token for score 10"
    whole = [[[100 + k], [200 + k]] for k in range(1, 11)]
    assert label_tokens.problem(numbers(10), whole) is None
    mixed = [*whole[:9], [[110], [201, 48]]]
    assert label_tokens.problem(numbers(10), mixed) == "scores 1 and 10 begin with the same token"
    assert label_tokens.shared_beginning(numbers(10)) == "scores 1 and 10 can begin with the same token"
    assert label_tokens.shared_beginning(numbers(10, 0)) is None
    assert label_tokens.shared_beginning(numbers(9)) is None


@pytest.mark.parametrize(("lowest", "n", "asked"), [(1, 9, True), (0, 10, True), (1, 10, False), (0, 11, False)])
def test_an_endpoint_is_asked_for_probabilities_of_labels_that_its_tokens_tell_apart(lowest, n, asked, caplog):
    question = Question("", numbers(n, lowest), "option")
    judge = complete_judge(engine="openai", answer_format="score", answer_prefix="")
    with running(lambda call: Reply(completion("4", model=judge.model))) as endpoint:
        engine = engines.load(changed(judge, base_url=endpoint.base_url))
        (response,) = engine.answer([of(question)])
        engine.close()
        (call,) = endpoint.calls
    assert ("logprobs" in call.body) == asked
    assert response.text == "4"
    assert response.option_logprobs is None
    assert ("scores 1 and 10 can begin with the same token" in caplog.text) == (not asked)


def of(question):
    return engines.Request("a", "prompt", (question,), options=question.labels)


# --- a study


def planned_on(probe, lowest, n, listed, judge):
    levels = {level: f"Level {level} of it." for level in range(lowest, lowest + n)}
    criteria = ["coherence", "fluency"] if probe == "criterion_order" else ["coherence"]
    rubrics = {
        name: datasets.rubrics.Rubric(
            name, name, f"How much {name}?", datasets.rubrics.check_levels(levels, "x"), lowest=lowest
        )
        for name in criteria
    }
    items = [
        datasets.Item("row", f"{k}-{name}", str(k), str(k), "Say.", f"Text {k}.", rubrics[name], None, [float(k % n)])
        for k in range(6)
        for name in criteria
    ]
    tables = datasets.prepare("d", iter(items))
    tables = (tables.items, tables.rubrics, tables.pairs)
    template = template_of(listed)
    design = planning.Design(scales=[n], strategies=["balanced"], budget=None, seed=0)
    about = {"study": "s", "judge_id": "j", "judge": judge, "design": design}
    reads = planning.plan_reads(*tables, template=template, probe=probe, **about)
    requests = planned.distinct_requests(reads, owned_elsewhere=[])
    units = planned.units_asked(requests, *tables, template, probe=probe)
    return reads, planned.render_requests(requests, units)


RANGE = {"role": "user", "content": "{{ lowest }} to {{ highest }}: {{ response }}"}
PROMPTS = {"score_order": FEW_SHOT, "criterion_order": [CRITERIA[0], RANGE]}


@pytest.mark.parametrize("probe", PROMPTS)
@pytest.mark.parametrize(("lowest", "n"), [(0, 5), (0, 11), (1, 10), (1, 11)])
def test_a_study_on_such_a_scale_from_prompts_to_scores(probe, lowest, n, tmp_path):
    judge = complete_judge(
        engine="simulated", answer_format="feedback", answer_prefix="", sampling={"temperature": 1, "max_tokens": 8}
    )
    reads, requests = planned_on(probe, lowest, n, PROMPTS[probe], judge)
    top = lowest + n - 1
    shown = requests["prompt"].iloc[0]
    written = [f"{k} = Level {k} of it." in shown for k in range(lowest, top + 1)]
    assert all(written) if probe == "score_order" else f"{lowest} to {top}: Text" in shown
    assert {label for row in requests["questions"] for label in row[0]["labels"]} == set(numbers(n, lowest))
    assert ("lowest" in reads) == (lowest == 0)
    responses = shard.judge(requests, Store(tmp_path / "store"), lambda: engines.load(judge))
    scores = score_reads(reads, responses, probe=probe)
    assert scores["failure"].isna().mean() > 0.9
    assert scores["score"].dropna().between(1, n).all()
    assert scores["score"].max() > n - 2
    read = page.choose(scores, page.Caps(5, 5, 5, 99, 999, 0), {"study": "s", "dataset": "d", "judge": "j"}).reads
    assert read["score"].dropna().between(lowest, top).all()
    assert read["score"].dropna().min() < lowest + 3
    if probe == "score_order":
        assert sorted(read["ordering"].iloc[0]) == list(range(lowest, top + 1))


def test_criteria_of_one_prompt_that_begin_with_different_scores_are_one_line():
    judge = complete_judge()
    reads, _ = planned_on("criterion_order", 0, 3, PROMPTS["criterion_order"], judge)
    assert set(reads["lowest"]) == {0}
    rubric = types.SimpleNamespace(unit_id="u", criterion_ids=["a", "b"])
    with pytest.raises(InputError, match="text 'u': criteria of one prompt have one scale, found a from 0, b from 1"):
        criterion_order._lowest(rubric, [{"lowest": 0}, {"lowest": 1}])


def test_probe_asks_with_messages_on_a_scale_from_0(tmp_path):
    (tmp_path / "reply.txt").write_text("Fine.")
    (tmp_path / "prompt.yaml").write_text(json.dumps(FEW_SHOT))
    levels = {level: f"Level {level} of it." for level in range(11)}
    rubric = [f"  {level}: {text}\n" for level, text in levels.items()]
    (tmp_path / "rubric.yaml").write_text(f"question: Kind?\nlevels:\n{''.join(rubric)}")

    def first_option(call):
        rubric = call.body["messages"][0]["content"]
        return Reply(completion(f'{{"score": {re.search("([0-9]+) = ", rubric)[1]}}}', model="m"))

    with running(first_option) as endpoint:
        words = ["probe", tmp_path / "reply.txt", "--rubric", tmp_path / "rubric.yaml", "--model", "m", "--json"]
        words += ["--base-url", endpoint.base_url, "--template", tmp_path / "prompt.yaml"]
        result = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
        assert [message["role"] for message in endpoint.calls[0].body["messages"]] == [
            "system",
            "user",
            "assistant",
            "user",
        ]
    reads = json.loads(result.stdout)
    assert len(reads) == 22
    assert {read["score"] for read in reads} == set(range(11))
    assert all(read["position"] == 1 and read["score"] == read["ordering"][0] for read in reads)
