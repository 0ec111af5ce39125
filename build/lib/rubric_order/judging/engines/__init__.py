"""Engines send requests to a model and return its responses. One class a kind of judge, all of them of `Engine`."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from rubric_order.base import signals
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.base.plugins import Plugins
from rubric_order.judging.engines.limits import Amount
from rubric_order.probes import Question, Shown
from rubric_order.settings import judges
from rubric_order.settings.judges import Judge

# Reasons of errors that may pass: such a request is asked again on the next run.
PASSING = frozenset({"rate_limited", "server_error", "timeout", "connection", "malformed", "budget", "stopped"})
PASSING |= {"transient"}

# Reasons of errors that may lie in the settings or in a function, and not in the request.
REFUSED = frozenset({"bad_request", "wrong_model", "raised", "wrong_answer"})

# Ways in which an answer can end before it is whole. Such an answer is a failure that may pass.
CUT_SHORT = frozenset({"abort", "error", "repetition"})


@dataclass(frozen=True)
class Request:
    """Request to a judge.

    Attributes:
        request_id: hash of all that determines the answer.
        prompt: the user's message.
        questions: what the answer must say, in the order of the prompt. The log-probabilities of their labels are read
            where there are several questions, and where the answer format is `score`.
        repeat: 0 for the first read of a prompt, then 1, 2, ...
        profile: the judge's profile, see `Judge.under`.
        begun: beginning of an answer that the judge may only complete with a label; None for a free answer.
        dataset, unit_id, options, shown: what the prompt is made of. A real judge sees the prompt alone.
    """

    request_id: str
    prompt: str
    questions: tuple[Question, ...]
    repeat: int = 0
    profile: str = DEFAULT_PROFILE
    begun: str | None = None
    dataset: str = ""
    unit_id: str = ""
    options: tuple[str, ...] = ()
    shown: Shown = field(default_factory=lambda: Shown(()))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that may be written; all questions of one prompt have the same ones."""
        return self.questions[0].labels

    @property
    def names(self) -> tuple[str, ...]:
        """Names of several questions in the prompt; empty where there is one."""
        return tuple(question.name for question in self.questions) if len(self.questions) > 1 else ()


@dataclass(frozen=True)
class Response:
    """Raw answer of a judge. The fields are those of `contracts.responses.STORE`, without the engine."""

    request_id: str
    text: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    option_logprobs: list[float] | None = None
    option_token: int | None = None
    reasoning: str | None = None
    refusal: str | None = None
    attempts: int | None = None
    tokens: int | None = None
    cost: float | None = None
    model: str | None = None


@dataclass(frozen=True)
class Turn:
    """A job's turn at an endpoint, whose limits hold for all jobs together: one job at a time asks it.

    Attributes:
        spent: use of the judge's budget by earlier runs.
        sent: file of `limits.RateLimiter`.
        open_calls: file of `open_calls.OpenCalls`.
    """

    spent: Amount
    sent: Path
    open_calls: Path

    @property
    def batches(self) -> Path:
        """Folder of the records of batches that are under way."""
        return self.open_calls.with_name("batches")


@dataclass(frozen=True)
class Resources:
    """Resources that a job has for its engine.

    Attributes:
        gpus: number of devices.
        model_folder: weights that the workflow converted; None for a model of the hub or a local folder.
        turn: its turn at an endpoint; None where nothing is asked over one, or no other job can ask it.
        function: a judge's function, where this process has it already: then it is called here.
    """

    gpus: int = 0
    model_folder: Path | None = None
    turn: Turn | None = None
    function: Callable[[Any], Any] | None = None


NOTHING = Resources()
AnyJudge = TypeVar("AnyJudge", bound=Judge)
Setting = TypeVar("Setting")


class Engine(judges.Engine, ABC, Generic[AnyJudge]):
    """Answers the requests of a job. It is started for the job, and closed after it.

    An engine of another package is registered as ours are, by an entry point. It brings the model of its judges'
    settings along: a subclass of `Judge` whose `engine` is the name under which the engine is registered.

    Attributes:
        JUDGE: model of the settings of the judges that it answers for.
        judge: the judge that it answers for. Its `capabilities` say what the engine can do.
        resources: what the job has for it.
    """

    JUDGE: type[AnyJudge]

    def __init__(self, judge: AnyJudge, resources: Resources) -> None:
        self.judge, self.resources = judge, resources

    @abstractmethod
    def start(self) -> None:
        """Load the model, or find the way to it. Called once, before all others.

        Raises:
            InputError: a setting cannot be used, in one line.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Versions and settings that answers come from. The store keeps them, so none may be secret."""

    @abstractmethod
    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, yielding each as it finishes, in any order. Every request gets exactly one response.

        Called again for the second requests. A prompt that cannot be answered is a response with an `error`, whose
        first word is one of `PASSING` where another try may help.
        """

    def answer_in_batches(self, requests: Iterable[Request]) -> Iterator[list[Response]]:
        """Answer requests as `answer` does, yielding together what finished together, or one at a time."""
        responses = self.answer(requests)
        try:
            for response in responses:
                yield [response]
        except (KeyboardInterrupt, SystemExit) as stop:
            for response in signals.yielded_after(responses, stop):
                yield [response]
            raise

    def end_early(self, seconds: float | None = None) -> None:
        """End `answer` for good, from any thread: nothing more is asked, and later calls of it answer nothing.

        Args:
            seconds: in which what is under way has to be answered; if None, the engine's own time for it.
        """

    def write_late(self) -> None:
        """Write what could not be written when it came. Called before `close`, where the job was killed."""

    def close(self) -> None:
        """Free what the engine holds. Called once it was started, also after answering failed."""


def given(setting: Setting | None) -> Setting:
    """A setting of sampling that config can leave open at an endpoint alone."""
    if setting is None:
        raise ValueError("a setting of sampling is null")
    return setting


REGISTRY: Plugins[Engine[Any]] = Plugins(judges.ENTRY_POINTS, Engine)


def module(judge: Judge) -> str:
    """Dotted name of the module of a judge's engine, as `code_version` takes it.

    Raises:
        InputError: see `Plugins.load`.
    """
    return REGISTRY.module(judge.ENGINE or judge.KIND)


def load(judge: Judge, resources: Resources = NOTHING) -> Engine[Any]:
    """Start the engine of a judge.

    Raises:
        InputError: see `Plugins.load`; or a setting cannot be used.
    """
    engine = REGISTRY.load(judge.ENGINE or judge.KIND)(judge, resources)
    engine.start()
    return engine


def gpus_to_claim(judge: Judge, gpus: int) -> int:
    """Number of GPUs that a job of a judge claims, where config gives it `gpus`; see `vllm_offline.gpus_to_claim`."""
    if not judge.LOADED:
        return gpus
    claimed: int = importlib.import_module("rubric_order.judging.engines.vllm_offline").gpus_to_claim(gpus)
    return claimed
