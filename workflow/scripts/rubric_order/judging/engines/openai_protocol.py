"""The chat completions protocol: bodies of requests, and responses from answers."""

import asyncio
import functools
import json
import logging
from collections.abc import Mapping
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import CUT_SHORT, Request, Response, label_tokens, transport
from rubric_order.judging.engines.calls import MAX_TOKENS_COUNTED, Prepared, Usage
from rubric_order.judging.engines.failures import CallError
from rubric_order.judging.engines.label_places import lines_pattern
from rubric_order.judging.engines.openai_answers import (
    LoggedToken,
    finish_of,
    read_options,
    read_several,
    start_of_answer,
    texts_of,
    usage_of,
)
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.judging.engines.protocols import HttpProtocol
from rubric_order.parsing.choices import are_numbers
from rubric_order.prompts.messages import chat
from rubric_order.settings.judges.chat import Chat

log = logging.getLogger(__name__)

MAX_TEMPLATE_TOKENS = 256  # tokens that a chat template adds to the messages
ANSWER_BYTES = 4 * 2**20  # bytes of an answer, in addition to its tokens
TOKEN_BYTES = 256  # bytes per token that is written or listed, with its name, its bytes and its log-probability
# Fields of a request that no model reads. Any other field may become a part of the prompt, as tools do.
NOT_READ = {"messages", "model", "temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed"}
NOT_READ |= {"logprobs", "top_logprobs", "logprob_token_ids", "return_tokens_as_token_ids"}
TOKEN_ID = "token_id:"  # noqa: S105 - prefix of a token's name, if vLLM's server is asked for ids

Variants = list[list[str]]  # the tokens that write each label, as an answer names them


