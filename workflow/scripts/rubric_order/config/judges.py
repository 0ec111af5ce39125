"""Identity of a judge: the settings that its answers depend on, apart from those that say how fast or where it runs."""

import ipaddress
import re
import string
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from rubric_order.base.keys import DEFAULT_PROFILE

# Version of what names a request. Another one makes every stored answer useless, so it is never changed again.
IDENTITY_VERSION = 2

# Settings of a judge that determine its answers.
IDENTITY = (
    "engine",
    "model",
    "revision",
    "gguf",
    "dtype",
    "quantization",
    "max_model_len",
    "system_prompt",
    "chat_template",
    "chat_template_kwargs",
    "reasoning_end",
    "batch_invariant",
    "sampling",
    "simulation",
)

ADDRESS = re.compile(r"^https?://[^\s/@?#\\]+(/[^\s@?#]*)?$")  # of an endpoint, as the schema has it

# What an endpoint is sent beside the prompt; how likely labels are is asked for where it is read.
WIRE = ("dialect", "max_tokens_name", "top_logprobs")

# Settings that say how answers are asked for. Each probe names those that its requests depend on.
FORMATS = ("answer_format", "answer_prefix", "criteria_format")

# How a judge is run. These settings do not change its answers, so they do not make answers out of date.
RUN_SETTINGS = ("gpu", "throughput", "shards", "mem", "runtime", "greedy_repeats")
# The same of an endpoint; the job still has to know them.
ENDPOINT_SETTINGS = (
    "base_url",
    "api_key_env",
    "extra_headers",
    "accept_models",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "timeout",
    "max_attempts",
    "backoff",
    "budget",
    "prices",
)

LETTERS = "ABCDEFGHI"
LETTERED_STYLES = ("mcq",)  # prompt styles of recorded answers with options A, B, ..., the lowest score first

# Arguments of vLLM that only change how fast and in how much memory it runs. Any other may change what a model answers.
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

# Arguments of vLLM that have a setting of their own here; given twice, one would silently win.
OWN_SETTINGS = {
    "model": "model",
    "revision": "revision",
    "dtype": "dtype",
    "quantization": "quantization",
    "max_model_len": "max_model_len",
    "seed": "sampling/seed",
    "tensor_parallel_size": "gpu",
}


def identity(judge: Mapping, formats: Collection[str]) -> dict:
    """The part of a judge's settings that its answers to the prompts of a probe depend on.

    Args:
        judge: the judge's settings.
        formats: those of `FORMATS` that the probe's requests depend on.

    A local model is known by the content of its weights, see `weights.describe`; neither its path nor its name is part
    of any request. A number is the same however it is written, so that temperature 0 and 0.0 are one setting. The
    identity of an identity is itself.
    """
    settings = [*IDENTITY, *formats]
    kept = {key: _plain(judge[key]) for key in settings if judge.get(key) is not None and judge[key] is not False}
    kept["version"] = IDENTITY_VERSION
    other = {key: _plain(value) for key, value in judge.get("engine_args", {}).items() if key not in SPEED}
    if other:
        kept["engine_args"] = other
    if "simulation" in kept:  # how long an answer takes changes none
        kept["simulation"] = {k: v for k, v in kept["simulation"].items() if k != "seconds_per_request"}
    if judge.get("extra_body"):
        kept["extra_body"] = _plain(judge["extra_body"])
    if judge.get("serve") is not None:
        kept["serve"] = {"arguments": _plain(judge["serve"].get("arguments", {}))}
    if judge["engine"] == "openai":
        kept |= _wire(judge, formats)
    if judge.get("weights"):
        kept["weights"] = judge["weights"]
        kept.pop("model", None)
    else:
        kept["model"] = shown_name(judge)
    return kept


def _wire(judge: Mapping, formats: Collection[str]) -> dict:
    """Those of `WIRE` that the answers of an endpoint to the prompts of a probe depend on."""
    kept = {name: judge[name] for name in WIRE if name in judge}
    if judge.get("serve") is not None:
        kept["dialect"] = "vllm"
    reads_options = "criteria_format" in formats or judge.get("answer_format") == "score"
    if kept.get("dialect") == "vllm" or not reads_options:  # a server of vLLM is asked for the labels themselves
        kept.pop("top_logprobs", None)
    return kept


def has_open_weights(judge: Mapping) -> bool:
    """Tell whether config leaves open which weights answer: they lie in a folder, or their revision can move."""
    runs = judge["engine"] == "vllm" or judge.get("serve") is not None
    pinned = re.fullmatch("[0-9a-f]{40}", judge.get("revision") or "") is not None
    return runs and not judge.get("gguf") and (is_local(judge["model"]) or not pinned)


