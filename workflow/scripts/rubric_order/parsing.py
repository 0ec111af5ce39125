"""Finding the score in what a judge really wrote.

Forms of writing a score are tried from the most to the least explicit, and the first form that occurs decides. All its
occurrences must agree: an answer that gives two scores gives none. Nothing is guessed, rounded or clipped; what has no
single whole score on the scale is a failure with a reason.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

EMPTY = "empty"  # nothing but blank space
UNFINISHED_THINKING = "unfinished_thinking"  # a thinking block that never ends
TRUNCATED = "truncated"  # cut off before a score
ECHO = "echo"  # repeats the prompt's instructions instead of following them
NO_SCORE = "no_score"
NOT_INTEGER = "not_integer"  # such as 3.5
OUT_OF_RANGE = "out_of_range"  # off the scale, or on another scale
CONFLICTING = "conflicting"  # several different scores
REASONS = (EMPTY, UNFINISHED_THINKING, TRUNCATED, ECHO, NO_SCORE, NOT_INTEGER, OUT_OF_RANGE, CONFLICTING)


@dataclass(frozen=True)
class ParsedScore:
    """What an answer says.

    Attributes:
        score: from 1 to n, or None where the answer gives no single one.
        position: 1-based place of that score in the prompt, where the ordering is known.
        pattern: the form of writing that decided.
        reason: why there is no score, one of ``REASONS``; None where there is one.
    """

    score: int | None
    position: int | None = None
    pattern: str | None = None
    reason: str | None = None


_WORDS = {
    word: str(value)
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}

# A number as answers write it; the sign and the fraction are kept so that -1 and 3.5 are seen for what they are.
_NUMBER = (
    r"(?P<number>(?<![\d.,])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)|\b(?:" + "|".join(_WORDS) + r")\b)"
)
_OUT_OF = r"(?:\s*(?:/|out\s+of(?:\s+a\s+possible)?|of)\s*(?P<scale>\d+(?:\.0+)?|" + "|".join(_WORDS) + r")\b)?"
# What follows a score when it is one end of a range or one of two alternatives: `3 or 4`, `3-4`, `3 to 4`.
_ALTERNATIVE = (
    r"(?:\s*(?:-|\bor\b|\bto\b|\band\b(?!\s+a\s+half))\s*(?P<other>\d+(?:\.\d+)?|" + "|".join(_WORDS) + r")\b(?!\s*%))?"
)
_HALF = r"(?P<half>\s+and\s+a\s+half\b)?"
# Ornament between a label and its value: `**`, brackets, quotes, colons, an equals sign.
_MARKS = r"[\s*_`\"'“”‘’(\[{<:=~#>|]*"
_VALUE = _NUMBER + _HALF + _OUT_OF + _ALTERNATIVE + r"(?!\w|\s*%)"

_THINKING_TAGS = "think|thinking|thought|thoughts|reasoning|scratchpad|analysis|reflection"
_THINKING = re.compile(
    rf"<\s*(?P<tag>{_THINKING_TAGS})\s*>.*?<\s*/\s*(?P=tag)\s*>"
    r"|\[THINK\].*?\[/THINK\]"
    r"|<\|channel\|>\s*(?:analysis|commentary)\b.*?(?:<\|end\|>|(?=<\|channel\|>\s*final\b))"
    r"|<\|begin_of_thought\|>.*?<\|end_of_thought\|>"
    r"|◁think▷.*?◁/think▷",
    re.IGNORECASE | re.DOTALL,
)
# The chat template of some models opens the block itself, so that the answer holds only its end.
_THINKING_END = re.compile(rf"<\s*/\s*(?:{_THINKING_TAGS})\s*>|\[/THINK\]|<\|end_of_thought\|>|◁/think▷", re.IGNORECASE)
_THINKING_START = re.compile(
    rf"<\s*(?:{_THINKING_TAGS})\s*>|\[THINK\]|<\|channel\|>\s*(?:analysis|commentary)\b|<\|begin_of_thought\|>|◁think▷",
    re.IGNORECASE,
)

# The prompt's own words about the scale. They are cut out, so that their numbers are not taken for the score.
_SCALE_TEXT = re.compile(
    r"\(?\s*\b(?:an?\s+)?(?:integer|whole)(?:\s+(?:number|score|value))?\s+(?:between|from)\s+\d+\s*(?:and|to|-)\s*\d+\s*\)?"
    r"|\b(?:on|using|in|with|of)?\s*(?:an?|the)?\s*(?:integer\s+)?(?:scale|range)\s*(?:(?:of|from|between|is|being|:)\s*)?\(?\d+\s*(?:to|and|-|through)\s*\d+\)?"
    r"|\b(?:number|score|scores|value|rating|ranging|ranges|range|grade)s?\s+(?:between|from)\s+\d+\s*(?:to|and|-|through)\s*\d+"
    r"|\(?\b(?:between|from)\s+\d+\s*(?:to|and|-)\s*\d+\s*\)?(?=\s*(?:inclusive|scale|where|with|based|[.,;:)\]]|$))"
    r"|\bwhere\s+\d+\s*(?:is|=|means|being|represents)[^.\n]*?\band\s+\d+\s*(?:is|=|means|being|represents)[^.\n]*"
    r"|\b\d+\s*(?:-|to)\s*\d+\s+(?:scale|rating|range)\b"
    r"|\b(?:reference|model)\s+answers?\b[^.\n]{0,40}?\bscores?\s+(?:of\s+)?\d+"
    r"|\(score\s+\d+\)\s*:?(?=\s*\n)"
    r"|\bfor\s+a\s+(?:perfect|full|maximum|higher|top)\s+score\s+of\s+\d+"
    # A score that was just missed: `minor errors that prevent it from being a perfect 5 out of 5`.
    r"|\b(?:prevent|keep|stop|preclude|bar)(?:s|ed|ing)?\b[^.\n]{0,40}?\bfrom\s+\w+ing\b[^.\n]{0,40}?\d+(?:\s*(?:/|out\s+of)\s*\d+)?",
    re.IGNORECASE,
)
_ECHOED = re.compile(r"\binteger(?:\s+number)?\s+between\b|write a feedback for criteria|Score \d+:", re.IGNORECASE)

_LABEL = r"(?:score|rating|grade|mark|evaluation|verdict|result|answer)"
_AWARD = (
    r"(?:(?:scor|rat|grad|receiv|deserv|achiev)(?:e|es|ed|ing)|(?:giv|award|assign|earn|merit|warrant|obtain)(?:e|s|es|ed|en|ing)?"
    r"|gave|gets?|getting)"
)

# From the most to the least explicit.
_FORMS: tuple[tuple[str, re.Pattern], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for name, pattern in (
        (
            "result",
            rf"\[\s*\**\s*RESULTS?\s*\**\s*\]{_MARKS}(?:(?:final\s+|overall\s+)?{_LABEL}{_MARKS}(?:is\b)?{_MARKS})?{_VALUE}",
        ),
        ("boxed", rf"\\boxed{_MARKS}{_VALUE}"),
        ("json", rf"[\"'](?:final_|overall_)?(?:score|rating|result)[\"']\s*:\s*[\"']?{_VALUE}"),
        (
            "final_score",
            rf"\b(?:final|overall|total)\s+(?:\w+\s+){{0,2}}?{_LABEL}\b{_MARKS}(?:(?:is|of|would\s+be|will\s+be)\b)?{_MARKS}{_VALUE}",
        ),
        (
            "score",
            rf"(?:\b(?:score|rating|grade)\b(?:\s+\([^)\n]*\))?(?:\s+for\s+[^.:\n]{{1,60}})?{{gap}}|\bRESULTS?\b\s*\**\s*[:=]{_MARKS}){_VALUE}".replace(
                "{gap}", r"\s*(?:\*\*|__)?\s*(?:[:=]|\bis\b|\bwould\s+be\b|\bwill\s+be\b|-\s)" + _MARKS
            ),
        ),
        (
            "score_of",
            rf"\b{_LABEL}\s+(?:(?:\w+\s+){{0,3}}?(?:of|as|at)|is|to)\b\s*(?:only\s+|just\s+|an?\s+)?{_MARKS}{_VALUE}",
        ),
        (
            "award",
            rf"\b{_AWARD}\s+(?:(?:it|this|him|her|them|the\s+\w+|(?:the\s+)?\w+\s+(?:summary|response|answer|story|text))\s+)?"
            rf"(?:(?:only|just|at|as|with|a|an|the|out)\s+)*(?:\w+\s+of\s+)?{_MARKS}{_VALUE}"
            r"(?!\s+(?:points?\s+(?:about|on|from|in)|main|key|of\s+the|different|examples?|reasons?|sentences?|words?|paragraphs?|times?|people|years?|days?|goals?|stars?\s+hotel|million|thousand|hundred))",
        ),
        (
            "out_of",
            rf"{_NUMBER}{_HALF}\s*(?:/|\bout\s+of(?:\s+a\s+possible)?)\s*(?P<scale>\d+(?:\.0+)?|{'|'.join(_WORDS)})\b(?!\w|/)",
        ),
        ("bare", rf"\A{_MARKS}{_VALUE}[\s.*_`\"'”’)\]}}!]*\Z"),
        ("own_line", rf"^[^\S\n]*[*_`\"'(\[]*{_VALUE}[*_`\"')\].!]*[^\S\n]*$"),
        ("option_line", r"\A\W*Score\s+(?P<number>\d+)\s*(?::|\.|$)"),
        ("leading", rf"\A{_MARKS}{_VALUE}(?=\s*[.:,;\n*)])"),
        ("closing_bracket", rf"[(\[]\s*{_VALUE}\s*[)\]][\s.*]*\Z"),
    )
)

_PENDING = re.compile(r"(?:\[\s*RESULTS?\s*\]|\b(?:score|rating)\s*(?:\*\*)?\s*(?::|is|of))[\s*\"'(]*\Z", re.IGNORECASE)


def strip_thinking(text: str) -> str | None:
    """The answer without blocks of thinking; None where such a block has no end."""
    text = _THINKING.sub("", text)
    *_, end = [0, *(match.end() for match in _THINKING_END.finditer(text))]
    text = text[end:]
    return None if _THINKING_START.search(text) else text


def parse_score(
    text: str | None,
    n: int = 5,
    *,
    ordering: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    truncated: bool = False,
) -> ParsedScore:
    """The score that an answer gives.

    Args:
        text: the raw answer.
        n: number of scores on the scale, 1 to n.
        ordering: the score at each position of the prompt; if given, the selected position is returned too.
        labels: how the options were named, lowest score first, if not by their numbers (such as ``"ABCDE"``).
        truncated: whether the engine says that the answer was cut at the token limit.

    Returns:
        The score, or the reason why there is none. Never raises on any text.
    """
    answer = strip_thinking(text or "")
    if answer is None:
        return ParsedScore(None, reason=UNFINISHED_THINKING)
    answer = unicodedata.normalize("NFKC", answer).replace("−", "-").replace("–", "-").replace("—", " - ").strip()
    if not answer:
        return ParsedScore(None, reason=TRUNCATED if truncated else EMPTY)
    score, pattern, reason = _find_number(answer, n) if labels is None else _find_label(answer, labels)
    if score is not None:
        position = None if ordering is None else list(ordering).index(score) + 1
        return ParsedScore(score, position, pattern)
    if reason == NO_SCORE and (truncated or _PENDING.search(answer)):
        reason = TRUNCATED
    return ParsedScore(None, pattern=pattern, reason=reason)


def _find_number(answer: str, n: int) -> tuple[int | None, str | None, str | None]:
    without_scale = _SCALE_TEXT.sub(" ", answer)
    for name, form in _FORMS:
        matches = list(form.finditer(without_scale))
        if matches:
            values = {_value(match, n) for match in matches}
            if len(values) > 1:
                return None, name, CONFLICTING
            value = values.pop()
            return (None, name, value) if isinstance(value, str) else (value, name, None)
    if _ECHOED.search(answer):
        return None, None, ECHO
    return None, None, NO_SCORE


def _value(match: re.Match, n: int) -> int | str:
    """The score that one match gives, or the reason why it gives none."""
    groups = match.groupdict()
    word = groups["number"].lower()
    if re.search(r",\d{3}(?!\d)", word):  # thousands, as in 1,050
        return OUT_OF_RANGE
    number = float(_WORDS.get(word, word).replace(",", "."))
    if groups.get("other") and float(_WORDS.get(groups["other"].lower(), groups["other"])) != number:
        return CONFLICTING
    scale = groups.get("scale")
    if scale and float(_WORDS.get(scale.lower(), scale)) != n:
        return OUT_OF_RANGE
    if groups.get("half") or number != int(number):
        return NOT_INTEGER
    return int(number) if 1 <= number <= n else OUT_OF_RANGE


def _find_label(answer: str, labels: Sequence[str]) -> tuple[int | None, str | None, str | None]:
    """The option that an answer picks by its label, such as `D` or `(D) Good`."""
    one = "(?P<label>" + "|".join(map(re.escape, labels)) + r")(?!\w|['’]\w)"
    forms = (
        ("result", rf"\[\s*RESULTS?\s*\]{_MARKS}{one}"),
        ("named", rf"\b(?i:answer|option|choice|score|rating)\b\s*(?i:is|of)?{_MARKS}(?i:option\s+)?{one}"),
        ("bare", rf"\A{_MARKS}{one}[\s.*_`\"'”’)\]}}!]*\Z"),
        ("leading", rf"\A{_MARKS}{one}(?=\s*[.:,;)\]*\n])"),
        ("bracketed", rf"\({one}\)"),
    )
    for name, form in forms:
        found = {match["label"] for match in re.finditer(form, answer)}
        if len(found) == 1:
            return list(labels).index(found.pop()) + 1, name, None
        if found:
            return None, name, CONFLICTING
    return None, None, NO_SCORE
