"""Requests and answers of the chat completions protocol as JSON Lines, joined by ``custom_id``.

A line is of OpenAI's Batch API or ``vllm run-batch``, of a proxy, or a conversation that ends with the answer.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.extras.logs.intake.calls import (
    Answer,
    Asked,
    Call,
    answer_of,
    body_of,
    judge_of,
    mapping,
    messages_of,
    typed,
    written,
)

NAMES = ("custom_id", "id", "item_id", "item", "sample_id", "request_id")
GROUPS = ("group", "group_id")
OWN = ("model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop")
# Fields of a request that do not affect the text of its answer, or that ask for another kind of answer.
LEFT_OUT = ("stream", "stream_options", "n", "user", "store", "metadata", "logprobs", "top_logprobs")


def is_line(record: object) -> bool:
    """True for a line with a request or an answer."""
    return isinstance(record, dict) and (_request(record) is not None or _response(record) is not None)


def read_lines(files: Iterable[tuple[Path, list[tuple[int, Any]]]]) -> Iterator[Call]:
    """Calls of the lines of some files, numbered from 1."""
    answers: dict[str, tuple[str, Mapping[str, Any]]] = {}
    requests: list[tuple[str, str, Mapping[str, Any]]] = []
    for path, lines in files:
        for number, line in lines:
            where = f"{path}: line {number}"
            record = mapping(line, where, "/")
            name = next((str(record[key]) for key in NAMES if record.get(key) is not None), f"{path.name}:{number}")
            if _request(record) is not None:
                requests.append((where, name, record))
            elif _response(record) is not None:
                key = str(record.get("custom_id", name))
                if key in answers:
                    raise InputError(f"{where}: field 'custom_id': {key!r:.60} is answered at {answers[key][0]}")
                answers[key] = (where, record)
            elif "custom_id" not in record or not {"response", "error"} & record.keys():  # else it was not answered
                raise InputError(
                    f"{where}: expected messages, or a body with messages, or a response, found fields"
                    f" {', '.join(map(str, record)):.100}"
                )
    if not requests and answers:
        where, _ = next(iter(answers.values()))
        raise InputError(f"{where}: found an answer without its request; expected the file of requests too")
    for where, name, record in requests:
        yield _call(where, name, record, answers.get(name, (where, record))[1])


def _request(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    request = record.get("request")
    for body in (record.get("body"), request.get("body") if isinstance(request, dict) else None, request, record):
        if isinstance(body, dict) and isinstance(body.get("messages"), list):
            return body
    return None


def _response(record: Mapping[str, Any]) -> Mapping[str, Any] | str | None:
    response = record.get("response")
    for body in (response.get("body") if isinstance(response, dict) else None, response, record):
        if isinstance(body, dict) and isinstance(body.get("choices"), list):
            return body
    return next((record[key] for key in ("response", "completion", "output") if isinstance(record.get(key), str)), None)


def _call(where: str, name: str, record: Mapping[str, Any], answered: Mapping[str, Any]) -> Call:
    body = _request(record) or {}
    messages = messages_of(body["messages"], where, "messages")
    answer = _answer(_response(answered), where)
    if answer is None and messages and messages[-1].role == "assistant":
        answer, messages = Answer(messages[-1].text), messages[:-1]
    if not messages:
        raise InputError(f"{where}: field 'messages': expected the judge's prompt, found nothing")
    return Call(
        where=where,
        sample=next((str(record[key]) for key in GROUPS if record.get(key) is not None), name),
        grader=str(record.get("grader", "judge")),
        candidate=typed(record.get("candidate"), str),
        messages=messages,
        asked=_asked(body, record, answer, where),
        answer=answer,
        score=written(record.get("score")),
        text=_text(record, "text", "answer"),
        instruction=_text(record, "instruction", "question"),
        reference=_text(record, "reference"),
    )


def _text(record: Mapping[str, Any], *keys: str) -> str | None:
    return next((record[key] for key in keys if isinstance(record.get(key), str)), None)


def _asked(body: Mapping[str, Any], record: Mapping[str, Any], answer: Answer | None, where: str) -> Asked:
    model = body.get("model") or record.get("model") or (answer and answer.model)
    if not isinstance(model, str):
        raise InputError(f"{where}: field 'model': expected the judge's model, found {model!r:.60}; give --model")
    names = [] if body is record else [name for name in body if name not in (*OWN, *LEFT_OUT)]
    return judge_of(model, body, body_of(body, names), where, "body")


def _answer(response: Mapping[str, Any] | str | None, where: str) -> Answer | None:
    if response is None or isinstance(response, str):
        return None if response is None else Answer(response)
    choice = mapping(next(iter(response["choices"]), None), where, "choices/0")
    text = mapping(choice.get("message"), where, "choices/0/message").get("content")
    if not isinstance(text, str):
        return None
    usage = mapping(response.get("usage"), where, "usage")
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return answer_of(text, choice.get("finish_reason"), response.get("model"), *counts)
