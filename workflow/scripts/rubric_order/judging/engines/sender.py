"""The calls of a judge job, made by a process of its own: the sender. It outlives the job while calls are under way.

If the job made the calls itself, a kill would close their connections, and the answers would be paid for and lost. The
sender takes requests from the job and gives responses back, over two pipes. The end of the first pipe says that the job
ends early, or that it was killed. The sender then sends nothing more and waits for the answers under way. They go into
the file of open calls, where the next job finds them. That job waits until the sender has ended.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

from rubric_order.base import command_line, locks, signals
from rubric_order.base.errors import InputError
from rubric_order.judging import engines
from rubric_order.judging.engines import Request, Response

LIBRARY = Path(__file__).parents[3]
AHEAD = 1024  # requests that the sender has beside those under way

END = "end"  # the job gives no more requests, in no round

Inbox = queue.SimpleQueue[Request | str | None]


class Sender:
    """The job's side: an `Engine`. No request is sent before the process is ready.

    Args:
        judge: what `openai_api.load` takes, with `open_calls`.

    Raises:
        InputError: what `openai_api.load` raises; or the process has ended.
    """

    def __init__(self, judge: dict) -> None:
        self._at_once = judge["concurrency"] or 0
        theirs, self._requests = Pipe(duplex=False)
        self._responses, given = Pipe(duplex=False)
        path = os.pathsep.join(filter(None, (str(LIBRARY), os.environ.get("PYTHONPATH"))))
        with theirs, given:
            pipes = theirs.fileno(), given.fileno()
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-m", __name__, *map(str, pipes)],
                pass_fds=pipes,
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # signals of a terminal reach the job alone
            )
        try:
            with contextlib.suppress(BrokenPipeError):  # it has ended, which the next line finds out
                self._requests.send(judge)
            self._described = self._taken()
        except BaseException:
            self.close()
            raise

    def describe(self) -> dict:
        return self._described

    def close(self) -> None:
        self._requests.close()
        self._process.wait()
        self._responses.close()

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, see `Engine.answer` and, for a job that ends early, `OpenAiEngine.answer`."""
        finished: queue.SimpleQueue[Response | BaseException | None] = queue.SimpleQueue()  # ends with None
        room, ended = threading.Semaphore(self._at_once + AHEAD), threading.Event()
        give = threading.Thread(target=self._give, args=(iter(requests), room, ended, finished), daemon=True)
        take = threading.Thread(target=self._take, args=(room, finished), daemon=True)
        whole = False
        try:
            give.start()
            take.start()
            while (entry := finished.get()) is not None:
                if isinstance(entry, BaseException):
                    raise entry
                yield entry
            whole = True
        except (KeyboardInterrupt, SystemExit):
            self._end(give, room, ended)
            while (entry := finished.get()) is not None:
                if isinstance(entry, Response):
                    yield entry
            raise
        finally:
            if not whole:
                self._end(give, room, ended)
                self._process.wait()

    def _end(self, give: threading.Thread, room: threading.Semaphore, ended: threading.Event) -> None:
        """Give no more requests: the sender ends."""
        ended.set()
        room.release()
        with contextlib.suppress(RuntimeError):  # the thread was not started
            give.join()
        self._requests.close()

    def _give(
        self,
        requests: Iterator[Request],
        room: threading.Semaphore,
        ended: threading.Event,
        finished: queue.SimpleQueue,
    ) -> None:
        """Give requests to the sender, and None at the end."""
        try:
            for request in requests:
                room.acquire()
                if ended.is_set():
                    return
                self._requests.send(request)
            self._requests.send(None)
        except BrokenPipeError:  # the sender has ended, which `_take` tells
            pass
        except BaseException as error:  # it is raised where the responses are taken
            finished.put(error)

    def _take(self, room: threading.Semaphore, finished: queue.SimpleQueue) -> None:
        """Take the responses to all requests."""
        try:
            while (response := self._taken()) is not None:
                room.release()
                finished.put(response)
        except BaseException as error:  # as above
            finished.put(error)
        finally:
            finished.put(None)

    def _taken(self) -> object:
        """What the sender gives next.

        Raises:
            BaseException: what was raised there.
            InputError: the sender has ended.
        """
        try:
            entry = self._responses.recv()
        except EOFError:
            raise InputError(
                f"judge: the process that sends its calls has ended with status {self._process.wait()}; the answers"
                " that have come are kept. Run again to ask what is missing"
            ) from None
        if isinstance(entry, BaseException):
            raise entry
        return entry


# --- the sender's side


def main(requests: Connection, responses: Connection) -> None:
    """Answer what comes over the first pipe over the second one, until the first one ends."""
    job = os.getppid()
    judge = requests.recv()
    with contextlib.ExitStack() as held:
        held.enter_context(locks.only_writer(judge["open_calls"]))
        try:
            engine = engines.load(judge)
        except InputError as error:
            responses.send(error)
            return
        held.callback(engine.close)
        responses.send(engine.describe())
        inbox: Inbox = queue.SimpleQueue()

        def take() -> None:
            with contextlib.suppress(EOFError, OSError):  # the job has closed the pipe, or was killed
                while True:
                    inbox.put(requests.recv())
            # Where the job was killed, nothing waits for this process but the next job.
            engine.end_early(judge["timeout"] if os.getppid() != job else None)
            os.kill(os.getpid(), signal.SIGTERM)
            inbox.put(END)

        threading.Thread(target=take, daemon=True).start()
        try:
            while (first := inbox.get()) != END:
                _answer(engine, _requests(first, inbox), responses)
        finally:
            if os.getppid() != job:
                engine.open_calls.write_late()


def _requests(first: Request | None, inbox: Inbox) -> Iterator[Request]:
    """The requests of one round, which ends with None, or with `END` where the job ends early."""
    entry = first
    while isinstance(entry, Request):
        yield entry
        entry = inbox.get()


def _answer(engine: engines.Engine, requests: Iterator[Request], responses: Connection) -> None:
    """Pass all responses on, then None; or what was raised.

    Raises:
        SystemExit: the job ends.
    """
    given = engine.answer(requests)
    try:
        for response in given:
            _pass_on(response, responses)
        _pass_on(None, responses)
    except (KeyboardInterrupt, SystemExit) as stop:
        for response in signals.yielded_after(given, stop):
            _pass_on(response, responses)
        raise
    except InputError as error:  # the job ends, and this process with it: what is left of the round is not asked
        _pass_on(error, responses)
        sys.exit()
    except Exception as error:
        traceback.print_exc()  # the job ends this process before it could do so
        _pass_on(RuntimeError(f"{type(error).__name__}: {error}"), responses)
        sys.exit()


def _pass_on(entry: object, responses: Connection) -> None:
    with signals.held_back(), contextlib.suppress(BrokenPipeError):  # the job was killed: the file holds all answers
        responses.send(entry)


if __name__ == "__main__":
    command_line.begin()
    with contextlib.suppress(EOFError, BrokenPipeError, SystemExit):  # the job was killed, or ends early
        main(*(Connection(int(number)) for number in sys.argv[1:]))
