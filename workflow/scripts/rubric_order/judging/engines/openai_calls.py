"""One call to an OpenAI-compatible endpoint, and the reasons why a call can fail."""

import asyncio
import email.utils
import importlib.metadata
import json
import math
import os
import re
import string
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import openai

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import transport
from rubric_order.judging.engines.failures import CallError, one_line
from rubric_order.settings.judges.over_http import Addressed, OverHttp

if TYPE_CHECKING:
    from rubric_order.judging.engines.serving import Server

MAX_WAIT_SECONDS = 600.0  # a call is given up if the endpoint asks for a longer wait

# Variables whose values the client would send to any endpoint. Only values that config names are sent.
VARIABLES = ("OPENAI_ADMIN_KEY", "OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")

# Statuses after which no call can succeed, each with the thing that the endpoint does not accept.
MISTAKES = {401: "the key", 402: "payment", 404: "the model or base_url", 405: "base_url"}
LATE = (504, 524)  # statuses of gateways that gave up while the model may have answered
LATER = (409, 425, 498)  # further statuses after which a call may succeed; 498: Groq has no capacity
# Messages about prompts that are too long, and codes of prompts that are filtered: there is no one status for either.
TOO_LONG = re.compile(
    "maximum context length|context length exceeded|context window|context size|(prompt|input) is too long"
    "|longer than the maximum|input token count|`max_new_tokens` must be|too many tokens: ",
    re.IGNORECASE,
)
FILTERED = re.compile("content_?filter|content_policy|data_?inspection_?failed", re.IGNORECASE)
STREAM = re.compile(rb"(data|event|id|retry|):")  # beginning of a line of server-sent events
STARTS = 1000  # first bytes of an answer, by which an answer other than a JSON object is recognised


def secret(name: str, where: str) -> str:
    """The value of an environment variable, in no message; an InputError if it is missing or no header can hold it."""
    value = os.environ.get(name, "").strip()
    if not value:
        raise InputError(f"judge: {where}: the environment has no variable {name}")
    if not (value.isascii() and value.isprintable()):
        raise InputError(f"judge: {where}: variable {name} holds a character that a header cannot")
    return value


