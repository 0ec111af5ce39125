"""HTTP client of an endpoint: bodies have a size limit, and a call knows whether any of it was sent."""

import contextlib
import contextvars
import importlib
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import openai

DEFAULT_LIMIT = 64 * 2**20  # bytes of a body, decompressed, where nothing says how long an answer can be
STEP = 2**16  # bytes that are decompressed at once

# The OpenAI client brings its HTTP library: httpx2, or httpx in older versions.
_http: Any = importlib.import_module(
    next(
        base.__module__.partition(".")[0]
        for base in openai.DefaultAsyncHttpxClient.__mro__
        if base.__name__ == "AsyncClient"
    )
)


class BodyError(Exception):
    """The body of an answer is larger than the limit, or is compressed in a way that was not asked for."""


@dataclass
class Transfer:
    """State of one call.

    Attributes:
        limit: size of the largest body that is read, in bytes after decompression.
        sent: True once the first byte of the request may have left this machine.
    """

    limit: int = DEFAULT_LIMIT
    sent: bool = False


_current: contextvars.ContextVar[Transfer] = contextvars.ContextVar("transfer")


@contextlib.contextmanager
def transfer(limit: int) -> Iterator[Transfer]:
    """The state of the call that is made inside the block."""
    state = Transfer(limit)
    token = _current.set(state)
    try:
        yield state
    finally:
        _current.reset(token)


def client(*, trust_env: bool) -> Any:
    """An HTTP client for the OpenAI client. The calls that it makes have the state of `transfer`.

    A redirect is not followed: it would take the prompt and the secret headers to an address that config does not name.

    Args:
        trust_env: use the proxies that the environment names.
    """
    return openai.DefaultAsyncHttpxClient(
        trust_env=trust_env,
        follow_redirects=False,
        headers={"Accept-Encoding": "gzip"},  # which `_Bounded` decompresses in steps
        event_hooks={"request": [_watch], "response": [_bound]},
    )


async def _watch(request: Any) -> None:
    """Note when a request begins to be sent. What a proxy is asked for first is no part of the call."""
    state = _current.get(Transfer())

    async def trace(event: str, details: Mapping[str, Any]) -> None:
        if event.endswith("send_request_headers.started") and details["request"].method != b"CONNECT":
            state.sent = True

    request.extensions = {**request.extensions, "trace": trace}


async def _bound(response: Any) -> None:
    """Put the limit around the body of a response before any of it is read."""
    limit = _current.get(Transfer()).limit
    encodings = [name.strip().lower() for name in response.headers.get("content-encoding", "").split(",")]
    encodings = [name for name in encodings if name not in ("", "identity")]
    if encodings not in ([], ["gzip"]):
        raise BodyError(f"the answer is compressed by {', '.join(encodings)[:80]}, which was not asked for")
    length = response.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and (len(length) > 20 or int(length) > limit):
        raise BodyError(f"the answer is longer than {limit} bytes")
    response.headers.pop("content-encoding", None)
    response.stream = _Bounded(response.stream, limit, compressed=bool(encodings))


class _Bounded(_http.AsyncByteStream):  # type: ignore[misc]
    """The decompressed body of a response, which raises `BodyError` where it grows beyond a limit."""

    def __init__(self, stream: Any, limit: int, *, compressed: bool) -> None:
        self._stream, self._limit = stream, limit
        self._decompressor = zlib.decompressobj(16 + zlib.MAX_WBITS) if compressed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            for part in self._parts(chunk):
                size += len(part)
                if size > self._limit:
                    raise BodyError(f"the answer is longer than {self._limit} bytes")
                yield part

    def _parts(self, chunk: bytes) -> Iterator[bytes]:
        if self._decompressor is None:
            yield chunk
            return
        try:
            while chunk:
                yield self._decompressor.decompress(chunk, STEP)
                chunk = self._decompressor.unconsumed_tail
        except zlib.error as error:
            raise _http.DecodingError(str(error)) from error

    async def aclose(self) -> None:
        await self._stream.aclose()
