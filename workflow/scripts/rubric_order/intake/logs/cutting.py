"""Cutting of recorded prompts into a template and texts: the rubric and all parts that differ are cut out.

The template, filled with the texts of a call and with the call's levels in the recorded order, gives the recorded
prompt.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import MAX_LEVELS
from rubric_order.intake.logs.calls import Call, Message
from rubric_order.intake.logs.levels import Block, Rubric

FIELDS = ("response", "instruction", "reference")
# Sets of texts that a log stores apart from its prompts, and that are looked for in the prompts; the largest set first.
CHOICES = (FIELDS, FIELDS[:2], ("response", "reference"), FIELDS[:1])
LOOP_END = "{% endfor %}\n"
BRACES = re.compile(r"\{(?=[{%#])|\{$")


class Piece(NamedTuple):
    """Recorded prompt without its rubric.

    Attributes:
        call: the call.
        ordering: the level at each position, from 1.
        levels: descriptions, the lowest level first.
        texts: text of each field of the template.
    """

    call: Call
    ordering: tuple[int, ...]
    levels: tuple[str, ...]
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Cut:
    """Prompts of one judge, cut into a template and texts.

    Attributes:
        template: Jinja of each message, as in a user's own prompt. If there is a `system_prompt`, only the user's
            message that follows it.
        system_prompt: the system message, if it is the same in all prompts and the rubric is in the user's message;
            else None.
        labels: labels of the levels, the lowest first.
        pieces: the prompts.
        left_out: dictionary from each reason to the number of calls that are therefore not among the pieces.
        text_is_named: True if the judged texts are those that the log stores apart from the prompts; False if they are
            the parts in which the prompts differ.
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
    """Template and texts of calls.

    Args:
        calls: calls of one judge, see `reading.select_judge`.
        rubric: the levels to cut out, from `levels.rubrics` of the same calls.
        labels: labels of these levels, the lowest first.

    Raises:
        InputError: there are too many levels; `labels` are not the labels of the levels; the roles of the messages do
            not form a prompt; the judged texts cannot be found, see `_differing`; or all judged texts are empty.
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
    """Check that a prompt can be asked.

    Raises:
        InputError: a system message is not the first, the last message is not the user's, or there is another role.
    """
    roles = _roles(call)
    if roles[-1] != "user" or not set(roles[1:]) <= {"user", "assistant"} or roles[0] not in ("system", "user"):
        raise InputError(
            f"{call.where}: found messages {', '.join(roles)}; expected those of the user and the assistant, perhaps"
            " after a system message, the last of them the user's"
        )


def _is_plain(calls: Sequence[Call], message: int) -> bool:
    """True if each prompt is one user's message with the levels, perhaps after a system message that all share.

    False also if the system message holds braces of a template. The message is then written as part of the template,
    with these braces escaped.
    """
    first = calls[0].messages
    if message != len(first) - 1 or len(first) > 2 or any(BRACES.search(part.text) for part in first[:-1]):
        return False
    return all(call.messages[:-1] == first[:-1] for call in calls)


def _parts(call: Call, block: Block, message: int, begin: int) -> Parts:
    """Messages of a prompt from index `begin` (from 0) on; the message with the levels is in two parts."""
    texts = [part.text for part in call.messages]
    around = (texts[message][: block.start], texts[message][block.end :])
    return (*texts[begin:message], *around, *texts[message + 1 :])


def _names_response(prompts: Sequence[_Prompt], texts: Sequence[Mapping[str, str]]) -> bool:
    """True if the judged texts are those that the log stores apart from the prompts."""
    return all(
        (prompt.call.text or "").strip() == fields["response"].strip()
        for prompt, fields in zip(prompts, texts, strict=True)
    )


def _fields(prompts: Sequence[_Prompt]) -> tuple[Parts, list[dict[str, str]]]:
    """Parts of a template around the levels, with marks for its fields, and the texts of these fields for each prompt.

    The fields are the texts that the log stores apart from the prompts, if all prompts are the same once these texts
    are cut out. Otherwise the fields are the parts in which the prompts differ.
    """
    for choice in CHOICES:
        marked = [_marked(prompt, choice) for prompt in prompts]
        rest = {parts for parts, _ in marked if parts is not None}
        if len(rest) == 1 and all(parts is not None for parts, _ in marked):
            return rest.pop(), [texts for _, texts in marked]
    return _differing(prompts)


def _mark(field: str) -> str:
    """Placeholder of a field. No text of a log holds a placeholder."""
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
    """Result of `_fields` from the parts that differ between prompts: the response and, if two differ, the instruction.

    Raises:
        InputError: nothing differs, so that the judged text is not known; or more than two parts differ.
    """
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
    """Beginning that all texts have in common."""
    first, last = min(texts), max(texts)
    return first[: next((place for place, sign in enumerate(first) if last[place : place + 1] != sign), len(first))]


def _template(
    parts: Parts, roles: Sequence[str], message: int, block: Block, between: Sequence[str]
) -> tuple[Message, ...]:
    """Jinja of messages from their parts.

    Args:
        parts: see `_parts`, with marks.
        roles: roles of the messages.
        message: index, from 0, of the message whose levels are between two parts.
        block: levels of a prompt.
        between: texts from one level to the next.
    """
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
    """Jinja as in a file, with a line end that rendering drops. A line end of the prompt becomes an expression."""
    if text.endswith(LOOP_END):
        return text
    return f"{text[:-1]}{{{{ '\\n' }}}}\n" if text.endswith("\n") else f"{text}\n"


def _fill_marks(part: str) -> str:
    """A part of a prompt as Jinja, with fields in place of its marks."""
    written = re.split("\x00([a-z]+)\x00", part)
    ends: Iterator[Callable[[str], str]] = itertools.cycle((_literal, lambda field: f"{{{{ {field} }}}}"))
    return "".join(write(text) for write, text in zip(ends, written, strict=False))


def _literal(text: str) -> str:
    """A text as Jinja that writes it."""
    return BRACES.sub("{{ '{' }}", text)
