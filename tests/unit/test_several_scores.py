"""The parser of several scores against forms of writing them, against text that no one wrote, and its own promises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.parsing.choices import (
    CONFLICTING,
    ECHO,
    EMPTY,
    NO_SCORE,
    NOT_INTEGER,
    OUT_OF_RANGE,
    REASONS,
    TRUNCATED,
    UNFINISHED_THINKING,
    numbers,
)
from rubric_order.parsing.several_scores import parse_scores

NAMES = ("Coherence", "Empathy", "Surprise")

# What is written, and the score or the reason why there is none under each of the three names.
LABELLED = [
    ("[Coherence] 4\n[Empathy] 3\n[Surprise] 2", (4, 3, 2)),
    ("[Coherence]4\n[Empathy]3\n[Surprise]2", (4, 3, 2)),
    ("[coherence] 4\n[EMPATHY] 3\n[sUrPrIsE] 2", (4, 3, 2)),
    ("Coherence: 4\nEmpathy: 3\nSurprise: 2", (4, 3, 2)),
    ("Coherence 4\nEmpathy 3\nSurprise 2", (4, 3, 2)),
    ("coherence=4\nempathy=3\nsurprise=2", (4, 3, 2)),
    ("Coherence - 4\nEmpathy – 3\nSurprise — 2", (4, 3, 2)),
    ("Coherence-4\nEmpathy-3\nSurprise-2", (4, 3, 2)),
    ("Coherence -> 4\nEmpathy => 3\nSurprise → 2", (4, 3, 2)),
    ("Coherence.....4\nEmpathy ... 3\nSurprise … 2", (4, 3, 2)),
    ("Coherence: 4/5\nEmpathy: 3 / 5\nSurprise: 2 out of 5", (4, 3, 2)),
    ("Coherence: 4.0\nEmpathy: 3,0\nSurprise: +2", (4, 3, 2)),
    ("Coherence: four\nEmpathy: Three\nSurprise: two out of five", (4, 3, 2)),
    ("[Coherence]: [4]\n[Empathy]: (3)\n[Surprise]: <2>", (4, 3, 2)),
    ("[Coherence: 4]\n[Empathy: 3]\n[Surprise 2]", (4, 3, 2)),
    ("(Coherence) 4\n{Empathy} 3\n<Surprise> 2", (4, 3, 2)),
    ("【Coherence】 4\n【Empathy】 3\n【Surprise】 2", (4, 3, 2)),
    ("\\[Coherence\\] 4\n\\[Empathy\\] 3\n\\[Surprise\\] 2", (4, 3, 2)),
    ("**Coherence**: 4\n**Empathy:** 3\n**Surprise: 2**", (4, 3, 2)),
    ("**[Coherence]** 4\n*[Empathy]* **3**\n__[Surprise]__ `2`", (4, 3, 2)),
    ("_Coherence_: 4\n<b>Empathy</b>: 3\n`Surprise`: 2", (4, 3, 2)),
    ("- Coherence: 4\n- Empathy: 3\n- Surprise: 2", (4, 3, 2)),
    ("* [Coherence] 4\n• [Empathy] 3\n– [Surprise] 2", (4, 3, 2)),
    ("1. Coherence: 4\n2. Empathy: 3\n3. Surprise: 2", (4, 3, 2)),
    ("1) [Coherence] 4\n2) [Empathy] 3\n3) [Surprise] 2", (4, 3, 2)),
    ("1. **Coherence** – 4/5\n2. **Empathy** – 3/5\n3. **Surprise** – 2/5", (4, 3, 2)),
    ("Criterion 1: Coherence: 4\nCriterion 2: Empathy: 3\nCriterion 3: Surprise: 2", (4, 3, 2)),
    ("Coherence score: 4\nEmpathy rating is 3\nSurprise Score = 2", (4, 3, 2)),
    ("Coherence (1-5): 4\nEmpathy (out of 5): 3\nSurprise (/5): 2", (4, 3, 2)),
    ("Coherence (how much sense it makes): 4\nEmpathy (shared feelings): 3\nSurprise (the end): 2", (4, 3, 2)),
    ("Coherence: 4, Empathy: 3, Surprise: 2", (4, 3, 2)),
    ("Coherence 4; Empathy 3; Surprise 2", (4, 3, 2)),
    ("Coherence: 4 | Empathy: 3 | Surprise: 2", (4, 3, 2)),
    ("Coherence=4 Empathy=3 Surprise=2", (4, 3, 2)),
    ("| Criterion | Score |\n|---|---|\n| Coherence | 4 |\n| Empathy | 3 |\n| Surprise | 2/5 |", (4, 3, 2)),
    ("Coherence,4\nEmpathy,3\nSurprise,2", (4, 3, 2)),
    ("Coherence\t4\r\nEmpathy\t3\r\nSurprise\t2\r\n", (4, 3, 2)),
    ("<Coherence>4</Coherence>\n<Empathy>3</Empathy>\n<Surprise>2</Surprise>", (4, 3, 2)),
    ('"Coherence": "4"\n"Empathy": "3"\n"Surprise": "2"', (4, 3, 2)),
    ("[Coherence] 4.\n[Empathy] 3!\n[Surprise] (2)", (4, 3, 2)),
    ("Here are my scores for Coherence, Empathy and Surprise:\n\n[Coherence] 4\n[Empathy] 3\n[Surprise] 2", (4, 3, 2)),
    ("```\n[Coherence] 4\n[Empathy] 3\n[Surprise] 2\n```", (4, 3, 2)),
]
ORDER_AND_COMPANY = [
    ("[Surprise] 2\n[Coherence] 4\n[Empathy] 3", (4, 3, 2)),
    ("[Coherence] 4\n[Surprise] 2", (4, NO_SCORE, 2)),
    ("[Empathy] 3", (NO_SCORE, 3, NO_SCORE)),
    ("[Coherence] 4\n[Empathy] 3\n[Surprise] 2\n[Plot] 5", (4, 3, 2)),
    ("[Plot] 5\n[Coherence] 4\nOriginality: 1\n[Empathy] 3\n[Surprise] 2", (4, 3, 2)),
    ("[Coherence] 4\n[Empathy] 3\n[Surprise] 2\nOverall: 5", (4, 3, 2)),
    ("[Coherence] 4\n[Empathy] 3\n[Surprise]\nOverall score: 5/5", (4, 3, NO_SCORE)),
    ("[Coherence] 4\n[Empathy] 3\n[Surprise]\nTotal 9", (4, 3, NO_SCORE)),
    ("[Coherence] 4\n[Empathy] 3\n[Surprise] 2\nAverage: 3.0", (4, 3, 2)),
    ("[Coherence] 4\n[Coherence] 4\n[Empathy] 3\n[Surprise] 2", (4, 3, 2)),
    ("[Coherence] 4\n[Empathy] 3\n[Surprise] 2\n[Coherence] 5", (CONFLICTING, 3, 2)),
    ("Coherence: 3.5\nCoherence: 4\nEmpathy: 3\nSurprise: 2", (CONFLICTING, 3, 2)),
    ("Coherence is what matters.\n[Coherence] 4\n[Empathy] 3\n[Surprise] 2", (4, 3, 2)),
    ("<think>[Coherence] 1\n[Empathy] 1</think>[Coherence] 4\n[Empathy] 3\n[Surprise] 2", (4, 3, 2)),
]
PROSE = [
    ("Coherence: 4 - it flows\nEmpathy: 3 (two scenes)\nSurprise: 2, as one sees it coming", (4, 3, 2)),
    ("Coherence: 4. The story has 3 parts.\nEmpathy: 3. Fine.\nSurprise: 2. Stock.", (4, 3, 2)),
    ("Coherence: 4 The story flows.\nEmpathy: 3 Fine.\nSurprise: 2 Stock.", (4, 3, 2)),
    ("Coherence: 4 because it flows\nEmpathy: 3 for one scene\nSurprise: 2 overall", (4, 3, 2)),
    ("Coherence\n4\n\nEmpathy\n3\n\nSurprise\n2", (4, 3, 2)),
    ("Coherence:\n4 because it flows\nEmpathy:\n3/5\nSurprise:\n(2)", (4, 3, 2)),
    ("### Coherence\nIt flows.\nScore: 4\n### Empathy\nIt has 2 scenes.\nScore: 3\n### Surprise\nScore: 2", (4, 3, 2)),
    ("Coherence: It flows. Score: 4\nEmpathy: Good (3/5)\nSurprise: I would give it a 2.", (4, 3, 2)),
    ("Coherence: How much sense the story makes. 4\nEmpathy: shared feelings: 3\nSurprise: weak - 2", (4, 3, 2)),
    ("The coherence is 4 out of 5, empathy deserves a 3 and surprise gets 2.", (4, 3, 2)),
    ("Coherence: 4\nEmpathy is shown in 5 scenes.\nEmpathy: 3\nSurprise: 2", (4, 3, 2)),
    ("Coherence: 2 scenes fit together\nEmpathy: one of the best\nSurprise: 5 of the 6 scenes", (NO_SCORE,) * 3),
]
JSON = [
    ('{"coherence": 4, "empathy": 3, "surprise": 2}', (4, 3, 2)),
    ('{\n  "Coherence": 4,\n  "Empathy": 3,\n  "Surprise": 2\n}', (4, 3, 2)),
    ('```json\n{"Coherence": "4/5", "Empathy": {"score": 3, "reason": "2 scenes"}, "Surprise": 2.0}\n```', (4, 3, 2)),
    ('Here it is: {"scores": {"coherence": 4, "empathy": 3, "surprise": 2}, "overall": 5}. Done.', (4, 3, 2)),
    ('[{"criterion": "Coherence", "score": 4}, {"criterion": "Empathy", "score": 3}]', (4, 3, NO_SCORE)),
    ('[{"name": "empathy", "rating": 3}, {"name": "surprise", "rating": 2}]', (NO_SCORE, 3, 2)),
    ('[{"Coherence": 4}, {"Empathy": 3}, {"Surprise": 2}]', (4, 3, 2)),
    ('{"Coherence": 4}\n{"Empathy": 3}\n{"Surprise": 2}', (4, 3, 2)),
    ('{"coherence_score": 4, "Empathy Rating": 3, "surprise": "two"}', (4, 3, 2)),
    ('{"coherence": 4, "coherence": 5, "empathy": 3, "surprise": null}', (CONFLICTING, 3, NO_SCORE)),
    ('{"coherence": 4.5, "empathy": 0, "surprise": true}', (NOT_INTEGER, OUT_OF_RANGE, NO_SCORE)),
    ('{"coherence": 4, "empathy": 3, "sur', (4, 3, NO_SCORE)),
    ("{'coherence': 4, 'empathy': 3, 'surprise': 2}", (4, 3, 2)),
]
FAILURES = [
    ("[Coherence] 6\n[Empathy] 0\n[Surprise] -1", (OUT_OF_RANGE,) * 3),
    ("[Coherence] 8/10\n[Empathy] 80%\n[Surprise] 2/3", (OUT_OF_RANGE,) * 3),
    ("[Coherence] 3.5\n[Empathy] 3,5\n[Surprise] 2 and a half", (NOT_INTEGER,) * 3),
    ("[Coherence] 3-4\n[Empathy] 3 or 4\n[Surprise] 2 to 3", (CONFLICTING,) * 3),
    ("[Coherence] N/A\n[Empathy] -\n[Surprise] ?", (NO_SCORE,) * 3),
    ("[Coherence] high\n[Empathy] ★★★\n[Surprise] C", (NO_SCORE,) * 3),
    # Written by SmolLM2-135M in this or nearly this form.
    (
        "The 3 criteria are:\n1. Coherence: 1 sentence\n2. Empathy: 2 sentences\n3. Surprise: 3 sentences",
        (NO_SCORE,) * 3,
    ),
    (
        "The criteria are:\n1. **Coherence**: How well it holds\n2. **Empathy**: How fully\n3. **Surprise**:",
        (NO_SCORE,) * 3,
    ),
    ("[Criterion] N\n\n###The instruction to evaluate:\nWrite a story with 3 wizards.", (ECHO,) * 3),
    ("4\n3\n2", (NO_SCORE,) * 3),
    ("Coherence, Empathy and Surprise:\n4\n3\n2", (NO_SCORE,) * 3),
    ("1. Coherence\n2. Empathy\n3. Surprise", (NO_SCORE,) * 3),
    ("Coherence\nEmpathy\nSurprise\n4\n3\n2", (NO_SCORE, NO_SCORE, CONFLICTING)),
    ("Incoherence: 4\nEmpathyless: 3\nSurprises: 2", (NO_SCORE,) * 3),
    ("[Criterion] N", (ECHO,) * 3),
    ("[Coherence] N\n[Empathy] N\n[Surprise] 2", (ECHO, ECHO, 2)),
    ("Output exactly 3 lines, one per criterion.", (ECHO,) * 3),
    ("I cannot judge this story.", (NO_SCORE,) * 3),
    ("", (EMPTY,) * 3),
    (" \n\t", (EMPTY,) * 3),
    ("<think>[Coherence] 4", (UNFINISHED_THINKING,) * 3),
]
FORMS = [*LABELLED, *ORDER_AND_COMPANY, *PROSE, *JSON, *FAILURES]


def outcomes(answer, names=NAMES, *, n=5, truncated=False):
    choices = parse_scores(answer, names, numbers(n), truncated=truncated)
    return tuple(int(choice.label) if choice.label else choice.reason for choice in choices)


@pytest.mark.parametrize(("answer", "expected"), FORMS)
def test_forms(answer, expected):
    assert outcomes(answer) == expected


def test_there_are_many_forms():
    assert len({answer for answer, _ in FORMS}) >= 60


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("[Coherence] 4\n[Empathy] 3\n[Surp", (4, 3, TRUNCATED)),
        ("[Coherence] 4\n[Empathy]", (4, TRUNCATED, TRUNCATED)),
        ("Coherence: It flows, so the score would be 3 if", (TRUNCATED,) * 3),
        ('{"coherence": 4, "empathy": ', (4, TRUNCATED, TRUNCATED)),
        ("[Coherence] 4\n[Empathy] 3\n[Surprise] 2\nFurther remarks", (4, 3, 2)),
        ("", (TRUNCATED,) * 3),
    ],
)
def test_what_a_cut_answer_does_not_reach_is_truncated(answer, expected):
    assert outcomes(answer, truncated=True) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "[Factual consistency] 4\n[Consistency] 2",
        "factual_consistency: 4\nconsistency: 2",
        "FACTUAL-CONSISTENCY 4, Consistency 2",
    ],
)
def test_a_name_that_is_part_of_another_is_told_apart(answer):
    assert outcomes(answer, ("Consistency", "Factual consistency")) == (2, 4)


def test_names_of_several_words_are_found_however_they_are_joined():
    names = ("plot_strength", "Style & tone")
    assert outcomes("Plot Strength: 4\nStyle tone: 2", names) == (4, 2)
    assert outcomes('{"plot-strength": 4, "style_tone": 2}', names) == (4, 2)


@pytest.mark.parametrize(
    "answer",
    [
        '{"criteria": ["Coherence", "Empathy", "Surprise"], "scores": [4, 2, 5]}',
        '{"coherenceScore": 4, "empathyScore": 2, "surpriseScore": 5}',
        '{"coherence_grade": 4, "empathy_grade": 2, "surprise_grade": 5}',
        '{"coherence": {"points": 4}, "empathy": {"level": 2}, "surprise": {"final_score": 5}}',
    ],
)
def test_further_forms_of_json(answer):
    assert outcomes(answer) == (4, 2, 5)


def test_lists_of_different_lengths_belong_to_no_criterion():
    assert outcomes('{"criteria": ["Coherence", "Empathy", "Surprise"], "scores": [4, 2]}')[:2] != (4, 2)


def test_the_number_of_the_next_line_is_no_score_of_a_criterion():
    answer = "Coherence: it flows well. 2\nEmpathy: 3\nSurprise: 4"
    assert outcomes(answer)[1:] == (3, 4)


def test_names_with_characters_that_mean_something_in_patterns():
    assert outcomes("[C++ (style)] 4\n[a.b] 2", ("C++ (style)", "a.b")) == (4, 2)


def test_another_scale():
    assert outcomes("[Coherence] 9\n[Empathy] 7/9\n[Surprise] 7/5", n=9) == (9, 7, OUT_OF_RANGE)
    assert outcomes("[Coherence] 3\n[Empathy] 2\n[Surprise] 1", n=2) == (OUT_OF_RANGE, 2, 1)


@given(st.permutations(NAMES), st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_scores_belong_to_names_in_whatever_order_they_come(order, scores):
    given_scores = dict(zip(order, scores, strict=True))
    expected = tuple(given_scores[name] for name in NAMES)
    assert outcomes("\n".join(f"[{name}] {score}" for name, score in given_scores.items())) == expected
    assert outcomes(json.dumps(given_scores)) == expected


WORDS = st.sampled_from(
    [
        *NAMES,
        "[Coherence]",
        "4",
        "3.5",
        "7",
        "four",
        "N",
        ":",
        "-",
        "\n",
        "[",
        "]",
        "{",
        '"',
        "|",
        "/5",
        "Score:",
        "is",
        "**",
        "1.",
        ",",
    ]
)


@given(st.one_of(st.text(), st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=40).map("".join)))
def test_any_text_gives_a_score_on_the_scale_or_a_reason(text):
    for truncated in (False, True):
        for result in parse_scores(text, NAMES, numbers(5), truncated=truncated):
            assert (result.label is None) == (result.reason is not None)
            assert result.label is None or (result.label in numbers(5) and result.pattern)
            assert result.reason is None or result.reason in REASONS


@pytest.mark.parametrize(
    "piece",
    ["[Coherence] ", "Coherence: ", '{"', "[{", "Coherence (", "- ", "[[[", "Coherence is as to of ", "\n|", "a b "],
)
def test_a_long_answer_is_read_to_its_end(piece):
    # Reading that takes more than linear time would not end here.
    assert outcomes(piece * (300_000 // len(piece)) + "\n[Empathy] 3")[1] in (3, NO_SCORE)
