"""HTTP clients of an endpoint: bodies have a size limit, and it is known if any part of a call was sent."""

import asyncio
import contextlib
import contextvars
import functools
import importlib
import os
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import openai

DEFAULT_LIMIT = 64 * 2**20  # most bytes of a body, decompressed, if the longest possible answer is not known
STEP = 2**16  # bytes that are decompressed at once

# The OpenAI client brings its HTTP library: httpx2, or httpx in older versions.
_http: Any = importlib.import_module(
    next(
        base.__module__.partition(".")[0]
        for base in openai.DefaultAsyncHttpxClient.__mro__
        if base.__name__ == "AsyncClient"
    )
)

ACCEPTED = {"Accept-Encoding": "gzip"}  # the encoding that `_Bounded` decompresses in steps

# Errors of a call without an answer, according to the OpenAI client's own lists.
TIMEOUTS: tuple[type[Exception], ...] = (_http.TimeoutException,)
FAILURES: tuple[type[Exception], ...] = (_http.RequestError, ssl.SSLError, anyio.EndOfStream)


class BodyError(Exception):
    """The body of an answer is larger than the limit, or has a compression that was not asked for."""


@dataclass
class Transfer:
    """State of one call: most bytes of a decompressed body, and whether the first byte of the request may have left
    this machine.
    """

    limit: int = DEFAULT_LIMIT
    sent: bool = False


_current: contextvars.ContextVar[Transfer] = contextvars.ContextVar("transfer")


@contextlib.contextmanager
def transfer(limit: int) -> Iterator[Transfer]:
    """Provide the state of the call that is made inside the block."""
    state = Transfer(limit)
    token = _current.set(state)
    try:
        yield state
    finally:
        _current.reset(token)


def certificates(*, trust_env: bool) -> ssl.SSLContext:
    """Settings for the check of certificates, shared since reading the certificates takes long."""
    named = (os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return _certificates(trust_env, tuple(named) if trust_env else ())


@functools.lru_cache(maxsize=8)
def _certificates(trust_env: bool, named: tuple[str | None, ...]) -> ssl.SSLContext:
    context: ssl.SSLContext = _http.create_ssl_context(trust_env=trust_env)  # reads what is `named`
    return context


def client(*, trust_env: bool) -> Any:
    """An HTTP client for the OpenAI client, with the state of `transfer`. Redirects are not followed: they would take
    the prompt and the secret headers to an address that config does not name.
    """
    return openai.DefaultAsyncHttpxClient(
        trust_env=trust_env,
        verify=certificates(trust_env=trust_env),
        timeout=None,  # the caller limits the whole call
        limits=_http.Limits(max_connections=None, max_keepalive_connections=None),
        follow_redirects=False,
        headers=ACCEPTED,
        event_hooks={"request": [_watch], "response": [_bound]},
    )


class Clients:
    """HTTP clients that repeat a request of the OpenAI client with other bodies, one for each call under way.

    The OpenAI client makes each request anew from its settings, which takes as long as sending it, and an HTTP client
    looks through all of its connections twice in each call. All clients share their cookies.
    """

    def __init__(self, *, trust_env: bool) -> None:
        self._trust_env = trust_env
        self._clients: list[Any] = []
        self._free: list[Any] = []
        self._patterns: dict[str, Any] = {}
        self._making = asyncio.Lock()

    async def pattern(self, address: str, post: Callable[[Any], Awaitable[object]]) -> Any:
        """The request that the OpenAI client makes for an address; `post` makes it, through a client that sends
        nothing.
        """
        if address not in self._patterns:
            async with self._making:
                if address not in self._patterns:
                    self._patterns[address] = await self._made(post)
        return self._patterns[address]

    async def _made(self, post: Callable[[Any], Awaitable[object]]) -> Any:
        requests: list[Any] = []

        async def keep(request: Any) -> Any:
            requests.append(request)
            return _http.Response(200, json={})

        sends_nothing = openai.DefaultAsyncHttpxClient(
            transport=_http.MockTransport(keep),
            trust_env=False,
            verify=certificates(trust_env=self._trust_env),
            headers=ACCEPTED,
        )
        await post(sends_nothing)
        del requests[0].headers["content-length"]
        return requests[0]

    async def send(self, pattern: Any, content: bytes) -> Any:
        free = self._free.pop() if self._free else self._new()
        try:
            request = _http.Request(pattern.method, pattern.url, headers=pattern.headers, content=content)
            if free.cookies:
                free.cookies.set_cookie_header(request)
            return await free.send(request)
        finally:
            self._free.append(free)

    def _new(self) -> Any:
        http_client = client(trust_env=self._trust_env)
        if self._clients:
            http_client.cookies.jar = self._clients[0].cookies.jar
        self._clients.append(http_client)
        return http_client

    async def aclose(self) -> None:
        for http_client in self._clients:
            await http_client.aclose()


async def _watch(request: Any) -> None:
    # an earlier CONNECT request to a proxy does not count
    state = _current.get(Transfer())

    async def trace(event: str, details: Mapping[str, Any]) -> None:
        if event.endswith("send_request_headers.started") and details["request"].method != b"CONNECT":
            state.sent = True

    request.extensions = {**request.extensions, "trace": trace}


async def _bound(response: Any) -> None:
    """Put the limit around the body of a response before any part of the body is read."""
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
    """The decompressed body of a response. It raises `BodyError` if it grows beyond a limit."""

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
