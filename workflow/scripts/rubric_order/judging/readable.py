"""Count which answers can be read. A study of whose first answers none can be read is asked no further."""

import contextlib
import dataclasses
import queue
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rubric_order import probes
from rubric_order.base.errors import InputError
from rubric_order.judging.engines import PASSING, PAUSE, Engine, Request, Response
from rubric_order.judging.progress import UNASKED
from rubric_order.judging.second_requests import completed
from rubric_order.parsing import decisions
from rubric_order.parsing.choices import Choice
from rubric_order.parsing.decisions import Form
from rubric_order.prompts.structured import Structured
from rubric_order.settings.judges.decisions import Decisions
from rubric_order.settings.judges.endpoint import Endpoint
from rubric_order.settings.judges.judge import Judge

LEAST = 20  # answers of a study, none of them read, after which nothing more is asked
MOST = 200  # answers of a study that are counted: reading takes time, and more would change nothing
SHOWN = 200  # most characters of an answer that a message shows
NO_LABELS = ("text", "verdict")  # kinds of answers that no probe reads: reference answers, and reviews of them

Released = queue.SimpleQueue[np.ndarray | None]  # places of requests that may be asked; ends with None


class Asked(NamedTuple):
    """A request, with its probe and its study, which has no name where there is only one."""

    request: Request
    probe: str
    study: str = ""


@dataclasses.dataclass
class Tally:
    """Answers of one study that were counted (final failures too) and read, and words on the first that was not."""

    answers: int = 0
    n_read: int = 0
    unread: str = ""


