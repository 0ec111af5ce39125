"""Prompts of several messages: their templates, and the messages of a rendered prompt.

In requests and their hash a prompt is one text, each message after its role between two control characters, which no
dataset or template may hold. Without these marks it is one message of the user.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rubric_order.base import files
from rubric_order.base.errors import InputError, UnfitError

ROLES = ("system", "user", "assistant")
FILES = (".yaml", ".yml", ".json")  # endings of files that hold messages; other templates are one text
# Names of requests depend on these marks, so they never change. Jinja strips blank space, so the marks are not blank.
BEGIN, END = "\x11", "\x12"
MARKS = re.compile(f"[{BEGIN}{END}]")
_HEAD = re.compile(f"{BEGIN}({'|'.join(ROLES)}){END}\n")


class Message(NamedTuple):
    """Role (one of `ROLES`) and text of a message, or Jinja of its template."""

    role: str
    content: str


def compose(messages: Iterable[tuple[str, str]]) -> str:
    r"""Messages as one text, or templates as one template, without a line end at the end of a content.

    >>> compose([("system", "Be fair."), ("user", "Hello.")])
    '\x11system\x12\nBe fair.\x11user\x12\nHello.'
    """
    return "".join(f"{BEGIN}{role}{END}\n{content.removesuffix(chr(10))}" for role, content in messages)


def split(prompt: str) -> list[Message]:
    """The messages of a prompt.

    Example:
        >>> split("Hello.")
        [Message(role='user', content='Hello.')]
    """
    first, *parts = _HEAD.split(prompt)
    if first or not parts:
        return [Message("user", prompt)]
    return [Message(role, content) for role, content in zip(parts[::2], parts[1::2], strict=True)]


def chat(prompt: str, system_prompt: str | None = None) -> list[dict[str, str]]:
    """The messages in the form of chat models, after a judge's system message, as new objects."""
    before = [Message("system", system_prompt)] if system_prompt else []
    return [message._asdict() for message in (*before, *split(prompt))]


def shown(prompt: str) -> str:
    """A prompt as pages show it: a line with its role before each message, if there are several messages."""
    messages = split(prompt)
    if messages == [("user", prompt)]:
        return prompt
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def source(path: str | Path) -> str:
    """A template from its file: messages as one template, any other file as its unchanged text."""
    return compose(read(path)) if is_file(path) else files.read_text(path)


def is_file(path: str | Path) -> bool:
    """True for the path of a file that holds messages."""
    return Path(path).suffix.lower() in FILES


def read(path: str | Path) -> list[Message]:
    """The messages of a template's file: YAML or JSON with a list of `role` and `content`, or InputError."""
    try:
        return of(files.read_yaml(path))
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def of(listed: object) -> list[Message]:
    """Messages from a list of mappings with `role` and `content`, or UnfitError that names the message, from 1."""
    if not isinstance(listed, list | tuple):
        raise UnfitError(f"expected a list of messages, each with role and content, found {listed!r:.60}")
    messages = []
    for number, entry in enumerate(listed, start=1):
        if not isinstance(entry, Mapping) or set(entry) != {*Message._fields}:
            keys = ", ".join(map(str, entry)) if isinstance(entry, Mapping) else f"{entry!r:.60}"
            raise UnfitError(f"message {number}: expected role and content, found {keys or 'nothing'}")
        if not isinstance(entry["content"], str):
            raise UnfitError(f"message {number}: content: expected text, found {entry['content']!r:.60}")
        messages.append(Message(entry["role"], entry["content"]))
    check(messages)
    return messages


def check(messages: Sequence[tuple[str, str]]) -> None:
    """Check the roles of a prompt's messages: known, the system first, the user last, none empty; or UnfitError."""
    if not messages:
        raise UnfitError("expected a list of messages, found none")
    for number, (role, content) in enumerate(messages, start=1):
        if role not in ROLES:
            raise UnfitError(f"message {number}: role: expected {', '.join(ROLES)}, found {role!r:.40}")
        if role == "system" and number > 1:
            raise UnfitError(f"message {number}: role: a system message comes first, found one after others")
        if not content.strip():
            raise UnfitError(f"message {number}: content: expected text, found nothing")
    if messages[-1][0] != "user":
        raise UnfitError(f"message {len(messages)}: role: the last message is the user's, found {messages[-1][0]!r}")
