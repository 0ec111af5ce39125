"""Conditions of probe `score_order`: their names, and which lines of a prompt they change."""

import difflib
import re

import numpy as np
import pandas as pd
import pytest
from factories import ROOT, complete_judge

from rubric_order import datasets, probes
from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import Rubric
from rubric_order.planning import reads as planned
from rubric_order.planning import requests as asked
from rubric_order.probes import Shown
from rubric_order.prompts import conditions, frames
from rubric_order.settings.studies import Study

score_order = probes.load("score_order")

LEVELS = ("Wrong.", "Poor.", "Fair.", "Good.", "Excellent.")
CANONICAL = (1, 2, 3, 4, 5)


def dataset(*references):
    items = [
        datasets.Item(
            where=f"line {number}",
            item_id=f"g{number}-a",
            group_id=f"g{number}",
            candidate="a",
            instruction="Say hello.",
            response="Hello!",
            reference=reference,
            rubric=Rubric("polite", "polite", "Is it polite?", LEVELS),
            human_scores=(3.0,),
        )
        for number, reference in enumerate(references)
    ]
    found = datasets.prepare("d", items)
    return found.items, found.rubrics, found.pairs


def template(name):
    return frames.load_template(ROOT / f"resources/templates/{name}.jinja")


def prompts(name, reference="Good day."):
    tables = dataset(reference)
    (unit,) = score_order.units(*tables, n=5, template=template(name))
    return lambda condition, ordering=CANONICAL: unit.prompt(Shown(ordering, (), condition)).split("\n")


def changed(before, after):
    """Lines that are taken away, and lines that are added."""
    lines = [line for line in difflib.ndiff(before, after) if line[0] in "-+"]
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def with_ids(ids, name, best):
    listed = ", ".join(ids)
    asked_for = {
        "score": [
            f"2. Write a score that is one of {listed}. You should refer to the score rubric.",
            f"3. Answer with the score alone: one of {listed}, and nothing else.",
        ],
        "feedback": [
            f"2. After writing a feedback, write a score that is one of {listed}. You should refer to the score"
            " rubric.",
            '3. The output format should look as follows: "Feedback: (write a feedback for criteria) [RESULT] (one of '
            f'{listed})"',
        ],
    }
    return [
        "An instruction (might include an Input inside it), a response to evaluate, a reference answer that gets a"
        f" score of {best}, and a score rubric representing an evaluation criterion are given.",
        *asked_for[name],
        f"###Reference Answer (Score {best}):",
        *(f"Score {label}: {level}" for label, level in zip(ids, LEVELS, strict=True)),
    ]


@pytest.mark.parametrize("name", ["score", "feedback"])
@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("letter", "EDCBA"),
        ("letter_a_lowest", "ABCDE"),
        ("roman", ("i", "ii", "iii", "iv", "v")),
        ("roman_i_highest", ("v", "iv", "iii", "ii", "i")),
        ("ids(bad, weak,fair,good,very good)", ("bad", "weak", "fair", "good", "very good")),
    ],
)
def test_ids_change_the_lines_that_name_scores_and_no_others(name, condition, ids):
    prompt = prompts(name)
    removed, added = changed(prompt("baseline"), prompt(condition))
    assert added == with_ids(ids, name, ids[-1])
    assert len(removed) == len(added)


@pytest.mark.parametrize("name", ["score", "feedback"])
def test_numbers_turned_round_change_the_reference_and_the_rubric(name):
    prompt = prompts(name)
    _, added = changed(prompt("baseline"), prompt("arabic_1_highest"))
    assert [line for line in prompt("arabic_1_highest") if line.startswith("Score ")] == [
        f"Score {label}: {level}" for label, level in zip("54321", LEVELS, strict=True)
    ]
    assert all("score of 1," in line or line.startswith(("###Reference Answer (Score 1", "Score ")) for line in added)


@pytest.mark.parametrize("name", ["score", "feedback"])
@pytest.mark.parametrize("shown", [1, 2, 3, 4])
def test_a_reference_under_another_number_changes_two_lines(name, shown):
    prompt = prompts(name)
    removed, added = changed(prompt("baseline"), prompt(f"reference_5_as_{shown}"))
    assert [line.replace("5", str(shown)) for line in removed] == added
    assert len(added) == 2


@pytest.mark.parametrize("name", ["score", "feedback"])
def test_without_its_reference_the_prompt_lacks_its_section_and_its_mention(name):
    prompt = prompts(name)
    removed, added = changed(prompt("baseline"), prompt("reference_none"))
    (line,) = added
    assert line in removed[0].replace(" a reference answer that gets a score of 5,", "")
    assert removed[1:] == ["###Reference Answer (Score 5):", "Good day.", ""]
    assert prompt("reference_none") == prompts(name, reference=None)("baseline")


@pytest.mark.parametrize("name", ["score", "feedback"])
@pytest.mark.parametrize(
    ("condition", "removed", "added"),
    [
        ("neutral_1", [], [""]),
        ("neutral_2", ["###Score Rubrics:"], ["###Score Rubric:"]),
        ("neutral_3", ["###The instruction to evaluate:"], ["###Instruction to evaluate:"]),
    ],
)
def test_a_neutral_edit_changes_one_line(name, condition, removed, added):
    prompt = prompts(name)
    assert changed(prompt("baseline"), prompt(condition)) == (removed, added)


