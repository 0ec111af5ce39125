"""The verdict in an answer about several candidates: the best position, a tie, or a ranking.

Candidates are called by label (`A`), number (`Response 1`) or turn (`the first answer`). All explicit verdicts must
agree; without one, a sentence that concludes counts. A relation (`A > B`, `A = B`) counts where a label does, never
within a sentence, and its labels count as none.
"""

from collections.abc import Iterator, Sequence
from functools import cache

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
RELATION = "relation"  # alone on the first line
IDENTIFIER = "identifier"  # `m` or `M`
RANKING = "ranking"

# As in `one_score`, repetitions are bounded or possessive, so that time stays linear in the text.
_NOUN = (
    r"(?:assistant|response|answer|summary|candidate|output|option|design|chatbot|text|(?:ai\s)?model|(?:the\s)?system)"
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NAME = r"(?-i:[A-Z])"
# Text after a label that makes the label a part of a relation. `<A>`, `A</answer>` and `A => ...` are no relations.
_RELATED = (
    r"(?:[\"')]?[^\S\n]?(?:=(?!>)|(?-i:<(?![/|a-z-]))|[≈≪≫≥≤])|[^\S\n]>|[\"')]>"
    rf"|(?<!<(?:{_NOUN}\s?#?\s?)?[A-Z1-9])>|[\"')]?[^\S\n](?:vs|versus)\b)"
)
# `Output (a)`, for prompts that letter their candidates like this. `Option (D)` is a choice of a multiple-choice task.
_LETTERED = r"(?:assistant|response|summary|candidate|output|text)\s?\((?P<called>(?-i:[a-j]))\)"
_CALLED = (
    rf"(?:the\s)?(?:(?P<ordinal>{'|'.join(_ORDINALS)})\s(?:{_NOUN}|one)\b"
    rf"|{_NOUN}\s?#?\s?(?P<called>{_NAME}|[1-9])(?![\w'’]|\.\d)|{_LETTERED})(?!{_RELATED})"
)
_TIE = (
    r"(?P<tie>(?:(?:it|this|that)(?:\sis|'s)\s)?(?:an?\s)?(?:tie|draw)\b"
    r"|equal(?:ly)?\b|both\b(?!\sof\sthe)|neither\b|no\s(?:clear\s)?(?:winner|preference)\b)"
)
# A small letter is a label only in parentheses at the end of a line: `(a)`. Elsewhere it may number a list.
_LABEL = (
    rf"(?:(?P<label>{_NAME})(?![\w'’]|[^\S\n](?:\w+[^\S\n])?{_NOUN}|{_RELATED})"
    r"|(?<=\()(?P<label>(?-i:[a-j]))(?=\)[^\w\n]*$))"
)
_PARTY = rf"(?:{_NOUN}\s?#?\s?(?P<party>{_NAME}|[1-9])|(?P<party>{_NAME}))(?![\w'’])"
_RELATION = (
    rf"(?:{_PARTY}(?:[\"')]?[^\S\n]?(?P<sign>>>|<<|==?(?!>)|[<>](?!=)|[≈≪≫])[^\S\n]?[\"'(]?{_PARTY})++"
    r"(?![^\S\n]?(?:[=<>≈≪≫]|vs\b)))"
)
_VALUE = rf"(?:{_RELATION}|{_CALLED}|{_TIE}|{_LABEL})"
# A value at a place where a capital letter could also begin a sentence: `Best answer: A concise summary`.
_ENDED = r"(?=[^\w\n]*$|\s*[.,;:!)\]}\"'”]|\s(?:because|since|as|due|for|over)\b|[^\S\n]-\s)"
_PLAIN = rf"(?:{_RELATION}|{_CALLED}|{_TIE}|{_LABEL}{_ENDED})"
_MARKS = r"(?:[\s\"'“”‘’(\[{<:=~#>|→]|-(?=[\s>])){0,12}+"
# The other one of two alternatives: `A or B`, `A/B`, `A, and B`; not the pronoun in `A, I think`.
_OTHER = (
    rf"(?P<other>{_MARKS}[\"')\]]?\s?(?:/|,(?:\s?(?:or|and)\b)?|&|or\b|and\b)\s?[\"'(\[]?"
    rf"(?:{_NOUN}\s?#?\s?)?(?:\((?-i:[a-j])\)|(?!(?-i:I)\s\w)(?:{_NAME}|[1-9])(?![\w'’])))?"
)
_VERDICT = r"(?:verdict|choice|decision|judge?ment|winner|preference|selection|answer|result|conclusion|evaluation)"

# Pattern that the public code of Shi et al. looks for in the raw answer.
_FIRST = re.compile(r"\[\[(?P<bracketed>[A-D])\]\]|Choice: (?P<chosen>[A-D])")
# Words for the winner. `Selected` and `chosen` are not among them: they can describe a candidate's own answer.
_BEST = rf"(?:preferred|(?:better|best|preferred|superior|stronger|winning)[\s_-]{_NOUN})"
_KEY = rf"(?:(?:final|overall)[\s_-]?)?(?:verdict|choice|decision|judge?ment|winner|preference|better|best|{_BEST})"


@cache
def _forms() -> tuple[tuple[str, re.Pattern], ...]:
    """Forms that give a verdict outright. Compiling takes long, and only parsing needs them."""
    return tuple(
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
            ("tagged", rf"<(?:{_KEY}|answer)>{_MARKS}{_VALUE}{_OTHER}[\s\"'“”.)\]]*+</"),
            ("key", rf"(?<![^\W_])(?:{_BEST}|(?:final|overall)_{_VERDICT})[\"']?\s?[:=](?!\n){_MARKS}{_PLAIN}{_OTHER}"),
            ("json", rf"[\"']{_KEY}[\"']\s?:\s?[\"']?(?P<number>[0-9]{{1,3}}+)[\"']?\s?(?=[,}}])"),
            ("own_line", rf"(?:\A(?:[^\w\n]*+grade\s?:)?|\n)[^\w\n]*+{_VALUE}{_OTHER}[^\w\n]*+\Z"),
        )
    )


