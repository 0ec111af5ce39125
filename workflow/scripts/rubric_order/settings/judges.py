"""Settings of judges. `engine` chooses the model, and each setting says how a judge's answers depend on it."""

from __future__ import annotations

import ipaddress
import json
import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from annotated_types import Ge, Le, Len
from pydantic import PrivateAttr, StringConstraints
from pydantic_core import PydanticCustomError

from rubric_order.base.errors import InputError
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.base.plugins import Plugins
from rubric_order.settings.base import (
    Arguments,
    Change,
    Chosen,
    Count,
    EitherOr,
    From0,
    Id,
    Levels,
    Number,
    Numeric,
    Positive,
    Probability,
    Role,
    Settings,
    Sha256,
    Text,
    extra,
    fields,
    plain,
    setting,
)

if TYPE_CHECKING:
    from rubric_order.settings.studies import Dataset

# Version of the form of requests' names. Another version would make all stored answers useless, so it never changes.
IDENTITY_VERSION = 2

LETTERS = "ABCDEFGHIJK"
LETTERED_STYLES = ("mcq",)  # prompt styles of recorded answers whose options are A, B, ..., lowest score first

# Arguments of vLLM that only change its speed and memory. Any other argument may change what a model answers.
SPEED = {
    "async_scheduling",
    "block_size",
    "compilation_config",
    "data_parallel_size",
    "disable_log_stats",
    "distributed_executor_backend",
    "download_dir",
    "enable_chunked_prefill",
    "enable_prefix_caching",
    "enforce_eager",
    "gpu_memory_utilization",
    "kv_cache_memory_bytes",
    "language_model_only",  # no prompt holds an image
    "max_num_batched_tokens",
    "max_num_seqs",
    "max_parallel_loading_workers",
    "pipeline_parallel_size",
    "safetensors_load_strategy",
    "scheduling_policy",
}

# Arguments of vLLM that have a setting of their own here. If argument and setting were given, one would silently win.
OWN_SETTINGS = {
    "model": "model",
    "revision": "revision",
    "dtype": "dtype",
    "quantization": "quantization",
    "max_model_len": "max_model_len",
    "seed": "sampling/seed",
    "tensor_parallel_size": "gpu",
}

# Fields of a request to an endpoint that settings write. A field of the same name in `extra_body` would silently win.
CHAT_BODY = {
    "model": "model",
    "messages": "system_prompt",
    "temperature": "sampling/temperature",
    "top_p": "sampling/top_p",
    "max_tokens": "sampling/max_tokens",
    "max_completion_tokens": "sampling/max_tokens, with max_tokens_name",
    "stop": "sampling/stop",
    "seed": "sampling/seed",
    "chat_template_kwargs": "chat_template_kwargs",
    "logprobs": "answer_format",
    "top_logprobs": "top_logprobs",
    "structured_outputs": "second_request or criteria_format",
    "n": "greedy_repeats and a strategy's budget",
}
# Fields of a request to a decision model that settings write.
DECISION_BODY = {
    "model": "model",
    "input": "the dataset",
    "state": "the dataset",
    "questions": "question, and the rubrics of the dataset",
}
# Settings that only judges that write text use. Some have been part of every request's name since the first version.
OF_WRITERS = ("system_prompt", "chat_template_kwargs", "dtype", "quantization", "max_model_len", "revision")
NOT_IN_BODY = {"stream", "stream_options"}

HEADER_NAME = re.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that the client sets itself: they say how the body is sent.
OF_THE_CLIENT = {
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
}
OF_THE_CLIENT |= {"keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}

TAG_OF_TEMPLATE = re.compile("{{|{%")
ADDRESS = r"^https?://[^\s/@?#\\]+(/[^\s@?#]*)?$"
LONGEST = 2**31 - 1

WRITING, REVIEWING = "reference_writing", "reference_reviewing"  # profiles of the roles of reference answers

GPU_BLOCK_TOKENS, CPU_BLOCK_TOKENS = 16, 128  # vLLM's default block sizes

# What runs again when a setting changes.
PROMPTS = "`plan_reads` and below; every prompt is a new request"
NOTHING = "nothing: no answer depends on it"
ASKING = "`judge_shard` and below"
RECORDED = "recorded answers and below"

Temperature = Annotated[float, Numeric(ge=0, le=100)]
TopP = Annotated[float, Numeric(gt=0, le=1)]
MaxTokens = Annotated[int, Ge(1), Le(LONGEST)]
FirstSeed = Annotated[int, Ge(0)]
TEMPERATURE = (
    "Temperature of sampling; 0 is greedy decoding. For engine openai null leaves the choice to the endpoint, here and"
    " in the other settings of sampling."
)
TOP_P, MAX_TOKENS = "Probability mass of nucleus sampling; 1: all tokens.", "Largest length of an answer, in tokens."
FIRST_SEED, STOP = "Seed of the first read of a prompt; it rises by 1 with each repeat.", "Texts that end the answer."


class Message(Settings):
    """A message of a prompt."""

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
    """Settings of sampling to change."""

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
    """A variant of a judge over an endpoint."""

    extra_body: Arguments = setting(
        None, "Fields of the request that differ from the judge's own (engine openai).", otherwise=""
    )


class RoleProfile(Change):
    """A variant of a judge in which it writes or reviews reference answers, in free text."""

    sampling: SamplingChange = setting(None, otherwise="")
    answer_format: Literal["feedback", "score"] = setting("feedback", otherwise="")
    answer_prefix: str = setting("", otherwise="")


class Gguf(Settings):
    """Weights that an installed Python package ships as a GGUF file."""

    package: str = setting(..., "Import name of the package.")
    file: str = setting(..., "Name of the GGUF file in the package.")
    sha256: Sha256 = setting(..., "Checksum of the file.")


class Backoff(Settings):
    """Waiting between repeated calls for one request."""

    first: From0 = setting(
        1,
        "Longest wait before the second call, in seconds. It doubles with each further call. The wait itself is drawn"
        " at random between 0 and this limit.",
    )
    longest: From0 = setting(
        60,
        "Upper bound, in seconds, up to which the wait of `first` doubles. If the endpoint asks for a wait, that time"
        " is added.",
    )


class Budget(Settings):
    """Limits on what all runs together may use."""

    calls: Annotated[int, Ge(0)] | None = setting(
        None,
        "Largest number of calls that all runs together may send; null: no limit. Repeated calls after a failure count"
        " too.",
    )
    tokens: Annotated[int, Ge(0)] | None = setting(
        None, "Largest number of tokens, of prompts and answers, that all runs together may use; null: no limit."
    )
    cost: Annotated[float, Numeric(ge=0)] | None = setting(
        None, "Largest amount of money that all runs together may spend, in the currency of the prices; null: no limit."
    )


class Prices(Settings):
    """Prices of a million tokens."""

    prompt: From0 = setting(..., "Price of a million tokens of prompts.")
    completion: From0 = setting(
        ..., "Price of a million tokens of answers. The judge's reasoning is part of the answers."
    )
    cached: From0 = setting(
        None, "Price of a million tokens of prompts that the endpoint reads from its cache.", otherwise="as `prompt`"
    )
    cache_write: From0 = setting(
        None, "Price of a million tokens of prompts that the endpoint writes to its cache.", otherwise="as `prompt`"
    )
    currency: str = setting(None, "Name of the currency.", otherwise="`USD`")

    def cost(self, prompt: int, completion: int, cached: int = 0, written: int = 0) -> float:
        """Price of a call.

        Args:
            prompt: tokens of the prompt.
            completion: tokens of the answer.
            cached: tokens of the prompt that were in the cache.
            written: tokens of the prompt that were written to the cache.
        """
        from_cache = self.prompt if self.cached is None else self.cached
        into_cache = self.prompt if self.cache_write is None else self.cache_write
        parts = (prompt - cached - written) * self.prompt + cached * from_cache + written * into_cache
        return (parts + completion * self.completion) / 1e6

    def most(self, prompt: int, completion: int) -> float:
        """Highest price of a call with these numbers of tokens, whatever the cache does."""
        return max(self.cost(prompt, completion), self.cost(prompt, completion, written=prompt))


UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}  # seconds per unit of time
Duration = Annotated[str, StringConstraints(pattern="^[0-9]+([.][0-9]+)?[smhd]$")]


