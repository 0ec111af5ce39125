"""From recorded prompts to a template and its texts: the rubric is cut out, and what differs from prompt to prompt.

Filled with the texts of a call and with its levels in the recorded order, the template gives the recorded prompt.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import MAX_LEVELS
from rubric_order.logs.calls import Call
from rubric_order.logs.levels import Block, Rubric

FIELDS = ("response", "instruction", "reference")
# Which of the texts that a log tells from its prompts are looked for, the most first.
CHOICES = (FIELDS, FIELDS[:2], ("response", "reference"), FIELDS[:1])
BRACES = re.compile(r"\{(?=[{%#])|\{$")


class Piece(NamedTuple):
    """Recorded prompt without its rubric.

    Attributes:
        call: the call.
        ordering: the level at each position, from 1.
        levels: descriptions, the lowest level first.
        texts: by field of the template.
    """

    call: Call
    ordering: tuple[int, ...]
    levels: tuple[str, ...]
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Cut:
    """Prompts of one judge, cut.

    Attributes:
        template: Jinja, as of an own prompt.
        system_prompt: the system message of all prompts; None where they have none.
        labels: of the levels, the lowest first.
        pieces: the prompts.
        left_out: number of calls that are not among them, by reason.
        known: True where the judged text is the one that the log names; False where it is what differs.
    """

    template: str
    system_prompt: str | None
    labels: tuple[str, ...]
    pieces: tuple[Piece, ...]
    left_out: Counter[str]
    known: bool


class _Prompt(NamedTuple):
    """A prompt in two parts, around its levels."""

    call: Call
    block: Block
    parts: tuple[str, str]


def cut(calls: Sequence[Call], rubric: Rubric, labels: Sequence[str]) -> Cut:
    """Template and texts of calls.

    Args:
        calls: those of one judge, see `reading.of_one_judge`.
        rubric: which levels are cut out, see `levels.rubrics` of the same calls.
        labels: of these levels, the lowest first.

    Raises:
        InputError: there are too many levels or other labels, the messages are not a user's after one system message,
            or the prompts have nothing in common.
    """
    form = rubric.form
    if sorted(labels) != list(form.labels):
        raise InputError(f"--order: expected {', '.join(form.labels)} in another order, found {', '.join(labels)}")
    if len(labels) > MAX_LEVELS:
        raise InputError(f"{calls[0].where}: expected at most {MAX_LEVELS} levels, found {len(labels)}")
    left_out: Counter[str] = Counter()
    prompts = []
    between = Counter(block.between for block in rubric.blocks if block is not None).most_common(1)[0][0]
    seen = set()
    for call, block in zip(calls, rubric.blocks, strict=True):
        if call.messages in seen:
            left_out["its prompt is that of an earlier call"] += 1
            continue
        seen.add(call.messages)
        if block is None:
            left_out["it has no such levels, or two of them"] += 1
        elif block.between != between:
            left_out["what stands between its levels is another text than in the other prompts"] += 1
        else:
            text = call.messages[form.message].text
            prompts.append(_Prompt(call, block, (text[: block.start], text[block.end :])))
    system_prompt = _system(prompts, form.message)
    residue, texts = _fields(prompts)
    places = {label: place for place, label in enumerate(labels, start=1)}
    pieces = []
    for prompt, found in zip(prompts, texts, strict=True):
        if not found["response"].strip():
            left_out["its text is empty"] += 1
            continue
        by_label = {level.label: level.description for level in prompt.block.levels}
        ordering = tuple(places[label] for label in prompt.block.labels)
        pieces.append(Piece(prompt.call, ordering, tuple(by_label[label] for label in labels), found))
    if not pieces:
        raise InputError(f"{calls[0].where}: no prompt has a text to be judged; expected some")
    return Cut(
        _template(residue, prompts[0].block, between),
        system_prompt,
        tuple(labels),
        tuple(pieces),
        left_out,
        known=len(texts) == len(prompts) and _names_response(prompts, texts),
    )


def _names_response(prompts: Sequence[_Prompt], texts: Sequence[Mapping[str, str]]) -> bool:
    """True where the judged texts are those that the log names."""
    return all(
        (prompt.call.text or "").strip() == found["response"].strip()
        for prompt, found in zip(prompts, texts, strict=True)
    )


def _system(prompts: Sequence[_Prompt], message: int) -> str | None:
    """The system message of all prompts, whose levels stand in the user's message after it.

    Raises:
        InputError: the messages are others.
    """
    expected = "expected a user's message that holds the rubric, perhaps after a system message that is always the same"
    first = prompts[0].call
    for prompt in prompts:
        roles = [part.role for part in prompt.call.messages]
        if roles not in (["user"], ["system", "user"]) or message != len(roles) - 1:
            where = f", with the rubric in message {message + 1}" if len(roles) > 1 else ""
            raise InputError(f"{prompt.call.where}: found messages {', '.join(roles)}{where}; {expected}")
        if prompt.call.messages[:-1] != first.messages[:-1]:
            raise InputError(f"{prompt.call.where}: found another system message than at {first.where}; {expected}")
    return first.messages[0].text if len(first.messages) > 1 else None


Parts = tuple[str, str]


def _fields(prompts: Sequence[_Prompt]) -> tuple[Parts, list[dict[str, str]]]:
    """Parts of a template around the levels, with marks for its fields, and the texts of these fields by prompt.

    The texts that the log names are taken where the rest of the prompts is the same without them; otherwise what
    differs.
    """
    for choice in CHOICES:
        marked = [_marked(prompt, choice) for prompt in prompts]
        rest = {parts for parts, _ in marked if parts is not None}
        if len(rest) == 1 and all(parts is not None for parts, _ in marked):
            return rest.pop(), [texts for _, texts in marked]
    return _differing(prompts)


def _mark(field: str) -> str:
    """Placeholder of a field; no text of a log holds one."""
    return f"\x00{field}\x00"


def _marked(prompt: _Prompt, choice: Sequence[str]) -> tuple[Parts | None, dict[str, str]]:
    """Parts of a prompt with marks in place of some texts; None where one does not stand there once."""
    values = {"response": prompt.call.text, "instruction": prompt.call.instruction, "reference": prompt.call.reference}
    joint = "\x00\x00"
    whole, texts = joint.join(prompt.parts), {}
    for field in sorted(choice, key=lambda field: -len(values[field] or "")):
        text = (values[field] or "").strip()
        if not text or whole.count(text) != 1:
            return None, {}
        whole, texts[field] = whole.replace(text, _mark(field)), text
    head, _, tail = whole.partition(joint)
    return (head, tail), texts


def _differing(prompts: Sequence[_Prompt]) -> tuple[Parts, list[dict[str, str]]]:
    """The same with what differs from prompt to prompt as response and, where both parts differ, as instruction.

    Raises:
        InputError: nothing differs, so that the judged text is not known.
    """
    splits = [_split([prompt.parts[side] for prompt in prompts]) for side in (0, 1)]
    varying = [side for side in (0, 1) if any(splits[side][1])]
    if not varying:
        raise InputError(
            f"{prompts[0].call.where}: the prompts of the log do not differ; expected at least two judged texts"
        )
    judged = varying[0]
    if len(varying) > 1 and any(prompt.call.text and prompt.call.text in prompt.parts[1] for prompt in prompts):
        judged = 1
    fields = {judged: "response", 1 - judged: "instruction"}
    parts = []
    texts: list[dict[str, str]] = [{} for _ in prompts]
    for side, (before, middle, after) in enumerate(splits):
        if side not in varying:
            parts.append(before + after)
            continue
        parts.append(before + _mark(fields[side]) + after)
        for entry, text in zip(texts, middle, strict=True):
            entry[fields[side]] = text
    return (parts[0], parts[1]), texts


def _split(texts: Sequence[str]) -> tuple[str, list[str], str]:
    """What texts begin with alike, what differs, and what they end with alike; words are not parted."""
    before = _common(texts)
    if any(text != before for text in texts):
        before = before[: len(before) - len(re.split(r"\s", before)[-1])]
    rest = [text[len(before) :] for text in texts]
    after = _common([text[::-1] for text in rest])[::-1]
    if any(text != after for text in rest):
        after = after[len(re.split(r"\s", after)[0]) :]
    return before, [text[: len(text) - len(after)] for text in rest], after


def _common(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    return first[: next((place for place, sign in enumerate(first) if last[place : place + 1] != sign), len(first))]


def _template(parts: Parts, block: Block, between: Sequence[str]) -> str:
    """Jinja of parts around the levels."""
    head, tail = parts
    line = f"{_literal(block.before)}{{{{ %s.label }}}}{_literal(block.after)}{{{{ %s.description }}}}"
    if set(between) == {"\n"} and tail.startswith("\n") and (not head or head.endswith("\n")) and "\n" not in line:
        levels = "{% for option in options %}\n" + line % ("option", "option") + "\n{% endfor %}\n"
        text = _with_fields(head) + levels + _with_fields(tail[1:])
    else:
        names = (f"options[{place}]" for place in range(len(block.levels)))
        lines = [line % (name, name) for name in names]
        joints = [*map(_literal, between), ""]
        levels = "".join(itertools.chain.from_iterable(zip(lines, joints, strict=True)))
        text = _with_fields(head) + levels + _with_fields(tail)
    # Jinja leaves out one line end at the end of a file.
    return f"{text[:-1]}{{{{ '\\n' }}}}\n" if text.endswith("\n") else f"{text}\n"


def _with_fields(part: str) -> str:
    """A part of a prompt as Jinja, its marks as fields."""
    written = re.split("\x00([a-z]+)\x00", part)
    ends: Iterator[Callable[[str], str]] = itertools.cycle((_literal, lambda field: f"{{{{ {field} }}}}"))
    return "".join(write(text) for write, text in zip(ends, written, strict=False))


def _literal(text: str) -> str:
    """A text as Jinja that writes it."""
    return BRACES.sub("{{ '{' }}", text)
