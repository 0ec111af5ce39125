"""Finding the verdict in what a judge wrote about several candidates: which position is best, a tie, or a ranking.

A candidate is called by its label (`A`), by its number (`Response 1`), or by its turn (`the first answer`). Forms of
writing a verdict are tried from the most to the least explicit. All explicit verdicts of an answer must agree. Where
there is none, a plain sentence counts that concludes the answer. What is only weighed before that is no verdict.
"""

from collections.abc import Iterator, Sequence

import regex as re

from rubric_order.parsing.choices import (
    CONFLICTING,
    ECHO,
    EMPTY,
    NO_SCORE,
    OUT_OF_RANGE,
    TRUNCATED,
    UNFINISHED_THINKING,
    Choice,
)
from rubric_order.parsing.one_score import normalise, strip_thinking

# The forms that prompts ask for: `[[A]]` of MT-Bench, `Choice: A` of DevBench.
BRACKETS, CHOICE = "brackets", "choice"
CONCLUSION = "conclusion"
RANKING = "ranking"

# As in `one_score`, repetitions are bounded or possessive, so that time stays linear in the text.
_NOUN = (
    r"(?:assistant|response|answer|summary|candidate|output|option|design|chatbot|text|(?:ai\s)?model|(?:the\s)?system)"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NAME = r"(?-i:[A-Z])"
_CALLED = (
    rf"(?:the\s)?(?:(?P<ordinal>{'|'.join(_ORDINALS)})\s(?:{_NOUN}|one)\b"
    rf"|{_NOUN}\s?#?\s?(?P<called>{_NAME}|[1-9])(?![\w'’]|\.\d))"
)
_TIE = (
    r"(?P<tie>(?:(?:it|this|that)(?:\sis|'s)\s)?(?:an?\s)?(?:tie|draw)\b"
    r"|equal(?:ly)?\b|both\b(?!\sof\sthe)|neither\b|no\s(?:clear\s)?(?:winner|preference)\b)"
)
_LABEL = rf"(?P<label>{_NAME})(?![\w'’]|\s(?:\w+\s)?{_NOUN})"
_VALUE = rf"(?:{_CALLED}|{_TIE}|{_LABEL})"
_MARKS = r"(?:[\s\"'“”‘’(\[{<:=~#>|→]|-(?=[\s>])){0,12}+"
# The other one of two alternatives: `A or B`, `A/B`, `A and B`.
_OTHER = (
    rf"(?P<other>{_MARKS}[\"')\]]?\s?(?:/|,|&|or\b|and\b)\s?[\"'(\[]?"
    rf"(?:{_NOUN}\s?#?\s?)?(?:{_NAME}|[1-9])(?![\w'’]))?"
)
_VERDICT = r"(?:verdict|choice|decision|judge?ment|winner|preference|selection|answer|result|conclusion|evaluation)"

# What the public code of Shi et al. looks for in an answer as it stands.
_FIRST = re.compile(r"\[\[(?P<bracketed>[A-D])\]\]|Choice: (?P<chosen>[A-D])")
# Forms that give a verdict outright.
_FORMS: tuple[tuple[str, re.Pattern], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for name, pattern in (
        (BRACKETS, r"\[\[(?P<label>(?-i:[A-Z]))\]\]"),
        ("in_brackets", rf"\[\[(?!{_NAME}\]\]|[1-9]){_MARKS}{_VALUE}{_OTHER}[\s\"'“”.]*+\]\]"),
        ("result", rf"(?:\[\s*RESULTS?\s*\]|(?-i:\bRESULTS?\b)(?=\s*[:=])){_MARKS}{_VALUE}{_OTHER}"),
        ("boxed", rf"\\boxed\s*\{{(?:\\\w+\{{)?{_MARKS}{_VALUE}{_OTHER}"),
        (
            "final",
            rf"\b(?:final|overall)\s(?:\w+\s)?{_VERDICT}\b[\"']?(?:\s(?:for|on|of)\s[^.:\n]{{1,60}})?"
            rf"(?:\sis\b|\s*[:=]|\s-(?=\s))(?:\s(?:that|as\sfollows))?{_MARKS}{_VALUE}{_OTHER}",
        ),
        (CHOICE, rf"\bchoice\b[\"']?\s*[:=]{_MARKS}{_VALUE}{_OTHER}"),
        (
            "verdict",
            rf"(?:\b(?:verdict|decision|judge?ment|winner|preference|selection|best|better(?:\s{_NOUN})?)\b[\"']?\s*[:=]"
            rf"|^[^\w\n]*+answer\s*[:=]){_MARKS}{_VALUE}{_OTHER}",
        ),
        ("own_line", rf"(?:\A|\n)[^\w\n]*+{_VALUE}{_OTHER}[^\w\n]*+\Z"),
    )
)
# A label at the beginning, with or without what it stands for: `A`, `(B)`, `A: Summary #1 is more coherent.`
_HEADING = re.compile(rf"^[^\w\n]*+(?P<label>{_NAME})(?=\s*(?:[:.,;)\]]|-\s|$))", re.MULTILINE)

# Sentences that conclude: `Therefore, Assistant A is better.`
_CONCLUDES = re.compile(
    r"(?:therefore|thus|hence|overall|so|in\s(?:conclusion|summary|the\send)|to\s(?:conclude|sum\sup)|ultimately|finally"
    r"|consequently|as\sa\sresult|all\sin\sall|based\son|considering|given|for\sth(?:is|ese)\sreasons?)\b",
    re.IGNORECASE,
)
_DEGREE = (
    r"(?:(?:the|a|an|clearly|slightly|much|far|overall|generally|considerably|significantly|marginally|more)\s){0,3}+"
)
_BETTER = r"(?:better|best|superior|stronger|strongest|prefer(?:able|red)|winner)\b"
_SAID = re.compile(
    rf"(?:{_CALLED}(?:'s\s\w+(?:\s\w+)?)?\s(?:(?:is|was|are|emerges\sas|stands\sout\sas)\s{_DEGREE}{_BETTER}"
    rf"|(?:provide|give|offer|deliver|present|write|produce|do|did|gave|wrote)\w*\s(?:(?!not\b)\w+\s){{0,3}}?(?:better|best|superior)\b"
    r"|wins\b|performs?\s(?:\w+\s)?better\b|performed\s(?:\w+\s)?better\b)"
    rf"|(?:\b(?:choose|prefer|pick|select|favou?r|chose|go\swith|in\sfavou?r\sof)\s|\b{_BETTER}(?:\s{_NOUN})?\sis\s){_CALLED})",
    re.IGNORECASE,
)
_SAID_TIE = re.compile(
    r"\b(?:(?:it|this|the\s(?:\w+\s){0,2}(?:result|verdict|outcome))(?:\sis|'s)\s(?:therefore\s)?a\s(?:tie|draw)\b"
    rf"|(?:both|two)\b[^.\n]{{0,80}}?\b(?:equally|equal|the\ssame\squality)\b|neither\b[^.\n]{{0,60}}?\bis\s{_DEGREE}better\b)",
    re.IGNORECASE,
)
# A sentence that says it of one respect only, or not at all.
_LIMITED = re.compile(r"\b(?:in\sterms\sof|with\sregards?\sto|regarding|if|would|could|might|not|n't)\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?])[\"')\]]*+\s|\n")

# The prompt's words about the form of an answer.
_ECHOED = rf"[\"“]?\[\[{_NAME}\]\][\"”]?,?\sif\s{_NOUN}\s\w\sis\s(?:the\s)?(?:better|best)"
_ECHOES = re.compile(
    rf"{_ECHOED}(?:,?\s(?:and\s)?(?:{_ECHOED}|[\"“]?\[\[{_NAME}\]\][\"”]?\sfor\sa\stie))++"
    r"|\(?\b(?:either\s)?\"A\"(?:,\s\"[B-Z]\"){0,7},?\sor\s\"[B-Z]\"\)?"
    r"|^\W*A\.\sResponse\s1\sis\sbetter\sthan\sResponse\s2\.\s*\n?\W*B\.\sResponse\s2\sis\sbetter\sthan\sResponse\s1\.",
    re.IGNORECASE | re.MULTILINE,
)


def parse_verdict(text: str | None, labels: Sequence[str], *, tie: bool = False, truncated: bool = False) -> Choice:
    """The verdict that an answer gives.

    Args:
        text: the raw answer.
        labels: what may be written, in the order of the positions in the prompt: capital letters.
        tie: whether the last label stands for a tie instead of a position.
        truncated: whether the engine says that the answer was cut at the token limit.

    Returns:
        The label, with the form as `pattern`; or the reason why there is none: two different verdicts are
        `CONFLICTING`; a tie where none was offered, or a label that was not, is `OUT_OF_RANGE`. `first` is that of
        `first_verdict`. Never raises.
    """
    return _agreed(text, tuple(labels), tie, truncated)._replace(first=first_verdict(text))


def first_verdict(text: str | None) -> str | None:
    """The letter of the first `[[A]]` or `Choice: A` in the raw answer after its thinking; None where it has none.

    Source: the public code of Shi et al., Judging the Judges, reads the letters A to D so and looks no further.
    """
    match = _FIRST.search(strip_thinking(text or "") or "")
    return match and (match["bracketed"] or match["chosen"])


def _agreed(text: str | None, labels: tuple[str, ...], tie: bool, truncated: bool) -> Choice:
    """The verdict on which all that is said agrees."""
    answer, failure = _plain(text, truncated)
    if answer is None:
        return failure
    found = list(_outright(answer, labels, tie))
    if not found and not truncated:
        found = list(_concluded(answer, labels, tie))
    if not found:
        return Choice(None, reason=ECHO if "…" in answer else TRUNCATED if truncated else NO_SCORE)
    if len({(choice.label, choice.reason) for choice in found}) > 1:
        return Choice(None, found[0].pattern, CONFLICTING)
    return found[0]


def _plain(text: str | None, truncated: bool) -> tuple[str | None, Choice]:
    """The answer without thinking and echoes, or the failure that it is."""
    answer = strip_thinking(text or "")
    if answer is None:
        return None, Choice(None, reason=UNFINISHED_THINKING)
    answer = normalise(answer)
    if not answer:
        return None, Choice(None, reason=TRUNCATED if truncated else EMPTY)
    return _ECHOES.sub("…", answer), Choice(None)


def _outright(answer: str, labels: tuple[str, ...], tie: bool) -> Iterator[Choice]:
    """Every explicit verdict, the most explicit form first."""
    for name, form in _FORMS:
        for match in form.finditer(answer):
            yield _meant(match, labels, tie)._replace(pattern=name)
    first = _HEADING.match(answer)
    if first is not None:
        for match in _HEADING.finditer(answer):
            yield _labelled(match["label"], labels)._replace(pattern="leading")


def _concluded(answer: str, labels: tuple[str, ...], tie: bool) -> Iterator[Choice]:
    """What sentences say that conclude the answer: those that begin so, and the last one."""
    sentences = [sentence for sentence in _SENTENCES.split(answer) if any(map(str.isalnum, sentence))]
    for place, sentence in enumerate(sentences):
        if (place < len(sentences) - 1 and not _CONCLUDES.match(sentence)) or _LIMITED.search(sentence):
            continue
        for match in _SAID.finditer(sentence):
            yield _meant(match, labels, tie)._replace(pattern=CONCLUSION)
        if _SAID_TIE.search(sentence):
            yield _tied(labels, tie)._replace(pattern=CONCLUSION)


def _meant(match: re.Match, labels: tuple[str, ...], tie: bool) -> Choice:
    """What one match says."""
    groups = match.groupdict()
    if groups.get("other"):
        return Choice(None, reason=CONFLICTING)
    if groups.get("tie"):
        return _tied(labels, tie)
    if groups.get("label"):
        return _labelled(groups["label"], labels)
    places = labels[:-1] if tie else labels
    if groups["ordinal"]:
        place = _ORDINALS.index(groups["ordinal"].lower())
    elif groups["called"].isdigit():
        place = int(groups["called"]) - 1
    else:
        return _labelled(groups["called"], places)
    return Choice(places[place]) if place < len(places) else Choice(None, reason=OUT_OF_RANGE)


def _labelled(label: str, labels: tuple[str, ...]) -> Choice:
    return Choice(label) if label in labels else Choice(None, reason=OUT_OF_RANGE)


def _tied(labels: tuple[str, ...], tie: bool) -> Choice:
    return Choice(labels[-1]) if tie else Choice(None, reason=OUT_OF_RANGE)


# --- rankings

_ONE = rf"(?:{_NOUN}\s?#?\s?)?(?P<one>{_NAME}|[1-9])(?![\w'’])"
_CHAIN = re.compile(rf"(?<![\w'’]){_ONE}(?:[\"']?\s?(?:>|,|;|\bthen\b|→)\s?[\"']?{_ONE})++", re.IGNORECASE)
_EVEN = re.compile(rf"(?<![\w'’]){_ONE}\s?=\s?{_ONE}", re.IGNORECASE)


_LINE = re.compile(
    rf"^[^\w\n\[]*+(?:\[?(?:rank|place|no\.)?\s?#?(?P<rank>[1-9])(?:st|nd|rd|th)?\]?[.):]?\s?[:=-]?){_MARKS}{_ONE}",
    re.IGNORECASE | re.MULTILINE,
)


def parse_ranking(text: str | None, labels: Sequence[str], *, truncated: bool = False) -> Choice:
    """The ranking that an answer gives.

    It is written as a chain (`B > A > C`, `[[B, A, C]]`) or as lines (`1. B`, `[Rank 1] B`). A ranking names each
    candidate once; one that ranks two as equal, or names only some, is none.

    Args:
        text: the raw answer.
        labels: of the positions in the prompt, capital letters.
        truncated: see `parse_verdict`.

    Returns:
        The labels joined by ``>``, the best first; or the reason why there is no ranking. Never raises.
    """
    answer, failure = _plain(text, truncated)
    if answer is None:
        return failure
    chains = {tuple(_names(match.captures("one"), labels)) for match in _CHAIN.finditer(answer)}
    lines = [(int(match["rank"]), match["one"]) for match in _LINE.finditer(answer)]
    if sorted(rank for rank, _ in lines) == list(range(1, len(labels) + 1)):
        chains.add(tuple(_names([one for _, one in sorted(lines)], labels)))
    whole = {chain for chain in chains if sorted(chain) == sorted(labels)}
    if len(whole) == 1 and not _EVEN.search(answer):
        return Choice(">".join(whole.pop()), RANKING)
    reason = CONFLICTING if len(whole) > 1 else TRUNCATED if truncated else OUT_OF_RANGE if chains else NO_SCORE
    return Choice(None, RANKING if chains else None, reason)


def _names(written: Sequence[str], labels: Sequence[str]) -> Iterator[str]:
    """Labels for names and numbers; what is neither stays as it is."""
    for name in written:
        yield labels[int(name) - 1] if name.isdigit() and int(name) <= len(labels) else name