# A relation on a line of its own.
_RELATION_LINE = re.compile(rf"^[^\w\n]*+{_RELATION}[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
# Names of two models in a prompt that shows `m` first and `M` second (AlpacaEval). The answer holds nothing else.
_IDENTIFIERS = ("m", "M")
_IDENTIFIER = re.compile(r"\W*([mM])\W*")
# A label at the beginning, with or without text about it: `A`, `(B)`, `A: Summary #1 is more coherent.`
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
    rf"|(?:\b(?:choose|prefer|pick|select|favou?r|chose|go\swith|in\sfavou?r\sof)\s|\b{_BETTER}(?:\s{_NOUN})?\sis\s){_CALLED}"
    rf"|\bthe\s(?:\w+\s)?(?:better|best|preferred|superior|stronger|winning)\s(?:{_NOUN}|one|choice)"
    rf"\sis{_MARKS}(?P<label>{_NAME})(?![\w'’]|{_RELATED}){_ENDED})",
    re.IGNORECASE | re.MULTILINE,
)
_SAID_TIE = re.compile(
    r"\b(?:(?:it|this|the\s(?:\w+\s){0,2}(?:result|verdict|outcome))(?:\sis|'s)\s(?:therefore\s)?a\s(?:tie|draw)\b"
    rf"|(?:both|two)\b[^.\n]{{0,80}}?\b(?:equally|equal|the\ssame\squality)\b|neither\b[^.\n]{{0,60}}?\bis\s{_DEGREE}better\b)",
    re.IGNORECASE,
)
# Words of a sentence whose verdict is limited to one respect, conditional or negated.
_LIMITED = re.compile(
    r"\b(?:in\sterms\sof|with\sregards?\sto|regarding|if|would|could|might|(?:can)?not)\b|n['’]t\b", re.IGNORECASE
)
_SENTENCES = re.compile(r"(?<=[.!?])[\"')\]]*+\s|\n")

# The prompt's words about the form of an answer, repeated in an answer.
_ECHOED = rf"[\"“]?\[\[{_NAME}\]\][\"”]?,?\sif\s{_NOUN}\s\w\sis\s(?:the\s)?(?:better|best)"
_ECHOES = re.compile(
    rf"{_ECHOED}(?:,?\s(?:and\s)?(?:{_ECHOED}|[\"“]?\[\[{_NAME}\]\][\"”]?\sfor\sa\stie))++"
    r"|\(?\b(?:either\s)?\"A\"(?:,\s\"[B-Z]\"){0,7},?\sor\s\"[B-Z]\"\)?"
    r"|^\W*A\.\sResponse\s1\sis\sbetter\sthan\sResponse\s2\.\s*\n?\W*B\.\sResponse\s2\sis\sbetter\sthan\sResponse\s1\.",
    re.IGNORECASE | re.MULTILINE,
)


def parse_verdict(text: str | None, labels: Sequence[str], *, tie: bool = False, truncated: bool = False) -> Choice:
    """The verdict that an answer gives, by labels of positions (with `tie`, the last is one); no text raises.

    Different verdicts are `CONFLICTING`; a tie or label that was not offered is `OUT_OF_RANGE`.
    """
    return _agreed(text, tuple(labels), tie, truncated)._replace(first=first_verdict(text))


def first_verdict(text: str | None) -> str | None:
    """The letter of the first `[[A]]` or `Choice: A` after the thinking, or None.

    Source: the public code of Shi et al., Judging the Judges, reads only these two forms, letters A to D.
    """
    match = _FIRST.search(strip_thinking(text or "") or "")
    return match and (match["bracketed"] or match["chosen"])


