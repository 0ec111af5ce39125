"""Python functions as judges. They are called like endpoints: many calls at once, within the judge's limits."""

import asyncio
import contextlib
import faulthandler
import functools
import inspect
import os
import platform
import re
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any

from rubric_order.base import command_line
from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.calls import AT_ONCE, Call, CallingEngine, Calls, Prepared, Protocol, Usage
from rubric_order.judging.engines.failures import CallError, one_line, received, words_of
from rubric_order.judging.engines.python import answers
from rubric_order.judging.engines.python.functions import Function, find, is_async, resolved, version
from rubric_order.prompts.messages import chat
from rubric_order.settings.judges.python_functions import OF_SOURCE, PythonCallable

CLEAN_UP_SECONDS = 2.0  # time for cancelled calls of an async function, which may ignore that they are cancelled
FORCE_SECONDS = 15.0  # a call that holds the interpreter for longer than this beyond its timeout ends the program
BEAT_SECONDS = 1.0  # time between two signs that the interpreter is free
HELD_SECONDS = 2.0  # an event loop whose clock is late by more than this is blocked by a call
TRANSIENT = ("ConnectionError", "TimeoutError")  # exceptions that may pass, for every judge
SECRET = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)  # in names of secret variables

AsyncFunction = Callable[[Any], Awaitable[Any]]
Outcome = tuple[Any, BaseException | None]  # the value that a call returned, and the exception that it raised


class PythonEngine(CallingEngine[PythonCallable]):
    """A judge that is a function."""

    JUDGE = PythonCallable

    def start(self) -> None:
        """Import the function, unless this process, which is then the user's own, has it already."""
        function = self.resources.function
        try:
            self.function = find(self.judge) if function is None else function
            self.judge = self._as_planned()
        except InputError as error:
            raise InputError(f"judge: {error}") from None
        self._open = contextlib.ExitStack()
        if function is None:
            command_line.leave_threads()
            self._open.enter_context(contextlib.redirect_stdout(sys.stderr))  # a function may print
            self._open.enter_context(_watchdog(self.judge.timeout + FORCE_SECONDS))
        self._async_calls = AsyncCalls(self.judge.timeout, lambda: self.calls.closed)
        protocol = FunctionProtocol(self.judge, self.function, self._async_calls)
        at_once = AT_ONCE if is_async(self.function) else 1
        self.calls = Calls(protocol, self.judge, self.resources.turn, self.describe(), at_once=at_once)

    def close(self) -> None:
        self._async_calls.close()
        super().close()
        self._open.close()

    def _as_planned(self) -> PythonCallable:
        """The judge, with the version and kind of prompt of its function; an InputError if the source changed after
        requests got their ids.
        """
        planned, name = self.judge.version or "", self.judge.function
        named_by_source = self.resources.function is None and planned.startswith(OF_SOURCE)
        if named_by_source and version(self.function, name.partition(":")[0], name) != planned:
            raise InputError(f"function: {name!r}: its module has changed since the reads were planned; run again")
        return resolved(self.judge, self.function)

    def describe(self) -> dict[str, Any]:
        return {
            "engine": "python",
            "function": self.judge.function,
            "engine_version": self.judge.version,
            "python": platform.python_version(),
            "started": self.started,
        }


