"""Count which answers can be read. A study of whose first answers none can be read is asked no further."""

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rubric_order import probes
from rubric_order.base.errors import InputError
from rubric_order.judging.engines import PASSING, Engine, Request, Response
from rubric_order.judging.second_requests import completed
from rubric_order.parsing import decisions
from rubric_order.parsing.choices import Choice
from rubric_order.parsing.decisions import Form
from rubric_order.prompts.structured import Structured
from rubric_order.settings.judges import Decisions, Endpoint, Judge

LEAST = 20  # answers of a study, none of them read, after which nothing more is asked
MOST = 200  # answers of a study that are counted: reading takes time, and more would change nothing
SHOWN = 200  # most characters of an answer that a message shows
NO_LABELS = ("text", "verdict")  # kinds of answers that no probe reads: reference answers, and reviews of them


class Asked(NamedTuple):
    """A request, with its probe and its study. The study has no name where there is only one."""

    request: Request
    probe: str
    study: str = ""


@dataclasses.dataclass
class Tally:
    """Answers of one study: number counted (final failures too), number read, and words on the first that was not."""

    answers: int = 0
    read: int = 0
    unread: str = ""


class Readable:
    """Count of a judge's answers that give a choice.

    Attributes:
        tallies: dictionary from a study to the count of its answers.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._form = Form(judge.dialect, judge.question) if isinstance(judge, Decisions) else None
        # A second request gives a choice where the first answer gives none.
        self._stops = not (judge.accept_unread or judge.second_request)
        self._in_batches = isinstance(judge, Endpoint) and judge.batches is not None
        self.tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self._left: Counter[str] = Counter()
        self._open: dict[str, Asked] = {}

    def __str__(self) -> str:
        """Numbers such as ``read 0 of 20``; empty before the first answer."""
        return "read {read} of {answers}".format(**self.numbers) if self.numbers["answers"] else ""

    @property
    def numbers(self) -> dict[str, int]:
        """Numbers of ``answers`` that were counted, and of those that were ``read``."""
        tallies = self.tallies.values()
        return {"answers": sum(tally.answers for tally in tallies), "read": sum(tally.read for tally in tallies)}

    @property
    def unread(self) -> str:
        """Words on an answer of a study of which no answer was read; empty without such a study."""
        return next((tally.unread for tally in self.tallies.values() if tally.answers and not tally.read), "")

    def count(self, asked: Asked, response: Response) -> None:
        """Count a response. Failures that may pass do not count, nor answers after the first `MOST` of a study."""
        question, tally = asked.request.questions[0], self.tallies[asked.study]
        if response.reason in PASSING or question.names in NO_LABELS or tally.answers >= MOST:
            return
        tally.answers += 1
        choices = () if response.error else self._choices(asked, response)
        tally.read += any(choice.label is not None for choice in choices)
        if not (tally.read or tally.unread):
            answer = _shortened(response.text or "") if response.error is None else response.error
            reason = f" ({choices[0].reason})" if choices else ""
            names = f" for each of {', '.join(asked.request.names)}" if asked.request.names else ""
            tally.unread = f"one is {answer}{reason}; looked for one of {', '.join(question.labels)}{names}"

    def _choices(self, asked: Asked, response: Response) -> Sequence[Choice]:
        request, text = asked.request, response.text or ""
        if self._form is not None:
            labels = [[option.label for option in shown] for shown in Structured.decode(request.prompt).shown]
            return [decisions.reread(text, self._form, labels, place) for place in range(len(labels))]
        prefix = "" if request.names else self._judge.answer_prefix
        truncated = response.finish_reason == "length"
        return probes.load(asked.probe).read(completed(text, prefix), request.questions, truncated=truncated)

    def begin(self, studies: Sequence[str]) -> None:
        """Take the study of each request that is still to be asked.

        Raises:
            InputError: of an earlier job's answers to one of the studies none can be read.
        """
        self._left = Counter(studies)
        for study in self._left if not self._in_batches else ():  # a start takes up batches that were paid for
            self._check(study)

    def rounds(self, studies: Sequence[str]) -> Iterator[np.ndarray]:
        """Indices of requests in the rounds in which they are asked: first as many as may be unread, then all others.

        Engines take requests ahead of the answers, so that only a round of its own bounds what is paid for. Requests of
        batches are asked in one round, since a batch can take a day.

        Args:
            studies: see `begin`.

        Raises:
            InputError: see `begin`, of requests in batches.
        """
        names, self._left = np.asarray(studies, dtype=object), Counter(studies)
        for study in self._left if self._in_batches else ():
            self._check(study)
        open_: np.ndarray = np.ones(len(names), dtype=bool)
        before = -1
        # Where failures that may pass leave nothing to count, the engine decides when it stops.
        while self._stops and not self._in_batches and before < (before := self.numbers["answers"]):
            first: np.ndarray = np.zeros(len(names), dtype=bool)
            for study in self._left:
                places, tally = np.flatnonzero(open_ & (names == study)), self.tallies[study]
                number = 0 if tally.read else min(LEAST - tally.answers, len(places))
                first[places[np.linspace(0, len(places) - 1, number).round().astype(int)]] = True
            if first.any():
                open_ &= ~first
                yield np.flatnonzero(first)
        if open_.any():
            yield np.flatnonzero(open_)

    def ask(self, engine: Engine[Any], rounds: Iterable[Iterable[Asked]]) -> Generator[Response]:
        """Responses of an engine to the requests of some rounds, see `rounds`. They are counted in `counted`."""
        for asked in rounds:
            yield from engine.answer(self._noted(asked))

    def _noted(self, asked: Iterable[Asked]) -> Iterator[Request]:
        for one in asked:
            self._open[one.request.request_id] = one
            yield one.request

    def counted(self, responses: Iterable[Response]) -> Iterator[Response]:
        """Pass on the responses of `ask`, and count them.

        Raises:
            InputError: of `LEAST` answers of a study none can be read, and some of its requests were not answered yet.
        """
        for response in responses:
            asked = self._open.pop(response.request_id)
            self._left[asked.study] -= 1
            self.count(asked, response)
            yield response
            if not self._in_batches:  # all batches are under way
                self._check(asked.study)

    def _check(self, study: str) -> None:
        tally, left = self.tallies[study], self._left[study]
        if self._stops and left and not tally.read and tally.answers >= LEAST:
            of_study = f" of study {study}" if study else ""
            raise InputError(
                f"judge: none of {tally.answers} answers{of_study} can be read: {tally.unread}. Mend the prompt or the"
                f" form of the answer; or set accept_unread: true (--go-on) to ask the {left} others all the same"
            )


def _shortened(text: str) -> str:
    """A text in quotes, without its middle if it is long: the score stands at one of its ends."""
    half = SHOWN // 2
    return repr(text if len(text) <= SHOWN else f"{text[:half]} ... {text[-half:]}")
