"""Whatever an answer holds is a response or a failure with a reason, and a score only where one was written."""

import asyncio
import contextlib
import json

import hostile_answers
import pytest
from factories import questions, request
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_order import probes
from rubric_order.judging.engines import Response
from rubric_order.judging.engines.failures import CallError, masked, received
from rubric_order.judging.engines.label_places import places_of_labels
from rubric_order.judging.engines.python import answers as of_functions
from rubric_order.judging.store import Store
from rubric_order.parsing import choices, decisions
from rubric_order.parsing.decisions import Form
from rubric_order.probes import Question

# Letters that a pattern takes for others where it ignores case, and digits of other scripts.
ODD = st.sampled_from([*"ſıİK①²３٣½\u0307\u200b\ud800\x00", "1" * 5000, "1e400", *hostile_answers.NOISE])
TEXTS = st.one_of(
    st.text(), st.lists(st.one_of(ODD, st.sampled_from([*"12345ABEi>=:[]{}", "style", "fit"]))).map("".join)
)
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.floats(), st.text(max_size=5), st.sampled_from([0, 1, 0.5, 10**400, -(10**400)])
    ),
    lambda value: st.one_of(
        st.lists(value, max_size=5),
        st.dictionaries(
            st.sampled_from(
                ["answers", "type", "value", "probability", "probabilities", "score", "noul", "0", "9" * 5000]
            ),
            value,
            max_size=5,
        ),
    ),
    max_leaves=12,
)
ASKED = {
    "score_order": [Question("", labels, "option") for labels in (tuple("12345"), tuple("EDCBA"), ("i", "ii", "iii"))],
    "criterion_order": [Question("style", tuple("12345"), "level"), Question("fit", tuple("12345"), "level")],
    "pair_order": [Question("", ("A", "B", "tie"), "position_or_tie")],
    "list_order": [Question("", tuple("ABC"), "ranking")],
}


@pytest.mark.parametrize("kind", hostile_answers.KINDS)
def test_hostile_answers_of_each_kind_end_in_no_traceback_and_in_no_score_that_was_not_planted(kind):
    """A share of `python tests/hostile_answers.py 100000`."""
    answers, scored = hostile_answers.check(kind, 300)
    assert answers == 300
    assert 30 < scored < 200


@pytest.mark.parametrize("probe", ASKED)
@given(text=TEXTS, truncated=st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_parser_fails_at_any_text(probe, text, truncated):
    """The guard, `Probe.read`, is not needed here."""
    asked = [[question] for question in ASKED[probe]] if probe == "score_order" else [ASKED[probe]]
    for questions_ in asked:
        for choice in probes.load(probe).parse(text, questions_, truncated=truncated):
            assert (choice.label is None) == (choice.reason is not None)


@given(
    content=JSON,
    dialect=st.sampled_from(["decisions", "systemone"]),
    kind=st.sampled_from(["score", "choice", "predicate"]),
)
@settings(max_examples=300, deadline=None)
def test_no_decision_fails_at_any_json(content, dialect, kind):
    form = Form(dialect, kind)
    with contextlib.suppress(decisions.DecisionError):
        decisions.read_all({"answers": content} if dialect == "decisions" else content, form, ["123"])
    text = json.dumps(content)
    assert decisions.reread(text, form, ["123"]).label in (None, *"123")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("[ſtyle] 4\n[Fıt] 3", ("4", "3")),
        ("[STYLE] 4\n[Fİt] 3", ("4", "3")),
    ],
)
def test_letters_that_a_pattern_takes_for_others(text, labels):
    asked = ASKED["criterion_order"]
    assert tuple(choice.label for choice in probes.load("criterion_order").read(text, asked, truncated=False)) == labels
    tokens = list(text)
    places = places_of_labels(tokens, [[label] for label in asked[0].labels], tokens, asked)
    assert tuple(tokens[place] for place in places if place is not None) == labels


def test_an_answer_at_which_a_parser_fails_is_a_failure_of_each_question(monkeypatch):
    probe = probes.load("criterion_order")
    monkeypatch.setattr(type(probe), "parse", lambda self, text, asked, *, truncated: 1 / 0)
    assert (
        probe.read("4", questions(("plot", "style")), truncated=False)
        == (choices.Choice(None, reason="unreadable"),) * 2
    )


@given(value=st.one_of(JSON, st.integers(), st.binary(), st.builds(hostile_answers.Quiet), st.just(10**5000)))
@settings(max_examples=200, deadline=None)
def test_whatever_a_function_returns_is_a_response_that_a_store_holds_or_one_failure(value):
    asked, store = request("a"), Store("nowhere")
    for returned in (
        value,
        {"score": value},
        {"text": value},
        {"score": 4, "probabilities": value},
        {"score": 4, "model": value},
    ):
        with contextlib.suppress(CallError):  # any other exception fails the test
            assert store.can_hold(received(lambda given=returned: of_functions.response(asked, given), []))


@pytest.mark.parametrize(
    "raised", [hostile_answers.SilentError(), SystemExit(0), RecursionError(), ValueError(10**5000)]
)
def test_an_error_without_words_is_a_failure(raised):
    def make():
        raise raised

    with pytest.raises(CallError, match=r"^bad_request: the answer cannot be read: "):
        received(make, [])


def test_secrets_of_eight_characters_or_more_are_masked_as_they_are_and_as_json():
    secrets = ["none", "sk-12345678", 'quo"ted-key', "sk-12345678-and-more"]
    text = 'none sk-12345678 sk-12345678-and-more quo"ted-key {"key": "quo\\"ted-key"}'
    assert masked(text, secrets) == 'none *** *** *** {"key": "***"}'
    response = Response("sk-12345678", text="sk-12345678", model="sk-12345678", refusal="sk-12345678")
    assert received(lambda: response, secrets) == Response("sk-12345678", text="***", model="***", refusal="***")


def test_a_task_that_is_cancelled_is_no_answer():
    def make():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        received(make, [])