class Batch(Settings):
    """Requests in batches, which an endpoint answers later and at a lower price."""

    wait: Duration = setting(
        "1h",
        "How long a job waits for its batches, such as 90m or 1h. Then it ends, and a later run fetches the answers.",
    )
    poll: Duration = setting("60s", "Time between two checks of the batches' state.")
    requests: Annotated[int, Ge(1), Le(50_000)] = setting(10_000, "Largest number of requests in one batch.")
    window: Text = setting(
        "24h", "Time within which the endpoint is to answer, in the endpoint's own notation (`completion_window`)."
    )


def seconds(duration: str) -> float:
    """Length of a duration of config in seconds.

    Examples:
        >>> seconds("90m")
        5400.0
    """
    return float(duration[:-1]) * UNITS[duration[-1]]


class Serve(Settings):
    """A server of vLLM that runs for the time of a job."""

    arguments: Arguments = setting(
        None,
        "Further arguments of the server by name, such as `reasoning_parser`. Arguments of the engine belong in"
        " `engine_args`.",
        otherwise="`{}`",
    )
    ready_timeout: Positive = setting(
        None,
        "Seconds that the server may take to load the model.",
        otherwise="`1800`",
        reruns="`judge_shard`, which loads no model where nothing is new",
    )


Numbers = Annotated[list[Number], Len(2)]
Shape = Annotated[str, StringConstraints(pattern="^(none|first|last|u_shaped)$")]


class Simulation(Settings):
    """Parameters of a simulated judge."""

    seed: FirstSeed = setting(0, "Seed of the judge's own errors and effects.")
    leniency: Number = setting(
        0, "Number that is added to the judge's opinion of every item, in scores of a five-level scale."
    )
    spread: From0 = setting(
        1, "Scores of a five-level scale by which the judge's opinion rises for each standard deviation of quality."
    )
    item_error: From0 = setting(
        0.5,
        "Standard deviation of the judge's error about an item, in standard deviations of quality. All reads of an"
        " item share the error.",
    )
    group_error: From0 = setting(
        0,
        "Standard deviation of the judge's error about a group, in standard deviations of quality. All items of a"
        " group share the error.",
    )
    tolerance: Positive = setting(
        0.75, "Distance from its opinion over which the judge's probabilities spread, in scores of a five-level scale."
    )
    decisiveness: From0 = setting(
        1, "Factor by which the log-weights of scores are multiplied. The log-weights of positions are not multiplied."
    )
    usual_decisiveness: From0 = setting(
        1, "Further factor, by which all log-weights are multiplied under the usual ordering alone."
    )
    preference: Annotated[str | list[Any], EitherOr(Shape, Numbers)] = setting(
        "none", "Log-weight of each position: the name of a shape, or a list from the first to the last position."
    )
    preference_strength: Number = setting(1, "Factor by which `preference` is multiplied.")
    interaction: Annotated[
        float | list[Any], EitherOr(Annotated[float, Numeric()], Annotated[list[Numbers], Len(2)])
    ] = setting(
        0,
        "Log-weight that depends on score and position together. A number is that of the highest score at the first"
        " position. A matrix has one row for each score and one column for each position.",
    )
    item_scores: From0 = setting(
        0, "Standard deviation of the random log-weight of each score that an item has. All reads of the item share it."
    )
    item_positions: From0 = setting(
        0,
        "Standard deviation of the random log-weight of each position that an item has. All reads of the item share"
        " it.",
    )
    group_scores: From0 = setting(
        0,
        "Standard deviation of the random log-weight of each score that a group has. All items of the group share it.",
    )
    group_positions: From0 = setting(
        0,
        "Standard deviation of the random log-weight of each position that a group has. All items of the group share"
        " it.",
    )
    prompts: From0 = setting(
        0,
        "Standard deviation of the random log-weight of each option in one prompt. Only repeats of the prompt share"
        " it.",
    )
    criterion_position: Annotated[float | list[Any], EitherOr(Annotated[float, Numeric()], Numbers)] = setting(
        0,
        "Effect of a criterion's position in the prompt on the judge's opinion, in scores of a five-level scale: a"
        " list from the first to the last position, or a number for the last position. With a number the effect rises"
        " evenly from 0 at the first position.",
    )
    carry_over: Annotated[float, Numeric()] = setting(
        0,
        "Share of the preceding criterion's score that is added to the opinion. The score is counted from the middle"
        " of the scale.",
    )
    tie: Number = setting(
        0, "Log-weight of a tie, relative to the mean log-weight of the candidates (probes that compare)."
    )
    length: Number = setting(
        0, "Log-weight that a text gains if it is longer by one standard deviation (probes that compare)."
    )
    padding: From0 = setting(1, "Number of standard deviations by which a padded text seems longer to the judge.")
    own_family: Number = setting(
        0, "Log-weight that the judge adds for candidates of its own family (probes that compare)."
    )
    family: list[Text] = setting([], "Beginnings of the names of candidates that belong to the judge's own family.")
    id_preference: dict[str, Number] = setting(
        {}, "Log-weight that an option gains by the ID that it has in the prompt, for each ID."
    )
    number_attraction: Number = setting(
        0,
        "Log-weight that an option loses for each level between its score and the number of the shown reference"
        " answer.",
    )
    text_attraction: Number = setting(
        0,
        "Log-weight that an option loses for each level between its score and the level for which the text of the"
        " shown reference answer was written.",
    )
    group_attraction: From0 = setting(0, "Standard deviation between groups of `number_attraction`.")
    writing_error: From0 = setting(
        None,
        "Standard deviation of the difference between the level of a reference answer that the judge writes and the"
        " level that was requested, in scores of a five-level scale.",
        otherwise="`0`",
    )
    reviewing_error: From0 = setting(
        None,
        "Standard deviation of the error with which the judge sees the level of a reference answer that it reviews, in"
        " scores of a five-level scale.",
        otherwise="`0`",
    )
    failure_rate: Annotated[float | list[Any], EitherOr(Probability, Annotated[list[Probability], Len(2)])] = setting(
        0,
        "Probability that an answer has no score: a number, or a list by the position of the option that would be"
        " selected.",
    )
    seconds_per_request: From0 = setting(
        0, "Seconds that an answer takes. The answer does not depend on it.", reruns="`judge_shard`, from the store"
    )


