"""The sender: a separate process that makes the calls of a judge job, and outlives a killed job while calls are open.

A kill of the job would close their connections, and the answers would be paid for and lost. If the pipe from the job
closes without `END`, the job was killed: no more calls are sent, and the answers to those under way go into the file of
open calls. The next job waits until the sender has ended.
"""

import contextlib
import faulthandler
import os
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rubric_order.base import command_line, locks, signals
from rubric_order.base.errors import InputError
from rubric_order.judging import engines
from rubric_order.judging.engines import PAUSE, Engine, Request, Resources, Response
from rubric_order.judging.engines.delivery import ENDING_SECONDS
from rubric_order.judging.engines.handover import Handover
from rubric_order.settings.judges.metered import Metered
from rubric_order.settings.judges.python_functions import PythonCallable

LIBRARY = Path(__file__).parents[3]
AHEAD = 1024  # so many requests more than can be under way are given before the job takes a response
TOGETHER = 64  # most requests that are given together
FORCE_SECONDS = 15.0  # time after `ENDING_SECONDS` in which the sender ends by itself; after that it is killed
BEAT_SECONDS = 1.0  # time between two signs that the interpreter is free
LOCK_SECONDS = 10.0  # while another sender is at work, time between two checks that the job still waits

END = "end"  # the job ends

Inbox = queue.SimpleQueue[list[Request] | str | None]


class Sender(Engine[Metered]):
    """The job's side of the sender."""

    JUDGE = Metered

    def __init__(self, judge: Metered, resources: Resources) -> None:
        super().__init__(judge, resources)
        self._process: subprocess.Popen[bytes] | None = None
        self._described: dict[str, Any] = {}
        self._force: threading.Timer | None = None
        self._sending = threading.Lock()
        self._theirs, self._requests = Pipe(duplex=False)
        self._responses, self._given = Pipe(duplex=False)

    def start(self) -> None:
        """Start the process, and wait until it is ready for requests. `close` ends the process even if this fails."""
        path = os.pathsep.join(filter(None, (str(LIBRARY), os.environ.get("PYTHONPATH"))))
        with self._theirs, self._given:
            pipes = self._theirs.fileno(), self._given.fileno()
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-P", "-m", __name__, *map(str, pipes)],  # -P: import nothing from the working folder
                pass_fds=pipes,
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # signals of a terminal reach only the job
            )
        self._send((self.judge, self.resources))
        self._described, self.STREAMS = self._taken()

    def describe(self) -> dict[str, Any]:
        return self._described

    def close(self) -> None:
        self._end()
        self._wait()
        self._responses.close()

    def _wait(self) -> int | None:
        status = None if self._process is None else self._process.wait()
        if self._force is not None:
            self._force.cancel()
        return status

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        finished = Handover()
        ended, room = threading.Event(), queue.SimpleQueue[None]()  # room: an entry per request that may be given
        for _ in range((self.judge.concurrency or 0) + AHEAD):
            room.put(None)
        give = threading.Thread(target=self._give, args=(iter(requests), room, ended, finished), daemon=True)
        take = threading.Thread(target=self._take, args=(finished,), daemon=True)
        whole = False

        def stop() -> None:
            """Give no more requests, and tell the sender that the job ends."""
            self._limit()
            ended.set()
            room.put(None)
            with self._sending:  # afterwards the thread, which may wait for a request, sends nothing
                self._end()
            if not take.is_alive():
                finished.put(None)

        try:
            with signals.held_back():
                take.start()
                give.start()
            while (entry := finished.take()) is not None:
                if isinstance(entry, BaseException):
                    raise entry
                while finished.ready:
                    response = finished.ready[0]
                    del finished.ready[0]  # a signal can raise after a call, such as `pop()`; it cannot raise here
                    yield response
                    room.put(None)
            whole = True
        except (KeyboardInterrupt, SystemExit):
            stop()
            for entry in finished.rest():
                yield from entry
            raise
        finally:
            if not whole:
                stop()
                self._wait()

    def _end(self) -> None:
        self._limit()
        if not self._requests.closed:
            self._send(END)
            self._requests.close()

    def _limit(self) -> None:
        if self._force is None and self._process is not None:
            self._force = threading.Timer(ENDING_SECONDS + FORCE_SECONDS, self._process.kill)
            self._force.daemon = True
            self._force.start()

    def _send(self, entry: object) -> None:
        with contextlib.suppress(OSError):  # the sender has ended; `_taken` raises
            self._requests.send(entry)

    def _give(
        self,
        requests: Iterator[Request],
        room: queue.SimpleQueue[None],
        ended: threading.Event,
        finished: Handover,
    ) -> None:
        """Give requests to the sender, up to `TOGETHER` at once while there is room, and None at the end."""
        together: list[Request] = []

        def send() -> None:
            with self._sending:
                if together and not ended.is_set():
                    self._send(together)
            together.clear()

        try:
            for request in requests:
                if request == PAUSE:
                    together.append(request)
                    send()
                    continue
                if room.empty():
                    send()
                room.get()
                if ended.is_set():
                    return
                together.append(request)
                if len(together) == TOGETHER:
                    send()
            send()
            with self._sending:
                if not ended.is_set():
                    self._send(None)
        except BaseException as error:  # it is raised where the responses are taken
            finished.put(error)

    def _take(self, finished: Handover) -> None:
        try:
            while (responses := self._taken()) is not None:
                finished.put(responses)
        except BaseException as error:  # as above
            finished.put(error)
        finally:
            finished.put(None)

    def _taken(self) -> Any:
        """Next entry from the sender; exceptions that it raised, or its end, are raised."""
        try:
            entry = self._responses.recv()
        except (EOFError, OSError):
            held = (
                "; a call that holds the interpreter beyond its timeout ends it"
                if isinstance(self.judge, PythonCallable)
                else ""
            )
            raise InputError(
                f"judge: the process that sends its calls has ended with status {self._wait()}{held}; the answers that"
                " have come are kept. Run again to ask what is missing"
            ) from None
        if isinstance(entry, BaseException):
            raise entry
        return entry


