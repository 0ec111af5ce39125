"""The score in the text of a judge's answer.

Forms of writing are tried from the most explicit; the first that occurs decides, and all its occurrences must agree.
Nothing is guessed, rounded or clipped.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache

import regex as re

from rubric_order.parsing.choices import (
    CONFLICTING,
    ECHO,
    EMPTY,
    NO_SCORE,
    NOT_INTEGER,
    OUT_OF_RANGE,
    TRUNCATED,
    UNFINISHED_THINKING,
    Choice,
    Scale,
)
from rubric_order.parsing.one_label import find_label
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
    WORD,
    WORDS,
    single_spaced,
)

# Every repetition below is possessive (`*+`), bounded, or starts at a fixed word, and blank space is single: time stays
# linear in the text.

# A value: a number and its parts. Signs and fractions are kept, so that -1 and 3.5 are not read as other numbers.
NUMBER_AHEAD = rf"(?=[-+]?(?:\d|{WORD}))"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})++(?:\.\d++)?+|\d++(?:[.,]\d++)?+)"
_NUMBER = rf"(?<!out\sof\s)(?P<number>(?<![\w.,/+-])[-+]?{_DIGITS}|(?P<word>{WORD}))(?P<half>\sand\sa\shalf\b)?"
_OUT_OF = (
    r"(?:\s*+(?:stars?|points?)?\s*+\(?(?:/|out\sof(?:\san?\s\w+(?:\sof)?)?|of)"
    rf"\s*(?P<scale>{_DIGITS}|{WORD})(?![\w/]))"
)
# The other end of a range, or the other alternative: `3-4`, `3 to 4`, `3 or a 4`, `3, 4`, `3 for plot, 4 for style`.
_OTHER = (
    r"(?:(?:(?:\s(?:for|in|on)(?:\s[^\W\d]+){1,2})?[^\S\n]?(?:[-,;&|~]{1,2}|(?:,[^\S\n])?\(?or|to|and))?[^\S\n]?(?:an?\s)?"
    rf"(?P<other>{_DIGITS}|{WORD})(?:\s*(?:/|out\sof)\s*\d+)?(?!\w|\s*%){ALONE})"
)
_TAIL = rf"{_OTHER}?(?!\w|\s*/\s*\d|[.,:]\d)(?(word){ALONE})"
_VALUE = rf"{_NUMBER}(?:{_OUT_OF}|(?P<percent>\s*%))?{_TAIL}"


@cache
def _forms() -> tuple[tuple[str, re.Pattern], ...]:
    """Forms of a score, from the most explicit. Compiling takes long, and only parsing needs them."""
    return tuple(
        (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
        for name, pattern in (
            (
                "result",
                rf"{RESULT}{MARKS}"
                rf"(?:(?:(?:the|an?|my|final|overall)\s){{0,3}}{LABEL}\b)?{MARKS}(?:(?:{IS}|of|an?|between)\s){{0,2}}{MARKS}{_VALUE}",
            ),
            ("boxed", rf"\\boxed\s*\{{(?:\\\w+\{{)?(?:{LABEL}\b{MARKS}\}}?)?{MARKS}{_VALUE}"),
            (
                "final",
                r"(?<![^\W_])(?:final|overall)(?![^\W_])(?:[\s_]++(?:\w+[\s_]++)?(?:score|rating|grade|mark|evaluation"
                rf"|assessment|verdict|judge?ment|result|quality|answer(?=\s*:|\sis\b))\b)?(?:\sfor\s[^.:\n\d]{{1,60}})?,?"
                rf"{MARKS}(?:[^)\n\d]{{0,30}}\){MARKS})?(?:(?:{IS}|of)\s)?{MARKS}(?:an?\s)?{_VALUE}{ALONE}",
            ),
            (
                "score",
                rf"(?:\b{LABEL}\b[\"']?(?:\s*\([^)\n]{{0,30}}\))?(?:\s(?:for|on)\s[^.:\n\d]{{1,60}}?)?"
                rf"\s*(?:[\]>}}:=|]|-\s)|\b(?:RESULT|ANSWER)[\"']?\s*[:=>]){MARKS}{_VALUE}",
            ),
            (
                "own_line",
                r"^(?:[^\w\n.,/+-]|-(?=\s))*+(?:(?:the\s)?(?:final\s)?answer\sis\s?:(?:[^\S\n]|[(\[{\"'])*+)?"
                rf"{_VALUE}\s*(?:stars?|points?)?[^\w\n]*$",
            ),
            (
                "leading",
                rf"\A(?:[^\w.,/+-]|-(?=\s))*+(?:{LABEL}\b{MARKS})?{_VALUE}(?=\s*(?:[:,;(.!]|-\s|$))",
            ),
            (
                "score_of",
                rf"\b{LABEL}s?\s{OTHER_WORD}{{0,8}}?(?:of|at|as|to|{IS}){MARKS}{ARTICLES}{MARKS}{_VALUE}{ALONE}",
            ),
            ("award", rf"\b{VERB}\b{MARKS}{OBJECT}{ARTICLES}(?:{OTHER_WORD}of\s)?{MARKS}{_VALUE}{ALONE}"),
            (
                "it_is",
                rf"\b(?:(?:it|this|that)(?:\sis|['’]s)|making\s(?:it|this))\san?\s{OTHER_WORD}?{_VALUE}{ALONE}",
            ),
            ("out_of", rf"{_NUMBER}(?!\sof\b){_OUT_OF}{_TAIL}{ALONE}"),
            ("closing", rf"(?:\(|\[\[)\s*{_VALUE}\s*(?:\)|\]\])\W*\Z"),
        )
    )


# A number after the last sentence, if nothing in the answer is numbered: `It flows well. 4`.
_TRAILING = re.compile(
    r"(?<=(?:\w{3}|[)\"'])[.!?][\"')\]]?\s)(?<!\b(?:vol|fig|sec|chap|para|art|eqs|nos|pos)\.\s)"
    rf"{_VALUE}\s?(?:stars?|points?)?[^\w\n.,)\]:]*\Z",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?<!\w)\(?[1-9][.)](?!\d)")

# After a label, a score may also stand before a new sentence: `4 The story flows`.
_LEADING = re.compile(rf"\A{MARKS}{_VALUE}(?:{ALONE}|(?=[^\S\n](?-i:[A-Z])))", re.IGNORECASE)

# Forms that give a score outright. Only they count in an answer that was cut, where prose may come before the verdict.
_OUTRIGHT = ("result", "boxed", "final", "own_line", "leading")
_PENDING = re.compile(
    rf"(?:\[\s*RESULTS?\s*\]?|\b{LABEL}\s*(?::|is|of)){MARKS}(?:[^\n…]{{0,40}}…)?[^\w…]*\Z", re.IGNORECASE
)

_THINKING_NAMES = r"(?:think|thinking|thoughts?|reasoning|scratchpad|analysis|reflection)"
# `soft` closes a block of thinking. Outside of such a block it is ignored, since other models end a turn with it.
_THINKING = re.compile(
    rf"(?P<open><(?:seed:)?{_THINKING_NAMES}>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|START_THINKING)\|>"
    r"|<\|channel\|>\s*+(?:analysis|commentary)\b|\A(?-i:analysis(?=[A-Z])))"
    rf"|(?P<close></(?:seed:)?{_THINKING_NAMES}>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|END_THINKING)\|>"
    r"|<\|channel\|>\s*+final\b(?:<\|message\|>)?|(?-i:assistantfinal))"
    r"|(?P<soft><\|end\|>)",
    re.IGNORECASE,
)

_SPELLINGS = str.maketrans(
    {"½": " and a half", "⁄": "/", "−": "-", "–": "-", "‐": "-", "—": " - ", "【": "[", "】": "]", "İ": "I", "ı": "i"}
)
_EMPHASIS = re.compile(
    r"[*`]+|(?<![^\W_])_+|_+(?![^\W_])|</?(?:b|i|u|em|strong)>|[\u200b-\u200f\u2060\ufe0f\u20e3\ufeff]"
)
_ESCAPED = re.compile(r"\\(?=[\[\]()])")
LIST_NUMBER = re.compile(r"^[^\w\n(]{0,10}\d++[.)][^\S\n](?=\S)", re.MULTILINE)
# Scores of the prompt's reference answer, and scores that an answer mentions but does not give:
# `prevents it from being a perfect 5 out of 5`.
_NOT_GIVEN = re.compile(
    r"(?:\b(?:reference|model)\s(?:answer|response)s?(?:\W+(?:that|which|with|is|gets?|got|given|has|receive[sd]?|an?|the))*"
    r"\W+scor\w+(?:\W+of)?"
    r"|(?:n't|\b(?:not|than|short\sof|from(?=\s\w+ing\b)|for(?=\san?\s(?:perfect|full|higher|highest|maximum|top))"
    r"|to(?=\s(?:achieve|attain|deserve|earn|get|merit|obtain|reach|receive))))"
    r"(?:\s(?:achiev|attain|award|be|deserv|earn|get|giv|merit|obtain|reach|receiv|scor|warrant)\w*)?(?:\s(?:it|this))?"
    r"(?:\s(?:an?|the|quite|full|perfect|higher|highest|maximum|top|score|rating|of|\w+(?=\s(?:score|rating))))*+)"
    rf"[^\w\n.:;]+(?:{_DIGITS}|{WORD})(?:\s*(?:/|out\sof)\s*(?:\d+|{WORD}))?",
    re.IGNORECASE,
)


@cache
def _scales(scale: Scale) -> tuple[re.Pattern, re.Pattern, re.Pattern, re.Pattern]:
    """Patterns of the scale beside a score, a placeholder before one, the prompt's words echoed, and other scales."""
    lowest, highest = scale
    span = rf"(?<![\w.,]){lowest}\s*(?:to|and|through|-)\s*{highest}(?![\w/]|[.,:]\d)"
    points = f"{highest}" if lowest else f"(?:{highest}|{highest + 1})"
    named = rf"scale\s(?:(?:of|from|between|ranging\sfrom)\s)?{span}|{span}\sscale\b|{points}[-\s]point\sscale\b"
    beside = rf"(?:,\s)?\bon\s(?:an?|the)\s(?:{named}),?"
    options = r"(?:^[^\w\n]{0,10}Score\s\d+\s*:.*\n?){2,}"
    other = (
        rf"(?:\b(?:scale|range)\W+(?:(?:of|from|between)\W+)?|\b{LABEL}\s*\()"
        rf"(?:[01]\s*(?:to|and|through|-)\s*\d|out\sof\s*(?!{highest}\b)\d)"
    )
    instruction = rf"{span}|\bwrite\sa\sfeedback\sfor\scriteria\b|{options}"
    patterns = (beside, _filled_in(span, highest), instruction, other)
    return tuple(re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in patterns)


