"""The score in an answer whose scores are letters, Roman numerals, or words that a user chose.

Forms are tried from the most explicit as in `one_score`. A label that is also a word ("a", "I") counts in prose only
where nothing else can be meant.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import regex as re

from rubric_order.parsing.choices import CONFLICTING, ECHO, NO_SCORE, NOT_INTEGER, OUT_OF_RANGE, Choice
from rubric_order.parsing.phrases import (
    ALONE,
    ARTICLES,
    IS,
    LABEL,
    MARKS,
    OBJECT,
    OTHER_WORD,
    RESULT,
    VERB,
    single_spaced,
)

_ROMAN = re.compile(r"[ivx]+", re.IGNORECASE)
_END = r"(?!\w|['’]\w|[.,]\d)"
_NUMBER = rf"(?<![\w.,/+-])[-+]?\d+(?:[.,]\d+)?{_END}"


class Reader(NamedTuple):
    """Patterns for one set of labels: spellings to labels, forms from the most explicit, the prompt's words that an
    answer may echo, and scores it mentions but does not give.
    """

    label_of: dict[str, str]
    forms: tuple[tuple[str, re.Pattern], ...]
    echo: re.Pattern
    not_given: re.Pattern


@cache
def reader(labels: tuple[str, ...]) -> Reader:
    """The patterns for some labels, lowest score first."""
    by_length = sorted(labels, key=len, reverse=True)
    any_case = f"(?:{'|'.join(map(re.escape, by_length))})"
    line = rf"[^\w\n]{{0,10}}Score\s{any_case}\s*:.*\n?"
    listed = r",\s*".join(map(re.escape, labels))
    lacking = (
        r"(?:\b(?:not|than|short\sof|from(?=\s\w+ing\b))|n't)"
        r"(?:\s(?:being|get(?:ting)?|receiv\w+|worth|deserv\w+|earn\w*|quite|an?|the|of|score|grade)){0,6}"
    )
    other = r"\b(?:reference|model)\s(?:answer|response)s?\b[^.\n]{0,40}\bscor\w+(?:\sof)?"
    return Reader(
        {label.casefold(): label for label in labels},
        tuple((name, re.compile(pattern)) for name, pattern in _forms(by_length, any_case)),
        re.compile(rf"(?:^{line}){{2,}}|\(?\bone\sof\s{listed}\)?|\bwrite\sa\sfeedback\sfor\scriteria\b", re.I | re.M),
        re.compile(rf"(?:{other}|{lacking})\s{any_case}{_END}", re.IGNORECASE),
    )


def _value(spelling: str, alone: str = "") -> str:
    one = rf"(?<![\w'’])(?:{spelling}){_END}"
    joint = r"\s*(?:[,/&-]|(?:or|and|to)\b)\s*\(?(?:an?\s)?"
    other = rf"(?:{joint}(?P<other>(?:{spelling}){_END})(?!\s*[.)]\s\w){alone})?"
    return rf"(?:{LABEL}\s)?(?P<label>{one})(?P<half>[+](?!\w)|-(?![\w>-]))?{other}{alone}"


def _forms(labels: Sequence[str], any_case: str) -> tuple[tuple[str, str], ...]:
    """Name and pattern of each form, from the most explicit; labels are the longest first."""
    # A label matches as written or in capitals, since a small letter in prose is a word.
    exact = "|".join(dict.fromkeys(re.escape(spelling) for label in labels for spelling in (label, label.upper())))
    loose, strict, prose = _value(f"(?i:{any_case})"), _value(exact), _value(exact, rf"(?i:{ALONE})")
    named = _value(f"(?i:{any_case})", rf"(?i:{ALONE}|(?=\sis\b))")
    articles = ARTICLES.replace("an?", "[Aa]n?")
    romans = all(_ROMAN.fullmatch(label) for label in labels)
    behind = r"(?=[^\w\n]*$)" if romans else r"(?=\s*[.:,;)\]]|[^\w\n]*$)"
    verdict = r"(?:score|rating|grade|mark|assessment|verdict|judge?ment|answer)"
    return (
        (
            "result",
            rf"(?i:{RESULT}){MARKS}(?i:(?:the|my|final|overall)\s)*(?i:{LABEL})?{MARKS}(?i:(?:{IS}|of|an?)\s)?"
            rf"{MARKS}(?i:(?:option|grade|an?)\s)?(?:{named}|(?P<number>{_NUMBER}))",
        ),
        ("verdict", rf"\[\[\s*{loose}\s*\]\]"),
        ("boxed", rf"(?i:\\boxed\s*\{{(?:\\\w+\{{)?){MARKS}{loose}"),
        (
            "final",
            rf"(?i:\b(?:final|overall)\s{verdict})(?:\s(?i:for|of|on)\s[^.:\n]{{1,60}}(?=:))?{MARKS}(?i:(?:{IS}|of)\s)?{MARKS}(?i:(?:an?|option)\s)?{named}",
        ),
        (
            "named",
            rf"\b(?i:answer|option|choice|score|rating|grade)[\"']?\s*(?i:{IS}|of)?{MARKS}(?i:an?\s)?{named}",
        ),
        ("own_line", rf"(?m:^[^\w\n]{{0,10}}{strict}{behind})"),
        ("whole", rf"\A\W*{loose}\W*\Z"),
        ("leading", rf"\A[^\w\n]{{0,10}}{strict}(?=\s*[:,;!]|\s-\s)"),
        (
            "score_of",
            rf"(?i:\b{LABEL}s?\s{OTHER_WORD}{{0,8}}?(?:of|at|as|to|{IS})){MARKS}(?:{articles}){MARKS}{prose}",
        ),
        (
            "award",
            rf"(?i:\b{VERB}){MARKS}(?i:{OBJECT})(?:{articles})(?i:(?:{LABEL}\s)?(?:of\s)?){MARKS}{prose}",
        ),
        ("it_is", rf"(?i:\b(?:(?:it|this|that)(?:\sis|['’]s))\san?\s)(?i:{OTHER_WORD})?{prose}"),
        ("bracketed", rf"\({strict}\)" + (r"\W*\Z" if romans else "")),
    )


def find_label(answer: str, labels: Sequence[str]) -> Choice:
    """The label that a `one_score.normalise`d answer picks, such as `D`, `[RESULT] iv` or `I would give it a B`."""
    patterns = reader(tuple(labels))
    answer = patterns.echo.sub("…", answer)  # no form reads across this mark
    echoed = "…" in answer
    answer = single_spaced(patterns.not_given.sub(" ", answer))
    for name, form in patterns.forms:
        values = {_choice(match, patterns) for match in form.finditer(answer)}
        if len(values) > 1:
            return Choice(None, name, CONFLICTING)
        if values:
            return values.pop()._replace(pattern=name)
    return Choice(None, reason=ECHO if echoed else NO_SCORE)


def _choice(match: re.Match, read: Reader) -> Choice:
    """The score that one match gives, or the reason why it gives none."""
    groups = match.groupdict()
    if groups.get("number"):
        return Choice(None, reason=OUT_OF_RANGE)
    label = read.label_of[groups["label"].casefold()]
    if groups["other"] and read.label_of[groups["other"].casefold()] != label:
        return Choice(None, reason=CONFLICTING)
    return Choice(None, reason=NOT_INTEGER) if groups["half"] else Choice(label)