def _profiles() -> Any:
    return setting(
        {},
        "Variants of the judge under which a study reads the same prompts, such as other temperatures. Each variant"
        " changes `sampling`, `chat_template_kwargs`, `system_prompt` or `extra_body`. One loaded model answers all"
        " profiles.",
        reruns="`plan_reads` and below, for the studies that use the profile",
        otherwise="as the judge has it",
        filled=True,
        role=Role.RUN,
        tracked=False,
    )


class Blocks(NamedTuple):
    """Blocks of tokens in which an engine's prefix cache keeps prompts.

    Attributes:
        size: tokens per block.
        least: smallest number of tokens of a shared prefix that the cache finds.
    """

    size: int
    least: int = 0


@dataclass(frozen=True)
class Capabilities:
    """Abilities of a judge's engine. Other code asks for abilities, and not for the kind of judge.

    Attributes:
        log_probabilities: whether it gives the log-probabilities of labels where they are read.
        several_questions: whether it answers prompts that ask several questions.
        constrained: whether it can continue a given beginning of an answer, and can be restricted to labels. Second
            requests, prefixes of answers, and criteria in lines need this.
        tokenizer: whether the tokenizer of its model can be on this machine, to count tokens.
        prefix_cache: blocks of its prefix cache; None if every prompt is computed whole.
        prices: prices of its calls; None if calls cost nothing or the price is not known.
        writes: whether it answers in text.
        labels: whether its prompts show the IDs of levels.
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
    CALLED: ClassVar[bool] = False  # whether a separate process makes the calls, which may cost money
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
        role=Role.RUN,
        tracked=False,
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
    profiles: dict[Id, Profile] = _profiles()
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
        role=Role.RUN,
        tracked=False,
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
        role=Role.RUN,
        tracked=False,
        reruns="nothing",
    )
    gpu: Annotated[int, Ge(0)] = setting(
        0,
        "Number of GPUs of a job. With 0 the CPU build of vLLM runs the model on the CPU, and the CUDA build claims"
        " one GPU.",
        role=Role.RUN,
        tracked=False,
        reruns="nothing",
    )
    shards: Count = setting(
        1,
        "Number of jobs that share the judge's requests.",
        role=Role.RUN,
        tracked=False,
        reruns="`judge_shard`, without a model: the store is cut anew",
    )
    mem: Annotated[str, StringConstraints(pattern="^[1-9][0-9]*([.][0-9]+)? ?[KMGTkmgt](i?[Bb])?$")] = setting(
        "16GB", "Memory of a job, such as 16GB.", role=Role.RUN, tracked=False, reruns="nothing"
    )
    runtime: Annotated[
        str, StringConstraints(pattern="^[1-9][0-9]*([.][0-9]+)? ?(m|min|minutes?|h|hours?|d|days?|w|weeks?)$")
    ] = setting("4h", "Time limit of a job, such as 90m, 4h or 2d.", role=Role.RUN, tracked=False, reruns="nothing")
    throughput: Positive | None = setting(
        None,
        "Tokens per second that a job computes, for `plan_cost`. Answers and the part of prompts that is not cached"
        " count. Null: the speed of earlier jobs.",
        role=Role.RUN,
        tracked=False,
        reruns="nothing",
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
        """A judge from a JSON file with the judge's block, see `read`.

        Raises:
            InputError: the file cannot be read, or holds no judge of this kind.
        """
        try:
            judge = read(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: expected a file of JSON with a judge's settings: {error}") from None
        if not isinstance(judge, cls):
            raise InputError(f"{path}: expected a judge of kind {cls.__name__}, found {type(judge).__name__}")
        return judge

    def with_weights(self, described: Mapping[str, str]) -> Self:
        """The judge with the identity of its weights, see `weights.describe`: a digest, or the commit on the hub."""
        judge = self.changed(**{name: value for name, value in described.items() if name == "revision"})
        judge._weights = described.get("weights")
        return judge

    def identity(self, formats: Collection[str]) -> dict[str, Any]:
        """The part of the settings on which answers to the prompts of a probe depend.

        A local model is identified by the content of its weights. Neither its path nor its name is part of a request's
        name. A number counts as the same however it is written, so temperatures 0 and 0.0 are the same.

        Args:
            formats: settings of role `FORMAT` that the probe's requests depend on.
        """
        values = {}
        for name, field in type(self).model_fields.items():
            role = extra(field, "role")
            if role is Role.IDENTITY or (role is Role.FORMAT and name in formats):
                values[name] = whole(plain(getattr(self, name))) if self._has(name, field) else None
        values |= self._identity_of_kind(formats)
        kept = {name: value for name, value in values.items() if value is not None and value is not False}
        kept["version"] = IDENTITY_VERSION
        if self._weights is not None:
            del kept["model"]
            return kept | {"weights": self._weights}
        return kept | {"model": self.shown_name}

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Settings of this kind of judges that have another form in `identity` than in config."""
        return {}

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of the judge's engine."""
        return Capabilities()

    @property
    def weights(self) -> str | None:
        """Digest of a local model's weights, see `with_weights`; None for other models."""
        return self._weights

    @property
    def shown_name(self) -> str:
        """The judge's model without the path to it."""
        return Path(self.model).name if is_local(self.model) else self.model

    @property
    def currency(self) -> str:
        """Currency of the judge's prices; empty without prices."""
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
    def of_moving_revision(self) -> bool:
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
        """The temperature at which the judge's score is one draw from its option probabilities.

        None if it is not known, or if the score is not such a draw: text before the score differs between repeats, or
        an endpoint or nucleus sampling changes the probabilities.
        """
        thinks = self.chat_template_kwargs.get("enable_thinking")
        return (
            self.sampling.temperature
            if self.answer_format == "score" and not thinks and self.sampling.top_p == 1
            else None
        )

    @property
    def reuses_greedy(self) -> bool:
        """True if repeats of one prompt count as equal: at temperature 0, if config says so."""
        return self.greedy_repeats == "reuse" and self.sampling.temperature == 0

    def under(self, profile: str) -> Self:
        """The judge under one of its profiles; `DEFAULT_PROFILE` changes nothing.

        Raises:
            KeyError: the judge has no such profile.
        """
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

    def with_roles(self, *, writing: SamplingChange, reviewing: SamplingChange) -> Self:
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
        """Values of a setting: under each profile that sets it, and under the default profile.

        Args:
            profiles: ids of profiles; the judge need not have them.
            path: path of the setting, such as ``sampling/temperature``.

        Returns:
            Dictionary from a profile to the value. Profiles that do not set it are left out.
        """
        by_profile: dict[str, object] = {DEFAULT_PROFILE: self.block()}
        by_profile |= {name: profile.block() for name, profile in self.profiles.items()}
        values = {name: _at(by_profile[name], path) for name in profiles if name in by_profile}
        return {name: value for name, value in values.items() if value is not None}

    def problems(self) -> Iterator[str]:
        """Contradictions in the settings: each text is the key and its problem."""
        yield from self._problems()
        yield from self._problems_of_any_profile()
        for profile in self.profiles:
            yield from (f"profiles/{profile}/{problem}" for problem in self.problems_of_profile(profile))

    def problems_of_profile(self, profile: str) -> Iterator[str]:
        """Contradictions that a profile adds: each text is the key and its problem."""
        own = list(self._problems_of_any_profile())
        yield from (problem for problem in self.under(profile)._problems_of_any_profile() if problem not in own)

    def _problems_of_any_profile(self) -> Iterator[str]:
        """Contradictions in settings that a profile can change, for judges of any kind and for judges of this kind."""
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