class Readable:
    """Count of a judge's answers that give a choice or probabilities of the labels, by study."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._form = Form(judge.dialect, judge.question) if isinstance(judge, Decisions) else None
        # A second request gives a choice where the first answer gives none.
        self._stops = not (judge.accept_unread or judge.second_request)
        self._in_batches = isinstance(judge, Endpoint) and judge.batches is not None
        self.tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self._waiting: dict[str, np.ndarray] = {}  # of each study, places of the requests that are not released
        self._under_way: Counter[str] = Counter()
        self._released: Released = queue.SimpleQueue()
        self._open: dict[str, Asked] = {}

    def __str__(self) -> str:
        return "read {read} of {answers}".format(**self.numbers) if self.numbers["answers"] else ""

    @property
    def numbers(self) -> dict[str, int]:
        tallies = self.tallies.values()
        return {"answers": sum(tally.answers for tally in tallies), "read": sum(tally.n_read for tally in tallies)}

    @property
    def unread(self) -> str:
        """Words on an answer of a study of which no answer was read; empty without such a study."""
        return next((tally.unread for tally in self.tallies.values() if tally.answers and not tally.n_read), "")

    def count(self, asked: Asked, response: Response) -> None:
        """Count a response, unless its failure may pass or `MOST` answers of its study are counted."""
        question, tally = asked.request.questions[0], self.tallies[asked.study]
        if response.reason in PASSING or question.names in NO_LABELS or tally.answers >= MOST:
            return
        tally.answers += 1
        choices = () if response.error else self._choices(asked, response)
        tally.n_read += any(choice.label is not None for choice in choices) or _has_probabilities(asked, response)
        if not (tally.n_read or tally.unread):
            answer = _shortened(response.text or "") if response.error is None else response.error
            reason = f" ({choices[0].reason})" if choices else ""
            names = f" for each of {', '.join(asked.request.names)}" if asked.request.names else ""
            tally.unread = f"one is {answer}{reason}; looked for one of {', '.join(question.labels)}{names}"

    def _choices(self, asked: Asked, response: Response) -> Sequence[Choice]:
        request, text = asked.request, response.text or ""
        if self._form is not None:
            labels = [[option.label for option in options] for options in Structured.decode(request.prompt).shown]
            return [decisions.reread(text, self._form, labels, place) for place in range(len(labels))]
        prefix = "" if request.names else self._judge.answer_prefix
        truncated = response.finish_reason == "length"
        return probes.load(asked.probe).read(completed(text, prefix), request.questions, truncated=truncated)

    def give_up(self, studies: Collection[str]) -> list[str]:
        """Forget the counts of those studies that were stopped, and return these studies."""
        stopped = [study for study, tally in self.tallies.items() if study in studies and self._is_unread(tally)]
        for study in stopped:
            del self.tallies[study]
        return stopped

    def begin(self, studies: Sequence[str], folder: object = "") -> None:
        """Take the study of each request that is still to be asked; an `InputError` if all of them were stopped
        before.
        """
        names = np.asarray(studies, dtype=object)
        self._waiting = {study: np.flatnonzero(names == study) for study in dict.fromkeys(studies)}
        if not self._in_batches and all(map(self._is_stopped, self._waiting)):  # a start takes up batches
            self.check(folder)

    def ask(
        self, engine: Engine[Any], studies: Sequence[str], asked: Callable[[np.ndarray], Iterable[Asked]]
    ) -> Generator[Response]:
        """Responses of an engine, which `counted` counts. Of each study as many requests are asked at first as may be
        unread, the others once an answer was read. An engine that does not stream is asked in rounds; batches at once,
        as each takes a day.
        """
        self.begin(studies)
        self._under_way.clear()
        self._released = queue.SimpleQueue()
        self._release(*self._waiting)
        try:
            if engine.STREAMS:
                yield from engine.answer(self._stream(asked, self._released))
                return
            while places := list(self._now()):
                yield from engine.answer(self._noted(asked(np.concatenate(places))))
        finally:
            self._released.put(None)  # a thread of the engine may wait for it

    def _release(self, *studies: str, everything: bool = False) -> None:
        """Release requests of some studies: all after an answer was read, else no more than may be unread."""
        for study in studies:
            waiting, tally, under_way = self._waiting[study], self.tallies[study], self._under_way[study]
            free = everything or tally.n_read or not self._stops or self._in_batches
            number = len(waiting) if free else min(LEAST - tally.answers - under_way, len(waiting))
            if number > 0 and not self._is_stopped(study):
                places = np.linspace(0, len(waiting) - 1, number).round().astype(int)  # spread over the study
                self._waiting[study] = np.delete(waiting, places)
                self._under_way[study] += number
                self._released.put(waiting[places])
        if all(self._is_stopped(study) or not len(waiting) for study, waiting in self._waiting.items()):
            self._released.put(None)

    def _stream(self, asked: Callable[[np.ndarray], Iterable[Asked]], released: Released) -> Iterator[Request]:
        """Requests as they are released, and `PAUSE` before a wait."""
        while True:
            if released.empty():
                yield PAUSE
            if (places := released.get()) is None:
                return
            yield from self._noted(asked(places))

    def _now(self) -> Iterator[np.ndarray]:
        with contextlib.suppress(queue.Empty):
            while (places := self._released.get_nowait()) is not None:
                yield places

    def _noted(self, asked: Iterable[Asked]) -> Iterator[Request]:
        for one in asked:
            self._open[one.request.request_id] = one
            yield one.request

    def counted(self, responses: Iterable[Response]) -> Iterator[Response]:
        """Pass on the responses of `ask`, and count them."""
        for response in responses:
            asked = self._open.pop(response.request_id)
            self._under_way[asked.study] -= 1
            self.count(asked, response)
            if len(self._waiting[asked.study]):  # an engine that asks nothing more gives all others its error
                self._release(asked.study, everything=response.attempts == 0 and response.reason in UNASKED)
            yield response

    def _is_stopped(self, study: str) -> bool:
        return len(self._waiting[study]) > 0 and self._is_unread(self.tallies[study])

    def _is_unread(self, tally: Tally) -> bool:
        return self._stops and not tally.n_read and tally.answers >= LEAST

    def check(self, folder: object = "") -> None:
        """Refuse to go on if a study was stopped; `folder` of the answers, if they are kept."""
        for study in filter(self._is_stopped, self._waiting):
            tally, left = self.tallies[study], len(self._waiting[study])
            of_study = f" of study {study}" if study else ""
            anew = f"set retry_failed: true (or remove {folder} with all its answers) to ask these anew"
            again = f"; after a mend of the server, {anew}" if folder else ""
            others = "; without this study, results are made of the others" if len(self.tallies) > 1 else ""
            raise InputError(
                f"judge: none of {tally.answers} answers{of_study} can be read: {tally.unread}. Mend the prompt or the"
                f" form of the answer{again}; or set accept_unread: true (--go-on) to ask the {left} others all the"
                f" same{others}"
            )


def _has_probabilities(asked: Asked, response: Response) -> bool:
    """True if an answer gives probabilities of the labels of a question, see `readouts.readouts`."""
    if response.error or response.option_logprobs is None:
        return False
    logprobs = np.array(response.option_logprobs, dtype=float).reshape(len(asked.request.questions), -1)
    return bool((np.exp(logprobs).sum(axis=1) > 0).any())


def _shortened(text: str) -> str:
    """A text in quotes, without its middle if long: the score stands at one of its ends."""
    half = SHOWN // 2
    return repr(text if len(text) <= SHOWN else f"{text[:half]} ... {text[-half:]}")
