"""The calls of a judge job, made by a process of its own: the sender. It outlives the job while calls are under way.

If the job made the calls itself, a kill would close their connections, and the answers would be paid for and lost. The
sender takes requests from the job and gives responses back, over two pipes. A job that ends says so. Where the first
pipe ends without that, the job was killed. The sender then sends nothing more and waits for the answers under way. They
go into the file of open calls, where the next job finds them. That job waits until the sender has ended.
"""

import contextlib
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
from rubric_order.judging.engines import Engine, Request, Resources, Response
from rubric_order.judging.engines.handover import Handover
from rubric_order.settings.judges import Metered

LIBRARY = Path(__file__).parents[3]
AHEAD = 1024  # requests that are given beyond those under way, until the job has taken the responses
TOGETHER = 64  # requests that are given together, at most
LOCK_SECONDS = 10.0  # it looks so often whether the job still waits for it, where another sender is at work

END = "end"  # the job ends

Inbox = queue.SimpleQueue[list[Request] | str | None]


class Sender(Engine[Metered]):
    """The job's side."""

    JUDGE = Metered

    def __init__(self, judge: Metered, resources: Resources) -> None:
        super().__init__(judge, resources)
        self._process: subprocess.Popen[bytes] | None = None
        self._described: dict[str, Any] = {}
        self._theirs, self._requests = Pipe(duplex=False)
        self._responses, self._given = Pipe(duplex=False)

    def start(self) -> None:
        """Start the process, and wait until it is ready: no request is sent before. `close` ends it in any case.

        Raises:
            InputError: what the engine raises; or the process has ended.
        """
        path = os.pathsep.join(filter(None, (str(LIBRARY), os.environ.get("PYTHONPATH"))))
        with self._theirs, self._given:
            pipes = self._theirs.fileno(), self._given.fileno()
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-P", "-m", __name__, *map(str, pipes)],  # imports nothing from the working folder
                pass_fds=pipes,
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # signals of a terminal reach the job alone
            )
        self._send((self.judge, self.resources))
        self._described = self._taken()

    def describe(self) -> dict[str, Any]:
        return self._described

    def close(self) -> None:
        self._end()
        self._wait()
        self._responses.close()

    def _wait(self) -> int | None:
        """Status with which the process ends; None where there is none."""
        return None if self._process is None else self._process.wait()

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, see `Engine.answer` and, for a job that ends early, `Delivery.responses`."""
        finished = Handover()
        ended, room = threading.Event(), queue.SimpleQueue[None]()  # has an entry for each request that may be given
        for _ in range((self.judge.concurrency or 0) + AHEAD):
            room.put(None)
        give = threading.Thread(target=self._give, args=(iter(requests), room, ended, finished), daemon=True)
        take = threading.Thread(target=self._take, args=(finished,), daemon=True)
        whole = False

        def stop() -> None:
            """Give no more requests, and say that the job ends."""
            ended.set()
            room.put(None)
            with contextlib.suppress(RuntimeError):  # the thread was not started
                give.join()
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
                    del finished.ready[0]  # a signal can raise after a call, as of `pop`: here it cannot
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
        """Say that the job ends: then the sender ends."""
        if not self._requests.closed:
            self._send(END)
            self._requests.close()

    def _send(self, entry: object) -> None:
        with contextlib.suppress(OSError):  # the sender has ended, which `_taken` tells
            self._requests.send(entry)

    def _give(
        self,
        requests: Iterator[Request],
        room: queue.SimpleQueue[None],
        ended: threading.Event,
        finished: Handover,
    ) -> None:
        """Give requests to the sender, as many together as there is room for, and None at the end."""
        together: list[Request] = []

        def send() -> None:
            if together:
                self._send(together)
                together.clear()

        try:
            for request in requests:
                if room.empty():
                    send()
                room.get()
                if ended.is_set():
                    return
                together.append(request)
                if len(together) == TOGETHER:
                    send()
            send()
            self._send(None)
        except BaseException as error:  # it is raised where the responses are taken
            finished.put(error)

    def _take(self, finished: Handover) -> None:
        """Take the responses to all requests."""
        try:
            while (responses := self._taken()) is not None:
                finished.put(responses)
        except BaseException as error:  # as above
            finished.put(error)
        finally:
            finished.put(None)

    def _taken(self) -> Any:
        """Next entry from the sender.

        Raises:
            BaseException: what was raised there.
            InputError: the sender has ended.
        """
        try:
            entry = self._responses.recv()
        except (EOFError, OSError):
            raise InputError(
                f"judge: the process that sends its calls has ended with status {self._wait()}; the answers that have"
                " come are kept. Run again to ask what is missing"
            ) from None
        if isinstance(entry, BaseException):
            raise entry
        return entry


# --- the sender's side


def main(requests: Connection, responses: Connection) -> None:
    """Answer what comes over the first pipe over the second one, until the job ends."""
    try:
        first = requests.recv()
    except (EOFError, OSError):  # it was killed
        return
    if first == END:  # it ended before it said what to ask
        return
    judge, resources = first
    while not requests.poll():  # before it is told that this process is ready, a job says only that it ends
        with locks.only_writer(resources.turn.open_calls, patience=LOCK_SECONDS) as mine:
            if mine:
                _serve(judge, resources, requests, responses)
                return


def _allow_files() -> None:
    """Let this process open as many files as the system lets it: each call under way has a connection."""
    import resource  # Windows has none, nor this process

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


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
            while (entry := requests.recv()) != END:
                inbox.put(entry)
        except (EOFError, OSError):
            killed.set()
        ended.set()
        # Where the job was killed, nothing waits for this process but the next job.
        engine.end_early(judge.timeout if killed.is_set() else None)
        inbox.put(END)

    try:
        responses.send(engine.describe())
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
    """The requests of one round, which ends with None, or with `END` where the job ends early."""
    entry = first
    while isinstance(entry, list):
        yield from entry
        entry = inbox.get()


def _answer(engine: Engine[Any], requests: Iterator[Request], responses: Connection) -> None:
    """Pass all responses on, then None; or what was raised.

    Raises:
        SystemExit: the job ends.
    """
    given = engine.answer_in_batches(requests)
    try:
        for batch in given:
            _pass_on(batch, responses)
        _pass_on(None, responses)
    except (KeyboardInterrupt, SystemExit) as stop:  # a scheduler sends signals to all processes of a job
        for batch in signals.yielded_after(given, stop):
            _pass_on(batch, responses)
        raise
    except InputError as error:  # the job ends, and this process with it: what is left of the round is not asked
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
