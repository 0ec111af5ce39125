"""The parser against forms of writing a score, against text that no one wrote, and against answers that were read."""

import csv
import gzip
import json
import os
from pathlib import Path

import pytest
from growth import is_linear
from hypothesis import given, settings
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
from rubric_order.parsing.one_score import parse_score, strip_thinking

# Each group: what is written, and the score or the reason why there is none; in between, options if any.
RESULT_LABEL = [
    ("Feedback: A clear answer. [RESULT] 4", 4),
    ("[RESULT] 4", 4),
    ("[RESULT]4", 4),
    ("[RESULT]: 4/5", 4),
    ("[RESULT] : 4", 4),
    ("[RESULT] = 4", 4),
    ("[RESULT] -> 4", 4),
    ("[RESULT] - 4", 4),
    ("[RESULT] 4.", 4),
    ("[RESULT] 4!", 4),
    ("[RESULT] '4'", 4),
    ("[RESULT] #4", 4),
    ("[RESULT] +4", 4),
    ("[RESULT]\n4", 4),
    ("[RESULT]\r\n\r\n4\r\n", 4),
    ("[RESULT]\n\n**Score:** 4/5", 4),
    ("**[RESULT]** (4)", 4),
    ("**[RESULT] 4**", 4),
    ("**[RESULT]:** 4", 4),
    ("[**RESULT**] 4", 4),
    ("`[RESULT] 4`", 4),
    ("__[RESULT]__ _4_", 4),
    ("[RESULT] **4**", 4),
    ("[RESULT] <b>4</b>", 4),
    ("### [RESULT]\n### 4", 4),
    ("\\[RESULT\\] 4", 4),
    ("【RESULT】 4", 4),
    ("[ RESULT ] 4", 4),
    ("[Result] 4", 4),
    ("[results]: 4", 4),
    ("[RESULT: 4]", 4),
    ("[RESULT 4]", 4),
    ("**RESULT**: 4", 4),
    ("RESULT: 4", 4),
    ("RESULT 4", 4),
    ("Result: 4", 4),
    ("[RESULT] (4/5)", 4),
    ("[RESULT] [4]", 4),
    ("[RESULT] [[4]]", 4),
    ("[RESULT] {4}", 4),
    ("[RESULT] 4 / 5", 4),
    ("[RESULT] 4 of 5", 4),
    ("[RESULT] 4 out of 5 stars", 4),
    ("[RESULT] Score: 4", 4),
    ("[RESULT] Score 4: the answer is helpful", 4),
    ("[RESULT] The final score is 4", 4),
    ("[RESULT] a score of 4", 4),
    ("[RESULT] is 4", 4),
    ("[RESULT] four", 4),
    ("[RESULT] Four (4)", 4),
    ("[RESULT] \\boxed{4}", 4),
    ("[RESULT] 4 (good)", 4),
    ("[RESULT] 4 - two small errors remain", 4),
    ("[RESULT] 4 The answer is mostly right.", 4),
    ("[RESULT] 4</s>", 4),
    ("[RESULT] 4<|im_end|>", 4),
    ("[RESULT] 4\n\nExplanation: I thought of 3 at first.", 4),
    ("[RESULT] 4 [/RESULT]", 4),
    ("[RESULT] 4 [RESULT]", 4),
    ("[RESULT] 4 ... so once more: [RESULT] 4", 4),
    ("[RESULT] \uff14", 4),
    ("\uff3b\uff32\uff25\uff33\uff35\uff2c\uff34\uff3d\uff1a \uff14", 4),
    ("[RESULT] 4\ufe0f\u20e3", 4),
    ("[RESULT] \u200b4", 4),
]
OTHER_LABELS = [
    ("Score: 4", 4),
    ("score:4", 4),
    ("Score = 4", 4),
    ("**Score**: 4", 4),
    ("**Score:** **4**", 4),
    ("Score: 4 (good)", 4),
    ("Score: 4 (3 for clarity, 5 for style)", 4),
    ("Score: 4 (1 = worst, 5 = best)", 4),
    ("Score: 4, one of the better stories", 4),
    ("Score: 4 out of 5.", 4),
    ("Score: 4/5.0", 4),
    ("Score: 4 (out of 5)", 4),
    ("Score (1-5): 4", 4),
    ("Score (out of 5): 4", 4),
    ("Score for coherence: 4", 4),
    ("Score:\n\n4", 4),
    ("Score\u20144", 4),
    ("Score: four", 4),
    ("[SCORE] 4", 4),
    ("<score>4</score>", 4),
    ("| Score | 4 |", 4),
    ("Rating - 4", 4),
    ("Rating: [[4]]", 4),
    ("rating: 4 stars", 4),
    ("Grade: 4", 4),
    ('{"feedback": "Fine.", "score": 4}', 4),
    ("{'score': '4/5'}", 4),
    ('```json\n{"rating": "4"}\n```', 4),
    ('{"clarity_score": 3, "overall_score": 4}', 4),
    ("$\\boxed{4}$", 4),
    ("\\boxed{\\text{4}}", 4),
    ("\\boxed{\\text{Score: } 4}", 4),
    ("Clarity: 3\nStyle: 5\nOverall: 4", 4),
    ("Score 3 for clarity, overall 4", 4),
    ("Clarity score: 3, style score: 5, final score: 4", 4),
    ("Final Score (weighted): 4", 4),
    ("Final verdict: 4", 4),
    ("Overall, 4 out of 5.", 4),
    ("The overall rating is 4/5", 4),
    ('{"result": 4}', 4),
    ("<result>4</result>", 4),
    ("Answer: 4", 4),
    ("The answer is: 4", 4),
    ("The answer is:\n\n[The answer is: 1]", 1),
    ("The answer is: 5\n\nThe answer is: 5\n\nThe answer is: 5", 5),
    ("The answer is: 3\n\nThe answer is: 5", CONFLICTING),
    ("The answer is: 4 apples, and the response says so.", NO_SCORE),
]
BARE = [
    ("4", 4),
    ("  4  \n", 4),
    ("(4)", 4),
    ("**4**", 4),
    ("4.", 4),
    ("4/5", 4),
    ("4 stars", 4),
    ('"4"', 4),
    ("Four.", 4),
    ("four out of five", 4),
    ("\u2463", 4),
    ("4: the answer is good", 4),
    ("4 (good)", 4),
    ("4 - good", 4),
    ("4\nThe answer covers 3 points.", 4),
    ("The answer is good.\n\n4", 4),
    ("Some will like it and some will not.\n\n4", 4),
]
PROSE = [
    ("It is well written, scoring a 2 out of 5.", 2),
    ("I'd give this a 4.", 4),
    ("I would give this response a 4", 4),
    ("I'd rate it 4/5.", 4),
    ("I would rate the overall quality of it as a 4. I'd rate it a 4", 4),
    ("I would score the fluency of the text as a 4 out of 5.", 4),
    ("This response merits a score of 3", 3),
    ("It earns a rating of **4** for style.", 4),
    ("So it receives a solid 4 in style.", 4),
    ("so the story scores 3 because it wanders", 3),
    ("The response deserves a 4-star rating.", 4),
    ("A score of 4 is appropriate here.", 4),
    ("The score should be 4.", 4),
    ("On a scale of 1 to 5, I would rate this a 4.", 4),
    ("I would rate it, on a 1-5 scale, at 4.", 4),
    ("It is a good story, four out of five", 4),
    ("Overall, this is a solid 4.", 4),
    ("Few flaws, making it a 4.", 4),
    ("I rate it 4 on a scale from 1 to 5, where 1 is bad and 5 is good.", 4),
    ("The score that I would give to this response is 4.", 4),
    ("It loses the thread, which makes it poor (1).", 1),
    ("Better than most, but that keeps it from being a perfect 5 out of 5, so a score of 4.", 4),
    ("It does not deserve a 5. I give it a 3.", 3),
    ("I'd give it a 3 rather than a 4.", 3),
    ("Compared to the reference answer, this response gets a score of 2.", 2),
]
OTHER_NUMBERS = [
    ("Not as full as the reference answer that gets a score of 5. [RESULT] 2", 2),
    ("It meets 3 of the 5 requirements. [RESULT] 2", 2),
    ("It meets 3 out of 5 requirements. [RESULT] 2", 2),
    ("1. Clear.\n2. Short.\n3. Kind.\n[RESULT] 4", 4),
    ("In 1969, on 4/5, at 4:30, 3 people paid $4 for v3.2. [RESULT] 2", 2),
    ("Only 3/4 of the story holds; it gets 4 key points. [RESULT] 2", 2),
    ("Score 3 on clarity, score 5 on style. [RESULT] 4", 4),
    ("The overall score is 4. [RESULT] 3", 3),
    ("The rubric's Score 5: flawless. It is not. [RESULT] 4", 4),
    ("The writer gave a 2-page answer with 4 key points and won 5 stars for it.", NO_SCORE),
    ("It gives 4 reasons and gets 3 of the 5 facts.", NO_SCORE),
    ("It meets 3 out of 5 requirements.", NO_SCORE),
    ("The correct answer is 4.", NO_SCORE),
    ("He stayed, scoring only four Sunday Cup goals.", NO_SCORE),
    ("The meeting was on 4/5/2023 at 4:30.", NO_SCORE),
    ("1. The plot is thin.\n2. The ending is weak.", NO_SCORE),
    ("1. Clear. 2. Short. 3. Kind.", NO_SCORE),
    ("A score of 5 requires a full answer.", NO_SCORE),
    ("Worse than the reference answer, which has a score of 5.", NO_SCORE),
    ("It is not a 5.", NO_SCORE),
    ("It falls short of a score of 5.", NO_SCORE),
    ("Score: not 5", NO_SCORE),
    ("More detail is needed to earn a score of 5.", NO_SCORE),
    ("GPT-4 wrote it", NO_SCORE),
    ("Version 4.1.2", NO_SCORE),
    ("One could say much.", NO_SCORE),
    ("[RESULT] One could say much.", NO_SCORE),
    ("[RESULT] N/A", NO_SCORE),
    ("I cannot judge this.", NO_SCORE),
]
NOT_WHOLE = [
    ("[RESULT] 4.0", 4),
    ("[RESULT] 4.00/5", 4),
    ("[RESULT] 4,0", 4),
    ("[RESULT] 3.5", NOT_INTEGER),
    ("**[RESULT]** **3.5**", NOT_INTEGER),
    ("[RESULT] 3,5", NOT_INTEGER),
    ("[RESULT] 3.5/5", NOT_INTEGER),
    ("[RESULT] 3\u00bd", NOT_INTEGER),
    ("Score: 3 and a half", NOT_INTEGER),
    ("three and a half out of five", NOT_INTEGER),
    ("scoring a 1.5 out of 5", NOT_INTEGER),
    ("[RESULT] 4.00000000000000000000001", NOT_INTEGER),
    ("4.5", NOT_INTEGER),
]
OFF_THE_SCALE = [
    ("[RESULT] 7", OUT_OF_RANGE),
    ("[RESULT] 0", OUT_OF_RANGE),
    ("[RESULT] -1", OUT_OF_RANGE),
    ("[RESULT] \u22121", OUT_OF_RANGE),
    ("[RESULT] zero", OUT_OF_RANGE),
    ("[RESULT] ten", OUT_OF_RANGE),
    ("[RESULT] 4/10", OUT_OF_RANGE),
    ("[RESULT] 80%", OUT_OF_RANGE),
    ("[RESULT] 1,050", OUT_OF_RANGE),
    ("[RESULT] " + "9" * 5000, OUT_OF_RANGE),
    ("4/10", OUT_OF_RANGE),
    ("Score: 4 out of 10", OUT_OF_RANGE),
    ("Score: 4 (out of ten)", OUT_OF_RANGE),
    ("Score (out of 10): 4", OUT_OF_RANGE),
    ("Score: 85/100", OUT_OF_RANGE),
    ("I'd give it a 6.", OUT_OF_RANGE),
    ("On a scale of 1 to 10, I rate it a 4.", OUT_OF_RANGE),
    ("The story asks for pain on a scale of 1 to 10. [RESULT] 4", 4),
]
SEVERAL = [
    ("[RESULT] 3 or 4", CONFLICTING),
    ("[RESULT] 3-4", CONFLICTING),
    ("[RESULT] 3\u20134", CONFLICTING),
    ("[RESULT] 3 to 4", CONFLICTING),
    ("[RESULT] 3, 4", CONFLICTING),
    ("[RESULT] 3 4", CONFLICTING),
    ("[RESULT] 3 (or 4)", CONFLICTING),
    ("[RESULT] three or four", CONFLICTING),
    ("[RESULT] 3 ... [RESULT] 4", CONFLICTING),
    ("[RESULT] 3/5 or 4/5", CONFLICTING),
    ("Score: 3-4/5", CONFLICTING),
    ("[RESULT] between 3 and 4", CONFLICTING),
    ("Score: 3 for plot, 4 for style", CONFLICTING),
    ("Score: 3 for plot and 4 for style", CONFLICTING),
    ("Score: 3\nScore: 4", CONFLICTING),
    ("3-4", CONFLICTING),
    ("3\n4\n3", CONFLICTING),
    ("I give it a 3 or a 4.", CONFLICTING),
    ("a score of 3 for style and a score of 5 for plot", CONFLICTING),
    ("Plot: 4/5, style: 3/5", CONFLICTING),
    ("[RESULT] 4 or 4", 4),
]
CUT = [
    ("", EMPTY),
    (None, EMPTY),
    (" \n\t", EMPTY),
    ("", {"truncated": True}, TRUNCATED),
    ("A fair answer. [RESULT]", TRUNCATED),
    ("A fair answer. **[RESULT]** ", TRUNCATED),
    ("A fair answer. [RESULT", TRUNCATED),
    ("A fair answer. [RESULT]:\n", TRUNCATED),
    ("The plot gets a 3. [RESULT]", TRUNCATED),
    ("A fair answer. Score:", TRUNCATED),
    ("A fair answer, with a score of", TRUNCATED),
    ("A fair answer which", {"truncated": True}, TRUNCATED),
    ("The plot gets a 3, but the", {"truncated": True}, TRUNCATED),
    ("Plot score: 3, style sc", {"truncated": True}, TRUNCATED),
    ("4", {"truncated": True}, 4),
    ("Score: 4\nThe answer", {"truncated": True}, 4),
    ("Fine. [RESULT] 4\n\nThe ans", {"truncated": True}, 4),
]
INSTRUCTIONS = [
    ("an integer number between 1 and 5", ECHO),
    ("[RESULT] (an integer number between 1 and 5)", ECHO),
    ("Feedback: (write a feedback for criteria) [RESULT] (an integer number between 1 and 5)", ECHO),
    ("The plot gets a 3. [RESULT] (an integer number between 1 and 5)", ECHO),
    ("[RESULT] (an integer number between 1 and 5)\n\n1. Plot is fine.\n2. Style too.", ECHO),
    ("2. Write a score that is an integer between 1 and 5.\n3. Answer with the score alone", ECHO),
    ("Score 1: bad\nScore 2: weak\nScore 3: fair\nScore 4: good\nScore 5: great", ECHO),
    ("Score 5: great\nScore 4: good\nScore 3: fair\n\n[RESULT] 4", 4),
    ("###Reference Answer (Score 5):\nA cat.\n\nA number between 1 and 5", ECHO),
    ("[RESULT] (an integer number between 1 and 5)\n[RESULT] 4", 4),
    ("[RESULT] 1-5", ECHO),
]
FILLED_IN = [
    ("[RESULT] (an integer number between 1 and 5): 4", 4),
    ("Feedback: The story is fine. [RESULT] (an integer number between 1 and 5): 4", 4),
    ("Feedback: The story is fine. [RESULT] (an integer number between 1 and 5) 4", 4),
    ("Feedback: (write a feedback for criteria) Fine. [RESULT] (an integer number between 1 and 5) 4", 4),
    ("The plot gets a 3. [RESULT] (an integer number between 1 and 5), 4", 4),
    ("[RESULT] (an integer number between 1 and 5)\n4", 4),
    ("[RESULT] (an integer number between 1 and 5)4", 4),
    ("[RESULT] (an integer number between 1 and 5) - 4", 4),
    ("[RESULT] (an integer number between 1 and 5) => 4", 4),
    ("[RESULT] (an integer number between 1 and 5) is 4", 4),
    ("[RESULT] (an integer number between 1 and 5) (4)", 4),
    ("[RESULT] (an integer number between 1 and 5): **4**", 4),
    ("[RESULT] (an integer number between 1 and 5) Score: 4", 4),
    ("[RESULT] (an integer number between 1 and 5): four", 4),
    ("[RESULT] (an integer number between 1 and 5): 4/5", 4),
    ("[RESULT] (an integer number between 1 and 5): 4. Of its 3 flaws two are small.", 4),
    ("[RESULT] (an integer number between 1 and 5: 4)", 4),
    ("[RESULT] 4 (an integer number between 1 and 5)", 4),
    ("[RESULT] an integer number between 1 and 5: 4", 4),
    ("[RESULT] [an integer number between 1 and 5] 4", 4),
    ("[RESULT] (integer between 1 and 5): 4", 4),
    ("[RESULT] (1-5): 4", 4),
    ("[RESULT] (1 to 5) 4", 4),
    ("Score: (an integer between 1 and 5) 4", 4),
    ("Feedback: Fine. (an integer number between 1 and 5): 4", 4),
    ("an integer number between 1 and 5: 4", 4),
    ("[RESULT] (an integer number between 1 and 9): 4", {"n": 9}, 4),
    ("[RESULT] (an integer number between 1 and 5): 3.5", NOT_INTEGER),
    ("[RESULT] (an integer number between 1 and 5): 7", OUT_OF_RANGE),
    ("[RESULT] (an integer number between 1 and 5): -1", OUT_OF_RANGE),
    ("[RESULT] (an integer number between 1 and 5): 3 or 4", CONFLICTING),
    ("[RESULT] (an integer number between 1 and 5): 4 ... [RESULT] 3", CONFLICTING),
    ("[RESULT] (an integer number between 1 and 5) 4 points were made", ECHO),
    ("[RESULT] (an integer number between 1 and 5): 1 = bad, 5 = good", ECHO),
    ("[RESULT] (an integer number between 1 and 5): 1 (bad) to 5 (good)", ECHO),
    ("[RESULT] (an integer number between 1 and 5) 1. Clear. 2. Short.", ECHO),
    ("[RESULT] (an integer number between 1 and 5) 4. Please do not generate any other opening", ECHO),
    ('3. Write "[RESULT] (an integer number between 1 and 5)"\n4. Please do not generate any other opening', ECHO),
]
THINKING = [
    ("<think>Maybe 3.</think>[RESULT] 4", 4),
    ("<think>\n\n</think>\n\n4", 4),
    ("<THINK>[RESULT] 2</THINK> [RESULT] 4", 4),
    ("Maybe [RESULT] 2.</think>\n[RESULT] 4", 4),
    ("[RESULT] 4 <think>or [RESULT] 3</think>", 4),
    ("<thinking>Score: 2</thinking>Score: 4", 4),
    ("<think>One <reasoning>two</reasoning> [RESULT] 3</think>[RESULT] 4", 4),
    ("[THINK]Score: 2[/THINK]Score: 4", 4),
    ("\u25c1think\u25b7Score: 2\u25c1/think\u25b7Score: 4", 4),
    ("<|begin_of_thought|>Score: 2<|end_of_thought|>Score: 4", 4),
    ("<|START_THINKING|>Score: 2<|END_THINKING|>Score: 4", 4),
    ("<|channel|>analysis<|message|>Score: 2<|end|><|start|>assistant<|channel|>final<|message|>[RESULT] 4", 4),
    ("analysisWe weigh 2 and 3.assistantfinalFeedback: Good. [RESULT] 4", 4),
    ("[RESULT] 4<|end|>", 4),
    ("<think>Maybe [RESULT] 4", UNFINISHED_THINKING),
    ("<think>Maybe 3.</think><think>Or [RESULT] 4", UNFINISHED_THINKING),
    ("<|channel|>analysis<|message|>Score: 4", UNFINISHED_THINKING),
    ("analysisWe weigh 2 and", UNFINISHED_THINKING),
    ("<think>[RESULT] 4</think>", EMPTY),
]
SCALES = [
    ("[RESULT] 2", {"n": 2}, 2),
    ("[RESULT] 3", {"n": 2}, OUT_OF_RANGE),
    ("[RESULT] 2/2", {"n": 2}, 2),
    ("[RESULT] (an integer number between 1 and 2)", {"n": 2}, ECHO),
    ("[RESULT] 9", {"n": 9}, 9),
    ("nine out of nine", {"n": 9}, 9),
    ("[RESULT] 4/5", {"n": 9}, OUT_OF_RANGE),
    ("On a scale of 1 to 7, I rate it a 6.", {"n": 7}, 6),
    ("On a scale of 1 to 5, I rate it a 4.", {"n": 7}, OUT_OF_RANGE),
]
LETTERS = [
    (text, {"labels": "ABCDE"}, expected)
    for text, expected in [
        ("D", 4),
        ("(D)", 4),
        ("D.", 4),
        ("**D**", 4),
        ("D) Good", 4),
        ("(D) Good", 4),
        ("D: Good\nA fair text.", 4),
        ("Answer: D", 4),
        ("The answer is (D).", 4),
        ("Option D", 4),
        ("[RESULT] D", 4),
        ("A fair text, so I choose (D).", 4),
        ("A fair text.\n\nD", 4),
        ("<think>A.</think>E", 5),
        ("Answer: C or D", CONFLICTING),
        ("C/D", CONFLICTING),
        ("Option A is wrong; the answer is D", CONFLICTING),
        ("A. poor\nB. weak\nC. fair", CONFLICTING),
        ("A fair text.", NO_SCORE),
        ("4", NO_SCORE),
        ("", EMPTY),
    ]
]
GROUPS = {
    "result label": RESULT_LABEL,
    "other labels": OTHER_LABELS,
    "bare": BARE,
    "prose": PROSE,
    "other numbers": OTHER_NUMBERS,
    "not whole": NOT_WHOLE,
    "off the scale": OFF_THE_SCALE,
    "several": SEVERAL,
    "cut": CUT,
    "instructions": INSTRUCTIONS,
    "filled in": FILLED_IN,
    "thinking": THINKING,
    "scales": SCALES,
    "letters": LETTERS,
}
CASES = [
    pytest.param(row[0], row[1] if len(row) == 3 else {}, row[-1], id=f"{group}: {str(row[0])[:60]!a}")
    for group, rows in GROUPS.items()
    for row in rows
]


