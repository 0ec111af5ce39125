"""Probes `pair_order` and `list_order`: pairs and lists that are read, their prompts, and what comes of answers."""

import hashlib
import math

import numpy as np
import pandas as pd
import pytest
from factories import complete_judge

from rubric_order import datasets, probes
from rubric_order.base.errors import InputError
from rubric_order.datasets import Item, Pair, Turn
from rubric_order.datasets.rubrics import Rubric
from rubric_order.planning import reads as planned
from rubric_order.planning import requests as asked
from rubric_order.probes import Shown, _candidates
from rubric_order.probes.list_order import drawn
from rubric_order.prompts import frames, orderings
from rubric_order.scoring.scores import score_reads

list_order, pair_order = map(probes.load, ("list_order", "pair_order"))

CHOSEN = {"pairs": "given", "sample": None, "lists": 2, "seed": 1}
GUIDE = Rubric("guide", "clarity", "<Evaluating Guidance>", levels=())


def item(group, candidate, *, task="writing", turns=True, rubric=None, human=()):
    said = [Turn(f"{group} asks {k}", f"{candidate} says {k} {{{{ n }}}}", f"ref {k}") for k in (1, 2)]
    return Item(
        where="here",
        item_id=f"{group}-{candidate}",
        group_id=group,
        candidate=candidate,
        instruction=f"{group} asks",
        response=f"{candidate} says. " * 3,
        rubric=rubric,
        reference="ref",
        human_scores=list(human),
        category=task,
        turns=said if turns else None,
    )


def pair(group, one, other, preference=None, criterion="overall"):
    return Pair("here", f"{group}-{one}-{other}", group, f"{group}-{one}", f"{group}-{other}", preference, criterion)


def tables(entries):
    found = datasets.prepare("d", entries)
    return found.items, found.rubrics, found.pairs


@pytest.fixture
def four():
    """Three questions, four candidates each; base is paired with the others."""
    items = [item(group, name) for group in ("q1", "q2", "q3") for name in ("base", "x", "y", "z")]
    return tables([*items, *(pair(group, "base", name, "a") for group in ("q1", "q2", "q3") for name in "xyz")])


@pytest.fixture
def guided():
    items = [item("p_t", name, task="t", turns=False, rubric=GUIDE) for name in ("a", "b")]
    return tables([*items, pair("p_t", "a", "b", criterion="clarity")])


@pytest.fixture
def template(root):
    return lambda name: frames.load_template(root / f"resources/templates/compare_{name}.jinja")


@pytest.fixture
def units(template):
    def found(probe, data, prompt="mt_bench", *, n=2, **chosen):
        comparisons = CHOSEN | {"prompt": f"compare_{prompt}"} | chosen
        return list(probe.units(*data, n=n, template=template(prompt), comparisons=comparisons))

    return found


# Which pairs and lists.


def test_pairs_are_the_given_ones_or_every_two_of_a_group(units, four):
    given = units(pair_order, four)
    assert [unit.options for unit in given[:2]] == [("q1-base", "q1-x"), ("q1-base", "q1-y")]
    assert len(given) == 9
    assert given[0].about["baseline"] == "base"
    assert given[0].about["candidate"] == "x"
    assert given[0].about["human_scores"] == [1.0, 0.0]
    every = units(pair_order, four, pairs="all")
    assert len(every) == 3 * math.comb(4, 2)
    assert len({unit.unit_id for unit in every}) == len(every)
    among = {unit.unit_id: unit.about for unit in every}
    assert among["q1-base-x"]["human_scores"] == [1.0, 0.0]
    assert (among["q1-x-y"]["baseline"], among["q1-x-y"]["candidate"]) == (None, None)


def test_which_pairs_are_sampled_does_not_depend_on_their_order(units, four):
    items, rubrics, pairs = four
    chosen = [unit.unit_id for unit in units(pair_order, four, sample=4)]
    turned = [unit.unit_id for unit in units(pair_order, (items[::-1], rubrics, pairs[::-1]), sample=4)]
    assert len(chosen) == 4
    assert sorted(chosen) == sorted(turned)
    assert sorted(chosen) != sorted(unit.unit_id for unit in units(pair_order, four, sample=4, seed=2))


def test_lists_are_of_different_candidates_and_the_same_in_every_group(units, four):
    lists = units(list_order, four, n=3)
    assert len(lists) == 3  # four candidates make one list of three
    assert len(units(list_order, four, n=3, sample=2)) == 2
    assert len({tuple(unit.about["candidates"]) for unit in lists}) == 1
    assert drawn(four[0], 2, 9, seed=1) != drawn(four[0], 2, 9, seed=3)
    assert sorted(name for names in drawn(four[0], 2, 9, seed=1) for name in names) == ["base", "x", "y", "z"]
    with pytest.raises(InputError, match="takes 5 candidates that answer the same questions; found 4"):
        units(list_order, four, n=5)


