"""Logs of Inspect: ``.eval``, a zip file of JSON, or the same as one file of JSON.

A judge's score has the conversation in its metadata, ``grading``; settings are in the event with the same answer.
"""

import contextlib
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.extras.logs.intake import calls

ZSTANDARD = 93  # compression that zipfile of Python before 3.14 does not know
LARGEST = 1 << 26  # bytes of all members together, unpacked, or `DENSEST` times the file's size if this is more
DENSEST = 100  # bytes that a byte of a log becomes; logs of real evaluations have 5 to 30
ENCRYPTED = 1  # bit of a member's flags
# Errors that a damaged, encrypted or newer archive causes in zipfile and in the libraries that unpack.
DAMAGED = (zipfile.BadZipFile, struct.error, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, OSError)
LOCAL_HEADER = 30  # bytes before the name of a member
ATTACHMENT = "attachment://"
ENDED = {"max_tokens": "length", "model_length": "length"}  # finish reasons in words of the chat completions protocol
SAMPLING = ("temperature", "top_p", "max_tokens", "seed")
BODY = ("frequency_penalty", "presence_penalty", "logit_bias", "reasoning_effort")


def is_log(content: object) -> bool:
    """True for the content of a log that is one file of JSON."""
    return isinstance(content, dict) and "eval" in content and "samples" in content


def read_archive(path: Path) -> Iterator[calls.Call]:
    """Calls of the judges of an ``.eval`` file."""
    with _readable(path):
        archive = zipfile.ZipFile(path)
    with archive:
        members = {info.filename: info for info in archive.infolist()}
        start = next((name for name in ("header.json", "_journal/start.json") if name in members), None)
        if start is None:
            raise InputError(f"{path}: expected header.json of a log of Inspect, found {', '.join(members):.100}")
        samples = [info for name, info in members.items() if name.startswith("samples/") and name.endswith(".json")]
        most = max(LARGEST, DENSEST * path.stat().st_size)
        if (size := sum(info.file_size for info in (members[start], *samples))) > most:
            raise InputError(f"{path}: expected at most {most:,} bytes when unpacked, found {size:,}")
        header = _json(path, archive, members[start])
        for info in samples:
            yield from _calls(_json(path, archive, info), header, path)


@contextlib.contextmanager
def _readable(where: object) -> Iterator[None]:
    try:
        yield
    except DAMAGED as error:
        raise InputError(f"{where}: cannot be read as an .eval file: {error or type(error).__name__}") from None


def read_content(content: Mapping[str, Any], path: Path) -> Iterator[calls.Call]:
    """Calls of the judges of a log that is one file of JSON."""
    for sample in calls.listed(content["samples"], str(path), "samples"):
        yield from _calls(calls.mapping(sample, str(path), "samples"), content, path)


