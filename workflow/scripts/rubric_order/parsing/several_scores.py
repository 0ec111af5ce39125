"""The scores of several criteria in one answer, cut at each criterion's name, or from its JSON.

A part is read like an answer about that criterion alone; the order of numbers never tells whose they are.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import regex as re

from rubric_order.parsing import choices, one_score
from rubric_order.parsing.choices import Choice, Scale

JSON = "json"
LABELLED = "labelled"  # right after the name
TRAILING = "trailing"  # at the end of the line that the name begins
BELOW = "below"  # at the start of the line after the name
MAX_JSON = 20  # most places of an answer at which a JSON value is looked for

# What can stand between a name and its score on one line.
_MARKS = r"(?:[^\S\n]|[\"'“”‘’()\[\]{}<>:=~#|→,;]|\.{2,}|…|-(?=[\s>]))*+"
_SCORE_WORD = r"(?:scores?|ratings?|grades?|marks?)"
_LINK = (
    r"(?:is|was|of|as|at|to|gets?|got|an?|the|(?:(?:should|would|could)\s(?:be|get|receive|have))"
    r"|(?:deserv|receiv|scor|earn|merit|achiev|warrant|rate|grade)(?:es|s|ed|d)?)"
)
# A remark in brackets after the name: the scale, or the criterion's description.
_REMARK = r"(?:\s*\((?:[01]\s*(?:-|to|and)\s*\d+|/\s*\d+|(?!\W*\d)[^()\n]{1,120})\))?+"
_SCALE = re.compile(r"\((?:scale\W*)?(?:from\s)?(?:[01]\s*(?:-|to|and)|out\sof|/)\s*(?P<highest>\d+)\)", re.IGNORECASE)
_BEFORE_VALUE = rf"(?:-(?=\d))?{_REMARK}{_MARKS}(?:{_SCORE_WORD}{_REMARK}{_MARKS})?(?:{_LINK}{_MARKS}){{0,3}}"
_LINE_START = r"^[^\w\n]*+(?:(?:criterion|criteria|aspect|dimension|metric|category)\s*+(?:\d++\s*+)?[^\w\n]*+)?"
# Another label that has a number: another criterion, a total.
_OTHER_LABEL = re.compile(
    rf"^[^\w\n\[]*+(?!\[*+(?:{_SCORE_WORD}|results?|answer)\b)"
    r"(?:\[[^\]\n\d]{2,60}\][^\w\n]*+"
    r"|\[*+(?:(?:overall|total|average|mean|sum|final|combined|aggregate)\b[^:\n\d]{0,40}"
    r"|[^\W\d](?:[\w'’/&-]|\s(?=\w)){1,60}\s*[:=|][^\w\n]*+))-?\d",
    re.IGNORECASE | re.MULTILINE,
)
_TRAILING = re.compile(r"(?:[:=>|→]|-\s|[.!?]\s)\s*(?P<value>[^\s:=>|→]{1,8}(?:\s*(?:/|out\sof)\s*\d{1,2})?)$")
_ECHO = re.compile(r"\[[^\]\n]{1,60}\]\s*N\b(?!/)|\bexactly\s\w+\slines\b|\bone\sline\sfor\seach\sof\sthe\b", re.I)
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_KEYS_OF_NAME = ("criterion", "criteria", "name", "aspect", "dimension", "metric", "category")
_KEYS_OF_SCORE = ("score", "rating", "value", "grade", "mark", "result", "n", "points", "level", "final_score")
_SUFFIXES = (("score",), ("rating",), ("grade",), ("points",))  # ends of a name: `coherence_score`, `coherenceScore`
# Keys of two lists that belong together.
_LISTS_OF_NAMES = ("criteria", "names", "aspects", "dimensions", "metrics", "categories")
_LISTS_OF_SCORES = ("scores", "ratings", "values", "grades", "marks")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def parse_scores(
    text: str | None, names: Sequence[str], labels: Sequence[str], *, truncated: bool = False
) -> list[Choice]:
    """The score of each criterion, in the order of `names`; no text raises, but labels that are no numbers do.

    Without text or with unfinished thinking, all have one reason; else a criterion without a score is ``truncated``,
    ``echo`` (the prompt repeated, its JSON without scores) or ``no_score``.
    """
    scale = Scale.of(labels)
    if scale is None:
        raise ValueError(f"expected labels that are numbers from 0 or 1 on, got {labels!r:.60}")
    answer = one_score.strip_thinking(text or "")
    if answer is None or not answer.strip():
        reason = choices.UNFINISHED_THINKING if answer is None else choices.TRUNCATED if truncated else choices.EMPTY
        return [Choice(None, reason=reason)] * len(names)
    keys = tuple(words(name) for name in names)
    by_criterion = _json_choices(answer, keys, scale)
    missing = choices.NO_SCORE
    if not any(by_criterion.values()):
        answer = one_score.normalise(_FENCE.sub("", answer))
        by_criterion = _text_choices(answer, keys, scale, truncated)
        if _ECHO.search(answer):
            missing = choices.ECHO
    if truncated:
        missing = choices.TRUNCATED
    return [_agreed(by_criterion[key], missing) for key in keys]


def parse_answer(text: str, labels: Sequence[str], name: str = "", *, truncated: bool = False) -> Choice:
    """The score of an answer under one criterion, from its text, or from the field `name` of JSON in it.

    >>> parse_answer('{"reason": "A 3 for style.", "coherence": 7}', choices.numbers(10), "coherence").label
    '7'
    """
    choice = one_score.parse_score(text, labels, truncated=truncated)
    field = parse_field(text, name, labels)
    # A score outside the JSON, where a prompt without JSON asks for it, comes first.
    beside = field and choice.label and one_score.parse_score(strip_json(text), labels)
    if field and not (beside and beside.label):
        return field
    return choice if choice.label else parse_object(text, labels) or choice


def parse_field(text: str | None, name: str, labels: Sequence[str]) -> Choice | None:
    """The score that JSON gives in the field of one criterion; None without one, or if labels are no numbers.

    >>> parse_field('{"reason": "A 3 for style.", "coherence": 7}', "coherence", choices.numbers(10)).label
    '7'
    """
    scale, key = Scale.of(labels), words(name)
    answer = one_score.strip_thinking(text or "")
    if scale is None or answer is None or not key:
        return None
    result = _agreed(_json_choices(answer, [key], scale)[key], choices.NO_SCORE)
    return None if result.reason == choices.NO_SCORE else result


def parse_object(text: str | None, labels: Sequence[str]) -> Choice | None:
    """The score of an answer that is one JSON object, from its field `score` or its only field, or None.

    >>> parse_object('{"quality": 10}', choices.numbers(10)).label
    '10'
    """
    scale = Scale.of(labels)
    answer = _FENCE.sub("", one_score.strip_thinking(text or "") or "").strip()
    objects = list(_json_values(answer)) if answer.startswith("{") and answer.endswith("}") else []
    if scale is None or len(objects) != 1:
        return None
    pairs = _pairs(objects[0])
    scores = [value for key, value in pairs if key.casefold() == "score"] or [value for _, value in pairs]
    result = _read_json(scores[0], scale) if len(scores) == 1 else Choice(None, reason=choices.NO_SCORE)
    return None if result.reason == choices.NO_SCORE else result


def strip_json(text: str) -> str:
    """Return an answer without the JSON values in it.

    >>> strip_json('It is {"style": 3}. [RESULT] 4')
    'It is . [RESULT] 4'
    """
    parts, end = [], 0
    for start, stop, _ in _json_spans(text):
        parts.append(text[end:start])
        end = stop
    return "".join([*parts, text[end:]])


def _pairs(value: object) -> list[tuple[str, object]]:
    return list(value) if isinstance(value, _Pairs) else []


def _agreed(results: list[Choice], missing: str) -> Choice:
    telling = [result for result in results if result.reason not in (choices.NO_SCORE, choices.ECHO)]
    if not telling:
        return Choice(None, reason=missing)
    if len({(result.label, result.reason) for result in telling}) > 1:
        return Choice(None, pattern=telling[0].pattern, reason=choices.CONFLICTING)
    return telling[0]


Words = tuple[str, ...]  # the words of a name, in small letters


def words(name: str) -> Words:
    return tuple(re.findall(r"[^\W_]+", one_score.normalise(name).lower()))


def _index(written: str, keys: Sequence[Words]) -> int:
    return ["".join(key) for key in keys].index("".join(words(written)))


@cache
def _names(keys: tuple[Words, ...]) -> re.Pattern:
    """Pattern of any name, however its words are joined, the longest first because one may contain another."""
    longest_first = sorted(keys, key=lambda key: len("".join(key)), reverse=True)
    spelled = (r"(?:[^\w\n]|_){0,4}".join(map(re.escape, key)) for key in longest_first)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(spelled)})(?![^\W_])", re.IGNORECASE)


@cache
def _mention(keys: tuple[Words, ...]) -> re.Pattern:
    name = rf"(?P<name>{_names(keys).pattern})"
    heading = rf"{_LINE_START}{name}{_REMARK}[^\w\n(]*?(?:[:=|\])>]|[^\w\n(]-\s|$)"
    valued = rf"(?P<valued>{_names(keys).pattern})(?={_BEFORE_VALUE}{one_score.NUMBER_AHEAD})"
    return re.compile(rf"{heading}|{valued}", re.IGNORECASE | re.MULTILINE)


def _text_choices(answer: str, keys: tuple[Words, ...], scale: Scale, truncated: bool) -> dict[Words, list[Choice]]:
    """Choices for each criterion, from the parts of an answer that begin with its name."""
    answer = one_score.LIST_NUMBER.sub("", answer)
    mentions = list(_mention(keys).finditer(answer))
    by_criterion: dict[Words, list[Choice]] = {key: [] for key in keys}
    for mention, following in zip(mentions, [*mentions[1:], None], strict=False):
        group = "name" if mention["name"] else "valued"
        part = answer[mention.end(group) : following.start() if following else len(answer)]
        if other := _OTHER_LABEL.search(part, part.find("\n") + 1 or len(part)):
            part, cut = part[: other.start()], False
        else:
            cut = truncated and following is None
        by_criterion[keys[_index(mention[group], keys)]].append(_read(part, scale, cut))
    return by_criterion


def _read(part: str, scale: Scale, cut: bool) -> Choice:
    """Choice that the text after a criterion's name makes."""
    heading, _, below = part.partition("\n")
    before = re.match(_BEFORE_VALUE, heading, re.IGNORECASE)
    result = one_score.parse_leading(heading[before.end() :], scale)
    if result is not None:
        other_scale = any(int(named["highest"]) != scale.highest for named in _SCALE.finditer(before[0]))
        if other_scale:
            return Choice(None, pattern=LABELLED, reason=choices.OUT_OF_RANGE)
        return Choice(result.label, pattern=LABELLED, reason=result.reason)
    result = one_score.parse_score(part, scale.labels, truncated=cut, whole=False)
    if result.reason in (choices.NO_SCORE, choices.EMPTY, choices.TRUNCATED):
        line = _TRAILING.search(heading.rstrip(" .\"'])}"))
        for text, pattern in ((line["value"] if line else "", TRAILING), (below, BELOW)):
            if (other := one_score.parse_leading(text, scale)) is not None:
                return Choice(other.label, pattern=pattern, reason=other.reason)
    return Choice(None, reason=choices.NO_SCORE) if result.reason == choices.EMPTY else result