# --- the sender's side


def main(requests: Connection, responses: Connection) -> None:
    """Answer the requests from the first pipe over the second pipe, until the job ends."""
    try:
        first = requests.recv()
    except (EOFError, OSError):  # the job was killed
        return
    if first == END:  # the job ended before it sent the judge
        return
    judge, resources = first
    while not requests.poll():  # a job sends nothing but `END` before it knows that this process is ready
        with locks.only_writer(resources.turn.open_calls, patience=LOCK_SECONDS) as mine:
            if mine:
                _serve(judge, resources, requests, responses)
                return


def _allow_files() -> None:
    import resource  # Windows has no such module, but this process does not run there

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _end_within(seconds: float) -> None:
    faulthandler.dump_traceback_later(seconds + FORCE_SECONDS, exit=True)


def _next_entry(requests: Connection, judge: Metered) -> Any:
    """The next entry from the job. Meanwhile a function that holds the interpreter for too long ends this process."""
    while isinstance(judge, PythonCallable):
        _end_within(judge.timeout)
        if requests.poll(BEAT_SECONDS):
            break
    return requests.recv()


def _serve(judge: Metered, resources: Resources, requests: Connection, responses: Connection) -> None:
    _allow_files()
    try:
        engine = engines.load(judge, resources)
    except InputError as error:
        responses.send(error)
        return
    inbox: Inbox = queue.SimpleQueue()
    killed, ended = threading.Event(), threading.Event()

    def take() -> None:
        try:
            while (entry := _next_entry(requests, judge)) != END:
                inbox.put(entry)
        except (EOFError, OSError):
            killed.set()
        ended.set()
        # If the job was killed, only the next job waits for this process.
        seconds = judge.timeout if killed.is_set() else None
        _end_within(ENDING_SECONDS if seconds is None else seconds)
        engine.end_early(seconds)
        inbox.put(END)

    try:
        responses.send((engine.describe(), engine.STREAMS))
        threading.Thread(target=take, daemon=True).start()
        while not ended.is_set() and (first := inbox.get()) != END:
            _answer(engine, _requests(first, inbox), responses)
    finally:
        try:
            if killed.is_set():
                engine.write_late()
        finally:
            engine.close()


def _requests(first: list[Request] | str | None, inbox: Inbox) -> Iterator[Request]:
    entry = first
    while isinstance(entry, list):
        yield from entry
        entry = inbox.get()


def _answer(engine: Engine[Any], requests: Iterator[Request], responses: Connection) -> None:
    """Pass all responses on, then None, or the exception that was raised."""
    batches = engine.answer_in_batches(requests)
    try:
        for batch in batches:
            _pass_on(batch, responses)
        _pass_on(None, responses)
    except (KeyboardInterrupt, SystemExit) as stop:  # a scheduler sends signals to all processes of a job
        for batch in signals.yielded_after(batches, stop):
            _pass_on(batch, responses)
        raise
    except InputError as error:  # job and process end: other requests of the round are not asked
        _pass_on(error, responses)
        sys.exit()
    except Exception as error:
        traceback.print_exc()
        _pass_on(RuntimeError(f"{type(error).__name__}: {error}"), responses)
        sys.exit()


def _pass_on(entry: object, responses: Connection) -> None:
    with signals.held_back(), contextlib.suppress(BrokenPipeError):  # the job was killed: the file holds all answers
        responses.send(entry)


if __name__ == "__main__":
    command_line.begin()
    try:
        main(*(Connection(int(number)) for number in sys.argv[1:]))
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):  # the job was killed, or ends early
        pass
    except OSError as error:
        sys.exit(f"error: {command_line.told(error)}")
    finally:
        _end_within(0)
