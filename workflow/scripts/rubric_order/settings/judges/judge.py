"""Settings of judges of every kind, and what other code asks a judge."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

from annotated_types import Ge, Le, Len
from pydantic import PrivateAttr, StringConstraints

from rubric_order.base.errors import InputError
from rubric_order.base.keys import DEFAULT_PROFILE, REVIEWING, WRITING
from rubric_order.settings.base import (
    Arguments,
    Change,
    Count,
    EitherOr,
    Id,
    Numeric,
    Positive,
    Role,
    Settings,
    Text,
    extra,
    fields,
    plain,
    setting,
    whole,
)

if TYPE_CHECKING:
    from rubric_order.settings.judges.metered import Prices
    from rubric_order.settings.studies import Dataset

# Version of the form of requests' names. Another version would make all stored answers useless, so it never changes.
IDENTITY_VERSION = 2
TAG_OF_TEMPLATE = re.compile("{{|{%")

ASKING = "`judge_shard` and below"  # runs again when a setting changes

# Attributes of settings on which no file of answers depends: any of them, those of jobs, and those of sending requests.
UNTRACKED: dict[str, Any] = {"role": Role.RUN, "tracked": False}
JOB = UNTRACKED | {"reruns": "nothing"}
WIRE = UNTRACKED | {"role": Role.WIRE, "reruns": "nothing: no answer depends on it"}

Temperature = Annotated[float, Numeric(ge=0, le=100)]
TopP = Annotated[float, Numeric(gt=0, le=1)]
MaxTokens = Annotated[int, Ge(1), Le(2**31 - 1)]
FirstSeed = Annotated[int, Ge(0)]
TEMPERATURE = (
    "Temperature of sampling; 0 is greedy decoding. For engine openai null leaves the choice to the endpoint, here and"
    " in the other settings of sampling."
)
TOP_P, MAX_TOKENS = "Probability mass of nucleus sampling; 1: all tokens.", "Largest length of an answer, in tokens."
FIRST_SEED, STOP = "Seed of the first read of a prompt; it rises by 1 with each repeat.", "Texts that end the answer."

ENTRY_POINTS = "rubric_order.engines"  # group of entry points


class Message(Settings):
    role: Literal["system", "user", "assistant"] = setting(..., "Role of the speaker.")
    content: Text = setting(..., "Text of the message, as a Jinja template.")


class Sampling(Settings):
    """Sampling of answers; null leaves a setting to an endpoint."""

    temperature: Temperature | None = setting(0, TEMPERATURE)
    top_p: TopP | None = setting(1, TOP_P)
    max_tokens: MaxTokens | None = setting(1024, MAX_TOKENS)
    seed: FirstSeed | None = setting(0, FIRST_SEED)
    stop: list[str] = setting([], STOP)


class SamplingChange(Change):
    temperature: Temperature | None = setting(None, TEMPERATURE, otherwise="")
    top_p: TopP | None = setting(None, TOP_P, otherwise="")
    max_tokens: MaxTokens | None = setting(None, MAX_TOKENS, otherwise="")
    seed: FirstSeed | None = setting(None, FIRST_SEED, otherwise="")
    stop: list[str] = setting([], STOP, otherwise="")


class Profile(Change):
    """A variant of a judge under which a study reads the same prompts."""

    sampling: SamplingChange = setting(None, "Sampling settings that differ from the judge's own.", otherwise="")
    chat_template_kwargs: Arguments = setting(
        None, "Arguments of the chat template that differ from the judge's own.", otherwise=""
    )
    system_prompt: str | None = setting(None, "System message in place of the judge's own.", otherwise="")


class EndpointProfile(Profile):
    extra_body: Arguments = setting(
        None, "Fields of the request that differ from the judge's own (engine openai).", otherwise=""
    )


class RoleProfile(Change):
    """A variant of a judge in which it writes or reviews reference answers, in free text."""

    sampling: SamplingChange = setting(None, otherwise="")
    answer_format: Literal["feedback", "score"] = setting("feedback", otherwise="")
    answer_prefix: str = setting("", otherwise="")


def variants() -> Any:
    """Setting `profiles` of a judge."""
    return setting(
        {},
        "Variants of the judge under which a study reads the same prompts, such as other temperatures. Each variant"
        " changes `sampling`, `chat_template_kwargs`, `system_prompt` or `extra_body`. One loaded model answers all"
        " profiles.",
        reruns="`plan_reads` and below, for the studies that use the profile",
        otherwise="as the judge has it",
        filled=True,
        **UNTRACKED,
    )


class Blocks(NamedTuple):
    """Tokens per block of an engine's prefix cache, and the fewest tokens of a shared prefix that it finds."""

    size: int
    least: int = 0


