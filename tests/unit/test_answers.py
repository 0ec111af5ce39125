"""Answers and what the parsers read in them: the rows of `tests/data/answers/`, a file for each parser."""

import itertools
import re
from pathlib import Path

import pytest

from rubric_order.base import files
from rubric_order.parsing.choices import Choice
from rubric_order.parsing.one_score import parse_score
from rubric_order.parsing.several_scores import parse_answer, parse_object, parse_scores
from rubric_order.parsing.verdict import parse_ranking, parse_verdict
from rubric_order.planning.references import read_verdict

FOLDER = Path(__file__).parents[1] / "data/answers"
ALTERNATIVES = re.compile(r"‹([^›]*)›")


def outcomes(choice: Choice) -> set[str]:
    """The label or the reason, alone and with the form in which it is written."""
    outcome = choice.label or choice.reason
    return {outcome, f"{outcome} {choice.pattern}"}


def criteria(text: str | None, names: list[str], labels: str = "12345", **options: bool) -> set[str]:
    """All labels or reasons, and these with the form in which the first is written."""
    found = parse_scores(text, names, labels, **options)
    outcome = " ".join(choice.label or choice.reason for choice in found)
    return {outcome, f"{outcome} {found[0].pattern}"}


def answer(text: str, name: str, labels: str = "12345", **options: bool) -> set[str]:
    """The score under one criterion, and that of JSON alone."""
    choices = parse_answer(text, labels, name, **options), parse_object(text, labels)
    return {outcome for choice in choices if choice for outcome in outcomes(choice)}


def score(text: str | None, labels: str = "12345", **options: bool) -> set[str]:
    return outcomes(parse_score(text, labels, **options))


def review(text: str, *, truncated: bool = False) -> set[str]:
    return {outcome for outcome in read_verdict(text, truncated=truncated) if outcome}


PARSERS = {
    "scores": score,
    "labels": score,
    "criteria": criteria,
    "fields": answer,
    "reviews": review,
    "verdicts": lambda text, labels, **options: outcomes(parse_verdict(text, tuple(labels), **options)),
    "rankings": lambda text, labels, **options: outcomes(parse_ranking(text, tuple(labels), **options)),
}


def spelled(text: str | None) -> list[str | None]:
    """Each answer that a row stands for: ‹a|b› is either of two texts, with ¦ for a bar within one."""
    parts = ALTERNATIVES.split(text or "")
    choices = [part.split("|") if number % 2 else [part] for number, part in enumerate(parts)]
    return [None] if text is None else ["".join(choice).replace("¦", "|") for choice in itertools.product(*choices)]


def rows(parser: str) -> list[tuple[str, str, dict, list[str | None]]]:
    """Subject, expected outcome, parser options and texts of each group of answers."""
    groups = files.read_yaml(FOLDER / f"{parser}.yaml")
    return [
        (
            group["about"],
            str(expected),
            {name: group[name] for name in group if name not in ("about", "answers")},
            texts,
        )
        for group in groups
        for expected, texts in group["answers"].items()
    ]


@pytest.mark.parametrize(
    ("parser", "expected", "options", "texts"),
    [
        pytest.param(parser, expected, options, texts, id=f"{parser}: {about}: {expected}")
        for parser in PARSERS
        for about, expected, options, texts in rows(parser)
    ],
)
def test_an_answer_gives_what_a_reader_finds_in_it(parser, expected, options, texts):
    answers = [answer for text in texts for answer in spelled(text)]
    wrong = {answer: found for answer in answers if expected not in (found := PARSERS[parser](answer, **options))}
    assert not wrong


def scored() -> list[tuple[str, dict, str, str]]:
    """Each answer to a question with one score that is not cut and holds more than blank space."""
    return [
        (expected, options, parser, answer)
        for parser in ("scores", "labels")
        for _, expected, options, texts in rows(parser)
        for answer in spelled(next(text for text in texts)) + [text for text in texts if "‹" not in (text or "")]
        if answer and answer.strip() and not answer.startswith("analysis")  # which means thinking at the very start
    ]


def test_bold_and_blank_space_around_an_answer_and_thinking_before_it_change_nothing():
    wrong = {
        framed: found
        for expected, options, parser, answer in scored()
        for framed in (f" \n**{answer}**  \r\n\n", f"<think>Perhaps [RESULT] 1, or 2?</think>\n{answer}")
        if expected not in (found := PARSERS[parser](framed, **options))
    }
    assert not wrong