def _json(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Mapping[str, Any]:
    where = f"{path}: {info.filename:.100}"
    if info.flag_bits & ENCRYPTED:
        raise InputError(f"{where}: it is encrypted; expected a log without a password")
    with _readable(where):
        content = _unpacked(path, info) if info.compress_type == ZSTANDARD else archive.read(info)
    return calls.mapping(calls.parsed(content, where), where, "/")


def _unpacked(path: Path, info: zipfile.ZipInfo) -> bytes:
    """Content of a member that is compressed by zstandard."""
    import pyarrow as pa

    with path.open("rb") as file:
        file.seek(info.header_offset)
        head = file.read(LOCAL_HEADER)
        name, extra = struct.unpack("<HH", head[26:])
        file.seek(name + extra, 1)
        packed = file.read(info.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        content: bytes = stream.read(info.file_size)
    if zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile("wrong checksum")
    return content


def _calls(sample: Mapping[str, Any], header: Mapping[str, Any], path: Path) -> Iterator[calls.Call]:
    """Calls of one sample: one for each score whose metadata has ``grading``, which marks the score of a judge."""
    where = f"{path}: sample {sample.get('id')!r:.60}, epoch {sample.get('epoch', 1)}"
    attachments = calls.mapping(sample.get("attachments"), where, "attachments")
    settings = calls.mapping(header.get("eval"), where, "eval")
    for name, score in calls.mapping(sample.get("scores"), where, "scores").items():
        place = f"scores/{name}"
        record = calls.mapping(score, where, place)
        grading = calls.mapping(record.get("metadata"), where, f"{place}/metadata").get("grading")
        if grading is None:
            continue
        conversation = [
            message._replace(text=_attached(message.text, attachments))
            for message in calls.messages_of(grading, where, f"{place}/metadata/grading")
        ]
        answered = conversation[-1].role == "assistant" if conversation else False
        prompt = tuple(conversation[:-1] if answered else conversation)
        if not prompt:
            raise InputError(f"{where}: field '{place}/metadata/grading': expected the judge's prompt, found nothing")
        last = grading[-1] if answered else {}
        event = _event(sample, last, conversation[-1].text if answered else None, where)
        system = calls.mapping(event.get("config"), where, "events/config").get("system_message")
        if isinstance(system, str) and prompt[0].role != "system":
            prompt = (calls.Message("system", system), *prompt)
        asked = _asked(event, last, name, settings, where)
        yield calls.Call(
            where=f"{where}, scorer {name!r}",
            sample=str(sample.get("id")),
            grader=name,
            candidate=calls.typed(settings.get("model"), str),
            messages=prompt,
            asked=asked,
            answer=_answer(event, last, conversation[-1].text, asked, where) if answered else None,
            score=calls.written(record.get("value")),
            text=calls.typed(record.get("answer"), str),
            instruction=_input(sample, attachments, where),
            reference=_target(sample.get("target")),
        )


def _attached(text: str, attachments: Mapping[str, Any]) -> str:
    attached = attachments.get(text.removeprefix(ATTACHMENT)) if text.startswith(ATTACHMENT) else None
    return attached if isinstance(attached, str) else text


def _event(sample: Mapping[str, Any], last: Mapping[str, Any], answer: str | None, where: str) -> Mapping[str, Any]:
    """Event of the call that gave an answer; empty where the log has none."""
    for event in reversed(calls.listed(sample.get("events"), where, "events")):
        if isinstance(event, dict) and event.get("event") == "model":
            choice = _choice(calls.mapping(event.get("output"), where, "events/output"), where)
            message = calls.mapping(choice.get("message"), where, "events/output/choices/0/message")
            same = message.get("id") == last.get("id") if message.get("id") else message.get("content") == answer
            if message and same:
                return event
    return {}


def _choice(output: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    choices = calls.listed(output.get("choices"), where, "events/output/choices")
    return calls.mapping(choices[0], where, "events/output/choices/0") if choices else {}


def _asked(
    event: Mapping[str, Any], last: Mapping[str, Any], scorer: str, settings: Mapping[str, Any], where: str
) -> calls.Asked:
    """The judge of a call, from its event or, without one, from the scorer's options or the role ``grader``."""
    options: Mapping[str, Any] = {}
    for block in calls.listed(settings.get("scorers"), where, "eval/scorers"):
        if isinstance(block, dict) and block.get("name") == scorer:
            options = calls.mapping(block.get("options"), where, "eval/scorers/options")
    role = calls.mapping(settings.get("model_roles"), where, "eval/model_roles").get("grader")
    chosen = next((block for block in (options.get("model"), role) if block), None)
    named = chosen if isinstance(chosen, dict) else {"model": chosen}
    full = event.get("model") or named.get("model") or last.get("model") or settings.get("model")
    if not isinstance(full, str):
        raise InputError(f"{where}: field 'events/model': expected the judge's model, found {full!r:.60}")
    provider, _, model = full.partition("/") if "/" in full else ("", "", full)
    same = named.get("model") == full
    default = settings.get("model_base_url") if full == settings.get("model") else None
    address = named.get("base_url") if same else default
    config = calls.mapping(event.get("config") or (named.get("config") if same else None), where, "events/config")
    fields = {name: config.get(name) for name in SAMPLING} | {"stop": config.get("stop_seqs")}
    body = calls.body_of(config, BODY)
    return calls.judge_of(model, fields, body, where, "events/config", provider=provider, base_url=address)


def _answer(
    event: Mapping[str, Any], last: Mapping[str, Any], text: str, asked: calls.Asked, where: str
) -> calls.Answer:
    output = calls.mapping(event.get("output"), where, "events/output")
    usage = calls.mapping(output.get("usage"), where, "events/output/usage")
    reason = _choice(output, where).get("stop_reason")
    model = output.get("model") or last.get("model")
    model = asked.model if model == asked.name else model
    reason = ENDED.get(str(reason), reason)
    return calls.answer_of(text, reason, model, usage.get("input_tokens"), usage.get("output_tokens"))


def _input(sample: Mapping[str, Any], attachments: Mapping[str, Any], where: str) -> str | None:
    """Task of a sample: its input, or the texts of the user's messages in it; None where there are none."""
    content = sample.get("input")
    if isinstance(content, str):
        return _attached(content, attachments)
    texts = [
        calls.text_of(message.get("content"), where, "input")
        for message in calls.listed(content, where, "input")
        if isinstance(message, dict) and message.get("role") == "user"
    ]
    return "\n".join(_attached(text, attachments) for text in texts) or None


def _target(target: object) -> str | None:
    parts = [target] if isinstance(target, str) else target if isinstance(target, list) else []
    return "".join(part for part in parts if isinstance(part, str)) or None