@dataclass(frozen=True)
class Capabilities:
    """Abilities of a judge's engine, for which other code asks in place of its kind.

    `log_probabilities` of labels where they are read; `constrained`: continues a beginning, and can be restricted to
    labels (second requests and criteria in lines need it); `tokenizer`: may be on this machine; `labels`: prompts show
    level IDs.
    """

    log_probabilities: bool = True
    several_questions: bool = True
    constrained: bool = True
    tokenizer: bool = False
    prefix_cache: Blocks | None = None
    prices: Prices | None = None
    writes: bool = True
    labels: bool = True


class Judge(Settings):
    """A judge of any kind."""

    KIND: ClassVar[str]  # `engine` of judges of this kind, by which messages name them
    ENGINE: ClassVar[str] = ""  # name under which the engine is registered, if not `KIND`
    ASKED: ClassVar[bool] = True  # whether the judge is asked; otherwise its answers exist already
    LOADED: ClassVar[bool] = False  # whether a job loads its model
    CALLED: ClassVar[bool] = False  # whether others answer its calls, which may cost money
    UNCONSTRAINED: ClassVar[str] = "its engine holds no answer to a form"  # why `constrained` is False
    RUN_BY: ClassVar[str] = ""  # words of the methods text for how it is run, if not "by engine `KIND`"
    CITED: ClassVar[tuple[str, ...]] = ()  # keys of `cards/references.bib` that these words cite

    engine: str = setting(
        ...,
        "What answers the requests. `vllm` runs a model in the job. `openai` asks an OpenAI-compatible endpoint."
        " `decisions` asks a decision model, which writes no text. `python` calls a function. `simulated` computes"
        " answers with a known bias. `recorded` reads answers that exist already.",
        role=Role.IDENTITY,
    )
    model: str = setting(
        ...,
        "Model id on the Hugging Face hub, path of a local folder, or the name by which an endpoint knows the model."
        " With `gguf` it is only a name. With engine `python` it can be left out; it is then the name of the function.",
        role=Role.IDENTITY,
    )
    label: Text = setting(
        None,
        "Name of the judge in tables and figures.",
        role=Role.LABEL,
        otherwise="its id",
        reruns="the tables and figures that show it",
    )
    answer_format: Literal["feedback", "score"] = setting(
        "feedback",
        "Form of the answer. With `feedback` the judge writes feedback, then [RESULT] and the score, as in the papers."
        " With `score` it writes the score at once, and the log-probability of every score is read.",
        role=Role.FORMAT,
    )
    answer_prefix: str = setting(
        "", "Text with which the judge's answer is made to begin, in answer format `score`.", role=Role.FORMAT
    )
    template: Annotated[str | list[Any] | None, EitherOr(str | None, Annotated[list[Message], Len(1)])] = setting(
        None,
        "Prompt of your own, in place of the prompt of the study's probe. It is a file (Jinja) or a list of messages"
        " with `role` and `content`; the list may be in a YAML file. docs/own_prompt.md lists the fields of a prompt.",
        **UNTRACKED,
        reruns="`plan_reads` and below; prompts that it changes are new requests",
    )
    criteria_format: Literal["free", "lines"] = setting(
        "free",
        "How answers that score several criteria are written. With `free` the judge writes them freely. With `lines`"
        " it can choose nothing but the scores.",
        role=Role.FORMAT,
        reruns="`plan_reads` of studies of probe criterion_order, and below; every prompt is a new request",
    )
    system_prompt: str | None = setting(
        None, "System message before the prompt; null: that of the chat template.", role=Role.IDENTITY
    )
    chat_template_kwargs: Arguments = setting(
        {}, "Arguments of the chat template, such as enable_thinking.", role=Role.IDENTITY
    )
    sampling: Sampling = setting(factory=Sampling, role=Role.IDENTITY)
    profiles: dict[Id, Profile] = variants()
    second_request: bool = setting(
        False,
        "Whether an answer without a score is followed by a second request, in which the judge can write nothing but a"
        " score (engine vllm, or a server of vLLM). The first answer is kept. A score from a second request has the"
        " form `constrained`.",
        role=Role.RUN,
        reruns="`judge_shard`, which asks the second requests alone, and below",
    )
    greedy_repeats: Literal["measure", "reuse"] = setting(
        "measure",
        "What is done about repeats of one prompt at temperature 0: `measure` asks for each of them, `reuse` takes the"
        " first answer for all of them.",
        **UNTRACKED,
        reruns="`plan_reads` and below",
    )
    accept_mixed: bool = setting(
        False,
        "Whether answers of different engine versions, weights, revisions or addresses count as those of one judge. If"
        " false, a job that has such a mixture ends with an error that names them.",
        role=Role.RUN,
        reruns="`judge_shard`, from the store, and `list_responses`",
    )
    accept_failures: bool = setting(
        False,
        "Whether failures that may pass, such as time-outs, are final. If false, a job with such failures ends with an"
        " error, and the next run asks only the failed requests.",
        role=Role.RUN,
        reruns=ASKING,
    )
    retry_failed: bool = setting(
        False,
        "Whether requests with a permanent failure, such as a prompt that was too long, are asked again.",
        role=Role.RUN,
        reruns=ASKING,
    )
    accept_unread: bool = setting(
        False,
        "Whether a study is asked on if no score can be read from its first 20 answers. If false, the job ends with an"
        " error that shows one of these answers.",
        **JOB,
    )
    gpu: Annotated[int, Ge(0)] = setting(
        0,
        "Number of GPUs of a job. With 0 the CPU build of vLLM runs the model on the CPU, and the CUDA build claims"
        " one GPU.",
        **JOB,
    )
    shards: Count = setting(
        1,
        "Number of jobs that share the judge's requests.",
        **UNTRACKED,
        reruns="`judge_shard`, without a model: the store is cut anew",
    )
    mem: Annotated[str, StringConstraints(pattern="^[1-9][0-9]*([.][0-9]+)? ?[KMGTkmgt](i?[Bb])?$")] = setting(
        "16GB", "Memory of a job, such as 16GB.", **JOB
    )
    runtime: Annotated[
        str, StringConstraints(pattern="^[1-9][0-9]*([.][0-9]+)? ?(m|min|minutes?|h|hours?|d|days?|w|weeks?)$")
    ] = setting("4h", "Time limit of a job, such as 90m, 4h or 2d.", **JOB)
    throughput: Positive | None = setting(
        None,
        "Tokens per second that a job computes, for `plan_cost`. Answers and the part of prompts that is not cached"
        " count. Null: the speed of earlier jobs.",
        **JOB,
    )
    # The next settings are in every request's name since the first version, even if a judge has no use for them.
    revision: str | None = setting(
        None,
        "Commit of the model on the hub; pin it. A branch, a tag or null is resolved to a commit once, when reads are"
        " planned.",
        role=Role.IDENTITY,
    )
    dtype: str = setting("bfloat16", "Number format of the weights.", role=Role.IDENTITY)
    quantization: str | None = setting(None, "Quantisation method, as vLLM names it.", role=Role.IDENTITY)
    max_model_len: Count | None = setting(
        None,
        "Largest total length of prompt and answer in tokens; null: what the model allows. A prompt that does not fit"
        " fails; other prompts are not affected.",
        role=Role.IDENTITY,
    )

    _weights: str | None = PrivateAttr(None)  # digest of a local model's weights

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Judge of this kind from a JSON file with its block, see `read`."""
        from rubric_order.settings.judges import read

        try:
            judge = read(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: expected a file of JSON with a judge's settings: {error}") from None
        if not isinstance(judge, cls):
            raise InputError(f"{path}: expected a judge of kind {cls.__name__}, found {type(judge).__name__}")
        return judge

    def add_weights(self, described: Mapping[str, str]) -> Self:
        """The judge with the identity of its weights, see `weights.describe`: a digest, or the commit on the hub."""
        judge = self.changed(**{name: value for name, value in described.items() if name == "revision"})
        judge._weights = described.get("weights")
        return judge

    def identity(self, formats: Collection[str]) -> dict[str, Any]:
        """Settings on which answers to a probe's prompts depend; `formats` names those of role `FORMAT` that count.

        A local model counts by the content of its weights, not by path or name; temperatures 0 and 0.0 are the same.
        """
        values = {}
        for name, field in type(self).model_fields.items():
            role = extra(field, "role")
            if role is Role.IDENTITY or (role is Role.FORMAT and name in formats):
                values[name] = whole(plain(getattr(self, name))) if self._has(name, field) else None
        values |= self._identity_of_kind(formats)
        parts = {name: value for name, value in values.items() if value is not None and value is not False}
        parts["version"] = IDENTITY_VERSION
        if self._weights is not None:
            del parts["model"]
            return parts | {"weights": self._weights}
        return parts | {"model": self.shown_name}

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Settings of this kind of judges that have another form in `identity` than in config."""
        return {}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities()

    @property
    def weights(self) -> str | None:
        """Digest of a local model's weights, see `add_weights`; None for other models."""
        return self._weights

    @property
    def shown_name(self) -> str:
        return Path(self.model).name if is_local(self.model) else self.model

    @property
    def currency(self) -> str:
        return ""

    @property
    def is_local(self) -> bool:
        """True if the model is named by a path rather than by its id on the hub."""
        return is_local(self.model)

    @property
    def accepted_names(self) -> set[str]:
        """Names that the model may give itself in answers. They do not tell its version."""
        return {self.shown_name}

    @property
    def has_open_weights(self) -> bool:
        """True if config does not fix the weights that answer: they are in a folder, or their revision can move."""
        return False

    @property
    def has_moving_revision(self) -> bool:
        """True if the hub decides which weights answer, because config names no commit."""
        return self.has_open_weights and not is_local(self.model)

    @property
    def needs_conversion(self) -> bool:
        """True if the workflow makes the judge's weights from a GGUF file."""
        return False

    @property
    def folder_name(self) -> str:
        """An id of the judge's converted weights. Judges with the same model and `dtype` share it."""
        return re.sub("[^a-z0-9]+", "_", f"{self.model}_{self.dtype}".lower()).strip("_")

    @property
    def option_letters(self) -> str | None:
        """Letters that named the options of a recorded judge, lowest score first; None if numbers named them."""
        return None

    @property
    def draws_at(self) -> float | None:
        """Temperature at which the score is one draw from its option probabilities; None if it is not known, or is no
        such draw.

        Text before the score differs between repeats; endpoints and nucleus sampling change the probabilities.
        """
        thinks = self.chat_template_kwargs.get("enable_thinking")
        draws = self.answer_format == "score" and not thinks and self.sampling.top_p == 1
        return self.sampling.temperature if draws else None

    @property
    def reuses_greedy(self) -> bool:
        """True if repeats of one prompt count as equal: at temperature 0, if config says so."""
        return self.greedy_repeats == "reuse" and self.sampling.temperature == 0

    def under(self, profile: str) -> Self:
        """The judge under one of its profiles; `DEFAULT_PROFILE` changes nothing."""
        if profile == DEFAULT_PROFILE:
            return self
        changes = self.profiles[profile].block()
        if "sampling" in changes:
            changes["sampling"] = self.sampling.changed(**changes["sampling"])
        for name in ("chat_template_kwargs", "extra_body"):
            if name in changes:
                changes[name] = {**getattr(self, name), **changes[name]}
        return self.changed(**changes)

    def is_about(self, dataset: Dataset) -> bool:
        """True if the judge has answers about a dataset. A judge that is asked always has."""
        return True

    def add_roles(self, *, writing: SamplingChange, reviewing: SamplingChange) -> Self:
        """The judge with only two profiles, one to write and one to review reference answers."""
        roles = {WRITING: writing, REVIEWING: reviewing}
        return self.changed(profiles={name: _role(sampling) for name, sampling in roles.items()})

    def profiles_of(self, wanted: Iterable[str]) -> list[str]:
        """The wanted profiles that the judge has, each once."""
        return [name for name in dict.fromkeys(wanted) if name == DEFAULT_PROFILE or name in self.profiles]

    def greedy_profiles(self, profiles: Iterable[str]) -> set[str]:
        """The profiles under which repeats of one prompt count as equal."""
        return {profile for profile in profiles if self.under(profile).reuses_greedy}

    def varied(self, profiles: Iterable[str], path: str) -> dict[str, object]:
        """Values of a setting by profile, where it sets the `path` (``sampling/temperature``), and of the default
        profile.
        """
        blocks = {DEFAULT_PROFILE: self.block()} | {name: profile.block() for name, profile in self.profiles.items()}
        values = {name: _at(blocks[name], path) for name in profiles if name in blocks}
        return {name: value for name, value in values.items() if value is not None}

    def problems(self) -> Iterator[str]:
        """Contradictions in the settings: each text is the key and its problem."""
        yield from self._problems()
        yield from self._problems_of_any_profile()
        for profile in self.profiles:
            yield from (f"profiles/{profile}/{problem}" for problem in self.problems_of_profile(profile))

    def problems_of_profile(self, profile: str) -> Iterator[str]:
        """Contradictions that a profile adds: each text is the key and its problem."""
        usual = list(self._problems_of_any_profile())
        yield from (problem for problem in self.under(profile)._problems_of_any_profile() if problem not in usual)

    def _problems_of_any_profile(self) -> Iterator[str]:
        yield from self._problems_of_profile()
        if tag := TAG_OF_TEMPLATE.search(self.system_prompt or ""):
            yield (
                f"system_prompt: found {tag[0]!r}, and nothing is filled in here; expected plain text, or a template"
                " that is a list of messages, the system's first"
            )

    def _problems(self) -> Iterator[str]:
        for name, value in (("answer_prefix", ""), ("second_request", False), ("criteria_format", "free")):
            if getattr(self, name) != value and not self.capabilities.constrained:
                yield f"{name}: {self.UNCONSTRAINED}"
        if self.answer_format == "feedback" and self.answer_prefix:
            yield "answer_prefix: it is for answer_format 'score', found answer_format 'feedback'"
        if DEFAULT_PROFILE in self.profiles:
            yield f"profiles: {DEFAULT_PROFILE!r} names the judge without a profile; use another name"

    def _problems_of_profile(self) -> Iterator[str]:
        """Contradictions in settings that a profile can change, for this kind of judges."""
        for name, value in self.sampling:
            if value is None:
                yield f"sampling/{name}: null leaves it to an endpoint; engine {self.engine!r} needs a value"


def _role(sampling: SamplingChange) -> RoleProfile:
    return RoleProfile(sampling=sampling, answer_format="feedback", answer_prefix="")


FORMATS = tuple(fields(Judge, [Role.FORMAT]))  # settings that say how answers are asked for


class Engine:
    """Part of an engine that settings need, see `judging.engines.Engine`: the model of its judges' settings."""

    JUDGE: type[Judge]


def is_local(model: str) -> bool:
    """True if a model is named by a path rather than by its id on the hub, which is ``name`` or ``owner/name``."""
    return model.startswith((".", "/", "~")) or model.count("/") > 1


def _at(settings: object, path: str) -> object:
    for key in path.split("/"):
        settings = settings.get(key) if isinstance(settings, Mapping) else None
    return settings
