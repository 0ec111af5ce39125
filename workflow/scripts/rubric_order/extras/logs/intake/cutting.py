"""Cutting of recorded prompts into a template and texts: filled with a call's texts and levels, it gives the prompt
again.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import MAX_LEVELS
from rubric_order.extras.logs.intake.calls import Call, Message
from rubric_order.extras.logs.intake.levels import Block, Rubric

FIELDS = ("response", "instruction", "reference")
# Sets of texts that a log stores apart from its prompts, and that are looked for in the prompts; the largest set first.
CHOICES = (FIELDS, FIELDS[:2], ("response", "reference"), FIELDS[:1])
LOOP_END = "{% endfor %}\n"
BRACES = re.compile(r"\{(?=[{%#])|\{$")


class Piece(NamedTuple):
    """Recorded prompt without its rubric: the level at each position, descriptions (the lowest first), and fields'
    texts.
    """

    call: Call
    ordering: tuple[int, ...]
    levels: tuple[str, ...]
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Cut:
    """Prompts of one judge, cut into a template (Jinja of each message) and texts; labels are the lowest first.

    `left_out` counts calls by the reason why they are no pieces. Without `text_is_named`, texts are what differs in
    prompts.
    """

    template: tuple[Message, ...]
    system_prompt: str | None
    labels: tuple[str, ...]
    pieces: tuple[Piece, ...]
    left_out: Counter[str]
    text_is_named: bool


Parts = tuple[str, ...]


class _Prompt(NamedTuple):
    """A prompt in parts, one for each message. The message with the levels has a part before and a part after them."""

    call: Call
    block: Block
    parts: Parts


def cut(calls: Sequence[Call], rubric: Rubric, labels: Sequence[str]) -> Cut:
    """Template and texts of the calls of one judge, whose `rubric` is of the same calls, with its labels, the lowest
    first.
    """
    form = rubric.form
    if sorted(labels) != list(form.labels):
        raise InputError(f"--order: expected {', '.join(form.labels)} in another order, found {', '.join(labels)}")
    if len(labels) > MAX_LEVELS:
        raise InputError(f"{calls[0].where}: expected at most {MAX_LEVELS} levels, found {len(labels)}")
    left_out: Counter[str] = Counter()
    chosen: list[tuple[Call, Block]] = []
    between = Counter(block.between for block in rubric.blocks if block is not None).most_common(1)[0][0]
    roles = Counter(_roles(call) for call, block in zip(calls, rubric.blocks, strict=True) if block is not None)
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
        elif _roles(call) != roles.most_common(1)[0][0]:
            left_out["its messages have other roles than those of the other prompts"] += 1
        else:
            chosen.append((call, block))
    first = chosen[0][0]
    _check_roles(first)
    begin = 1 if _is_plain([call for call, _ in chosen], form.message) and len(first.messages) > 1 else 0
    prompts = [_Prompt(call, block, _parts(call, block, form.message, begin)) for call, block in chosen]
    residue, texts = _fields(prompts)
    places = {label: place for place, label in enumerate(labels, start=1)}
    pieces = []
    for prompt, fields in zip(prompts, texts, strict=True):
        if not fields["response"].strip():
            left_out["its text is empty"] += 1
            continue
        by_label = {level.label: level.description for level in prompt.block.levels}
        ordering = tuple(places[label] for label in prompt.block.labels)
        pieces.append(Piece(prompt.call, ordering, tuple(by_label[label] for label in labels), fields))
    if not pieces:
        raise InputError(f"{first.where}: no prompt has a text to be judged; expected some")
    return Cut(
        _template(residue, _roles(first)[begin:], form.message - begin, prompts[0].block, between),
        first.messages[0].text if begin else None,
        tuple(labels),
        tuple(pieces),
        left_out,
        text_is_named=_names_response(prompts, texts),
    )


def _roles(call: Call) -> tuple[str, ...]:
    return tuple(message.role for message in call.messages)


def _check_roles(call: Call) -> None:
    roles = _roles(call)
    if roles[-1] != "user" or not set(roles[1:]) <= {"user", "assistant"} or roles[0] not in ("system", "user"):
        raise InputError(
            f"{call.where}: found messages {', '.join(roles)}; expected those of the user and the assistant, perhaps"
            " after a system message, the last of them the user's"
        )


def _is_plain(calls: Sequence[Call], message: int) -> bool:
    first = calls[0].messages
    if message != len(first) - 1 or len(first) > 2 or any(BRACES.search(part.text) for part in first[:-1]):
        return False
    return all(call.messages[:-1] == first[:-1] for call in calls)


def _parts(call: Call, block: Block, message: int, begin: int) -> Parts:
    texts = [part.text for part in call.messages]
    around = (texts[message][: block.start], texts[message][block.end :])
    return (*texts[begin:message], *around, *texts[message + 1 :])


def _names_response(prompts: Sequence[_Prompt], texts: Sequence[Mapping[str, str]]) -> bool:
    return all(
        (prompt.call.text or "").strip() == fields["response"].strip()
        for prompt, fields in zip(prompts, texts, strict=True)
    )


def _fields(prompts: Sequence[_Prompt]) -> tuple[Parts, list[dict[str, str]]]:
    for choice in CHOICES:
        marked = [_marked(prompt, choice) for prompt in prompts]
        rest = {parts for parts, _ in marked if parts is not None}
        if len(rest) == 1 and all(parts is not None for parts, _ in marked):
            return rest.pop(), [texts for _, texts in marked]
    return _differing(prompts)


def _mark(field: str) -> str:
    return f"\x00{field}\x00"


def _marked(prompt: _Prompt, choice: Sequence[str]) -> tuple[Parts | None, dict[str, str]]:
    """Parts of a prompt with marks in place of some texts; None if a text does not occur exactly once."""
    values = {"response": prompt.call.text, "instruction": prompt.call.instruction, "reference": prompt.call.reference}
    joint = "\x00\x00"
    whole, texts = joint.join(prompt.parts), {}
    for field in sorted(choice, key=lambda field: -len(values[field] or "")):
        text = (values[field] or "").strip()
        if not text or whole.count(text) != 1:
            return None, {}
        whole, texts[field] = whole.replace(text, _mark(field)), text
    return tuple(whole.split(joint)), texts


def _differing(prompts: Sequence[_Prompt]) -> tuple[Parts, list[dict[str, str]]]:
    """Result of `_fields` from the parts in which prompts differ: the response and perhaps the instruction."""
    first = prompts[0]
    splits = [_split([prompt.parts[place] for prompt in prompts]) for place in range(len(first.parts))]
    varying = [place for place, (_, middle, _) in enumerate(splits) if any(middle)]
    if not varying:
        raise InputError(
            f"{first.call.where}: the prompts of the log do not differ; expected at least two judged texts"
        )
    if len(varying) > 2:
        raise InputError(
            f"{first.call.where}: {len(varying)} parts of the prompts differ, between messages and around the levels;"
            " expected at most two"
        )
    named = [
        place
        for place in varying
        if any(prompt.call.text and prompt.call.text in prompt.parts[place] for prompt in prompts)
    ]
    judged = named[0] if named else varying[0]
    parts: list[str] = []
    texts: list[dict[str, str]] = [{} for _ in prompts]
    for place, (before, middle, after) in enumerate(splits):
        if place not in varying:
            parts.append(before + after)
            continue
        field = "response" if place == judged else "instruction"
        parts.append(before + _mark(field) + after)
        for entry, text in zip(texts, middle, strict=True):
            entry[field] = text
    return tuple(parts), texts


def _split(texts: Sequence[str]) -> tuple[str, list[str], str]:
    """Common beginning of texts, differing middle of each, and common end. Words are not split."""
    before = _common(texts)
    if any(text != before for text in texts):
        before = before[: len(before) - len(re.split(r"\s", before)[-1])]
    rest = [text[len(before) :] for text in texts]
    after = _common([text[::-1] for text in rest])[::-1]
    if any(text != after for text in rest):
        after = after[len(re.split(r"\s", after)[0]) :]
    return before, [text[: len(text) - len(after)] for text in rest], after


def _common(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: next((place for place, sign in enumerate(first) if last[place : place + 1] != sign), len(first))]


def _template(
    parts: Parts, roles: Sequence[str], message: int, block: Block, between: Sequence[str]
) -> tuple[Message, ...]:
    """Jinja of messages from their parts with marks; the levels stand between two parts of message `message`."""
    contents = [
        *map(_fill_marks, parts[:message]),
        _around(parts[message], parts[message + 1], block, between),
        *map(_fill_marks, parts[message + 2 :]),
    ]
    return tuple(Message(role, _ended(content)) for role, content in zip(roles, contents, strict=True))


def _around(head: str, tail: str, block: Block, between: Sequence[str]) -> str:
    """Jinja of the message that has the levels."""
    line = f"{_literal(block.before)}{{{{ %s.label }}}}{_literal(block.after)}{{{{ %s.description }}}}"
    if set(between) == {"\n"} and tail.startswith("\n") and (not head or head.endswith("\n")) and "\n" not in line:
        levels = "{% for option in options %}\n" + line % ("option", "option") + f"\n{LOOP_END}"
        return _fill_marks(head) + levels + _fill_marks(tail[1:])
    options = (f"options[{place}]" for place in range(len(block.levels)))
    lines = [line % (name, name) for name in options]
    joints = [*map(_literal, between), ""]
    levels = "".join(itertools.chain.from_iterable(zip(lines, joints, strict=True)))
    return _fill_marks(head) + levels + _fill_marks(tail)


def _ended(text: str) -> str:
    if text.endswith(LOOP_END):
        return text
    return f"{text[:-1]}{{{{ '\\n' }}}}\n" if text.endswith("\n") else f"{text}\n"


def _fill_marks(part: str) -> str:
    written = re.split("\x00([a-z]+)\x00", part)
    ends: Iterator[Callable[[str], str]] = itertools.cycle((_literal, lambda field: f"{{{{ {field} }}}}"))
    return "".join(write(text) for write, text in zip(ends, written, strict=False))


def _literal(text: str) -> str:
    return BRACES.sub("{{ '{' }}", text)