def test_a_dataset_without_pairs_says_so(units):
    with pytest.raises(InputError, match="has no pairs"):
        units(pair_order, tables([item("q", "a", rubric=GUIDE)]))


def test_the_source_is_what_questions_share_beside_their_task(units, guided):
    (unit,) = units(pair_order, guided, "devbench")
    assert (unit.about["source_id"], unit.about["task"], unit.about["criterion"]) == ("p", "t", "clarity")


# Prompts.


def checksum(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("task", "instructions", "layout"),
    [("math", "79adeb31a7f50510", "06a87b4d128078bc"), ("stem", "af4a7431af51d6d7", "12ddf38d45abbac6")],
)
def test_the_prompts_of_mt_bench_are_the_printed_ones(template, task, instructions, layout):
    """Shi et al. (2025), Appendix F.2, with its placeholders: the printed text, byte for byte."""
    kinds = [
        {name: f"{{{text}_{k}}}" for name, text in (("user", "question"), ("reference", "ref_answer"))} for k in (1, 2)
    ]
    about = {
        "dataset": "d",
        "group_id": "q",
        "criterion": "overall",
        "category": task,
        "instruction": "",
        "response": "",
    }
    items = [
        about
        | {"item_id": f"q-{name}", "candidate": name, "reference": None, "rubric_id": None}
        | {"turns": [turn | {"assistant": f"{{answer_{name}_{k}}}"} for k, turn in enumerate(kinds, start=1)]}
        for name in "ab"
    ]
    named = {"template": template("mt_bench"), "prompt": "compare_mt_bench", "criterion": None}
    prompt = _candidates.unit("u", items, {}, **named).prompt(Shown((1, 2)))
    head, _, body = prompt.partition("\n\n")
    assert (checksum(head), checksum(body)) == (instructions, layout)


def test_the_prompt_of_devbench_is_the_printed_one(units, guided):
    """The same, but for line breaks, which the text that we have of the paper joins, and the place of the texts."""
    (unit,) = units(pair_order, guided, "devbench")
    prompt = unit.prompt(Shown((1, 2)))
    start, _, rest = prompt.partition("Question:\np_t asks\n\n")
    texts, _, end = rest.partition("Please choose")
    assert checksum(" ".join(f"{start} Please choose{end}".split())) == "a4160dea71ddd4c2"
    assert texts == "Response 1:\na says. a says. a says.\n\nResponse 2:\nb says. b says. b says.\n\n"


def test_labels_stay_and_candidates_move(units, four):
    unit = units(pair_order, four)[0]
    one, other = unit.prompt(Shown((1, 2))), unit.prompt(Shown((2, 1)))
    assert one != other
    assert "### Assistant A:\nbase says 1 {{ n }}" in one
    assert "### Assistant B:\nx says 2 {{ n }}" in one
    assert "### Assistant A:\nx says 1 {{ n }}" in other
    assert "ref" not in one


def test_only_math_shows_reference_answers(units):
    data = tables([item("q", "a", task="math"), item("q", "b", task="math"), pair("q", "a", "b")])
    assert "### Reference answer:\nref 2" in units(pair_order, data)[0].prompt(Shown((1, 2)))


@pytest.mark.parametrize("prompt", ["mt_bench", "devbench", "letter"])
def test_a_tie_is_offered_where_the_condition_says(units, four, guided, prompt):
    unit = units(pair_order, guided if prompt == "devbench" else four, prompt)[0]
    wording = {"mt_bench": '"[[C]]" for a tie', "devbench": "C. Both", "letter": "or C if"}[prompt]
    for condition in ("tie", "no_tie", "baseline"):
        offered = condition == "tie" or (condition == "baseline" and _candidates.OFFERS_TIE[prompt])
        (question,) = unit.questions(Shown((1, 2), (), condition))
        assert (wording in unit.prompt(Shown((1, 2), (), condition))) == offered
        assert question.labels == (("A", "B", "C") if offered else ("A", "B"))
        assert question.names == ("position_or_tie" if offered else "position")


def test_a_list_of_three_can_be_ranked(units, four):
    unit = units(list_order, four, n=3)[0]
    (question,) = unit.questions(Shown((1, 2, 3), (), "ranking"))
    assert (question.labels, question.names) == (("A", "B", "C"), "ranking")
    assert "final ranking" in unit.prompt(Shown((1, 2, 3), (), "ranking"))
    assert unit.questions(Shown((1, 2, 3)))[0].labels == ("A", "B", "C", "D")