def fill_in(headers: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """Headers with ``$NAME`` replaced by the variable of that name, and the values of these variables."""
    filled, secrets = {}, set()
    for header, value in headers.items():
        where, template = f"extra_headers/{header}", string.Template(value)
        try:
            values = {name: secret(name, where) for name in template.get_identifiers()}
            filled[header] = template.substitute(values)
        except ValueError:
            raise InputError(f"judge: {where}: expected $NAME for a variable, and $$ for a dollar") from None
        if not (header.isascii() and header.isprintable() and header.strip() == header and ":" not in header):
            raise InputError(f"judge: {where}: no header has such a name")
        if not (filled[header].isascii() and filled[header].isprintable()):
            raise InputError(f"judge: {where}: the value holds a character that a header cannot")
        secrets |= set(values.values())
    return filled, secrets


def connect(judge: Addressed) -> "Connection":
    """The connection to an address that config names."""
    key = None if judge.api_key_env is None else secret(judge.api_key_env, "api_key_env")
    headers, secrets = fill_in(judge.extra_headers)
    return Connection(judge.base_url, key=key, headers=headers, secrets=secrets, timeout=judge.timeout)


def description(judge: OverHttp, started: str) -> dict[str, Any]:
    """Description of an engine whose run began at a time, see `Engine.describe`."""
    return {"engine": judge.KIND, "engine_version": importlib.metadata.version("openai"), "started": started}


class Connection:
    """Access to an endpoint, inside ``async with``, in one event loop at a time."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
        timeout: float,
        server: "Server | None" = None,
    ) -> None:
        self.base_url = base_url
        self.timeout = timeout
        self.server = server
        self._key = key
        self._headers: dict[str, Any] = dict(headers or {})
        if key is None and "authorization" not in map(str.lower, self._headers):
            self._headers["Authorization"] = openai.Omit()
        self.secrets = frozenset(secret for secret in (key, *secrets) if secret)

    async def __aenter__(self) -> "Connection":
        for name in VARIABLES:
            os.environ.pop(name, None)
        trust_env = self.server is None  # a server on this machine needs no proxy
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",  # the placeholder is not sent
            base_url=self.base_url,
            max_retries=0,
            timeout=None,  # `_answer` limits the whole call
            http_client=transport.client(trust_env=trust_env),
        )
        self._clients = transport.Clients(trust_env=trust_env)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()
        await self._clients.aclose()

    async def post(
        self, address: str, body: Mapping[str, Any], *, limit: int = transport.DEFAULT_LIMIT
    ) -> dict[str, Any]:
        """Post a body, and return the JSON of the answer, of at most `limit` bytes. CallError without a usable answer;
        InputError if no call can succeed.
        """
        return self._content(await self._call(lambda: self._post(address, body), limit))

    async def _post(self, address: str, body: Mapping[str, Any]) -> bytes:
        """Post a body as the OpenAI client would post it."""
        options = {"headers": self._headers}

        async def post(http_client: Any) -> None:
            async with self._client.with_options(http_client=http_client) as client:
                # The client's typed methods are not used: they know one provider's fields, and check no answer.
                await client.post(address, body={}, cast_to=bytes, options=options)

        pattern = await self._clients.pattern(address, post)
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        response = await self._clients.send(pattern, content)
        if not response.is_success:
            raise self._status_error(response)
        answer: bytes = response.content
        return answer

    async def get(
        self, address: str, parameters: Mapping[str, object] | None = None, *, limit: int = transport.DEFAULT_LIMIT
    ) -> dict[str, Any]:
        options = {"headers": self._headers, "params": dict(parameters or {})}
        return self._content(await self._call(lambda: self._client.get(address, cast_to=bytes, options=options), limit))

    async def delete(self, address: str) -> None:
        options = {"headers": self._headers}
        await self._call(lambda: self._client.delete(address, cast_to=bytes, options=options), transport.DEFAULT_LIMIT)

    async def upload(self, name: str, content: bytes, purpose: str) -> dict[str, Any]:
        options = {"headers": {"Content-Type": "multipart/form-data", **self._headers}}
        file = ("file", (name, content, "application/jsonl"))
        return self._content(
            await self._call(
                lambda: self._client.post(
                    "/files", body={"purpose": purpose}, files=[file], cast_to=bytes, options=options
                ),
                transport.DEFAULT_LIMIT,
            )
        )

    async def download(self, file_id: str, *, limit: int) -> bytes:
        options = {"headers": self._headers}
        return await self._call(
            lambda: self._client.get(f"/files/{file_id}/content", cast_to=bytes, options=options), limit
        )

    async def _call(self, send: Callable[[], Awaitable[bytes]], limit: int) -> bytes:
        with transport.transfer(limit) as state:
            try:
                return await self._answer(send)
            except CallError as error:
                if not state.sent:
                    error.sent = error.billed = False
                raise

    async def _answer(self, send: Callable[[], Awaitable[bytes]]) -> bytes:
        try:
            async with asyncio.timeout(self.timeout):
                return await send()
        except transport.BodyError as error:
            raise CallError("bad_request", str(error), billed=True) from None
        except (TimeoutError, openai.APITimeoutError, *transport.TIMEOUTS):
            raise CallError("timeout", f"no answer within {self.timeout:g} s", billed=True) from None
        except openai.APIStatusError as error:
            message = error.body.get("message") if isinstance(error.body, dict) else None
            code = f"{error.code} {error.type}"
            raise self._error(error.status_code, code, str(message or error.message), error.response.headers) from None
        except (openai.APIConnectionError, *transport.FAILURES) as error:
            if self.server is not None:
                self.server.check()
            cause = (error.__cause__ or error) if isinstance(error, openai.APIConnectionError) else error
            # It is not known if the endpoint had begun to answer.
            raise CallError("connection", self.plain(f"{type(cause).__name__} {cause}"), billed=True) from None
        except (ValueError, RecursionError):
            raise CallError("malformed", "the answer is not whole JSON", billed=True) from None

    def _status_error(self, response: Any) -> CallError:
        """Error for a response without success, with the message of the fields that the OpenAI client reads."""
        text = response.text.strip()
        try:
            content = json.loads(text)
            words = f"Error code: {response.status_code} - {content}"
        except (ValueError, RecursionError):
            content, words = text, text or f"Error code: {response.status_code}"
        content = content[0] if isinstance(content, list) and content else content  # Gemini's form
        error = content.get("error", content) if isinstance(content, dict) else content
        error = error if isinstance(error, dict) else {}
        return self._error(response.status_code, _code(error), str(error.get("message") or words), response.headers)

    def _content(self, answer: bytes) -> dict[str, Any]:
        try:
            content = _loads(answer)
        except (ValueError, RecursionError):
            raise CallError("malformed", "the answer is not whole JSON", billed=True) from None
        if content.get("error"):  # some gateways send errors with status 200, also after the model has begun
            error = self.refusal(500, content)
            error.billed = error.reason == "server_error"
            raise error
        return content

    def refusal(self, status: int, content: Mapping[str, Any]) -> CallError:
        """Error for an answer that holds one, whose own status, as its code, precedes `status`."""
        error = content.get("error")
        error = error if isinstance(error, dict) else {"message": error}
        status = error["code"] if isinstance(error.get("code"), int) else status
        return self._error(status, _code(error), str(error.get("message")), {})

    def plain(self, text: str) -> str:
        return one_line(text, self.secrets)

    def _error(self, status: int, code: str, message: str, headers: Mapping[str, str]) -> CallError:
        """Error for a status that is not a success."""
        if 300 <= status < 400:
            target = self.plain(headers.get("location", "no address"))
            raise InputError(
                f"judge: base_url: {self.base_url} redirects ({status}) to {target}; redirects are not followed, since"
                " they would take the key and the prompts along: name the final address"
            )
        details = self.plain(f"{status} {message}")
        if status in MISTAKES:
            reason = f"{status}" if status == 401 else details  # a message about a key may show parts of it
            raise InputError(f"judge: {self.base_url} does not accept {MISTAKES[status]}: {reason}")
        after = retry_after(headers)
        soon = after <= MAX_WAIT_SECONDS
        if status == 429:
            return CallError("rate_limited", details, again=soon and "insufficient_quota" not in code, after=after)
        if status == 408:
            return CallError("timeout", details, again=soon, after=after, billed=True)
        if status in LATER or status >= 500:
            return CallError("server_error", details, again=soon, after=after, billed=status in LATE)
        if status == 413 or "context_length_exceeded" in code or TOO_LONG.search(message):
            return CallError("prompt_too_long", details)
        if FILTERED.search(f"{code} {message}"):
            return CallError("content_filter", details)
        return CallError("bad_request", details)


def _code(error: Mapping[str, Any]) -> str:
    """Code and type of an error, in one text. A moderation of OpenRouter has reasons in its place."""
    metadata = error.get("metadata")
    moderated = isinstance(metadata, dict) and "flagged_input" in metadata
    return f"{error.get('code')} {error.get('type')}" + " content_filter" * moderated


def _loads(answer: bytes) -> dict[str, Any]:
    """The JSON object of an answer, whatever content type the endpoint gives. A page in HTML, or another non-object, is
    a CallError: the address or a setting is wrong.
    """
    start = answer[:STARTS].lstrip()
    if start and not start.startswith(b"{"):
        kind = (
            "a page in HTML"
            if start.startswith(b"<")
            else "a stream of events"
            if STREAM.match(start)
            else "no JSON object"
        )
        raise CallError("bad_request", f"the answer is {kind}", billed=True)
    content: dict[str, Any] = json.loads(answer)
    return content


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the endpoint asks to wait, which it gives in seconds, milliseconds or as a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, OverflowError):  # not a date, or a year out of range
                continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return 0.0
