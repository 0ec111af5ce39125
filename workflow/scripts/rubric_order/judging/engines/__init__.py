"""Engines, which send requests to a model and return its responses: one subclass of `Engine` per kind of judge."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.base.plugins import Plugins
from rubric_order.contracts.responses import reason_of
from rubric_order.judging.engines.limits import Amount
from rubric_order.probes import Question, Shown
from rubric_order.settings.judges import judge as settings

# Reasons of errors that may pass: a request with such an error is asked again on the next run.
PASSING = frozenset({"rate_limited", "server_error", "timeout", "connection", "malformed", "budget", "stopped"})
PASSING |= {"transient"}

# Reasons of errors whose cause may be the settings or a function, and not the request.
REFUSED = frozenset({"bad_request", "wrong_model", "raised", "wrong_answer"})

# Finish reasons of answers that end before they are complete. Such an answer is a failure that may pass.
CUT_SHORT = frozenset({"abort", "error", "repetition", "network_error", "insufficient_system_resource"})


@dataclass(frozen=True)
class Request:
    """Request to a judge.

    Attributes:
        request_id: hash of everything that determines the answer.
        prompt: the user's message.
        questions: questions that the answer must answer, in the order of the prompt. The log-probabilities of their
            labels are read where there are several questions, and where the answer format is `score`.
        repeat: 0 for the first read of a prompt, then 1, 2, ...
        profile: the judge's profile, see `Judge.under`.
        begun: beginning of an answer that the judge may only complete with a label; None for a free answer.
        dataset: dataset of the unit in the prompt, for simulated judges. A real judge sees only the prompt.
        unit_id: id of this unit, for simulated judges.
        options: ids of the options in canonical order, for simulated judges.
        shown: form in which the prompt shows the unit, for simulated judges.
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
        return self.questions[0].labels

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the questions where a prompt has several; empty where it has one."""
        return tuple(question.name for question in self.questions) if len(self.questions) > 1 else ()


PAUSE = Request("", "", ())  # no request: the next request may wait for the answers to those before


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

    @property
    def reason(self) -> str | None:
        return reason_of(self.error)


@dataclass(frozen=True)
class Turn:
    """A job's turn at an endpoint: limits hold for all jobs together, so one at a time asks.

    Attributes:
        spent: use of the judge's budget by earlier runs.
        sent: file for the record of `limits.RateLimiter`.
        open_calls: file of `open_calls.OpenCalls`.
    """

    spent: Amount
    sent: Path
    open_calls: Path

    @property
    def batches(self) -> Path:
        return self.open_calls.with_name("batches")


@dataclass(frozen=True)
class Resources:
    """Resources that a job has for its engine.

    Attributes:
        gpus: number of devices.
        model_folder: weights that the workflow converted; None for a model of the hub or a local folder.
        turn: the job's turn at an endpoint; None where no endpoint is asked, or where no other job can ask the
            endpoint.
        function: a judge's function, if this process has it already. The function is then called in this process.
    """

    gpus: int = 0
    model_folder: Path | None = None
    turn: Turn | None = None
    function: Callable[[Any], Any] | None = None


NOTHING = Resources()
AnyJudge = TypeVar("AnyJudge", bound=settings.Judge)
Setting = TypeVar("Setting")


class Engine(settings.Engine, ABC, Generic[AnyJudge]):
    """Base class of engines. An engine answers the requests of a job: it is started for the job, and closed after it.

    An engine of another package is registered by an entry point, like the engines of this package. The engine also
    provides the model of its judges' settings: a subclass of `Judge` whose `engine` is the name that the engine is
    registered under.

    Attributes:
        JUDGE: model of the settings of the judges that the engine answers for.
        judge: the judge that the engine answers for. The judge's `capabilities` say what the engine can do.
        resources: resources that the job has for the engine.
        STREAMS: True if `answer` asks each request at once, also while it waits for the next one. It then gets `PAUSE`
            before a wait for answers.
    """

    JUDGE: type[AnyJudge]
    STREAMS: bool = False

    def __init__(self, judge: AnyJudge, resources: Resources) -> None:
        self.judge, self.resources = judge, resources

    @staticmethod
    def gpus_to_claim(gpus: int) -> int:
        """Number of GPUs that a job claims, if config gives it `gpus`. The job claims them before the engine is made.

        Raises:
            InputError: the engine cannot use these GPUs.
        """
        return gpus

    @abstractmethod
    def start(self) -> None:
        """Load the model, or prepare the connection to it. Called once, before all other methods.

        Raises:
            InputError: a setting cannot be used. The message is one line.
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Versions and settings that answers come from. The store keeps them, so none may be secret."""

    @abstractmethod
    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, yielding each as it finishes, in any order. Every request gets exactly one response.

        The method is called again for the second requests. A prompt that cannot be answered gives a response with an
        `error`. The first word of the error is one of `PASSING` if another try may help.
        """

    def close(self) -> None:
        """Free what the engine holds. Called at the end if the engine was started, even if answering failed."""


def given(setting: Setting | None) -> Setting:
    """A setting of sampling that only judges at endpoints and functions may leave open."""
    if setting is None:
        raise ValueError("a setting of sampling is null")
    return setting


REGISTRY: Plugins[Engine[Any]] = Plugins(settings.ENTRY_POINTS, Engine)


def module(judge: settings.Judge) -> str:
    return REGISTRY.module(judge.ENGINE or judge.KIND)


def load(judge: settings.Judge, resources: Resources = NOTHING) -> Engine[Any]:
    engine = REGISTRY.load(judge.ENGINE or judge.KIND)(judge, resources)
    engine.start()
    return engine


def gpus_to_claim(judge: settings.Judge, gpus: int) -> int:
    # If the job gets no GPUs and the judge loads no model, the engine's module need not be imported for this number.
    return REGISTRY.load(judge.ENGINE or judge.KIND).gpus_to_claim(gpus) if gpus or judge.LOADED else gpus