# Pieces of answers, from which to build text that no one wrote.
PIECES = [
    *("score", "final", "overall", "rating", "result", "[RESULT]", "\\boxed{", "a", "the", "not", "give", "it", "is"),
    *("of", "out of", "or", "to", "for", "on", "scale", "from being", "reference answer that", "perfect", "stars"),
    *("four", "one", "1", "3", "3.5", "-1", "11", "1,000", "4/5", "1-5", "1 to 5", "½", "%", "…", ":", "-", "(", ")"),
    *("[", "]", "*", "_", "<think>", "</think>", "<|end|>", "Score 1: x\n", "\n1. ", "\n", "\r\n", "\t", '"', "'"),
    *("|", ".", ",", "x", "=", "<", "(an integer number between 1 and 5)", "integer", "Please do not"),
]
MIXTURES = st.one_of(
    st.text(),
    st.lists(st.sampled_from(PIECES)).map(" ".join),
    st.lists(st.sampled_from(PIECES)).map("".join),
)
LABELS = st.sampled_from([None, "ABCDE"])


def read(text, n=5, *, labels=None, truncated=False):
    """The parser's outcome of an answer on the scale 1..n, or with labels of its own."""
    return parse_score(text, labels or numbers(n), truncated=truncated)


def outcome(text, n=5, *, labels=None, truncated=False):
    """The number of the score, or the reason why there is none."""
    choice = read(text, n, labels=labels, truncated=truncated)
    return choice.reason if choice.label is None else (labels or numbers(n)).index(choice.label) + 1


