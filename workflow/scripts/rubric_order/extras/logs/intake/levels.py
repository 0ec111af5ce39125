"""The levels of a rubric within a prompt: lines such as ``Score 1: Poor.``, ``- 5: Good``, or ``"C" for correct``.

A numbered list looks the same, so a user must confirm all levels that are found here.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubric_order.extras.logs.intake.calls import Call

MOST_LINES = 8  # most lines of one description
GRADES = ("I", "P", "C")  # grades of Inspect, lowest first: incorrect, partially correct, correct
OPENING = ('"', "'", "“")
_WORD = r"(?i:score|level|rating|grade|points?|option|stars?|category)"
_LABEL = r"(?:\d{1,2}|[A-Z]|[ivx]{1,4}|[IVX]{2,4})"
_LINE = re.compile(
    r"^(?P<before>[ \t]*(?:[-*•+>|#]+[ \t]+)?[*_`\"'“]{0,3}"
    rf"(?:{_WORD}(?:[ \t]+(?i:of))?[ \t]*[=:#]?[ \t]*)?[*_`\"'“(\[<{{]{{0,3}})"
    rf"(?P<label>{_LABEL})(?!\w)"
    r"(?P<after>[)\]>}\"'”`*_]{0,3}[ \t]*(?:[:.)=|]|[-–—]+>?|=+>|→)+[*_`]{0,3}"
    r"|[)\]>}\"'”`*_]{1,3}|(?=[ \t]+(?:(?i:points?|stars?)\b|\()))"
    r"(?P<gap>[ \t]*)(?P<description>\S.*?)?[ \t]*$",
    re.MULTILINE,
)
_INLINE = re.compile(
    rf"(?P<before>[\"'“(\[])(?P<label>{_LABEL})(?P<after>[\"'”)\]][ \t]*(?:for|if|means|=|:|-)[ \t]+)"
    r"(?P<description>[^,.;:\n\"'“”()\[\]]*[^\s,.;:\"'“”()\[\]])"
)
_JOINT = re.compile(r"[ \t]*(?:[,;][ \t]*(?:(?:or|and)[ \t]+)?|(?:or|and)[ \t]+)")
_NEXT_LINE = re.compile(r"\n[ \t]*\S")
_CLOSING = re.compile(r"[\"'”],?$")


class Level(NamedTuple):
    """A level in a prompt: its label, its description on one line, and its place in the text, with its label."""

    label: str
    description: str
    start: int
    end: int


@dataclass(frozen=True)
class Block:
    """Levels that follow each other, the texts right before and after each label, and the text from one to the next."""

    before: str
    after: str
    levels: tuple[Level, ...]
    between: tuple[str, ...]

    @property
    def start(self) -> int:
        """Place of the first level."""
        return self.levels[0].start

    @property
    def end(self) -> int:
        """Place after the last level."""
        return self.levels[-1].end

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels in the order of the prompt."""
        return tuple(level.label for level in self.levels)


class Form(NamedTuple):
    """Form of levels that several prompts share: the message's index, texts around a label, sorted labels."""

    message: int
    before: str
    after: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Rubric:
    """Levels of one form: the block of each call, None where it has none or several, and the number of prompts by
    wording.
    """

    form: Form
    blocks: tuple[Block | None, ...]
    wordings: Counter[tuple[str, ...]]

    @property
    def prompts(self) -> int:
        """Number of prompts that have a block of levels."""
        return sum(block is not None for block in self.blocks)


def find(text: str) -> list[Block]:
    """All blocks of a text that may be the levels of a rubric, in the order of the text."""
    return sorted([*_lines(text), *_inline(text)], key=lambda block: block.start)


def reordered(text: str, block: Block, labels: Sequence[str]) -> str:
    r"""A text with the levels of a block in the order of `labels`.

    >>> reordered("1: Bad\n2: Good", find("1: Bad\n2: Good")[0], ["2", "1"])
    '2: Good\n1: Bad'
    """
    by_label = {level.label: text[level.start : level.end] for level in block.levels}
    joints = [*block.between, ""]
    block_text = "".join(by_label[label] + joint for label, joint in zip(labels, joints, strict=True))
    return text[: block.start] + block_text + text[block.end :]


def rubrics(calls: Sequence[Call]) -> list[Rubric]:
    """All possible rubrics in the calls of a judge; those in the most prompts come first.

    Of several blocks of one form, the most frequent words count; lists in the judged text or its task do not.
    """
    by_call: list[dict[Form, list[Block]]] = []
    for call in calls:
        by_form: dict[Form, list[Block]] = {}
        for number, message in enumerate(call.messages):
            for block in find(message.text):
                if _is_within(block, message.text, (call.text, call.instruction)):
                    continue
                form = Form(number, block.before, block.after, tuple(sorted(block.labels)))
                by_form.setdefault(form, []).append(block)
        by_call.append(by_form)
    candidates = []
    for form in dict.fromkeys(form for by_form in by_call for form in by_form):
        counts = Counter(_words(block) for by_form in by_call for block in by_form.get(form, ()))
        blocks = [_chosen(by_form.get(form, []), counts) for by_form in by_call]
        candidates.append(Rubric(form, tuple(blocks), Counter(_words(block) for block in blocks if block is not None)))
    return sorted(candidates, key=lambda rubric: (-rubric.prompts, len(rubric.wordings), -len(rubric.form.labels)))


