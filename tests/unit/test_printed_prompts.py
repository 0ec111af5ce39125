"""Prompts that papers print, byte by byte: `tests/data/printed_prompts` has them as printed, gaps in braces.

The texts that we have of the papers were converted from PDF, so two things of white space are judged. Sections of a
prompt in the format of Prometheus are parted by an empty line, also where the conversion kept none (Figure 3 of Li et
al., Figure 5 of Xu et al.). A list has one entry per line. Code Fragment 46.3.1b has its own line breaks.
"""

import hashlib
import re
from functools import partial

import pytest
from factories import complete_judge

from rubric_order import datasets, probes
from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import Rubric
from rubric_order.library import prompts as library
from rubric_order.probes import Shown
from rubric_order.prompts import frames
from rubric_order.run import checks
from rubric_order.settings.studies import Study

LEVELS = ("one", "two", "three", "four", "five")


@pytest.fixture
def printed(root):
    def read(name):
        return (root / f"tests/data/printed_prompts/{name}.txt").read_text(encoding="utf-8").removesuffix("\n")

    return read


@pytest.fixture
def template(root):
    return lambda name: frames.load_template(root / f"resources/templates/{name}.jinja")


def scored(template, levels, **item):
    return frames.render(template, levels=levels, ordering=[1, 2, 3, 4, 5], **item)


def test_figure_5_of_xu_et_al_first_prompt(printed, template):
    text = scored(
        template("feedback"),
        [f"{{description_{score}}}" for score in range(1, 6)],
        instruction="{instruction}",
        response="{response}",
        reference="{reference}",
        question="{criterion_name}",
    )
    # Brackets mark what stands there with a reference answer.
    assert text == printed("xu2026_figure5_first").replace("[a reference answer", "a reference answer").replace(
        ",]", ","
    )


def test_figure_5_of_xu_et_al_second_prompt(printed, template):
    given = {"scale": 5, "lowest": 1, "highest": 5, "instruction": "{instruction}", "response": "{response}"}
    lines = [f"- {{criterion_{k}}}: {{short_description_{k}}}" for k in (1, 2, 3, "n")]
    lines.insert(3, "- ...")
    text = frames.frame(template("papers/xu2026"), n=5, **given).fill(lines)
    assert text == printed("xu2026_figure5_second").replace("{n}", "5")


def test_figure_3_of_li_et_al(printed, template):
    text = scored(
        template("papers/li2025"),
        [f"{{score{score}_description}}" for score in range(1, 6)],
        instruction="{orig_instruction}",
        response="{orig_response}",
        reference="{reference_answer}",
        question="{score_criteria}",
    )
    assert text == printed("li2025_figure3")


def test_code_fragment_46_3_1b_of_the_textbook(printed, template):
    text = scored(
        template("papers/debiasing"),
        [f"{{score_{score}_desc}}" for score in range(1, 6)],
        instruction="{instruction}",
        response="{response}",
        reference="{reference}",
        question="{criteria}",
    )
    assert text == printed("debiasing_46_3_1b")


def compared(template, prompt, *, category, criterion):
    """The prompt of one pair, through the probe."""
    pair_order = probes.load("pair_order")
    name = pair_order.template({"answer_format": "feedback"}, prompt)
    items = [
        datasets.Item(
            where="here",
            item_id=f"q-{letter}",
            group_id="q",
            candidate=letter,
            instruction="{question}",
            response=f"{{answer_{letter}}}",
            rubric=Rubric("r", "design", criterion, LEVELS) if criterion else None,
            category=category,
            turns=[
                datasets.Turn(f"{{question_{k}}}", f"{{answer_{letter}_{k}}}", f"{{ref_answer_{k}}}") for k in (1, 2)
            ],
        )
        for letter in "ab"
    ]
    tables = datasets.prepare(
        "d",
        [
            *items,
            datasets.Pair(
                "here", "q-a-b", "q", "q-a", "q-b", None, items[0].rubric.criterion if criterion else "overall"
            ),
        ],
    )
    chosen = {"pairs": "given", "sample": None, "lists": 1, "seed": 1, "prompt": name}
    (unit,) = pair_order.units(
        tables.items, tables.rubrics, tables.pairs, n=2, template=template(name), comparisons=chosen
    )
    return partial(unit.prompt), unit