class Loaded(Judge):
    """A judge whose model a job loads."""

    LOADED = True

    gguf: Gguf | None = setting(
        None,
        "Weights in a GGUF file of an installed Python package. A rule of the workflow converts them once.",
        role=Role.IDENTITY,
    )
    chat_template: str | None = setting(
        None,
        "File with a chat template (Jinja) in place of the model's own; null: the model's own.",
        role=Role.IDENTITY,
    )
    batch_invariant: bool = setting(
        False,
        "Whether answers are independent of the other prompts in the batch, where vLLM and the GPU can do that. It is"
        " slower.",
        role=Role.IDENTITY,
    )
    engine_args: Arguments = setting(
        {},
        "Further arguments of vLLM's engine, passed on by name.",
        role=Role.IDENTITY,
        reruns="an argument that is known to change speed and memory alone (`rubric_order.settings.judges.SPEED`):"
        " `judge_shard`, which loads no model where nothing is new. Any other: `plan_reads` and below; every prompt"
        " is a"
        " new request",
    )

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of vLLM."""
        size = self.engine_args.get("block_size") or (GPU_BLOCK_TOKENS if self.gpu else CPU_BLOCK_TOKENS)
        caches = self.engine_args.get("enable_prefix_caching") is not False
        return Capabilities(tokenizer=True, prefix_cache=Blocks(size) if caches else None)

    @property
    def has_open_weights(self) -> bool:
        """True if config does not fix the weights that answer."""
        pinned = re.fullmatch("[0-9a-f]{40}", self.revision or "") is not None
        return not self.gguf and (is_local(self.model) or not pinned)

    @property
    def needs_conversion(self) -> bool:
        """True if the workflow makes the judge's weights from a GGUF file."""
        return self.gguf is not None

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Arguments of the engine that may change an answer. Other arguments do not count."""
        return {
            "engine_args": {name: whole(value) for name, value in self.engine_args.items() if name not in SPEED} or None
        }

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        for name in OWN_SETTINGS:
            if name in self.engine_args:
                yield f"engine_args/{name}: set {{judge}}/{OWN_SETTINGS[name]} instead"


class Vllm(Loaded):
    """A model that vLLM runs in the job itself."""

    KIND = "vllm"
    RUN_BY, CITED = "with vLLM", ("vllm",)

    engine: Literal["vllm"] = setting(..., role=Role.IDENTITY)
    reasoning_end: str | None = setting(
        None,
        "Mark that ends the judge's reasoning, such as `</think>`; null: no mark. The text before the mark is stored"
        " separately and is not parsed. An answer without the mark is empty.",
        role=Role.IDENTITY,
    )

    @property
    def draws_at(self) -> float | None:
        """The temperature at which the judge's score is one draw from its option probabilities, see `Judge`."""
        return None if self.reasoning_end else super().draws_at

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.criteria_format == "lines" and self.reasoning_end:
            yield "criteria_format: 'lines' leaves no room to reason; expected 'free' with reasoning_end"
        if self.engine_args.get("data_parallel_size", 1) != 1:
            yield "engine_args/data_parallel_size: set {judge}/shards instead: a job uses one copy of the model"


