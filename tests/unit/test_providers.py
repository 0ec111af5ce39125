"""Errors and endings of single calls, in the forms that the public documents of providers give.

Each row: the provider, its reply, the error (None for an answer), the number of calls, and whether they may be billed.
"""

import re

import pytest
from endpoint import Reply, completion, running
from factories import changed, request

from rubric_order.base.errors import InputError
from rubric_order.judging import engines

ATTEMPTS = 2
LONG = "prompt_too_long"


def error(status, message, *, headers=None, **fields):
    return Reply({"error": {"message": message, **fields}}, status=status, headers=headers or {})


def listed(code, message, **fields):
    """Gemini's form: a list of one error."""
    return Reply([{"error": {"code": code, "message": message, **fields}}], status=code)


def ended(finish, text="Half of", **changes):
    """An answer with a finish reason; changes are of its first choice."""
    body = completion(text, finish=finish)
    body["choices"][0] |= changes
    return Reply(body)


RESET = {"x-ratelimit-reset-requests": "23h59m", "x-ratelimit-reset-tokens": "6m0s"}  # until the limit is full again
FLAGGED = {"code": 403, "metadata": {"reasons": ["violence"], "flagged_input": "A", "provider_name": "p"}}
POLICY = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}}
EXHAUSTED = {"status": "RESOURCE_EXHAUSTED", "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}
MIDWAY = {"code": 502, "message": "Upstream error"}

ROWS = [
    ("openai rate", error(429, "Rate limit", headers={"Retry-After-Ms": "5"}), "rate_limited", 2, False),
    ("openai reset of a day", error(429, "Rate limit", headers=RESET), "rate_limited", 2, False),
    ("openai long wait", error(429, "Rate limit", headers={"Retry-After": "7200"}), "rate_limited", 1, False),
    (
        "openai quota",
        error(429, "You exceeded your current quota", code="insufficient_quota"),
        "rate_limited",
        1,
        False,
    ),
    ("openai hard limit", error(400, "Limit", code="billing_hard_limit_reached"), "bad_request", 1, False),
    ("openai server", error(500, "The server had an error", type="server_error"), "server_error", 2, False),
    ("openai overloaded", error(503, "The engine is overloaded"), "server_error", 2, False),
    ("openai region", error(403, "Country", code="unsupported_country_region_territory"), "bad_request", 1, False),
    ("openai length", error(400, "Input exceeds", code="context_length_exceeded"), LONG, 1, False),
    ("openai refusal", Reply(completion(None, refusal="I can't.")), "refusal", 1, True),
    ("azure prompt", error(400, "filtered", code="content_filter", innererror=POLICY), "content_filter", 1, False),
    ("azure answer", ended("content_filter", None, content_filter_results=POLICY), "content_filter", 1, True),
    (
        "anthropic",
        Reply({"type": "error", "error": {"type": "overloaded_error"}}, status=529),
        "server_error",
        2,
        False,
    ),
    ("anthropic length", error(400, "prompt is too long: 200001 tokens > 200000 maximum"), LONG, 1, False),
    ("anthropic size", error(413, "Request exceeds the maximum size", type="request_too_large"), LONG, 1, False),
    ("anthropic refusal", ended("refusal", ""), "refusal", 1, True),
    ("gemini rate", listed(429, "Resource has been exhausted", **EXHAUSTED), "rate_limited", 2, False),
    ("gemini overloaded", listed(503, "The model is overloaded", status="UNAVAILABLE"), "server_error", 2, False),
    ("gemini key", listed(400, "API key not valid", status="INVALID_ARGUMENT"), "bad_request", 1, False),
    ("gemini length", listed(400, "The input token count (120) exceeds the maximum number"), LONG, 1, False),
    ("gemini prompt", ended("content_filter: PROHIBITED_CONTENT", None), "content_filter", 1, True),
    ("gemini safety", ended("SAFETY", ""), "content_filter", 1, True),
    ("gemini no choices", Reply({"choices": [], "usage": {"prompt_tokens": 9}}), "malformed", 2, True),
    ("together length", error(422, "`inputs` tokens + `max_new_tokens` must be <= 4097"), LONG, 1, False),
    ("together cloudflare", Reply(b"<html>A timeout occurred</html>", status=524), "server_error", 2, True),
    ("together unknown", Reply(b"", status=520), "server_error", 2, False),
    ("openrouter rate", error(200, "Rate limited", code=429), "rate_limited", 2, False),
    ("openrouter moderation", error(403, "flagged", **FLAGGED), "content_filter", 1, False),
    ("openrouter moderation, 200", error(200, "flagged", **FLAGGED), "content_filter", 1, False),
    ("openrouter provider", error(200, "Provider returned error", code=502), "server_error", 2, True),
    ("openrouter midway", ended("error", "Half", error=MIDWAY), "server_error", 2, True),
    ("openrouter midway, no word", ended(None, "", error=MIDWAY), "server_error", 2, True),
    ("openrouter timeout", error(408, "Your request timed out", code=408), "timeout", 2, True),
    ("groq flex", error(498, "Full", code="capacity_exceeded"), "server_error", 2, False),
    ("groq size", error(413, "Request too large for model on tokens per minute"), LONG, 1, False),
    ("mistral capacity", Reply({"object": "error", "code": "3505"}, status=429), "rate_limited", 2, False),
    ("mistral length", ended("model_length", None), None, 1, True),
    ("mistral ended", ended("error"), "server_error", 2, True),
    ("vllm ended", ended("abort"), "server_error", 2, True),
    ("vllm repetition", ended("repetition"), "server_error", 2, True),
    ("vllm length", error(400, "This model's maximum context length is 512 tokens."), LONG, 1, False),
    ("deepseek resources", ended("insufficient_system_resource"), "server_error", 2, True),
    ("z.ai network", ended("network_error"), "server_error", 2, True),
    ("z.ai filter", ended("sensitive", ""), "content_filter", 1, True),
    ("alibaba filter", error(400, "Inappropriate", code="data_inspection_failed"), "content_filter", 1, False),
    ("cohere length", error(400, "too many tokens: the prompt cannot exceed 4081"), LONG, 1, False),
    ("bedrock length", error(400, "Input is too long for requested model."), LONG, 1, False),
    ("llama.cpp length", error(400, "the request exceeds the available context size"), LONG, 1, False),
    ("fastapi", Reply({"detail": "Internal"}), "malformed", 2, True),
    ("no usage", Reply(completion("[RESULT] 4", usage=None)), None, 1, True),
    ("null usage", Reply(completion("[RESULT] 4") | {"usage": None}), None, 1, True),
]
STOPS = [
    ("401", error(401, "Incorrect API key sk-1234 provided", code="invalid_api_key"), "the key: 401$"),
    ("deepseek 402", error(402, "No balance"), "payment: 402 No balance$"),
    ("openrouter 402", error(200, "Insufficient credits", code=402), "payment: 402 Insufficient credits$"),
    (
        "azure 404",
        error(404, "The API deployment does not exist", code="DeploymentNotFound"),
        "the model or base_url: 404 ",
    ),
    ("fireworks 405", error(405, "Method Not Allowed"), "base_url: 405 Method Not Allowed$"),
]


def engine_of(judge, endpoint):
    ours = {"engine": "openai", "model": "a-model", "answer_format": "feedback", "answer_prefix": ""}
    how = {"backoff": {"first": 0.001, "longest": 0.01}, "max_attempts": ATTEMPTS}
    return engines.load(changed(judge, base_url=endpoint.base_url, **ours, **how))


@pytest.mark.parametrize(
    ("reply", "failure", "calls", "billed"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_an_error_is_read_as_its_provider_documents_it(judge, reply, failure, calls, billed):
    with running(lambda call: reply) as endpoint:
        (response,) = engine_of(judge, endpoint).answer([request("r", "prompt")])
    assert response.reason == failure
    assert len(endpoint.calls) == response.attempts == calls
    assert (response.tokens > 0) == billed
    assert response.finish_reason in (None, "stop", "length", "content_filter", "refusal")


@pytest.mark.parametrize(("reply", "message"), [row[1:] for row in STOPS], ids=[row[0] for row in STOPS])
def test_where_no_call_can_succeed_the_job_ends_at_once(judge, reply, message):
    with running(lambda call: reply) as endpoint, pytest.raises(InputError) as stop:
        list(engine_of(judge, endpoint).answer([request(f"r{k}", "prompt") for k in range(200)]))
    assert len(endpoint.calls) <= 32 + 1  # calls that were under way
    assert re.match(f"judge: http://[^ ]* does not accept {message}", str(stop.value))
