"""Reading of an endpoint's answers: numbers of tokens, and log-probabilities of labels."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rubric_order.judging.engines.calls import Usage, is_count
from rubric_order.judging.engines.label_places import places_of_labels
from rubric_order.probes import Question

ROUNDING = 1e-4  # by rounding, a log-probability can be above 0 by this much
MOST_PROBABILITY = 1.01  # greatest sum of the probabilities listed at one place: 1, and rounding
# Types of the parts of an answer, and the field of the response that each belongs to.
PARTS = {
    "text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "thinking": "reasoning",
    "reasoning": "reasoning",
}
# Finish reasons of compatible endpoints (Mistral, Z.AI, Gemini), in the words of OpenAI.
FINISHES = dict.fromkeys(("max_tokens", "model_length", "model_context_window_exceeded"), "length")
FINISHES |= dict.fromkeys(
    ("sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii"), "content_filter"
)
MAX_UNKNOWN_SHARE = 1e-3  # share of the labels' probability; if more is unknown, no probabilities are reported


def usage_of(content: Mapping[str, Any]) -> Usage | None:
    """Tokens used, as an answer counts them; None if the answer has no counts."""
    usage = content.get("usage")
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (is_count(prompt) and is_count(completion)):
        return None
    return Usage(prompt, completion, min(max(cached, 0), prompt) if type(cached) is int else None)


def finish_of(finish: object) -> object:
    """A finish reason in the words of OpenAI. Gemini writes some in capitals, or adds details after a colon.

    Examples:
        >>> finish_of("MAX_TOKENS"), finish_of("content_filter: PROHIBITED_CONTENT"), finish_of("tool_calls")
        ('length', 'content_filter', 'tool_calls')
    """
    if not isinstance(finish, str):
        return finish
    plain = finish.partition(":")[0].lower()
    return FINISHES.get(plain, plain)


def texts_of(message: Mapping[str, Any]) -> dict[str, object]:
    """The `text`, `refusal` and `reasoning` of a message, unchecked; parts of each kind are joined in their order."""
    texts = {
        "text": message.get("content"),
        "refusal": message.get("refusal"),
        "reasoning": message.get("reasoning_content") or message.get("reasoning"),
    }
    if not isinstance(texts["text"], list):
        return texts
    parts: dict[str, str] = {}
    for part in texts["text"]:
        kind = PARTS.get(str(part.get("type"))) if isinstance(part, Mapping) else None
        written = None if kind is None else _text_of(part)
        if kind is None or written is None:
            return texts
        parts[kind] = parts.get(kind, "") + written
    return texts | {"text": None} | parts


def _text_of(part: Mapping[str, Any]) -> str | None:
    written = next((part[name] for name in ("text", "refusal", "thinking", "reasoning") if name in part), None)
    if isinstance(written, list):  # thoughts can be parts themselves
        pieces = [_text_of(piece) if isinstance(piece, Mapping) else None for piece in written]
        return None if None in pieces else "".join(map(str, pieces))
    return written if isinstance(written, str) else None


@dataclasses.dataclass(frozen=True)
class LoggedToken:
    """A generated token, and the log-probabilities that are listed at its place."""

    name: str
    text: str
    listed: dict[str, float]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "LoggedToken":
        """A token from its entry in an answer; KeyError, TypeError or ValueError if it does not follow the protocol."""
        if not isinstance(entry["token"], str) or not isinstance(entry.get("bytes"), list | None):
            raise TypeError("a token is text, and its bytes are a list")
        listed: dict[str, float] = {}
        for candidate in entry["top_logprobs"] or []:
            # Different tokens can have the same text: their probabilities are summed.
            name, logprob = candidate["token"], _finite(candidate["logprob"])
            listed[name] = float(np.logaddexp(listed.get(name, -np.inf), logprob))
        listed.setdefault(entry["token"], _finite(entry["logprob"]))
        if (total := float(np.exp([*listed.values()]).sum())) > MOST_PROBABILITY:
            raise ValueError(f"probabilities of one place sum to {total:.3g}")
        written = entry.get("bytes")
        text = entry["token"] if written is None else bytes(written).decode(errors="replace")
        return cls(entry["token"], text, listed)


def _finite(logprob: float) -> float:
    # endpoints write -9999 for minus infinity, which JSON does not have
    if not logprob <= ROUNDING:
        raise ValueError(f"{logprob!r} is no log-probability")
    return -np.inf if logprob <= -9999 else min(float(logprob), 0.0)


def start_of_answer(tokens: list[LoggedToken], text: str, reasoned: bool) -> int:
    """Index of the token at which the answer begins. Tokens of the reasoning can be listed before it."""
    if not reasoned:
        return 0
    whole = "".join(token.text for token in tokens)
    begin = whole.rfind(text.strip())
    length = 0
    for index, token in enumerate(tokens):
        length += len(token.text)
        if length > begin:
            return index
    return len(tokens)


def read_options(tokens: Sequence[LoggedToken], variants: list[list[str]]) -> tuple[list[float] | None, int | None]:
    """Log-probability of each label where the answer writes one, and index of that token, like
    `vllm_offline.read_options`; None if not known.
    """
    label_token_names = {name for label in variants for name in label}
    place = next((index for index, token in enumerate(tokens) if token.name in label_token_names), 0)
    logprobs = option_logprobs(tokens[place].listed, variants) if tokens else None
    return logprobs, None if logprobs is None else place


def read_several(
    tokens: Sequence[LoggedToken], variants: list[list[str]], questions: Sequence[Question]
) -> list[float] | None:
    """Log-probabilities of the labels, one question after the other, NaN where not known; None if all are. See
    `vllm_offline.read_several`.
    """
    logprobs: list[float] = []
    token_names, pieces = [token.name for token in tokens], [token.text for token in tokens]
    for place in places_of_labels(token_names, variants, pieces, questions):
        of_place = None if place is None else option_logprobs(tokens[place].listed, variants)
        logprobs += of_place or [math.nan] * len(variants)
    return None if all(map(math.isnan, logprobs)) else logprobs


def option_logprobs(listed: Mapping[str, float], variants: list[list[str]]) -> list[float] | None:
    """Log-probability of each label among the likeliest tokens of a place, summed over the tokens that write it.

    An unlisted token is at most as likely as the last listed one. If labels without a listed token can together have at
    most `MAX_UNKNOWN_SHARE` of the others' probability, they count as impossible; else the result is None.
    """
    by_label = [[listed[name] for name in label if name in listed] for label in variants]
    logprobs = [float(np.logaddexp.reduce(values)) if values else -math.inf for values in by_label]
    unlisted = sum(len(label) for label, values in zip(variants, by_label, strict=True) if not values)
    if unlisted and unlisted * math.exp(min(listed.values())) > MAX_UNKNOWN_SHARE * np.exp(logprobs).sum():
        return None
    return logprobs