@pytest.mark.parametrize(("text", "options", "expected"), CASES)
def test_a_form_of_writing_gives_its_score_or_its_reason(text, options, expected):
    assert outcome(text, **options) == expected


@pytest.mark.parametrize(("text", "options", "expected"), CASES)
def test_bold_and_blank_space_around_an_answer_change_nothing(text, options, expected):
    if text and text.strip() and not text.startswith("analysis"):  # which means thinking at the very start only
        assert outcome(f" \n**{text}**  \r\n\n", **options) == expected


@pytest.mark.parametrize(("text", "options", "expected"), CASES)
def test_finished_thinking_before_an_answer_changes_nothing(text, options, expected):
    if text and not text.startswith("analysis"):
        assert outcome(f"<think>Perhaps [RESULT] 1, or 2?</think>\n{text}", **options) == expected


@pytest.mark.parametrize("n", range(2, 10))
def test_every_score_of_every_scale_is_found_and_the_next_number_is_off_it(n):
    for score in range(1, n + 1):
        for text in (
            f"Fine. [RESULT] {score}",
            f"Score: {score}/{n}",
            f"I'd give it a {score} out of {n}.",
            f"{score}",
        ):
            assert outcome(text, n=n) == score
    assert outcome(f"[RESULT] {n + 1}", n=n) == OUT_OF_RANGE
    assert outcome(f"[RESULT] (an integer number between 1 and {n})", n=n) == ECHO