def lowest_first(labels: Sequence[str]) -> tuple[str, ...] | None:
    """Labels from the lowest level on, for labels with a known order: numbers, and grades of Inspect. Else None."""
    if all(label.isdecimal() for label in labels):
        return tuple(sorted(labels, key=int))
    if set(labels) in ({"C", "I"}, {"C", "P", "I"}):
        return tuple(label for label in GRADES if label in labels)
    return None


def _is_within(block: Block, message: str, texts: Sequence[str | None]) -> bool:
    for text in texts:
        begun = message.find(text) if text else -1
        if text and 0 <= begun <= block.start and block.end <= begun + len(text):
            return True
    return False


def _words(block: Block) -> tuple[str, ...]:
    return tuple(level.description for level in sorted(block.levels, key=lambda level: level.label))


def _chosen(blocks: Sequence[Block], counts: Counter[tuple[str, ...]]) -> Block | None:
    ranked = sorted(blocks, key=lambda block: -counts[_words(block)])
    if len(ranked) > 1 and counts[_words(ranked[0])] == counts[_words(ranked[1])]:
        return None
    return ranked[0] if ranked else None


def _lines(text: str) -> Iterator[Block]:
    """Blocks of levels, each of which begins a line."""
    run: list[re.Match[str]] = []
    for match in [*(match for match in _LINE.finditer(text) if _is_level(match, text)), None]:
        if match is None or (run and not _follows(run, match, text)):
            if len(run) > 1 and _is_scale([level["label"] for level in run]):
                yield _block(run, text)
            run = []
        if match is not None:
            run.append(match)


def _is_level(match: re.Match[str], text: str) -> bool:
    if match["description"] is None:
        return _NEXT_LINE.match(text, match.end()) is not None
    return bool(match["gap"]) or (
        match["after"][-1:] in (":", "=", '"', "'", "”") and not match["description"][0].isdigit()
    )


def _follows(run: Sequence[re.Match[str]], match: re.Match[str], text: str) -> bool:
    """True if a level continues a run: it has the same form and a new label, and no paragraph comes in between."""
    last = run[-1]
    if match["before"] != last["before"] or match["after"] != last["after"]:
        return False
    if match["label"] in {before["label"] for before in run}:
        return False
    written, _, blank = text[last.end() : match.start()].partition("\n\n")
    return not blank.strip() and written.count("\n") <= MOST_LINES


def _is_scale(labels: Sequence[str]) -> bool:
    """True for labels that can be a scale: equally spaced numbers, neighbours in the alphabet, grades of Inspect."""
    if all(label.isdecimal() for label in labels):
        steps = sorted(map(int, labels))
        return len({after - before for before, after in itertools.pairwise(steps)}) == 1
    if {"C", "I"} <= set(labels) <= set(GRADES):
        return True
    if all(len(label) == 1 and label.isupper() for label in labels):
        places = sorted(map(ord, labels))
        return places == list(range(places[0], places[0] + len(places)))
    romans = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    return {label.lower() for label in labels} == set(romans[: len(labels)])


def _block(run: Sequence[re.Match[str]], text: str) -> Block:
    """Block of matched levels, each with the lines of its description."""
    ends = [match.end() + len(text[match.end() : after.start()].rstrip()) for match, after in itertools.pairwise(run)]
    last = run[-1].end()
    if run[-1]["description"] is None or all(end > match.end() for end, match in zip(ends, run, strict=False)):
        rest = text[last:].split("\n\n", 1)[0].split("\n")
        lines = max((text.count("\n", match.end(), end) for match, end in zip(run, ends, strict=False)), default=1)
        last += len("\n".join(rest[: lines + 1]).rstrip())
    places = []
    for match, end in zip(run, [*ends, last], strict=True):
        begun = match.end("after")
        begun += len(text[begun:end]) - len(text[begun:end].lstrip())
        places.append((match, begun, end))
    closings = [_CLOSING.search(text[begun:end]) for _, begun, end in places]
    if all(closings) and {text[begun] for _, begun, _ in places} <= set(OPENING):  # quoted, as in JSON
        places = [
            (match, begun + 1, begun + closing.start() if closing else end)
            for (match, begun, end), closing in zip(places, closings, strict=True)
        ]
    levels = tuple(
        Level(match["label"], " ".join(text[begun:end].split()), match.start(), end) for match, begun, end in places
    )
    between = tuple(text[level.end : after.start] for level, after in itertools.pairwise(levels))
    return Block(run[0]["before"], text[run[0].end("label") : places[0][1]], levels, between)


def _inline(text: str) -> Iterator[Block]:
    """Blocks of options within a sentence."""
    run: list[re.Match[str]] = []
    for match in [*_INLINE.finditer(text), None]:
        goes_on = (
            match is not None
            and bool(run)
            and (match["before"], match["after"]) == (run[0]["before"], run[0]["after"])
            and match["label"] not in {before["label"] for before in run}
            and _JOINT.fullmatch(text[run[-1].end() : match.start()]) is not None
        )
        if not goes_on:
            if len(run) > 1 and _is_scale([one["label"] for one in run]):
                levels = tuple(Level(one["label"], one["description"], one.start(), one.end()) for one in run)
                between = tuple(text[level.end : after.start] for level, after in itertools.pairwise(levels))
                yield Block(run[0]["before"], run[0]["after"], levels, between)
            run = []
        if match is not None:
            run.append(match)