@pytest.mark.parametrize(
    ("category", "name"), [("math", "shi2025_mt_bench_math"), ("writing", "shi2025_mt_bench")], ids=str
)
def test_the_prompts_of_mt_bench_of_shi_et_al(printed, template, category, name):
    prompt, _ = compared(template, "mt_bench", category=category, criterion=None)
    assert prompt(Shown((1, 2))) == printed(name)


AFTER = """

Question:

<Question Start>

{question}

<Question End>

Response 1:

<Response 1 Start>

{answer_b}

<Response 1 End>

Response 2:

<Response 2 Start>

{answer_a}

<Response 2 End>"""


def test_the_prompt_of_devbench_of_shi_et_al_has_question_and_responses_last(printed, template):
    prompt, unit = compared(template, "papers/shi2025_devbench", category="design", criterion="<Evaluating Guidance>")
    assert prompt(Shown((2, 1))).rstrip("\n") == printed("shi2025_devbench") + AFTER
    assert [question.labels for question in unit.questions(Shown((2, 1)))] == [("A", "B")]
    with_tie = prompt(Shown((1, 2), (), "tie"))
    assert "the following three options" in with_tie
    assert "\n- C. Both responses are equally good.\n" in with_tie


def test_the_prompt_of_prometheus_2_is_that_which_its_library_publishes(template):
    """Its library's text (prometheus-eval, prompts.py) by hash, each gap named as there."""
    text = scored(
        template("papers/kim2024"),
        [f"{{score{score}_description}}" for score in range(1, 6)],
        instruction="{instruction}",
        response="{response}",
        reference="{reference_answer}",
        question="{criteria}",
    )
    assert hashlib.sha256(text.encode()).hexdigest() == KIM2024


KIM2024 = "987c3f91b0acc433d87adc728d2d9d45cd6528bb05f889e93f61b13f5cc7d4d7"


SCORED = ["papers/li2025", "papers/kim2024", "papers/debiasing"]


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize(
    "condition", ["letter", "roman", "reference_none", "reference_5_as_2", "neutral_1", "neutral_2"]
)
def test_printed_prompts_of_scores_take_every_condition_and_change_in_it_alone(template, name, condition):
    item = {"instruction": "Say hello.", "response": "Hello!", "reference": "Good day.", "question": "Polite?"}
    base = scored(template(name), LEVELS, **item)
    without = item | {"reference": None} if condition == "reference_none" else item
    changed = scored(template(name), LEVELS, condition=condition, **without)
    assert changed != base
    shown = {
        "letter": ["one of E, D, C, B, A", "Score E: one", "(Score A)"],
        "roman": ["one of i, ii, iii, iv, v", "Score v: five"],
        "reference_none": ["Score 1: one"],
        "reference_5_as_2": ["a reference answer that gets a score of 2", "(Score 2)"],
    }
    flat = re.sub(r"\s+", " ", changed)
    assert all(part in flat for part in shown.get(condition, []))
    assert ("eference" in changed) == (condition != "reference_none")


@pytest.mark.parametrize("name", [*SCORED, "papers/xu2026", "papers/shi2025_devbench"])
def test_a_printed_prompt_can_be_named_by_a_study_and_read_by_the_library(root, name):
    probe = next(p for p in probes.names() if name in probes.load(p).PROMPTS)
    judge = complete_judge(answer_format="feedback", answer_prefix="")
    assert probes.load(probe).template(judge, name) == name
    assert library.load(name).render is not None


def test_a_prompt_that_asks_for_feedback_is_refused_for_a_judge_that_answers_with_a_score():
    study = Study(datasets=["d"], judges=["mine"], strategies=["single"], prompt="papers/li2025")
    judge = complete_judge()
    (problem,) = checks._problems_of_study(study, {"mine": judge})
    assert problem == (
        "/prompt: 'papers/li2025' asks for answer_format 'feedback', judge 'mine' has answer_format 'score'"
    )
    assert not list(checks._problems_of_study(study, {"mine": complete_judge(answer_format="feedback")}))


def test_an_unknown_name_of_a_template_lists_those_of_papers_too():
    with pytest.raises(InputError, match="papers/li2025"):
        library.load("papers/nobody")


def test_the_schema_names_every_prompt_that_a_study_can_name(root):
    said = Study.model_fields["prompt"].description
    offered = {name for probe in probes.names() for name in probes.load(probe).PROMPTS}
    assert all(name in said for name in offered)