def _filled_in(span: str, highest: int) -> str:
    """Text before a score after the template's placeholder, as in `[RESULT] (an integer between 1 and 5): 4`.

    A number that describes the scale (`1 = bad`) or counts instructions (`4. Please do not`) is no score.
    """
    label = (
        rf"(?:(?P<label>{RESULT}\s?:?\s?|\b{LABEL}\s?:\s?)|^[^\w\n(\[{{<]{{0,5}}"
        r"|(?=[(\[{<][^\n)]{0,30}\b(?:integer|number)\b))"
    )
    words = r"(?:[^\W\d]{1,20}[^\S\n]){1,6}?"
    placeholder = rf"(?:[(\[{{<](?:{words})?|{words}){span}[^\w\n\"”]{{0,3}}?"
    between = (
        rf"[)\]}}>]?(?:[^\S\n]|[:=,;|>→]|-(?=[\s>]))*+(?:{LABEL}[^\S\n]?(?:[:=]|(?:{IS}|of\b)))?"
        rf"(?:[^\S\n]|[(\[{{<])*+(?:{IS}[^\S\n])?"
    )
    explained = rf"[^\S\n]?[=:]|[^\n]{{0,40}}?\bto\s{highest}\b"
    counting = r"\.[^\S\n]Please\sdo\snot\b|(?<=1)[.)][^\S\n][^\n]{0,400}?[^\S\n]2[.)][^\S\n]"
    return rf"{label}{placeholder}{between}(?={_VALUE}{ALONE}(?!{explained}|{counting}))"