@pytest.mark.parametrize("name", ["score", "feedback"])
def test_crossed_conditions_change_what_each_part_changes(name):
    prompt = prompts(name)
    ordering = (5, 4, 3, 2, 1)
    assert prompt("letter+reference_none", ordering) == prompts(name, reference=None)("letter", ordering)
    _, added = changed(prompt("letter"), prompt("letter+reference_5_as_2"))
    assert len(added) == 2
    assert all("D" in line for line in added)
    assert changed(prompt("letter"), prompt("neutral_2+letter")) == (["###Score Rubrics:"], ["###Score Rubric:"])


def test_the_baseline_without_a_reference_is_the_published_prompt_without_its_reference():
    lines = prompts("feedback", reference=None)("baseline")
    assert [line for line in lines if line.startswith("###")] == [
        "###Task Description:",
        "###The instruction to evaluate:",
        "###Response to evaluate:",
        "###Score Rubrics:",
        "###Feedback:",
    ]


@pytest.fixture(scope="module")
def plan():
    names = ["baseline", "reference_5", "reference_5_as_1", "reference_none", "letter", "letter+reference_5"]
    design = planned.Design(scales=[5], strategies=["single"], conditions=names)
    tables = dataset("Good day.", None)
    about = {"study": "s", "judge_id": "j", "judge": complete_judge(), "template": template("score")}
    return tables, planned.plan_reads(*tables, **about, design=design, probe="score_order")


def test_a_prompt_that_conditions_share_is_one_request(plan):
    _, reads = plan
    first = reads[reads["unit_id"] == "g0-a"].set_index("condition")["request_id"]
    assert first["baseline"] == first["reference_5"]
    assert first["letter"] == first["letter+reference_5"]
    assert first.nunique() == 4


def test_an_item_without_a_reference_is_not_read_where_one_is_shown(plan):
    _, reads = plan
    second = reads.loc[reads["unit_id"] == "g1-a", "condition"]
    assert second.tolist() == ["baseline", "reference_none", "letter"]


def test_a_dataset_of_which_nothing_is_read_is_named():
    about = {"study": "s", "judge_id": "j", "judge": complete_judge(), "template": template("score")}
    design = planned.Design(scales=[5], strategies=["single"], conditions=["reference_5"])
    with pytest.raises(
        InputError, match=r"^study s: nothing of dataset d is read: none of its 2 items fits a condition"
    ):
        planned.plan_reads(*dataset(None, None), **about, design=design, probe="score_order")


def test_a_request_asks_for_the_ids_of_its_condition_and_a_score_is_counted_from_the_lowest_level(plan):
    tables, reads = plan
    requests = asked.distinct_requests(reads, owned_elsewhere=set())
    rendered = asked.render_requests(
        requests, asked.units_asked(requests, *tables, template("score"), probe="score_order")
    )
    labels = {row.condition: "".join(row.questions[0]["labels"]) for row in rendered.itertuples()}
    assert labels["baseline"] == "12345"
    assert labels["letter"] == "EDCBA"
    letters = reads[reads["condition"] == "letter"]
    questions = score_order.questions(letters)
    choices = [score_order.parse("B", each, truncated=False) for each in questions]
    logprobs = np.log([0.1, 0.1, 0.1, 0.6, 0.1]).tolist()
    scores = score_order.score(
        letters.assign(option_logprobs=pd.Series([logprobs] * len(letters), index=letters.index)), questions, choices
    )
    assert scores["score"].tolist() == [4, 4]
    assert scores["position"].tolist() == [4, 4]
    assert scores["expected_score"].to_numpy() == pytest.approx([3.5, 3.5])


@pytest.mark.parametrize(
    ("name", "n", "message"),
    [
        ("letters", 5, "'letters' is no condition; expected parts such as baseline, letter"),
        ("letter+roman", 5, "two parts of one kind; expected at most one of score IDs"),
        ("reference_5", 3, "'reference_5': expected levels from 1 to 3"),
        ("ids(a,b)", 5, "has 2 IDs; expected 5, the lowest level first"),
        ("ids(a,b,A)", 3, "expected IDs that differ in more than capitals"),
        ("ids(a,b,.)", 3, "'.': expected up to 20 letters"),
        ("baseline+letter", 5, "'baseline' is no condition"),
    ],
)
def test_what_is_no_condition_is_told(name, n, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        conditions.read(name, n)


def test_a_probe_offers_what_fits_some_scale():
    assert all(name in score_order.CONDITIONS for name in (*conditions.EXAMPLES, "letter+neutral_1", "ids(a+,b,c-1)"))
    assert not any(name in score_order.CONDITIONS for name in ("letters", "", "letter+", "reference_0"))


def test_a_condition_that_does_not_fit_a_scale_is_a_problem_of_the_study():
    study = Study(datasets=["d"], judges=["j"], scales=[3, 5], strategies=["single"], conditions=["reference_5"])
    assert list(score_order.problems(study)) == ["/conditions: scale 3: 'reference_5': expected levels from 1 to 3"]