def _json_choices(answer: str, keys: Sequence[Words], scale: Scale) -> dict[Words, list[Choice]]:
    """Choices for each criterion, from the JSON values in an answer."""
    by_criterion: dict[Words, list[Choice]] = {key: [] for key in keys}
    for value in _json_values(answer):
        for name, score in _scores(value):
            spelled = {words(name), words(_CAMEL.sub(" ", name))}
            spelled |= {parts[:-1] for parts in spelled if parts[-1:] in _SUFFIXES}
            for key in keys:
                if key in spelled:
                    by_criterion[key].append(_read_json(score, scale))
    return by_criterion


def _json_values(answer: str) -> Iterator[object]:
    return (value for _, _, value in _json_spans(answer))


def _json_spans(answer: str) -> Iterator[tuple[int, int, object]]:
    """Start and end of each object or list in an answer, and its value."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    start = 0
    for _ in range(MAX_JSON):
        opening = re.compile(r"\{\s*\"|\[\s*\{").search(answer, start)
        if opening is None:
            return
        start = opening.end()
        try:
            value, start = decoder.raw_decode(answer, opening.start())
        except (ValueError, RecursionError):
            continue
        yield opening.start(), start, value


class _Pairs(list[Any]):
    """The keys and values of a JSON object."""


def _scores(value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Keys and values of a JSON object and of those within; also names beside scores, in an object or two lists."""
    if depth > 5:
        return
    if isinstance(value, _Pairs):
        by_key = {key.casefold(): entry for key, entry in value}
        name = next((by_key[key] for key in _KEYS_OF_NAME if isinstance(by_key.get(key), str)), None)
        score = next((by_key[key] for key in _KEYS_OF_SCORE if key in by_key), None)
        if name is not None:
            yield name, score
        criteria: list[Any] = next((by_key[key] for key in _LISTS_OF_NAMES if _is_list(by_key.get(key))), [])
        scores: list[Any] = next((by_key[key] for key in _LISTS_OF_SCORES if _is_list(by_key.get(key))), [])
        if len(criteria) == len(scores) and all(isinstance(entry, str) for entry in criteria):
            yield from zip(criteria, scores, strict=True)
        for key, entry in value:
            yield key, entry
            yield from _scores(entry, depth + 1)
    elif isinstance(value, list):
        for entry in value:
            yield from _scores(entry, depth + 1)


def _is_list(value: object) -> bool:
    return isinstance(value, list) and not isinstance(value, _Pairs)


def _read_json(score: object, scale: Scale) -> Choice:
    """The score in a JSON value: the value itself, or its entry under a key such as `score`."""
    if isinstance(score, _Pairs):
        by_key = {key.casefold(): entry for key, entry in score}
        score = next((by_key[key] for key in _KEYS_OF_SCORE if key in by_key), None)
    if isinstance(score, bool) or not isinstance(score, int | float | str):
        return Choice(None, reason=choices.NO_SCORE)
    result = one_score.parse_leading(str(score), scale) or one_score.parse_score(str(score), scale.labels)
    reason = choices.NO_SCORE if result.reason == choices.EMPTY else result.reason
    return Choice(result.label, pattern=JSON, reason=reason)