def strip_thinking(text: str) -> str | None:
    """The answer without its blocks of thinking; None if such a block has no end."""
    parts, start, thinking = [], 0, False
    for tag in _THINKING.finditer(text):
        if tag["open"]:
            if not thinking:
                parts.append(text[start : tag.start()])
            thinking = True
        elif thinking:
            start, thinking = tag.end(), False
        elif tag["close"]:  # the chat template of some models opens the block itself
            parts, start = [], tag.end()
    return None if thinking else "".join(parts) + text[start:]


def parse_score(text: str | None, labels: Sequence[str], *, truncated: bool = False, whole: bool = True) -> Choice:
    """The score that an answer gives, or the reason why there is none; no text raises an error.

    Labels that are no numbers are given lowest first. In a part of an answer (not `whole`), a number after the last
    sentence may number the next part and is not read.
    """
    answer = strip_thinking(text or "")
    if answer is None:
        return Choice(None, reason=UNFINISHED_THINKING)
    answer = normalise(answer)
    if not answer:
        return Choice(None, reason=TRUNCATED if truncated else EMPTY)
    scale = Scale.of(labels)
    choice = find_label(answer, labels) if scale is None else _find_number(answer, scale, truncated, whole)
    if choice.reason == NO_SCORE and (truncated or _PENDING.search(answer)):
        return choice._replace(reason=TRUNCATED)
    return choice