def test_conditions_about_length(units, guided):
    (unit,) = units(pair_order, guided, "letter")
    base, said, padded = (
        unit.prompt(Shown((1, 2), (), condition)) for condition in ("baseline", "length_sentence", "padded_2")
    )
    assert said.replace(f" {_candidates.LENGTH_SENTENCE}", "") == base
    assert padded.replace(_candidates.pad("b says. b says. b says."), "b says. b says. b says.") == base
    assert padded != base
    text = "word " * 200
    assert 1.5 < len(_candidates.pad(text)) / len(text) < 1.65
    assert _candidates.cut("one two three", 8) == "one two"
    assert _candidates.cut("one two three", 7) == "one two"
    assert _candidates.cut("onetwothree", 4) == "onet"
    assert _candidates._varied(["one two three", "four"], "truncated", last=True) == ["one", "four"]


def test_the_sentence_about_length_takes_the_place_of_the_one_that_mt_bench_has(units, four):
    printed = "Do not allow the length of the responses to influence your evaluation."
    unit = units(pair_order, four)[0]
    base, said = (unit.prompt(Shown((1, 2), (), condition)) for condition in ("baseline", "length_sentence"))
    assert printed in base
    assert said == base.replace(printed, _candidates.LENGTH_SENTENCE)


@pytest.mark.parametrize(("prompt", "message"), [("mt_bench", "two turns"), ("relative", "no rubric")])
def test_a_prompt_that_does_not_fit_the_items_says_so(units, prompt, message):
    data = tables([item("q", "a", turns=False), item("q", "b", turns=False), pair("q", "a", "b")])
    with pytest.raises(InputError, match=message):
        units(pair_order, data, prompt)


# Orders.


def test_orders_of_pairs_and_lists():
    assert orderings.choose_candidates("swap", 2).tolist() == [[1, 2], [2, 1]]
    assert orderings.choose_candidates("swap", 2, budget=6).tolist() == [[1, 2], [2, 1]] * 3
    assert orderings.choose_candidates("single", 3).tolist() == [[1, 2, 3]]
    assert orderings.choose_candidates("cyclic", 3).tolist() == [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    with pytest.raises(ValueError, match="even number of times; got 2 options and 3 reads"):
        orderings.choose_candidates("swap", 2, budget=3)
    with pytest.raises(ValueError, match="steps of 3 reads; got 4"):
        orderings.choose_candidates("latin", 3, budget=4, rng=np.random.default_rng(1))


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_a_latin_square_has_each_candidate_at_each_position_once(n):
    rng = np.random.default_rng(4)
    rows = orderings.choose_candidates("latin", n, budget=2 * n, rng=rng)
    for square in (rows[:n], rows[n:]):
        assert (np.sort(square, axis=0) == np.arange(1, n + 1)[:, None]).all()
        assert (np.sort(square, axis=1) == np.arange(1, n + 1)).all()
    drawn = {tuple(orderings.choose_candidates("latin", 3, rng=rng).ravel()) for _ in range(200)}
    assert len(drawn) == 12  # there are twelve Latin squares of three


# From plan to scores.


@pytest.mark.parametrize(
    ("probe", "n", "strategy", "condition", "answers", "scores"),
    [
        ("pair_order", 2, "swap", "baseline", ["[[A]]", "[[A]]", "[[C]]", "Final verdict: B"], [1, 2, 0, 1]),
        ("list_order", 3, "cyclic", "baseline", ["[[A]]", "[[A]]", "[[B]]"], [1, 2, 1]),
        ("list_order", 3, "cyclic", "ranking", ["B > A > C", "[[A > B > C]]", "C"], [2, 2, None]),
    ],
)
def test_answers_become_candidates(four, template, probe, n, strategy, condition, answers, scores):
    chosen = CHOSEN | {"prompt": "compare_mt_bench"}
    design = planned.Design([n], [strategy], conditions=[condition], comparisons=chosen)
    judge = complete_judge(answer_format="feedback", answer_prefix="")
    named = {"study": "s", "judge_id": "j", "judge": judge, "template": template("mt_bench"), "probe": probe}
    reads = planned.plan_reads(*four, design=design, **named).iloc[: len(answers)]
    requests = asked.distinct_requests(reads, owned_elsewhere=[])
    requests = asked.render_requests(
        requests, asked.units_asked(requests, *four, template("mt_bench"), probe=probe, comparisons=chosen)
    )
    assert requests["prompt"].str.len().min() > 0
    assert requests["request_id"].nunique() == len(answers)
    assert len(requests["options"].iloc[0]) == n
    responses = pd.DataFrame({"request_id": reads["request_id"], "text": answers})
    responses = responses.assign(error=None, finish_reason="stop", option_logprobs=None)
    found = score_reads(reads, responses, probe=probe)
    assert [None if pd.isna(score) else score for score in found["score"]] == scores
    assert {*probes.load(probe).COLUMNS} <= {*found}
    if condition == "ranking":
        assert list(found["ranking"].iloc[0]) == [2, 1, 3]
        assert list(found["ranking"].iloc[1]) == [2, 3, 1]