@contextlib.contextmanager
def _watchdog(seconds: float) -> Iterator[None]:
    """End this program, and show where, if a call holds the interpreter for so many seconds: nothing else can."""
    closed = threading.Event()

    def beat() -> None:
        while not closed.is_set():
            faulthandler.dump_traceback_later(seconds, exit=True)
            closed.wait(BEAT_SECONDS)
        faulthandler.cancel_dump_traceback_later()

    thread = threading.Thread(target=beat, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        closed.set()
        thread.join()


class AsyncCalls:
    """Calls of an async function, in an event loop and a thread of their own: nothing that they do delays the job. A
    call that blocks its loop for too long keeps it, and later calls get another.
    """

    def __init__(self, seconds: float, closed: Callable[[], bool]) -> None:
        """Make no loop yet; `seconds`: longest time of a call; `closed`: whether no more calls may begin."""
        self._seconds, self._closed = seconds, closed
        self._loop: Loop | None = None

    async def outcome(self, function: AsyncFunction, argument: Any, call: Call) -> Outcome:
        """Result and error of a call, one of them None; TimeoutError if it takes too long or another blocks the loop.
        The call is cancelled with this coroutine, which does not wait; `call.sent` becomes False if the function was
        not called.
        """
        loop = self._loop = self._loop or Loop()
        outcome: Future[Outcome] = Future()
        task = loop.submit(self._run(function, argument, outcome, loop))
        answer, begun = asyncio.wrap_future(outcome), time.monotonic()
        most = self._seconds + HELD_SECONDS
        try:
            while not answer.done() and (left := max(begun, loop.beat) + most - time.monotonic()) > 0:
                await asyncio.wait([answer], timeout=left)
            if not outcome.done():
                self._leave(loop)
                raise TimeoutError
            if outcome.cancelled():
                raise asyncio.CancelledError
            return outcome.result()
        finally:
            call.sent = not outcome.cancel()
            task.cancel()
            answer.cancel()

    async def _run(self, function: AsyncFunction, argument: Any, outcome: Future[Outcome], loop: "Loop") -> None:
        """Settle the outcome of a call in its thread, so that no answer is late because of other calls."""
        if self._closed():
            outcome.cancel()
        if not outcome.set_running_or_notify_cancel():
            return
        loop.beat = time.monotonic()
        clock = asyncio.get_running_loop().call_later(self._seconds, outcome.set_exception, TimeoutError())
        try:
            result = await _awaited(function, argument)
        finally:
            clock.cancel()
        loop.beat = time.monotonic()
        if not outcome.done():
            outcome.set_result(result)

    def _leave(self, loop: "Loop") -> None:
        if loop is self._loop:
            self._loop = None
            loop.end()

    def close(self) -> None:
        if self._loop is not None:
            self._loop.end()
            self._loop.clean.wait(2 * CLEAN_UP_SECONDS)


class Loop:
    """An event loop in a thread of its own; `beat`: when a call last began or ended; `clean` is set when the loop has
    ended.
    """

    def __init__(self) -> None:
        self.beat = time.monotonic()
        self.clean = threading.Event()
        self._ended = threading.Event()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._work, name="judge", daemon=True).start()

    def submit(self, task: Coroutine[Any, Any, None]) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(task, self._loop)

    def end(self) -> None:
        self._ended.set()
        self._loop.set_exception_handler(lambda *_: None)
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _work(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(BaseException):  # a task of the function has called `sys.exit`
                self._loop.run_forever()
        pending = asyncio.all_tasks(self._loop)
        if pending:
            for task in pending:
                task.cancel()
            _, pending = self._loop.run_until_complete(asyncio.wait(pending, timeout=CLEAN_UP_SECONDS))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self.clean.set()
        if pending:  # Python complains of tasks that are deleted before their end: keep them until the process ends
            threading.Event().wait()
        self._loop.close()


class FunctionProtocol(Protocol):
    """Calls of a function in the place of an endpoint."""

    def __init__(self, judge: PythonCallable, function: Function, calls: AsyncCalls) -> None:
        self._judge, self._calls = judge, calls
        self._function, self._is_async = function, is_async(function)
        self._transient = {*TRANSIENT, *judge.transient}
        self._secrets = frozenset(value for name, value in os.environ.items() if SECRET.search(name))

    async def prepare(self, request: Request) -> Prepared:
        send = functools.partial(self._send, request)
        return Prepared(len(request.prompt.encode()), self._judge.answer_tokens or 0, send)

    async def _send(self, request: Request, call: Call) -> Response:
        returned, error = await self._outcome(self._argument(request), call)
        if error is not None:
            raise self._raised(error)
        response = received(
            lambda: answers.response(request, returned),
            self._secrets,
            reason="wrong_answer",
            failure=f"{self._judge.function} has returned no answer",
        )
        if response.prompt_tokens is not None and response.completion_tokens is not None:
            call.count(Usage(response.prompt_tokens, response.completion_tokens, response.cached_tokens))
        return response

    def _argument(self, request: Request) -> Any:
        if self._judge.takes != "messages":
            return request.prompt
        return chat(request.prompt, self._judge.under(request.profile).system_prompt)

    async def _outcome(self, argument: Any, call: Call) -> Outcome:
        """Result and error of the function, one of them None. A call that takes too long and cannot be stopped goes on,
        ignored.
        """
        name, seconds = self._judge.function, self._judge.timeout
        try:
            if self._is_async:
                return await self._calls.outcome(self._function, argument, call)
            async with asyncio.timeout(seconds):
                returned, error = await _threaded_call(self._function, argument)
            if error is None and inspect.isawaitable(returned):
                return await self._calls.outcome(lambda _: returned, argument, Call(None))
            return returned, error
        except TimeoutError:
            details = f"{name} gave no answer within {seconds:g} s"
            if not call.sent:
                details = f"{name} was not called, since another call has blocked the event loop for over {seconds:g} s"
            raise CallError("timeout", details, billed=True) from None

    def _raised(self, error: BaseException) -> CallError:
        kinds = type(error).__mro__
        of_kinds = {name for kind in kinds for name in (kind.__name__, f"{kind.__module__}.{kind.__qualname__}")}
        message = f"{self._judge.function} raised {type(error).__name__}: {words_of(error)}"
        reason = "transient" if of_kinds & self._transient else "raised"
        return CallError(reason, one_line(message, self._secrets), billed=True)


async def _awaited(function: AsyncFunction, argument: Any) -> Outcome:
    """Result and error of an async function, one of them None. Only the cancelling of this task raises."""
    try:
        return await function(argument), None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None, error
    except BaseException as error:
        return None, error


async def _threaded_call(function: Function, argument: Any) -> Outcome:
    """Result and error of a function in a separate thread, which does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def settle(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def work() -> None:
        outcome: Outcome
        try:
            outcome = function(argument), None
        except BaseException as error:
            outcome = None, error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits for the result any more
            loop.call_soon_threadsafe(settle, outcome)

    threading.Thread(target=work, name="judge", daemon=True).start()
    return await future