def parse_leading(text: str, scale: Scale) -> Choice | None:
    """The score at the beginning of a `normalise`d text, after ornament; None if no number is there."""
    match = _LEADING.match(text)
    return None if match is None else _value(match, scale)


def normalise(answer: str) -> str:
    """The answer in plain characters, without emphasis."""
    answer = unicodedata.normalize("NFKC", answer.replace("½", " and a half")).translate(_SPELLINGS)
    return single_spaced(_ESCAPED.sub("", _EMPHASIS.sub("", answer)))


def _find_number(answer: str, scale: Scale, truncated: bool, whole: bool) -> Choice:
    beside, filled_in, instruction, other_scale = _scales(scale)
    answer = single_spaced(beside.sub(" ", LIST_NUMBER.sub("", answer)))
    answer = filled_in.sub(lambda before: f"{before['label'] or 'Score:'} ", answer)
    answer = instruction.sub("…", answer)  # no form reads across this mark
    truncated = truncated or _PENDING.search(answer) is not None
    answer = single_spaced(_NOT_GIVEN.sub(" ", answer))
    rescaled = other_scale.search(answer) is not None
    for name, form in _forms():
        if truncated and name not in _OUTRIGHT:
            continue
        values = {_value(match, scale) for match in form.finditer(answer)}
        if values and rescaled and name != "result":
            return Choice(None, name, OUT_OF_RANGE)
        if len(values) > 1:
            return Choice(None, name, CONFLICTING)
        if values:
            return values.pop()._replace(pattern=name)
    last = _TRAILING.search(answer) if whole and not (truncated or rescaled) else None
    if last is not None and not _NUMBERED.search(answer):
        return _value(last, scale)._replace(pattern="trailing")
    return Choice(None, reason=ECHO if "…" in answer else TRUNCATED if truncated else NO_SCORE)


def _value(match: re.Match, scale: Scale) -> Choice:
    """The score that one match gives, or the reason why it gives none."""
    groups = match.groupdict()
    number, fraction = _number(groups["number"])
    if groups["other"] and _number(groups["other"]) != (number, fraction):
        return Choice(None, reason=CONFLICTING)
    if groups.get("percent") or (groups["scale"] and _number(groups["scale"]) != (scale.highest, "")):
        return Choice(None, reason=OUT_OF_RANGE)
    if fraction or groups["half"]:
        return Choice(None, reason=NOT_INTEGER)
    inside = scale.lowest <= number <= scale.highest
    return Choice(str(int(number))) if inside else Choice(None, reason=OUT_OF_RANGE)


def _number(written: str) -> tuple[float, str]:
    written = re.sub(r",(?=\d{3}(?!\d))", "", written)  # thousands, as in 1,050
    whole, _, fraction = WORDS.get(written.lower(), written).replace(",", ".").partition(".")
    return float(whole), fraction.rstrip("0")