def is_endpoint(judge: Mapping) -> bool:
    """Tell whether a judge answers over an endpoint that others run."""
    return judge["engine"] == "openai" and judge.get("serve") is None


def shown_name(judge: Mapping) -> str:
    """A judge's model without the path to it. What an endpoint calls its model is a name, whatever it looks like."""
    model = judge["model"]
    return Path(model).name if is_local(model) and not is_endpoint(judge) else model


def wrong_address(url: str) -> str | None:
    """Fault of an endpoint's address; None where there is none."""
    if not ADDRESS.fullmatch(url) or not url.isprintable():
        return "expected http:// or https:// and a host, without a user, a query, a fragment, spaces or line breaks"
    try:
        return "no server has port 0" if urlsplit(url).port == 0 else None
    except ValueError as error:
        return str(error)


def sends_secrets_in_the_open(judge: Mapping) -> bool:
    """True if a key, or a header with a variable, would go to another machine over plain http."""
    url = urlsplit(judge.get("base_url") or "")
    headers = (judge.get("extra_headers") or {}).values()
    secrets = judge.get("api_key_env") or any(string.Template(value).get_identifiers() for value in headers)
    if url.scheme != "http" or not secrets:
        return False
    try:
        return not ipaddress.ip_address(url.hostname or "").is_loopback
    except ValueError:
        return (url.hostname or "").lower() != "localhost"


def with_profile(judge: Mapping, profile: str) -> dict:
    """A judge's settings under one of its profiles; `DEFAULT_PROFILE` changes nothing.

    Raises:
        KeyError: the judge has no such profile.
    """
    merged = dict(judge)
    if profile != DEFAULT_PROFILE:
        for key, value in judge["profiles"][profile].items():
            merged[key] = {**(judge.get(key) or {}), **value} if isinstance(value, Mapping) else value
    return merged


def varied(judge: Mapping, profiles: Iterable[str], path: str) -> dict[str, object]:
    """A setting under each profile that is about it: the judge as it stands, and the profiles that set it themselves.

    Args:
        judge: a judge's settings.
        profiles: ids of profiles; the judge need not have them.
        path: of the setting, such as ``sampling/temperature``.

    Returns:
        The setting by profile; profiles under which the judge does not have it are left out.
    """
    by_profile = {DEFAULT_PROFILE: judge, **judge.get("profiles", {})}
    settings = {profile: _at(by_profile[profile], path) for profile in profiles if profile in by_profile}
    return {profile: value for profile, value in settings.items() if value is not None}


def _at(settings: object, path: str) -> object:
    for key in path.split("/"):
        settings = settings.get(key) if isinstance(settings, Mapping) else None
    return settings


def reuses_greedy(judge: Mapping) -> bool:
    """Tell whether repeats of one prompt are declared equal: at temperature 0, and if the judge's config says so."""
    return judge.get("greedy_repeats") == "reuse" and judge["sampling"]["temperature"] == 0


def draws_at(judge: Mapping) -> float | None:
    """The temperature at which a judge's score is one draw from its option probabilities.

    Returns:
        None where it is not known, or where an answer is more than such a draw: text before the score differs between
        repeats, and an endpoint or nucleus sampling changes the probabilities.
    """
    sampling = judge.get("sampling") or {}
    thinks = judge.get("reasoning_end") or (judge.get("chat_template_kwargs") or {}).get("enable_thinking")
    direct = judge["engine"] != "recorded" and judge.get("answer_format") == "score" and not thinks
    if not direct or sampling.get("top_p") != 1 or judge.get("extra_body"):
        return None
    return sampling.get("temperature")


def greedy_profiles(judge: Mapping, profiles: Iterable[str]) -> set[str]:
    """The profiles under which repeats are declared equal."""
    return {profile for profile in profiles if reuses_greedy(with_profile(judge, profile))}


def is_local(model: str) -> bool:
    """Tell whether a model is named by a path rather than by its id on the hub, which is ``name`` or ``owner/name``."""
    return model.startswith((".", "/", "~")) or model.count("/") > 1


def option_letters(judge: Mapping) -> str | None:
    """The letters that a recorded judge's options were named by, lowest score first; None where by their numbers."""
    return LETTERS[: judge["n"]] if judge.get("prompt_style") in LETTERED_STYLES else None


def folder_name(judge: Mapping) -> str:
    """An id for the converted weights of a judge; judges of one model share it."""
    return re.sub("[^a-z0-9]+", "_", f"{judge['model']}_{judge['dtype']}".lower()).strip("_")


def _plain(value: object) -> object:
    """A setting with whole numbers as integers."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