class ChatCompletions(HttpProtocol[Chat]):
    """The protocol with the settings of one judge."""

    def __init__(self, judge: Chat, connection: Connection) -> None:
        super().__init__(judge, connection)
        self.is_vllm = connection.server is not None or judge.dialect == "vllm"
        # Labels to the tokens of each label, alone and after a space. Only a vLLM server gives these tokens.
        self._spellings: dict[tuple[str, ...], asyncio.Task[list[list[list[int]]]]] = {}
        self._told: set[tuple[str, ...]] = set()  # labels without probabilities for which the log has a warning

    async def __aexit__(self, *error: object) -> None:
        tasks = list(self._spellings.values())
        self._spellings.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await super().__aexit__(*error)

    async def prepare(self, request: Request) -> Prepared:
        variants = await self.variants(request)
        body = self.body(request, variants)
        # The most tokens that are booked for one answer.
        answer = min(self.under(request.profile).sampling.max_tokens or 0, MAX_TOKENS_COUNTED)
        response = functools.partial(self.response, request, variants=variants)
        return Prepared(
            prompt=prompt_bytes(body) + MAX_TEMPLATE_TOKENS,
            completion=answer,
            send=functools.partial(self.post, "/chat/completions", body, largest(body, answer), response),
            body=body,
        )

    def usage(self, content: Mapping[str, Any]) -> Usage | None:
        return usage_of(content)

    def body(self, request: Request, variants: Variants | None) -> dict[str, Any]:
        """Body that is sent for a request. Sampling settings that are null are left out."""
        judge = self.under(request.profile)
        messages = chat(request.prompt, judge.system_prompt)
        sampling = judge.sampling
        body: dict[str, Any] = {
            "model": judge.shown_name,
            "messages": messages,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            judge.max_tokens_name: sampling.max_tokens,
            "stop": sampling.stop or None,
            "seed": None if sampling.seed is None else sampling.seed + request.repeat,
            "chat_template_kwargs": judge.chat_template_kwargs or None,
        }
        begun = judge.answer_prefix if request.begun is None else request.begun
        if begun and not request.names:
            messages.append({"role": "assistant", "content": begun})
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        if request.begun is not None:
            choices = {"choice": list(request.labels)}
            body |= {judge.max_tokens_name: 8, "stop": None, "structured_outputs": choices}
        elif request.names and judge.criteria_format == "lines":
            body["structured_outputs"] = {"regex": lines_pattern(request.questions)}
        if variants is not None and self.is_vllm:
            ids = sorted(int(name.removeprefix(TOKEN_ID)) for tokens in variants for name in tokens)
            body |= {"logprobs": True, "logprob_token_ids": ids, "return_tokens_as_token_ids": True}
        elif variants is not None:
            body |= {"logprobs": True, "top_logprobs": judge.top_logprobs}
        return {key: value for key, value in body.items() if value is not None} | judge.extra_body

    async def variants(self, request: Request) -> Variants | None:
        """The tokens that write each label; None where their log-probabilities are not asked for. One question whose
        labels are numbers that the next token does not distinguish is an InputError.
        """
        judge = self.under(request.profile)
        wanted = bool(request.names) or judge.answer_format == "score"
        if not wanted or request.begun is not None or not judge.capabilities.log_probabilities:
            return None
        if not self.is_vllm:
            reason = label_tokens.shared_beginning(request.labels)
            texts = [[label, f" {label}"] for label in request.labels]
            return texts if reason is None else self._unread(request, reason)
        if request.labels not in self._spellings:
            self._spellings[request.labels] = asyncio.create_task(self._spell(request.labels))
        spellings = await asyncio.shield(self._spellings[request.labels])
        reason = label_tokens.problem(request.labels, spellings)
        if reason is None:
            singles = label_tokens.single_tokens(spellings)
            return [sorted(f"{TOKEN_ID}{token}" for token in tokens) for tokens in singles]
        if request.names:
            return None
        if are_numbers(request.labels):
            raise InputError(f"judge: {reason}; use answer_format: feedback")
        return self._unread(request, reason)

    def _unread(self, request: Request, reason: str) -> Variants | None:
        if request.labels not in self._told:
            self._told.add(request.labels)
            log.warning("no option probabilities for scores %s: %s", ", ".join(request.labels), reason)
        return None

    async def _spell(self, labels: tuple[str, ...]) -> list[list[list[int]]]:
        """Ask vLLM's server for the tokens of each label, alone and after a space."""
        address = f"{self.connection.base_url.rstrip('/').removesuffix('/v1')}/tokenize"
        spellings: list[list[int]] = []
        for text in (f"{space}{label}" for label in labels for space in ("", " ")):
            body = {"model": self.judge.shown_name, "prompt": text, "add_special_tokens": False}
            try:
                tokens = (await self.connection.post(address, body)).get("tokens")
            except (CallError, InputError) as error:
                raise InputError(
                    f"judge: {address} does not say how scores are tokenized ({error}); expected a server of vLLM, or"
                    " dialect: openai"
                ) from None
            spellings.append(tokens if isinstance(tokens, list) else [])
        return [spellings[place : place + 2] for place in range(0, len(spellings), 2)]

    def response(
        self, request: Request, content: Mapping[str, Any], usage: Usage | None, variants: Variants | None
    ) -> Response:
        """The response from an answer. An answer without text is a refusal, a filtered answer, or empty."""
        choices = content.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise CallError("malformed", "the answer has no message", billed=True)
        if choice.get("error"):  # OpenRouter's error in the midst of an answer
            details = choice["error"].get("message") if isinstance(choice["error"], dict) else choice["error"]
            raise CallError("server_error", self.connection.plain(str(details)), billed=True)
        finish = finish_of(choice.get("finish_reason"))
        texts: dict[str, str | None] = {}
        for name, text in (texts_of(message) | {"finish_reason": finish, "model": content.get("model")}).items():
            if not isinstance(text, str | None):
                raise CallError("bad_request", f"{name} of the answer is no text", billed=True)
            texts[name] = text
        if finish in CUT_SHORT:
            raise CallError("server_error", f"the answer ended with {finish}", billed=True)
        wrong, error, logprobs, place = self.wrong_model(texts["model"]), self._error(texts), None, None
        if error is None and variants is not None:
            logprobs, place = self._options(request, choice, texts, variants)
        return Response(
            request.request_id,
            **texts,  # type: ignore[arg-type]
            error=wrong or error,
            prompt_tokens=usage.prompt if usage else None,
            completion_tokens=usage.completion if usage else None,
            cached_tokens=usage.cached if usage else None,
            option_logprobs=logprobs,
            option_token=place,
        )

    def _error(self, texts: Mapping[str, str | None]) -> str | None:
        """Reason why an answer counts as a failure; None where it is usable if the model is accepted."""
        if texts["finish_reason"] == "content_filter":
            return "content_filter"
        if texts["refusal"] or texts["finish_reason"] == "refusal":
            return "refusal"
        if texts["text"] is None and texts["finish_reason"] != "length":
            return f"no_content: finish_reason {self.connection.plain(str(texts['finish_reason']))}"
        return None

    def _options(
        self, request: Request, choice: Mapping[str, Any], texts: Mapping[str, str | None], variants: Variants
    ) -> tuple[list[float] | None, int | None]:
        """Log-probabilities of the labels, and for one question the index of the token at which they are read."""
        try:
            tokens = [LoggedToken.of(entry) for entry in (choice.get("logprobs") or {}).get("content") or []]
            start = start_of_answer(tokens, texts["text"] or "", bool(texts["reasoning"]))
        except Exception:  # the answer was paid for, and is kept without them
            tokens, start = [], 0
        if request.names:
            logprobs, place = read_several(tokens[start:], variants, request.questions), None
        else:
            logprobs, place = read_options(tokens[start:], variants)
            place = None if place is None else start + place
        # If a prompt asks for several scores, the probabilities of labels are read in every answer format. An answer
        # without these probabilities is counted only in format `score`.
        self.unknown += logprobs is None and self.under(request.profile).answer_format == "score"
        return logprobs, place


def prompt_bytes(body: Mapping[str, Any]) -> int:
    """An upper bound on the tokens of all that a model gets to read: a token has at least one byte."""
    others = {name: value for name, value in body.items() if name not in NOT_READ}
    written = json.dumps(others, ensure_ascii=False).encode() if others else b""
    return sum(len(message["content"].encode()) for message in body["messages"]) + len(written)


def largest(body: Mapping[str, Any], max_tokens: int) -> int:
    """Bytes of the largest answer that is read: far more than the protocol needs for the request."""
    if not max_tokens:
        return transport.DEFAULT_LIMIT
    listed = len(body.get("logprob_token_ids", ())) or body.get("top_logprobs", 0)
    return min(ANSWER_BYTES + max_tokens * (1 + listed) * TOKEN_BYTES, transport.DEFAULT_LIMIT * 16)
