"""Calls of a judge as a log holds them: messages, answer, score as written, and subject of the call."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from rubric_order.base.errors import InputError
from rubric_order.settings.judges.judge import Sampling

T = TypeVar("T")
# A log that leaves a setting out leaves it to the endpoint.
OPEN = {"temperature": None, "top_p": None, "max_tokens": None, "seed": None}


class Message(NamedTuple):
    """A message of a prompt: its role (``system``, ``user`` or ``assistant``) and its text."""

    role: str
    text: str


@dataclass(frozen=True)
class Asked:
    """Judge that a log names, and the settings under which it was asked; null or empty where the log has none.

    `max_tokens_name` is the field that limits an answer, and `extra_body` has further fields of the request, as JSON.
    """

    model: str
    provider: str = ""
    base_url: str | None = None
    sampling: Sampling = field(default_factory=lambda: Sampling.model_validate(OPEN))
    max_tokens_name: str = "max_tokens"
    extra_body: str = "{}"

    @property
    def name(self) -> str:
        """Provider and model, as a command line names them."""
        return f"{self.provider}/{self.model}" if self.provider else self.model


class Answer(NamedTuple):
    """Answer of a judge as it was recorded, with the finish reason in the words of the chat completions protocol."""

    text: str
    finish_reason: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True)
class Call:
    """One call of a judge: place for messages, sample (a group), grader (scorer or assertion), prompt and judge.

    `candidate` wrote the judged text. Texts are None where the log does not store them apart from the prompt.
    """

    where: str
    sample: str
    grader: str
    messages: tuple[Message, ...]
    asked: Asked
    candidate: str | None = None
    answer: Answer | None = None
    score: str | None = None
    text: str | None = None
    instruction: str | None = None
    reference: str | None = None


def parsed(content: bytes | str, where: str) -> Any:
    """Value that a JSON text holds."""
    try:
        return json.loads(content)
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: expected UTF-8, found byte 0x{error.object[error.start]:02x}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: line {error.lineno}, column {error.colno}: malformed JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; nested too deeply
        raise InputError(f"{where}: malformed JSON: {error}") from None


def mapping(value: object, where: str, name: str) -> Mapping[str, Any]:
    """A field that has to be a mapping. An absent field gives an empty mapping."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{where}: field {name!r}: expected a mapping, found {value!r:.60}")
    return value


def listed(value: object, where: str, name: str) -> list[Any]:
    """A field that has to be a list. An absent field gives an empty list."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{where}: field {name!r}: expected a list, found {value!r:.60}")
    return value


def text_of(content: object, where: str, name: str) -> str:
    """Text of a message's content, which is text or a list of parts. Parts with a model's reasoning are left out."""
    if isinstance(content, str):
        return content
    parts = []
    for number, part in enumerate(listed(content, where, name), start=1):
        if isinstance(part, dict) and part.get("type") == "reasoning":
            continue
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            kind = part.get("type") if isinstance(part, dict) else part
            raise InputError(f"{where}: field {name!r}: part {number}: expected text, found {kind!r:.60}")
        parts.append(part["text"])
    return "".join(parts)


def writable(text: str, where: str) -> str:
    """A text that a file can hold."""
    if "\x00" in text:
        raise InputError(f"{where}: expected text, found a control character '\\x00'")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: expected text, found half of a surrogate pair at offset {error.start}") from None
    return text


def messages_of(content: object, where: str, name: str) -> tuple[Message, ...]:
    """Messages of a prompt."""
    messages = []
    for number, message in enumerate(listed(content, where, name), start=1):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InputError(
                f"{where}: field {name!r}: message {number}: expected role and content, found {message!r:.60}"
            )
        role = "system" if message["role"] == "developer" else message["role"]
        text = text_of(message.get("content"), where, f"{name}/{number}/content")
        messages.append(Message(role, writable(text, f"{where}: field '{name}/{number}/content'")))
    return tuple(messages)


def written(score: object) -> str | None:
    """A score as text, whole numbers without a fraction; None if the score is no single value or is NaN."""
    if isinstance(score, bool) or not isinstance(score, str | int | float):
        return None
    if isinstance(score, float):
        return None if score != score else str(int(score)) if score.is_integer() else repr(score)
    return str(score)


def typed(value: object, kind: type[T]) -> T | None:
    """A value of a kind; None for any other."""
    return value if isinstance(value, kind) else None


def body_of(config: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: config[name] for name in names if config.get(name) is not None}


def judge_of(
    model: str,
    config: Mapping[str, Any],
    body: Mapping[str, Any],
    where: str,
    name: str,
    *,
    provider: str = "",
    base_url: object = None,
) -> Asked:
    """A judge from the fields of a request (`config`, which stands at `name`), and its further fields (`body`)."""
    newer = config.get("max_completion_tokens")
    limit = "max_tokens" if newer is None else "max_completion_tokens"
    sampling = sampling_of(config if newer is None else {**config, "max_tokens": newer}, where, name)
    return Asked(model, provider, typed(base_url, str), sampling, limit, json.dumps(body, sort_keys=True))


def answer_of(text: str, reason: object, model: object, *tokens: object) -> Answer:
    """An answer with those of its facts that are of the right type; `tokens` are those of prompt and completion."""
    return Answer(text, typed(reason, str), typed(model, str), *(typed(count, int) for count in tokens))


def sampling_of(settings: Mapping[str, Any], where: str, name: str) -> Sampling:
    """Sampling from the fields of a request."""
    values = OPEN | {key: settings[key] for key in OPEN if settings.get(key) is not None}
    stop = settings.get("stop")
    stops = [stop] if isinstance(stop, str) else stop or []
    try:
        return Sampling.model_validate(values | {"stop": stops})
    except ValueError as error:
        problem = error.errors()[0] if hasattr(error, "errors") else {"loc": (), "msg": str(error), "input": values}
        key = "/".join(map(str, problem["loc"]))
        raise InputError(f"{where}: field '{name}/{key}': {problem['msg']}, found {problem['input']!r:.60}") from None