class Metered(Judge):
    """A judge whose calls are counted, limited and repeated after failures."""

    concurrency: Annotated[int, Ge(1), Le(4096)] | None = setting(
        None,
        "Largest number of requests under way at once. Null: 32 for an endpoint or an async function, 1 for any other"
        " function, 512 if the job serves the model itself.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    requests_per_minute: Positive | None = setting(
        None, "Largest number of calls per minute; null: no limit.", role=Role.WIRE, tracked=False, reruns=NOTHING
    )
    tokens_per_minute: Positive | None = setting(
        None,
        "Largest number of tokens per minute, of prompts and answers; null: no limit.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    timeout: Positive = setting(
        600, "Seconds after which a call is given up.", role=Role.WIRE, tracked=False, reruns=NOTHING
    )
    max_attempts: Count = setting(
        6, "Largest number of calls for one request.", role=Role.WIRE, tracked=False, reruns=NOTHING
    )
    backoff: Backoff = setting(factory=Backoff, role=Role.WIRE, tracked=False, reruns=NOTHING)
    budget: Budget = setting(
        description="Limits of what all runs together may use. They are never exceeded: before a call is sent, it"
        " counts with the most that it can use.",
        factory=Budget,
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    prices: Prices | None = setting(
        None,
        "Prices per million tokens; null: the prices are not known.",
        role=Role.WIRE,
        tracked=False,
        reruns="`summary.html`; no answer",
    )

    @property
    def currency(self) -> str:
        """Currency of the judge's prices."""
        return (self.prices.currency or "USD") if self.prices else ""

    @property
    def limits_tokens(self) -> bool:
        """True if there is a limit on tokens or cost."""
        return any(limit is not None for limit in (self.tokens_per_minute, self.budget.tokens, self.budget.cost))

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.budget.cost is not None and self.prices is None:
            yield "budget/cost: it needs prices"


class OverHttp(Metered):
    """A judge that is asked over HTTP, whoever runs the server.

    Attributes:
        IN_BODY: dictionary from a field of a request to the setting that writes it. `extra_body` may not repeat these
            fields.
    """

    IN_BODY: ClassVar[Mapping[str, str]] = {}

    profiles: dict[Id, EndpointProfile] = _profiles()  # type: ignore[assignment]  # a profile of its own fields
    key_over_http: bool = setting(
        False,
        "Whether the key, and headers with variables, may be sent to another machine over plain http. Anyone on the"
        " way can read them there.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    extra_headers: dict[str, str] = setting(
        {},
        "Further headers of the requests. `$NAME` stands for an environment variable, whose value is kept secret.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    extra_body: Arguments = setting(
        {}, "Further fields of the request, such as `reasoning_effort`.", role=Role.IDENTITY
    )
    accept_models: list[str] = setting(
        [],
        "Further names under which the model may answer. Its own name and dated versions of it are accepted in any"
        " case.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )

    @property
    def accepted_names(self) -> set[str]:
        """Names that the model may give itself in answers. They do not tell its version."""
        return {self.shown_name, *self.accept_models}

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Further fields of the request, if there are any."""
        return {"extra_body": whole(self.extra_body) or None}

    def _problems_of_profile(self) -> Iterator[str]:
        for key, own in self.IN_BODY.items():
            if key in self.extra_body:
                yield f"extra_body/{key}: set {own} instead"
        for key in NOT_IN_BODY & self.extra_body.keys():
            yield f"extra_body/{key}: leave it out; an answer is read whole"

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        yield from problems_of_headers(self.extra_headers)


class Chat(OverHttp):
    """A judge that is asked over the chat completions protocol."""

    IN_BODY = CHAT_BODY

    dialect: Literal["openai", "vllm"] = setting(
        "openai",
        "Form of the requests. `vllm` also uses what vLLM's server adds to the protocol, such as answer_prefix and the"
        " log-probability of every score. A server of `serve` always has dialect `vllm`.",
        role=Role.IDENTITY,
    )
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = setting(
        "max_tokens", "Name of the endpoint's field that limits the length of an answer.", role=Role.IDENTITY
    )
    top_logprobs: Annotated[int, Ge(0), Le(20)] = setting(
        20,
        "Number of likeliest tokens whose log-probabilities are requested in answer format `score`. It is 0 for an"
        " endpoint that gives no log-probabilities.",
        role=Role.IDENTITY,
        reruns="`plan_reads` and below; where log-probabilities are read, every prompt is a new request",
    )

    @property
    def draws_at(self) -> float | None:
        """The temperature at which the judge's score is one draw from its option probabilities, see `Judge`."""
        return None if self.extra_body else super().draws_at

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Add the number of likeliest tokens, if they are requested. From vLLM, the labels are requested instead."""
        reads_options = "criteria_format" in formats or self.answer_format == "score"
        asks_likeliest = self.dialect != "vllm" and reads_options
        likeliest = {"top_logprobs": self.top_logprobs if asks_likeliest else None}
        return super()._identity_of_kind(formats) | likeliest

    def _problems_of_profile(self) -> Iterator[str]:
        yield from super()._problems_of_profile()
        if self.limits_tokens and self.sampling.max_tokens is None:
            yield "sampling/max_tokens: limits of tokens or cost need a value, to know the most that a call can use"


ENDPOINT_BLOCKS = Blocks(128, least=1024)  # from the guide to OpenAI's prompt caching


class Addressed(OverHttp):
    """A judge behind an endpoint that others run."""

    CALLED = True

    base_url: Annotated[str, StringConstraints(pattern=ADDRESS)] = setting(
        ..., "Address of the endpoint, usually ending in `/v1`.", role=Role.WIRE, tracked=False, reruns=NOTHING
    )
    api_key_env: Annotated[str, StringConstraints(pattern="^[A-Za-z_][A-Za-z0-9_]*$")] | None = setting(
        None,
        "Name of the environment variable that contains the key; null: the endpoint needs no key.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )

    @property
    def shown_name(self) -> str:
        """The judge's model. The endpoint's name of a model is never a path, even if it looks like one."""
        return self.model

    @property
    def sends_secrets_in_the_open(self) -> bool:
        """True if a key, or a header with a variable, would go to another machine over plain http."""
        return sends_secrets_in_the_open(self.base_url, self.api_key_env, self.extra_headers)

    def _problems(self) -> Iterator[str]:
        if self.sends_secrets_in_the_open and not self.key_over_http:
            yield (
                f"base_url: {self.base_url!r}: the key or a header with a variable would cross the network in plain"
                " text; expected https, or key_over_http: true"
            )
        if wrong := wrong_address(self.base_url):
            yield f"base_url: {self.base_url!r}: {wrong}"
        if self.shards > 1:
            yield f"shards: one job asks an endpoint, with many calls at once; expected 1, found {self.shards}"
        yield from super()._problems()


class Endpoint(Addressed, Chat):
    """A judge behind an OpenAI-compatible endpoint."""

    KIND = "openai"
    RUN_BY = "over an OpenAI-compatible endpoint"
    UNCONSTRAINED = "over an endpoint it needs dialect 'vllm'"

    engine: Literal["openai"] = setting(..., role=Role.IDENTITY)
    batch: Annotated[bool | Batch, EitherOr(bool, Batch)] = setting(
        False,
        "Whether requests are sent by the endpoint's Batch API, which answers later and often at half the price."
        " `true` takes the defaults of the keys below. A block sets these keys.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )

    @property
    def batches(self) -> Batch | None:
        """Settings of batches; None if each request is a separate call."""
        return self.batch if isinstance(self.batch, Batch) else Batch() if self.batch else None

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.batch and self.dialect != "openai":
            yield f"batch: it is for dialect 'openai', found {self.dialect!r}"

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of the endpoint, as far as config tells them."""
        is_vllm = self.dialect == "vllm"
        return Capabilities(
            log_probabilities=is_vllm or self.top_logprobs > 0,
            constrained=is_vllm,
            tokenizer=True,
            prefix_cache=ENDPOINT_BLOCKS,
            prices=self.prices,
        )


class Decisions(Addressed):
    """A decision model behind an endpoint: it takes a text and a question, and returns probabilities."""

    KIND = "decisions"
    UNCONSTRAINED = "a decision model writes nothing that could be held to a form"
    IN_BODY = DECISION_BODY

    engine: Literal["decisions"] = setting(..., role=Role.IDENTITY)
    dialect: Literal["decisions", "systemone"] = setting(
        "decisions",
        "Form of the requests: `/decisions`, as OpenAI has it, or `/systemone`.",
        role=Role.IDENTITY,
    )
    question: Literal["score", "choice", "predicate"] = setting(
        "score",
        "How levels are asked for: as an ordered rubric (`score`), as options that have names (`choice`), or with a"
        " yes-or-no question for each level (`predicate`). docs/decisions.md says what each form can show.",
        role=Role.IDENTITY,
    )
    answer_format: Literal["decision"] = setting(  # type: ignore[assignment]
        "decision", "Form of the answer: a decision model writes no text (engine decisions).", role=Role.FORMAT
    )

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of the endpoint."""
        return Capabilities(
            constrained=False,
            writes=False,
            labels=self.question != "score",
            prefix_cache=ENDPOINT_BLOCKS if self.dialect == "decisions" else None,
            prices=self.prices,
        )

    @property
    def draws_at(self) -> float | None:
        """0, since the judge's score is the most probable score."""
        return 0.0

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """Leave out the settings of judges that write text: they do not count."""
        return super()._identity_of_kind(formats) | dict.fromkeys(("sampling", *OF_WRITERS))

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        for name in ("sampling", *OF_WRITERS, "template"):
            if getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True):
                yield f"{name}: a decision model writes no text, and takes a text and a question alone; leave it out"


class Server(Chat, Loaded):
    """A model that vLLM's server runs for the time of a job."""

    KIND = "openai"
    ENGINE = "openai_server"
    RUN_BY, CITED = "with the server of vLLM", ("vllm",)

    engine: Literal["openai"] = setting(..., role=Role.IDENTITY)
    serve: Serve = setting(
        ...,
        "vLLM's server, which the job starts on a free port of this machine and stops at its end. It takes the place"
        " of an endpoint at base_url.",
        role=Role.IDENTITY,
    )

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of vLLM, with prices if config has some."""
        return replace(super().capabilities, prices=self.prices)

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """The server's arguments and the dialect of vLLM. The time that it may take to start does not count."""
        values = Loaded._identity_of_kind(self, formats) | super()._identity_of_kind(formats)
        arguments = {"arguments": whole(self.serve.arguments or {})}
        return values | {"serve": arguments, "dialect": "vllm", "top_logprobs": None}

    def _problems_of_profile(self) -> Iterator[str]:
        yield from super()._problems_of_profile()
        if self.sampling.seed is None:
            yield "sampling/seed: the server of serve needs a value"


MODULE_AND_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
OF_SOURCE = "source:"  # begins a version that is a digest of source code


def _left_open() -> Sampling:
    """Sampling with nothing specified."""
    return Sampling(temperature=None, top_p=None, max_tokens=None, seed=None)


class PythonCallable(Metered):
    """A judge that is a function of Python."""

    KIND = "python"
    CALLED = True

    engine: Literal["python"] = setting(..., role=Role.IDENTITY)
    model: str = setting(
        "",
        "Name of the model that the function asks, for the text on methods.",
        role=Role.IDENTITY,
        otherwise="the function's name",
    )
    function: str = setting(
        ...,
        "Function that answers, as `module:name`. docs/python_judges.md says what it takes and returns.",
        role=Role.IDENTITY,
    )
    folder: str = setting(
        ".",
        "Folder in which the module is looked for if it is not installed.",
        role=Role.RUN,
        tracked=False,
        reruns=NOTHING,
    )
    takes: Literal["prompt", "messages"] = setting(
        None,
        "Argument that the function takes: the `prompt` as text, or the `messages` as a list of mappings with `role`"
        " and `content`.",
        role=Role.IDENTITY,
        otherwise="`messages` where the first parameter has this name, else `prompt`",
    )
    version: Text = setting(
        None,
        "Version of the function. A function of another version is asked everything anew.",
        role=Role.IDENTITY,
        otherwise="the function's `__version__`, or else a digest of the source of its module",
    )
    transient: list[str] = setting(
        [],
        "Names of exceptions after which the function is called again, such as `RateLimitError` or"
        " `litellm.exceptions.Timeout`. The name of a base class stands for all of its subclasses. `ConnectionError`"
        " and `TimeoutError` are always included.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    answer_tokens: Count | None = setting(
        None,
        "Length in tokens to which the function limits an answer. A call counts with this length until its answer says"
        " how many tokens it used. Limits of tokens or cost need this key.",
        role=Role.WIRE,
        tracked=False,
        reruns=NOTHING,
    )
    sampling: Sampling = setting(factory=_left_open, role=Role.IDENTITY)

    @property
    def capabilities(self) -> Capabilities:
        """Abilities of a function. It may give probabilities, and its answers cannot be restricted to a form."""
        return Capabilities(constrained=False, prices=self.prices)

    @property
    def shown_name(self) -> str:
        """The judge's model, or else the function's name without its module."""
        return self.model or self.function.partition(":")[2]

    @property
    def is_local(self) -> bool:
        """False, since the model is only a name."""
        return False

    @property
    def draws_at(self) -> float | None:
        """None, since it is not known how a function samples."""
        return None

    def resolved(self, *, takes: Literal["prompt", "messages"], version: str) -> Self:
        """The judge with facts that its function states about itself, if config does not state them."""
        return self.changed(model=self.shown_name, takes=self.takes or takes, version=self.version or version)

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """The function and its version. If the version is a digest of source code, the module's name does not count.

        Raises:
            ValueError: the version is not known yet, see `resolved`.
        """
        if self.version is None:
            raise ValueError(f"{self.function}: its version is not known")
        is_digest = self.version.startswith(OF_SOURCE)
        function = self.function.partition(":")[2] if is_digest else self.function
        return {"function": function, "function_version": self.version}

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if not MODULE_AND_NAME.fullmatch(self.function):
            yield f"function: expected module:name, such as my_judges:judge, found {self.function!r:.80}"
        if self.limits_tokens and self.answer_tokens is None:
            yield "answer_tokens: limits of tokens or cost need a value, to know the most that a call can use"
        if self.shards > 1:
            yield f"shards: one job calls a function, several times at once; expected 1, found {self.shards}"

    def _problems_of_profile(self) -> Iterator[str]:
        for name, value in self.sampling:
            if value not in (None, []):
                yield f"sampling/{name}: the function samples as it does; leave it out"
        if self.chat_template_kwargs:
            yield "chat_template_kwargs: the function is called with a prompt or messages alone; leave it out"
        if self.system_prompt and self.takes == "prompt":
            yield "system_prompt: the function takes a prompt; expected takes: messages"


class Simulated(Judge):
    """A judge that computes its answers with a known bias."""

    KIND = "simulated"

    engine: Literal["simulated"] = setting(..., role=Role.IDENTITY)
    simulation: Simulation | None = setting(
        None,
        "Parameters of the simulated judge. docs/simulated.md describes the model.",
        role=Role.IDENTITY,
        otherwise="all parameters by default",
    )

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        """All parameters except the time that an answer takes."""
        if self.simulation is None:
            return {}
        values = whole(self.simulation.block())
        return {"simulation": {name: value for name, value in values.items() if name != "seconds_per_request"}}

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        yield from problems_of_simulation(self.simulation)


class Recorded(Judge):
    """A judge whose answers exist already, in files."""

    KIND = "recorded"
    ASKED = False

    engine: Literal["recorded"] = setting(..., role=Role.IDENTITY)
    files: Annotated[list[str], Len(1)] = setting(
        ...,
        "Files with the judge's answers: JSON Lines, compressed by gzip or not, or Parquet.",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )
    prompt_style: str | None = setting(
        None,
        "Prompt style whose answers are read, if the files contain several; null: answers without a prompt style.",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )
    adapters: list[str] | None = setting(
        None,
        "Adapters of the datasets that the answers are about; null: any adapter.",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )
    compares: bool = setting(
        False,
        "Whether each answer chooses between two texts. If false, each answer scores one text.",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )
    labels: dict[str, str] | None = setting(
        None,
        "Meaning of each written label in comparisons of any benchmark: `A`, `B`, `tie`, `none` or the name of a"
        " candidate, such as {'1': A, '2': B, '0': tie}. A map in a record takes precedence.",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )
    n: Levels = setting(5, "Number of score levels.", role=Role.IDENTITY, reruns=RECORDED)
    duplicates: Literal["keep_and_report", "keep", "refuse"] = setting(
        "keep_and_report",
        "What is done about several answers to one prompt: they are kept as repeats, with a warning"
        " (`keep_and_report`) or without one (`keep`), or they are an error (`refuse`).",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )
    unknown: Literal["refuse", "skip"] = setting(
        "refuse",
        "What is done about answers on items that the dataset does not have: they are an error (`refuse`), or they are"
        " left out (`skip`).",
        role=Role.IDENTITY,
        reruns=RECORDED,
    )

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments by which the judge's records are read, see `recorded.reads.read`."""
        return {"prompt_style": self.prompt_style, "duplicates": self.duplicates, "labels": self.labels}

    def is_about(self, dataset: Dataset) -> bool:
        """True if the judge has answers about a dataset."""
        return self.adapters is None or dataset.adapter in self.adapters

    @property
    def option_letters(self) -> str | None:
        """Letters that named the options, lowest score first; None if numbers named them."""
        return LETTERS[: self.n] if self.prompt_style in LETTERED_STYLES else None

    @property
    def draws_at(self) -> float | None:
        """None, since it is not known how recorded answers were drawn."""
        return None

    def _problems_of_profile(self) -> Iterator[str]:
        return iter(())


class Rehearsed(Recorded):
    """A recorded judge in a rehearsal. A simulated judge gives the answers in place of its records."""

    simulation: Simulation = setting(..., role=Role.IDENTITY)


KINDS: tuple[type[Judge], ...] = (Vllm, Endpoint, Server, Decisions, PythonCallable, Simulated, Recorded)  # ours
ENGINES = tuple(dict.fromkeys(kind.KIND for kind in KINDS))
ENTRY_POINTS = "rubric_order.engines"  # group of entry points


class Engine:
    """Part of an engine that settings need. `judging.engines.Engine` is the whole class.

    Attributes:
        JUDGE: model of the settings of the engine's judges.
    """

    JUDGE: type[Judge]


_REGISTRY: Plugins[Engine] = Plugins(ENTRY_POINTS, Engine)


def engines() -> tuple[str, ...]:
    """The engines that a judge may name: our engines, and the engines of other packages."""
    registered = {model.ENGINE or model.KIND for model in KINDS}
    return (*ENGINES, *(name for name in _REGISTRY.names() if name not in registered))


def kind(block: object) -> type[Judge] | None:
    """The model of a judge's block of config; None if no model has its engine.

    Raises:
        InputError: the engine's package is faulty, see `Plugins.load`.
    """
    engine = block.get("engine") if isinstance(block, Mapping) else None
    if engine == "openai" and isinstance(block, Mapping):
        return Server if block.get("serve") is not None else Endpoint
    ours = next((model for model in KINDS if engine == model.KIND), None)
    if ours is not None or not isinstance(engine, str) or engine not in engines():
        return ours
    model = _REGISTRY.load(engine).JUDGE
    if not (isinstance(model, type) and issubclass(model, Judge) and getattr(model, "KIND", None) == engine):
        expected = f"a subclass of Judge whose KIND is {engine!r}"
        raise InputError(f"engine {engine!r}: expected as its JUDGE {expected}, found {model!r:.80}")
    return model


def _chosen(block: object) -> tuple[type[Judge], object]:
    """The model of a judge's block, and the block without keys of other kinds of judges.

    Such a key is dropped if it is null or has its default.

    Raises:
        PydanticCustomError: the engine or the address is missing, the engine is unknown, or a key of another kind has
            another value.
    """
    if not isinstance(block, Mapping):
        raise PydanticCustomError("dict_type", "expected a mapping")
    if "engine" not in block:
        raise PydanticCustomError("missing_key", "key 'engine' is missing")
    model = kind(block)
    if model is None:
        raise PydanticCustomError("engine", "unknown engine")
    kept = {}
    for key, value in block.items():
        others = [other for other in KINDS if key in other.model_fields]
        if key in model.model_fields or not others:
            kept[key] = value
        elif value is not None and value != _usual(others[0], key):
            raise _wrong_key(key, _of_another(key, model, others))
    if model is Endpoint and kept.get("base_url") is None:
        raise _wrong_key("base_url", f"engine 'openai' {NEEDS_ADDRESS}")
    return model, kept


def _wrong_key(key: str, problem: str) -> PydanticCustomError:
    return PydanticCustomError("wrong_key", "{problem}", {"key": key, "problem": problem})


NEEDS_ADDRESS = "needs either base_url, or serve for a server of its own"


def _usual(model: type[Judge], key: str) -> object:
    """The default of a key; None if the key is required."""
    field = model.model_fields[key]
    return None if field.is_required() else plain(field.get_default(call_default_factory=True))


def _of_another(key: str, model: type[Judge], others: list[type[Judge]]) -> str:
    """Message about a key that judges of another kind have."""
    if model is Server:
        return {
            "base_url": f"engine 'openai' {NEEDS_ADDRESS}",
            "api_key_env": "the server of serve has a key of its own",
        }.get(key, _REASONING if key == "reasoning_end" else f"it is for engine {others[0].KIND!r}")
    if model is Endpoint and key in Loaded.model_fields:
        return "it is for a model that is loaded here, by engine 'vllm' or with serve"
    if model is Endpoint and key == "reasoning_end":
        return _REASONING
    detail = "" if others[0].KIND == "openai" else f", found engine {model.KIND!r}"
    return f"it is for engine {others[0].KIND!r}{detail}"


_REASONING = "over an endpoint the server parts reasoning from answer; expected null"
AnyJudge = Annotated[Judge, Chosen(_chosen)]


def read(block: Mapping[str, Any]) -> Judge:
    """A judge from the block that a job gets.

    Args:
        block: the judge's settings. For a judge that makes reference answers, ``roles`` has the sampling of its roles.
    """
    block = dict(block)
    roles = block.pop("roles", None)
    rehearsed = block.get("engine") == Recorded.KIND and "simulation" in block
    model, checked = (Rehearsed, block) if rehearsed else _chosen(block)
    judge = model.model_validate(checked)
    if roles is None:
        return judge
    return judge.with_roles(**{role: SamplingChange.model_validate(sampling) for role, sampling in roles.items()})


def tracked(judge: Judge) -> dict[str, Any]:
    """The settings on which a file of a judge's answers depends, without its profiles."""
    block, fields = judge.block(), type(judge).model_fields
    unused = {
        name for name, field in fields.items() if extra(field, "tracked") is False or extra(field, "role") is Role.LABEL
    }
    return {name: value for name, value in block.items() if name not in unused}


def is_local(model: str) -> bool:
    """True if a model is named by a path rather than by its id on the hub, which is ``name`` or ``owner/name``."""
    return model.startswith((".", "/", "~")) or model.count("/") > 1


def wrong_address(url: str) -> str | None:
    """Fault of an endpoint's address; None without a fault."""
    if not re.fullmatch(ADDRESS, url) or not url.isprintable():
        return "expected http:// or https:// and a host, without a user, a query, a fragment, spaces or line breaks"
    try:
        return "no server has port 0" if urlsplit(url).port == 0 else None
    except ValueError as error:
        return str(error)


def sends_secrets_in_the_open(base_url: str, api_key_env: str | None, headers: Mapping[str, str]) -> bool:
    """True if a key, or a header with a variable, would go to another machine over plain http."""
    url = urlsplit(base_url)
    secrets = api_key_env or any(string.Template(value).get_identifiers() for value in headers.values())
    if url.scheme != "http" or not secrets:
        return False
    try:
        return not ipaddress.ip_address(url.hostname or "").is_loopback
    except ValueError:
        return (url.hostname or "").lower() != "localhost"


def problems_of_headers(headers: Mapping[str, str]) -> Iterator[str]:
    """Headers that cannot be sent, or that the client sets itself."""
    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name):
            yield f"extra_headers/{name!r:.60}: no header has such a name"
        elif name.lower() in OF_THE_CLIENT:
            yield f"extra_headers/{name}: the client sets this header; leave it out"
        if not (value.isascii() and value.isprintable()):
            holds = "the value holds a character that a header cannot; expected printable ASCII"
            yield f"extra_headers/{name!r:.60}: {holds}"


def problems_of_simulation(simulation: Simulation | None) -> Iterator[str]:
    """Contradictions in the parameters of a simulated judge."""
    rows = simulation.interaction if simulation else 0
    if isinstance(rows, list) and len(lengths := {len(row): None for row in rows}) > 1:
        listed = ", ".join(map(str, lengths))
        yield f"simulation/interaction: expected rows of one length, found lengths {listed}"


def whole(value: object) -> Any:
    """The value of a setting, with floats that are whole numbers as integers."""
    if isinstance(value, Mapping):
        return {key: whole(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [whole(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _at(settings: object, path: str) -> object:
    for key in path.split("/"):
        settings = settings.get(key) if isinstance(settings, Mapping) else None
    return settings
