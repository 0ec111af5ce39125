"""A small HTTP server that stands in for an endpoint: it does what a test says, and remembers what it was asked."""

import asyncio
import contextlib
import json
import os
import queue
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest


@dataclass
class Call:
    """A request that has arrived."""

    time: float
    path: str
    headers: dict[str, str]
    body: dict
    kind: str = ""
    method: str = "POST"

    @property
    def prompt(self) -> str:
        return next(message["content"] for message in self.body["messages"] if message["role"] == "user")


@dataclass
class Reply:
    """The answer to give, and the way to give it.

    `after`: it is sent when this is true. `delay`: seconds until it is sent then. `cut` closes after so many bytes of
    the body. `stall` sends nothing until the caller leaves.
    """

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after: Callable[[], bool] = lambda: True
    delay: float = 0.0
    cut: int | None = None
    stall: bool = False
    kind: str = "answer"


def form_of(content: bytes, content_type: str) -> dict[str, bytes]:
    """The parts of a form, by name."""
    mark = re.search("boundary=(.+)", content_type)[1].strip('"').encode()
    parts = {}
    for part in content.split(b"--" + mark)[1:-1]:
        head, _, value = part.removeprefix(b"\r\n").removesuffix(b"\r\n").partition(b"\r\n\r\n")
        parts[re.search(rb' name="([^"]+)"', head)[1].decode()] = value
    return parts


def completion(
    text: str | None = "4", *, model: str = "a-model", finish: str = "stop", usage=(100, 5), **message
) -> dict:
    """The JSON of an ordinary answer."""
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
    }
    if usage is not None:
        prompt, answer, *cached = usage
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
        if cached:
            body["usage"]["prompt_tokens_details"] = {"cached_tokens": cached[0]}
    return body


class Endpoint:
    """The server, in a thread. `reply` is called for each request, from that thread."""

    def __init__(self, reply: Callable[[Call], Reply]) -> None:
        self.reply = reply
        self.calls: list[Call] = []
        self.most_at_once = 0
        self._at_once = 0
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000))
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (call := await self._read(reader)) is not None:
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
                try:
                    if not await self._write(self.reply(call), call, reader, writer):
                        break
                finally:
                    self._at_once -= 1
        writer.close()

    async def _read(self, reader: asyncio.StreamReader) -> Call | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        form = headers.get("content-type", "").startswith("multipart/form-data")
        body = {"form": form_of(content, headers["content-type"])} if form else json.loads(content) if content else {}
        call = Call(time.monotonic(), line.split()[1], headers, body, method=line.split()[0])
        self.calls.append(call)
        return call

    async def _write(self, reply: Reply, call: Call, reader, writer) -> bool:
        """Send a reply; whether the connection can be used again."""
        call.kind = reply.kind
        if reply.stall:
            await reader.read(1)  # until the caller hangs up
            return False
        while not reply.after():
            await asyncio.sleep(0.01)
        await asyncio.sleep(reply.delay)
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
        writer.write(f"HTTP/1.1 {reply.status} Status\r\n{head}\r\n".encode() + body[: reply.cut])
        await writer.drain()
        return reply.cut is None


@contextlib.contextmanager
def running(reply: Callable[[Call], Reply]) -> Iterator[Endpoint]:
    endpoint = Endpoint(reply)
    try:
        yield endpoint
    finally:
        endpoint.stop()


@contextlib.contextmanager
def sigterm_ends(told=lambda: None):
    """SIGTERM calls `told` and then ends the test's process, as it would a job's."""

    def leave(*_):
        told()
        raise SystemExit("ended on request")

    previous = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextlib.contextmanager
def sigterm_as_the_main_thread_wakes():
    """SIGTERM comes once, at the moment at which the main thread is given something that it waited for in a queue."""
    came = []

    class Interrupted(queue.SimpleQueue):
        def get(self, *args, **kwargs):
            entry = super().get(*args, **kwargs)
            if threading.current_thread() is threading.main_thread() and not came:
                came.append(True)
                os.kill(os.getpid(), signal.SIGTERM)
            return entry

    with pytest.MonkeyPatch.context() as patch, sigterm_ends():
        patch.setattr(queue, "SimpleQueue", Interrupted)
        yield
    assert came