@pytest.mark.parametrize("n", range(2, 10))
def test_numbers_in_another_order_are_the_same_labels(n):
    reversed_labels = tuple(reversed(numbers(n)))
    for label in numbers(n):
        assert parse_score(f"[RESULT] {label}", reversed_labels).label == label


def test_the_form_that_decided_is_named_also_where_it_gives_no_score():
    assert read("Score: 3. [RESULT] 4").pattern == "result"
    assert read("Score: 3.5").pattern == "score"
    assert read("A fair text.").pattern is None


def test_stripping_leaves_what_stands_around_the_thinking():
    assert strip_thinking("before <think>a</think>between<thought>b</thought> after") == "before between after"
    assert strip_thinking("opened by the template</think>after") == "after"
    assert strip_thinking("before <think>a") is None


@given(text=MIXTURES, n=st.integers(2, 9), labels=LABELS, truncated=st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_text_gives_either_a_score_on_the_scale_or_one_reason(text, n, labels, truncated):
    choice = read(text, n, labels=labels, truncated=truncated)
    if choice.label is None:
        assert choice.reason in REASONS
    else:
        assert choice.label in (labels or numbers(n))
        assert choice.reason is None
        assert choice.pattern is not None


@given(text=MIXTURES, labels=LABELS, blank=st.text(" \t\r\n"))
@settings(max_examples=300, deadline=None)
def test_blank_space_after_any_text_changes_nothing(text, labels, blank):
    assert read(text + blank, labels=labels) == read(text, labels=labels)


@given(
    feedback=st.lists(st.sampled_from([piece for piece in PIECES if "[" not in piece and "think" not in piece])),
    score=st.integers(1, 5),
)
@settings(max_examples=300, deadline=None)
def test_no_feedback_before_a_labelled_result_changes_its_score(feedback, score):
    assert outcome(f"{' '.join(feedback)}\n[RESULT] {score}") == score


@given(
    unit=st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(" ".join), end=st.sampled_from(["", "x", "("])
)
@settings(max_examples=25, deadline=None)
def test_time_is_linear_in_pieces_that_are_repeated(unit, end):
    for labels in (None, "ABCDE"):
        assert is_linear(lambda text, labels=labels: read(text, labels=labels), unit + " ", end=end)


@pytest.mark.parametrize(
    "unit", ["\n", " ", "\n(", "-\n", "<think>", "not a score ", "1", "1 to 5\n", "give the ", "_"]
)
@pytest.mark.parametrize("start", ["", "Score:", "I give it "])
def test_time_is_linear_in_repetition_that_makes_a_careless_pattern_slow(start, unit):
    for labels in (None, "ABCDE"):
        assert is_linear(lambda text, labels=labels: read(text, labels=labels), unit, start=start, end="x")


# Answers of real judges, which are not part of this repository.
SAMPLE = Path(__file__).parents[1] / "data" / "read_answers.csv"


@pytest.fixture(scope="module")
def judgments():
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    return {path.name: parse_file(path) for path in sorted(Path(folder, "summeval").glob("*.jsonl.gz"))}


def parse_file(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        answers = [json.loads(line)["response"] for line in lines]
    return [outcome(answer, labels="ABCDE" if "_mcq" in path.name else None) for answer in answers]


def test_real_answers_are_parsed_as_a_person_read_them(judgments):
    with SAMPLE.open(encoding="utf-8", newline="") as rows:
        read = [(row["file"], int(row["line"]), row["score"], row["reason"]) for row in csv.DictReader(rows)]
    assert len(read) == 100
    wrong = []
    for file, line, score, reason in read:
        found = judgments[file][line - 1]
        if str(found) != (score or reason):
            wrong.append((file, line, score, reason, found))
    assert len(wrong) <= 1, wrong


def test_at_least_96_percent_of_the_real_answers_of_each_file_are_parsed(judgments):
    shares = {name: sum(isinstance(one, int) for one in parsed) / len(parsed) for name, parsed in judgments.items()}
    assert len(shares) == 3
    assert min(shares.values()) >= 0.96, shares


CLOSING = [
    ("It fails on the sentence level. 5", 5),
    ("It flows well! 4 points", 4),
    ('It ends with "Hello." 4', 4),
    ("The summary covers the main points. Four", 4),
    ("The final answer is 4.", 4),
    ("The final answer is 4 pages long.", NO_SCORE),
    ("It is good. 10", OUT_OF_RANGE),
    ("It is good. 3 or 4", CONFLICTING),
    ("It flows well. 3.", NO_SCORE),  # the number of a list that was not written
    ("Reasons: 1. It is short. 2. It is dull. 3", NO_SCORE),
    ("It has two problems. 2)", NO_SCORE),
    ("Three issues remain. 3 of them are small", NO_SCORE),
    ("He finished as No. 5", NO_SCORE),
    ("It is taken from vol. 2", NO_SCORE),
    ("He is called John F. 4", NO_SCORE),
]


@pytest.mark.parametrize(("answer", "expected"), CLOSING)
def test_a_number_after_the_last_sentence_is_the_score_unless_it_numbers_something(answer, expected):
    assert outcome(answer) == expected


def test_a_number_after_the_last_sentence_of_a_cut_answer_is_no_score():
    assert parse_score("It fails on the sentence level. 5", numbers(5), truncated=True).reason == TRUNCATED