def _agreed(text: str | None, labels: tuple[str, ...], tie: bool, truncated: bool) -> Choice:
    """The verdict on which all verdicts of an answer agree, or the reason why there is none."""
    answer, failure = _plain(text, truncated)
    if answer is None:
        return failure
    places = labels[:-1] if tie else labels
    if len(places) == len(_IDENTIFIERS) and (whole := _IDENTIFIER.fullmatch(answer)) and whole[1] not in labels:
        return Choice(places[_IDENTIFIERS.index(whole[1])], IDENTIFIER)
    choices = list(_outright(answer, labels, tie))
    if not choices and not truncated:
        choices = list(_concluded(answer, labels, tie))
    if not choices:
        return Choice(None, reason=ECHO if "…" in answer else TRUNCATED if truncated else NO_SCORE)
    if len({(choice.label, choice.reason) for choice in choices}) > 1:
        return Choice(None, choices[0].pattern, CONFLICTING)
    return choices[0]


def _plain(text: str | None, truncated: bool) -> tuple[str | None, Choice]:
    """The answer without thinking and echoes; or None, with the failure."""
    answer = strip_thinking(text or "")
    if answer is None:
        return None, Choice(None, reason=UNFINISHED_THINKING)
    answer = normalise(answer)
    if not answer:
        return None, Choice(None, reason=TRUNCATED if truncated else EMPTY)
    return _ECHOES.sub("…", answer), Choice(None)


def _outright(answer: str, labels: tuple[str, ...], tie: bool) -> Iterator[Choice]:
    """Every explicit verdict, the most explicit form first."""
    for name, form in _forms():
        for match in form.finditer(answer):
            yield _meant(match, labels, tie)._replace(pattern=name)
    if _RELATION_LINE.match(answer) is not None:
        for match in _RELATION_LINE.finditer(answer):
            yield _meant(match, labels, tie)._replace(pattern=RELATION)
    first = _HEADING.match(answer)
    if first is not None:
        for match in _HEADING.finditer(answer):
            yield _labelled(match["label"], labels)._replace(pattern="leading")


def _concluded(answer: str, labels: tuple[str, ...], tie: bool) -> Iterator[Choice]:
    """Choices of the sentences that begin with a concluding word, and of the last sentence."""
    sentences = [sentence for sentence in _SENTENCES.split(answer) if any(map(str.isalnum, sentence))]
    for place, sentence in enumerate(sentences):
        if (place < len(sentences) - 1 and not _CONCLUDES.match(sentence)) or _LIMITED.search(sentence):
            continue
        for match in _SAID.finditer(sentence):
            yield _meant(match, labels, tie)._replace(pattern=CONCLUSION)
        if _SAID_TIE.search(sentence):
            yield _tied(labels, tie)._replace(pattern=CONCLUSION)


def _meant(match: re.Match, labels: tuple[str, ...], tie: bool) -> Choice:
    """Choice that one match gives."""
    groups = match.groupdict()
    if groups.get("other"):
        return Choice(None, reason=CONFLICTING)
    places = labels[:-1] if tie else labels
    if groups.get("party"):
        return _related(match.captures("party"), match.captures("sign"), places, _tied(labels, tie))
    if groups.get("tie"):
        return _tied(labels, tie)
    if groups.get("label"):
        return _labelled(groups["label"].upper(), labels)
    if groups.get("ordinal"):
        place = _ORDINALS.index(groups["ordinal"].lower())
    else:
        called = groups.get("number") or groups["called"]
        if not called.isdigit():
            return _labelled(called.upper(), places)
        place = int(called) - 1
    if place < 0:
        return Choice(None, reason=OUT_OF_RANGE)
    return Choice(places[place]) if place < len(places) else Choice(None, reason=OUT_OF_RANGE)


def _related(parties: Sequence[str], signs: Sequence[str], places: Sequence[str], tied: Choice) -> Choice:
    """The winner of a relation that names each candidate once, such as `A > B`; `tied` where all are equal."""
    named = list(_names(parties, places))
    if sorted(named) != sorted(places):
        return Choice(None, reason=OUT_OF_RANGE)
    kinds = ["=" if sign in ("=", "==", "≈") else ">" if sign in (">", ">>", "≫") else "<" for sign in signs]
    if set(kinds) == {"="}:
        return tied
    if kinds[0] == ">" and "<" not in kinds:
        return Choice(named[0])
    if kinds[-1] == "<" and ">" not in kinds:
        return Choice(named[-1])
    return Choice(None, reason=CONFLICTING)


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
    """The labels joined by ``>``, best first, from a chain (`B > A > C`) or lines (`1. B`) that name each once."""
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
    for name in written:
        yield labels[int(name) - 1] if name.isdigit() and int(name) <= len(labels) else name
