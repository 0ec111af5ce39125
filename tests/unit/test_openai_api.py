import asyncio
import collections
import email.utils
import gzip
import json
import logging
import math
import os
import signal
import ssl
import threading
import time
from types import SimpleNamespace

import openai
import pytest
from endpoint import Reply, completion, running, sigterm_ends
from factories import changed, questions, request

from rubric_order.base.errors import InputError
from rubric_order.judging import engines, open_calls
from rubric_order.judging.engines import delivery, openai_api, openai_protocol, transport
from rubric_order.judging.engines.calls import AT_ONCE, Calls
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.engines.openai_answers import LoggedToken, read_options, read_several
from rubric_order.judging.engines.openai_calls import retry_after
from rubric_order.judging.store import Store

KEY = "sk-secret-0123456789"
QUICK = {"first": 0.001, "longest": 0.01}


@pytest.fixture
def settings(judge):
    """A judge over an endpoint that takes no time to try again."""
    sampling = {"temperature": 0, "top_p": 1, "max_tokens": 16, "seed": 7, "stop": []}
    ours = {"engine": "openai", "model": "a-model", "answer_format": "feedback", "answer_prefix": ""}
    return changed(judge, **ours, sampling=sampling, backoff=QUICK, timeout=10, max_attempts=3)


@pytest.fixture
def ask(settings, tmp_path):
    """Ask an endpoint that replies by a function; its responses in the order of the requests, and its calls.

    Calls are written down where it is said what was `spent` before.
    """

    def ask_(reply, requests=1, spent=None, **changes):
        if isinstance(requests, int):
            requests = [request(f"r{number}", f"prompt {number}") for number in range(requests)]
        with running(reply if callable(reply) else lambda call: reply) as endpoint:
            turn = spent and engines.Turn(Amount(**spent), tmp_path / "sent.json", tmp_path / "open_calls.jsonl")
            judge = changed(settings, **{"base_url": endpoint.base_url} | changes)
            engine = engines.load(judge, engines.Resources(turn=turn))
            order = [request.request_id for request in requests]
            try:
                responses = sorted(engine.answer(requests), key=lambda response: order.index(response.request_id))
            finally:
                engine.close()
        return responses, endpoint.calls

    return ask_


def in_turn(*replies):
    """A reply for the first call of each prompt, one for the second, ..."""
    seen = {}

    def reply(call):
        seen[call.prompt] = seen.get(call.prompt, -1) + 1
        return replies[min(seen[call.prompt], len(replies) - 1)]

    return reply


def status(number, message="no", headers=None, **error):
    return Reply({"error": {"message": message, **error}}, status=number, headers=headers or {})


# --- what is sent


def test_a_request_carries_the_prompt_and_the_sampling_settings(ask):
    _, (call,) = ask(Reply(completion()))
    assert call.path == "/v1/chat/completions"
    assert call.body == {
        "model": "a-model",
        "messages": [{"role": "user", "content": "prompt 0"}],
        "temperature": 0,
        "top_p": 1,
        "max_tokens": 16,
        "seed": 7,
    }


def test_a_call_is_the_one_that_the_openai_client_makes(ask, monkeypatch):
    """Its address, headers and body; but our own client takes answers that are compressed by gzip alone."""
    monkeypatch.setenv("MY_KEY", KEY)
    changes = {"api_key_env": "MY_KEY", "key_over_http": True, "extra_headers": {"X-Tenant": "one"}}
    calls = ask(Reply(completion()), 3, **changes)[1]

    async def bare(base_url, body):
        async with openai.AsyncOpenAI(api_key=KEY, base_url=base_url, timeout=None, max_retries=0) as client:
            await client.post("/chat/completions", body=body, cast_to=bytes, options={"headers": {"X-Tenant": "one"}})

    with running(lambda call: Reply(completion())) as endpoint:
        for call in calls:
            asyncio.run(bare(endpoint.base_url, call.body))
        for ours, theirs in zip(calls, endpoint.calls, strict=True):
            assert ours.headers.pop("accept-encoding") == "gzip"
            for call in (ours, theirs):
                call.headers.pop("accept-encoding", None)
                call.headers.pop("host")  # another port
            assert (ours.method, ours.path, ours.headers) == (theirs.method, theirs.path, theirs.headers)
            assert ours.headers["x-stainless-lang"] == "python"


def test_a_cookie_of_an_answer_goes_with_all_later_calls(ask):
    """As endpoints set them to send a caller to the same machine again."""
    replies = iter([Reply(completion(), headers={"Set-Cookie": "machine=7; Path=/"})])
    _, calls = ask(lambda call: next(replies, Reply(completion(), delay=0.01)), 30, concurrency=4)
    assert [call.headers.get("cookie") for call in calls][8:] == ["machine=7"] * 22


def test_null_leaves_a_setting_to_the_endpoint(ask):
    sampling = {"temperature": None, "top_p": None, "max_tokens": 99, "seed": None, "stop": ["\n"]}
    _, (call,) = ask(Reply(completion()), sampling=sampling, max_tokens_name="max_completion_tokens")
    assert set(call.body) == {"model", "messages", "max_completion_tokens", "stop"}
    assert (call.body["max_completion_tokens"], call.body["stop"]) == (99, ["\n"])


def test_repeats_count_the_seed_up_and_a_profile_changes_what_it_names(ask):
    profiles = {"low": {"sampling": {"temperature": 0.5}, "extra_body": {"reasoning_effort": "low"}}}
    requests = [request("a", "x", repeat=2), request("b", "y", profile="low")]
    _, calls = ask(Reply(completion()), requests, profiles=profiles, system_prompt="Be fair.", extra_body={"user": "u"})
    first, second = sorted((call.body for call in calls), key=lambda body: body["messages"][-1]["content"])
    assert first["messages"][0] == {"role": "system", "content": "Be fair."}
    assert (first["seed"], first["temperature"], first["user"]) == (9, 0, "u")
    assert (second["seed"], second["temperature"], second["reasoning_effort"], second["user"]) == (7, 0.5, "low", "u")


def test_a_prefix_of_the_answer_is_a_message_to_continue(ask):
    _, (call,) = ask(Reply(completion()), dialect="vllm", answer_prefix="Score: ")
    assert call.body["messages"][-1] == {"role": "assistant", "content": "Score: "}
    assert call.body["continue_final_message"] is True
    assert call.body["add_generation_prompt"] is False


def test_arguments_of_the_chat_template_are_sent_where_there_are_some(ask):
    _, (call,) = ask(Reply(completion()), chat_template_kwargs={"enable_thinking": False})
    assert call.body["chat_template_kwargs"] == {"enable_thinking": False}


# --- keys


def test_the_key_comes_from_the_variable_that_config_names(ask, monkeypatch):
    monkeypatch.setenv("MY_KEY", f"{KEY}\n")
    _, (call,) = ask(Reply(completion()), api_key_env="MY_KEY")
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent_whatever_the_environment_holds(ask, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Custom: {KEY}")
    _, (call,) = ask(Reply(completion()))
    assert KEY not in str(call.headers)
    assert "authorization" not in call.headers


def test_a_missing_key_is_one_error_that_names_the_variable(settings, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(InputError) as error:
        engines.load(changed(settings, api_key_env="MY_KEY"))
    assert str(error.value) == "judge: api_key_env: the environment has no variable MY_KEY"


def test_a_key_that_no_header_can_hold_is_not_shown(settings, monkeypatch):
    monkeypatch.setenv("MY_KEY", f"{KEY}\nX-Other: 1")
    with pytest.raises(InputError) as error:
        engines.load(changed(settings, api_key_env="MY_KEY"))
    assert "MY_KEY" in str(error.value)
    assert KEY not in str(error.value)


def test_headers_can_hold_variables_and_override_the_key(ask, monkeypatch):
    monkeypatch.setenv("TENANT", "tenant-7654321")
    headers = {"X-Tenant": "id $TENANT", "X-Price": "5 $$", "Authorization": "Token ${TENANT}"}
    _, (call,) = ask(Reply(completion()), extra_headers=headers)
    assert call.headers["x-tenant"] == "id tenant-7654321"
    assert call.headers["x-price"] == "5 $"
    assert call.headers["authorization"] == "Token tenant-7654321"


def test_a_header_without_its_variable_is_an_error(settings, monkeypatch):
    monkeypatch.delenv("TENANT", raising=False)
    for value, message in (("$TENANT", "the environment has no variable TENANT"), ("$ 5", "expected [$]NAME")):
        with pytest.raises(InputError, match=f"judge: extra_headers/X-Tenant: {message}"):
            engines.load(changed(settings, extra_headers={"X-Tenant": value}))


def test_what_an_endpoint_repeats_of_a_secret_is_not_kept(ask, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("TENANT", "tenant-7654321")
    headers = {"X-Tenant": "tenant id $TENANT"}
    reply = status(503, f"Bearer {KEY} of tenant-7654321\n is over capacity")
    (response,), _ = ask(reply, api_key_env="MY_KEY", extra_headers=headers)
    assert response.error == "server_error: 503 Bearer *** of *** is over capacity"
    assert KEY not in caplog.text
    assert "tenant-7654321" not in caplog.text


ECHOES = {
    "answer": {"text": f"Your key is {KEY}. [RESULT] 4"},
    "in JSON": {"text": json.dumps({"key": f'{KEY}"quoted"', "score": 4})},
    "refusal": {"text": None, "refusal": f"No service for {KEY}."},
    "reasoning": {"reasoning": f"I was called with {KEY}."},
    "model": {"model": f"a-model-{KEY}"},
    "finish reason": {"finish": f"stop {KEY}"},
}


@pytest.mark.parametrize("fields", ECHOES.values(), ids=ECHOES)
def test_a_key_in_any_field_of_an_answer_is_masked(ask, monkeypatch, fields):
    """A value of fewer than 8 characters is not masked: it may be a part of any text."""
    monkeypatch.setenv("MY_KEY", f'{KEY}"quoted"' if '"quoted' in str(fields).replace("\\", "") else KEY)
    monkeypatch.setenv("TENANT", "RESULT")
    (response,), _ = ask(Reply(completion(**fields)), api_key_env="MY_KEY", extra_headers={"X-Tenant": "$TENANT"})
    assert KEY not in repr(response)
    assert "***" in repr(response)
    if fields.get("text", "").__class__ is str and "RESULT" in fields.get("text", ""):
        assert response.text == "Your key is ***. [RESULT] 4"


@pytest.mark.parametrize(("served", "concurrency", "expected"), [(True, None, 512), (False, None, 32), (True, 7, 7)])
def test_a_server_of_our_own_gets_more_requests_at_once_than_an_endpoint(
    settings, monkeypatch, served, concurrency, expected
):
    """Nothing is sent: what is counted is how many answers are waited for together."""
    waiting = most = 0

    async def ask(self, asked):
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        for _ in range(200):  # by then all wait that are to be asked together
            if most < expected:
                await asyncio.sleep(0.01)
        waiting -= 1
        return engines.Response(asked.request_id, text="4")

    monkeypatch.setattr(Calls, "ask", ask)
    server = SimpleNamespace(base_url="http://127.0.0.1:9/v1", key="k", describe=dict, stop=lambda: None)
    monkeypatch.setattr(openai_api.serving, "start", lambda judge, resources: server)
    engine = engines.load(changed(settings, concurrency=concurrency, **{"serve": {}} if served else {}))
    assert len(list(engine.answer(request(f"r{number}") for number in range(600)))) == 600
    assert most == expected
    engine.close()


def test_nothing_that_describes_the_engine_holds_the_key(settings, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    engine = engines.load(changed(settings, api_key_env="MY_KEY"))
    described = engine.describe()
    assert described["engine"] == "openai"
    assert described["base_url"] == "http://127.0.0.1:9/v1"
    assert KEY not in json.dumps(described)


@pytest.mark.parametrize("number", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(ask, monkeypatch, number):
    monkeypatch.setenv("TENANT", "tenant-7654321")
    with running(lambda call: Reply(completion())) as elsewhere:
        reply = status(number, headers={"Location": f"{elsewhere.base_url}/chat/completions?tenant-7654321"})
        with pytest.raises(InputError) as error:
            ask(reply, extra_headers={"X-Tenant": "$TENANT"})
        assert elsewhere.calls == []
    start, _, rest = str(error.value).partition(f" redirects ({number}) to {elsewhere.base_url}/chat/completions?***; ")
    assert start.startswith("judge: base_url: http://127.0.0.1:")
    assert rest.endswith("name the final address")


# --- what comes back


def test_an_answer_with_its_tokens_and_cost(ask):
    prices = {"prompt": 2.0, "completion": 10.0, "cached": 0.5}
    (response,), _ = ask(Reply(completion("Fine. [RESULT] 4", usage=(1000, 50, 400))), prices=prices)
    assert (response.text, response.finish_reason, response.error) == ("Fine. [RESULT] 4", "stop", None)
    assert (response.prompt_tokens, response.completion_tokens, response.cached_tokens) == (1000, 50, 400)
    assert response.cost == pytest.approx((600 * 2 + 400 * 0.5 + 50 * 10) / 1e6)
    assert (response.model, response.attempts) == ("a-model", 1)


def test_without_prices_there_is_no_cost(ask):
    (response,), _ = ask(Reply(completion()))
    assert response.cost is None


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(ask, field):
    (response,), _ = ask(Reply(completion("[RESULT] 4", **{field: "Let me see."})))
    assert (response.text, response.reasoning) == ("[RESULT] 4", "Let me see.")


@pytest.mark.parametrize(
    ("body", "error", "finish"),
    [
        (completion("Half of", finish="content_filter"), "content_filter", "content_filter"),
        (completion(None), "no_content: finish_reason stop", "stop"),
        (completion(None, finish="tool_calls"), "no_content: finish_reason tool_calls", "tool_calls"),
        (completion("Half of", finish="length"), None, "length"),
        (completion(None, finish="length", reasoning="Let me"), None, "length"),
        (completion(""), None, "stop"),
    ],
)
def test_ways_to_give_no_score_are_told_apart_and_asked_once(ask, body, error, finish):
    (response,), calls = ask(Reply(body))
    assert (response.error, response.finish_reason) == (error, finish)
    message = body["choices"][0]["message"]
    assert (response.text, response.refusal) == (message["content"], message.get("refusal"))
    assert response.completion_tokens == 5  # it is paid for
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("answered", "accepted"),
    [
        ("a-model", True),
        ("a-model-2024-08-06", True),
        ("a-model-20240806", True),
        ("a-model-0613", True),
        ("vendor/a-model", True),  # by accept_models
        (None, True),  # it does not say
        ("a-model-mini", False),
        ("a-model-mini-2024-08-06", False),
        ("another", False),
        ("A-model2", False),
    ],
)
def test_another_model_than_the_one_asked_is_a_failure_of_its_own(ask, answered, accepted):
    (response,), calls = ask(Reply(completion(model=answered)), accept_models=["vendor/a-model"])
    expected = None if accepted else f"wrong_model: asked for a-model, answered by {answered}"
    assert (response.error, response.model) == (expected, answered)
    assert len(calls) == 1


# --- trying again


GZIP = {"Content-Encoding": "gzip"}
PASSES = Reply(completion("[RESULT] 4"))


@pytest.mark.parametrize(
    ("parts", "text", "more"),
    [
        ([{"type": "text", "text": "[RESULT] "}, {"type": "text", "text": "4"}], "[RESULT] 4", {}),
        ([{"type": "output_text", "text": "4"}], "4", {}),
        (
            [{"type": "thinking", "thinking": [{"type": "text", "text": "So be it."}]}, {"type": "text", "text": "4"}],
            "4",
            {"reasoning": "So be it."},
        ),
        ([{"type": "refusal", "refusal": "No."}], None, {"refusal": "No.", "error": "refusal"}),
        ([], None, {"error": "no_content: finish_reason stop"}),
    ],
)
def test_an_answer_in_parts_is_put_together(ask, parts, text, more):
    (response,), calls = ask(Reply(completion(parts)))
    assert (response.text, response.error, len(calls)) == (text, more.get("error"), 1)
    assert (response.reasoning, response.refusal) == (more.get("reasoning"), more.get("refusal"))


def test_a_compressed_answer_is_read(ask):
    (response,), _ = ask(Reply(gzip.compress(json.dumps(completion("[RESULT] 4")).encode()), headers=GZIP))
    assert response.text == "[RESULT] 4"


def test_a_long_answer_is_read_where_it_was_asked_for(ask):
    """Each of a thousand tokens lists 20 others."""
    top = [{"token": f"{k}", "logprob": -3.0, "bytes": [48, 49]} for k in range(20)]
    body = completion("4 " * 1000)
    body["choices"][0]["logprobs"] = {"content": [{"token": "4", "logprob": -3.0, "top_logprobs": top}] * 1000}
    (response,), _ = ask(Reply(body), answer_format="score")
    assert (response.error, response.text) == (None, "4 " * 1000)


def test_json_that_is_called_something_else_is_read(ask):
    (response,), _ = ask(Reply(completion("[RESULT] 4"), headers={"Content-Type": "text/plain"}))
    assert response.text == "[RESULT] 4"


def test_no_endpoint_at_all(ask):
    (response,), _ = ask(PASSES, base_url="http://127.0.0.1:1/v1", prices={"prompt": 1.0, "completion": 1.0})
    assert response.error.startswith("connection: ConnectError")
    assert (response.attempts, response.tokens, response.cost) == (0, 0, 0.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "0.4"}, 0.4),
        ({"retry-after-ms": "400"}, 0.4),
        ({"Retry-After": "soon"}, 0.0),
        ({"Retry-After": "-5"}, 0.0),
        ({"Retry-After": "nan"}, 0.0),
        ({"Retry-After": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_endpoint_says_how_long_to_wait(ask, headers, seconds):
    (response,), calls = ask(in_turn(status(429, headers=headers), PASSES))
    assert response.error is None
    assert calls[1].time - calls[0].time >= seconds


def test_the_time_to_wait_can_be_a_date():
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 97 < retry_after({"retry-after": date}) <= 100
    assert retry_after({"retry-after": email.utils.formatdate(time.time() - 100)}) == 0.0


# --- what is not tried again


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (status(400, "The prompt is longer than the maximum model length of 9"), "prompt_too_long: 400 The prompt is"),
        (status(400, "bad unicode"), "bad_request: 400 bad unicode"),
        (status(403, "not this text"), "bad_request: 403 not this text"),
        (status(422, "no"), "bad_request: 422 no"),
        # Answers of the wrong form under status 200: the next call would be paid for and get the same.
        (Reply(b"<html>It works!</html>"), "bad_request: the answer is a page in HTML"),
        (Reply(b"<html>Log in</html>", headers={"Content-Type": "text/html"}), "bad_request: the answer is a page in"),
        (Reply(b'data: {"choices": []}\n\ndata: [DONE]\n'), "bad_request: the answer is a stream of events"),
        (Reply([1, 2]), "bad_request: the answer is no JSON object"),
        (Reply(4), "bad_request: the answer is no JSON object"),
        (Reply(None), "bad_request: the answer is no JSON object"),
        (Reply(completion(4)), "bad_request: text of the answer is no text"),
        (Reply(completion([{"type": "image_url"}])), "bad_request: text of the answer is no text"),
        (Reply(completion([{"type": "text", "text": 4}])), "bad_request: text of the answer is no text"),
        (Reply(completion(["4"])), "bad_request: text of the answer is no text"),
        (Reply(completion(finish=["stop"])), "bad_request: finish_reason of the answer is no text"),
        (Reply(completion("4" * 2**23)), "bad_request: the answer is longer than "),
        (
            Reply(gzip.compress(json.dumps(completion("4" * 2**26)).encode()), headers=GZIP),
            "bad_request: the answer is",
        ),
        (Reply(b"x", headers={"Content-Encoding": "br"}), "bad_request: the answer is compressed by br, which was not"),
    ],
)
def test_a_request_that_cannot_be_answered_fails_for_good(ask, reply, error):
    (response,), calls = ask(reply)
    assert response.error.startswith(error)
    assert response.error.partition(":")[0] not in engines.PASSING
    assert (response.attempts, len(calls)) == (1, 1)


def test_what_a_mistake_in_config_made_fail_is_asked_again_and_is_paid_for(settings):
    with running(lambda call: Reply(completion(model="another"))) as endpoint:
        prices = {"prompt": 1.0, "completion": 1.0}
        engine = engines.load(changed(settings, base_url=endpoint.base_url, prices=prices))
        kept = []
        with pytest.raises(InputError, match="10 requests in a row failed, the last as wrong_model: asked for a-model"):
            collections.deque(map(kept.append, engine.answer(_requests(500))))
    assert {response.error.partition(":")[0] for response in kept} == {"stopped"}
    assert sum(response.attempts for response in kept) >= len(endpoint.calls)  # one may have been cut on its way
    assert sum(response.cost for response in kept) == pytest.approx(engine.calls.budget.spent.cost)


def test_refused_requests_among_others_fail_alone(ask):
    def reply(call):
        return status(400, "bad") if int(call.prompt.split()[1]) % 4 else PASSES

    responses, _ = ask(reply, 60, concurrency=1)
    assert [response.error for response in responses] == [
        "bad_request: 400 bad" if number % 4 else None for number in range(60)
    ]


@pytest.mark.parametrize(
    ("down", "words", "attempts"),
    [
        (status(503), "server_error: 503 no", 2),
        (status(429, "pay first", code="insufficient_quota"), "rate_limited: 429 pay first", 1),
    ],
)
def test_an_endpoint_that_is_down_is_not_asked_everything(ask, caplog, down, words, attempts):
    responses, calls = ask(down, 400, concurrency=8, max_attempts=2)
    failed = [response for response in responses if response.error == words]
    rest = [response for response in responses if response.attempts == 0]
    assert len(failed) + len(rest) == 400
    assert delivery.MAX_FAILED_IN_A_ROW <= len(failed) < delivery.MAX_FAILED_IN_A_ROW + 8
    assert len(calls) == attempts * len(failed)
    assert {response.error for response in rest} == {f"stopped: 50 requests in a row failed, the last as {words}"}
    assert "nothing more is asked" in caplog.text


# --- limits


def test_calls_are_spaced_as_the_limit_says(ask):
    started = time.monotonic()
    _, calls = ask(in_turn(status(500), PASSES), 4, requests_per_minute=1200, concurrency=4)
    assert [call.time >= started + 0.05 * number for number, call in enumerate(calls)] == [True] * 8


def test_a_budget_of_calls_counts_retries_and_earlier_runs(ask):
    spent = {"calls": 90, "tokens": 0, "cost": 0.0}
    responses, calls = ask(
        in_turn(status(500), PASSES), 30, budget={"calls": 100, "tokens": None, "cost": None}, spent=spent
    )
    assert len(calls) == 10
    assert sum(response.attempts for response in responses) == 10
    answered = [response for response in responses if response.error is None]
    refused = [response for response in responses if response.error is not None]
    assert len(answered) <= 5
    assert {response.error for response in refused} == {
        "budget: calls: 0 of 100 left, the next call can take 1",
    }


def test_an_endpoint_that_is_down_spends_no_budget_and_stops_the_job(ask, tmp_path):
    path, spent = tmp_path / "open_calls.jsonl", Amount()._asdict()
    budget = {"calls": 100, "tokens": None, "cost": None}
    responses, _ = ask(PASSES, 200, base_url="http://127.0.0.1:1/v1", budget=budget, spent=spent, max_attempts=2)
    failed = [response for response in responses if response.error.startswith("connection: ConnectError")]
    stopped = [response for response in responses if response.error.startswith("stopped: 50 requests in a row failed")]
    assert len(failed) + len(stopped) == 200
    assert delivery.MAX_FAILED_IN_A_ROW <= len(failed) < delivery.MAX_FAILED_IN_A_ROW + AT_ONCE
    assert {response.attempts for response in responses} == {0}
    store = Store(tmp_path / "store")
    open_calls.book(path, store)  # as if the job had been killed before anything was stored
    assert store.spent() == {"calls": 0, "tokens": 0, "cost": 0.0}


def test_a_budget_of_money_is_not_exceeded(ask):
    prices = {"prompt": 1.0, "completion": 10.0}
    budget = {"calls": None, "tokens": None, "cost": 0.01}
    responses, calls = ask(Reply(completion(usage=(200, 16))), 100, prices=prices, budget=budget)
    cost = sum(response.cost for response in responses)
    assert cost == pytest.approx(len(calls) * (200 + 160) / 1e6)
    most = ((len("prompt 99") + openai_protocol.MAX_TEMPLATE_TOKENS) * 1 + 16 * 10) / 1e6
    assert 0.01 - most - 360e-6 <= cost <= 0.01
    assert {response.error.partition(":")[0] for response in responses if response.error} == {"budget"}


EXTRAS = {
    "tools": {"tools": [{"type": "function", "function": {"name": "rate", "description": "d" * 8000}}]},
    "format": {
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"title": "é" * 4000}}}
    },
    "text": {"guidance": "g" * 8000},
    "template": {"chat_template_kwargs": {"documents": ["d" * 8000]}},
}


@pytest.mark.parametrize("extras", EXTRAS.values(), ids=EXTRAS)
def test_all_that_is_sent_counts_in_a_budget(ask, extras):
    """Each byte of the body is a token here, the most that there can be."""
    changes = extras if "chat_template_kwargs" in extras else {"extra_body": extras}
    budget = {"calls": None, "tokens": 50_000, "cost": None}

    def reply(call):
        return Reply(completion(usage=(len(json.dumps(call.body, ensure_ascii=False).encode()), 16)))

    responses, calls = ask(reply, 32, budget=budget, **changes)
    used = sum(response.tokens for response in responses)
    assert 0.8 * 50_000 < used <= 50_000
    assert len(calls) == sum(response.error is None for response in responses) < 32


def test_a_call_whose_cost_is_not_known_counts_in_full(ask):
    prices = {"prompt": 1.0, "completion": 10.0}
    most = ((len("prompt 0") + openai_protocol.MAX_TEMPLATE_TOKENS) * 1 + 16 * 10) / 1e6
    (cut,), _ = ask(Reply(completion(), cut=40), prices=prices)
    assert cut.cost == pytest.approx(3 * most)
    (silent,), _ = ask(Reply(completion(usage=None)), prices=prices)
    assert (silent.error, silent.prompt_tokens) == (None, None)
    assert silent.cost == pytest.approx(most)
    (limited,), _ = ask(status(429), prices=prices)
    assert limited.cost == 0.0


def test_a_budget_of_tokens_holds_over_runs_whatever_became_of_the_calls(ask, tmp_path):
    store = Store(tmp_path)
    budget = {"calls": None, "tokens": 5 * (len("prompt 0") + openai_protocol.MAX_TEMPLATE_TOKENS + 16), "cost": None}
    calls = 0
    for run in range(4):
        responses, sent = ask(Reply(completion(), cut=40), 3, budget=budget, spent=store.spent(), max_attempts=1)
        store.append(responses, engine=f"run {run}")
        calls += len(sent)
    assert calls == 5
    assert store.spent()["tokens"] == budget["tokens"]


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"X-Title": "für"}, "extra_headers/X-Title: the value holds a character that a header cannot"),
        ({"X-Title": "a\nb"}, "extra_headers/X-Title: the value holds a character that a header cannot"),
        ({"X Title:": "a"}, "extra_headers/X Title:: no header has such a name"),
    ],
)
def test_a_header_that_cannot_be_sent_is_an_error_of_config(settings, headers, message):
    with pytest.raises(InputError, match=message):
        engines.load(changed(settings, extra_headers=headers))


def test_the_log_says_what_was_spent(ask, caplog):
    caplog.set_level(logging.INFO)
    prices = {"prompt": 1.0, "completion": 10.0, "currency": "EUR"}
    ask(in_turn(status(500), PASSES), 3, prices=prices, spent={"calls": 10, "tokens": 1000, "cost": 0.5})
    assert caplog.messages[-1] == (
        "16 calls and 1315 tokens so far, earlier runs included, at most 0.5004 EUR; calls without an answer: "
        "3 server_error"
    )


# --- ending early


def end_after(calls, arrived, settings, reply, *, told=lambda: None):
    """Answers of an engine with four calls at once where SIGTERM comes after `calls` calls, and its number of calls.

    Args:
        calls: so many calls have arrived, each of which releases the semaphore `arrived`.
        settings, reply: of the judge, and of its endpoint.
        told: called when the signal has come.
    """

    def end_when_asked():
        for _ in range(calls):
            arrived.acquire(timeout=10)
        os.kill(os.getpid(), signal.SIGTERM)

    with running(reply) as endpoint, sigterm_ends(told):
        engine = engines.load(changed(settings, base_url=endpoint.base_url, concurrency=4))
        threading.Thread(target=end_when_asked, daemon=True).start()
        kept = []
        with pytest.raises(SystemExit, match="ended on request"):
            collections.deque(map(kept.append, engine.answer(_requests(100))))
    return kept, len(endpoint.calls)


def test_a_job_that_is_asked_to_end_keeps_what_has_come(settings, monkeypatch):
    monkeypatch.setattr(delivery, "ENDING_SECONDS", 0.5)
    arrived = threading.Semaphore(0)

    def reply(call):
        arrived.release()
        return Reply(completion()) if int(call.prompt.split()[1]) < 3 else Reply(stall=True)

    priced = changed(settings, prices={"prompt": 1.0, "completion": 1.0})
    kept, calls = end_after(3 + 4, arrived, priced, reply)
    assert calls == 7
    answered = [response for response in kept if response.error is None]
    stopped = [response for response in kept if response.error is not None]
    assert len(answered) == 3
    assert [(response.error, response.attempts, response.cost > 0) for response in stopped] == [
        ("stopped: the job was ended before the answer came", 1, True)
    ] * 4


def _requests(count):
    return (request(f"r{number}", f"prompt {number}") for number in range(count))


def out_of_credit(delay, *, then=lambda: None):
    """A reply to four calls. Once all have come, the first fails, since nothing is left on the account.

    The others are answered after `delay` seconds. `then` is called when the last has come.
    """
    last = threading.Event()

    def reply(call):
        if call.prompt == "prompt 0":
            return Reply(status=402, body={"error": "no credit"}, after=last.is_set)
        if call.prompt == "prompt 3":
            last.set()
            then()
        return Reply(completion(), delay=delay)

    return reply


@pytest.mark.parametrize("served", [False, True])
def test_an_error_that_ends_the_job_waits_for_the_answers_that_are_paid_for(settings, served, monkeypatch):
    """All other calls are under way when one says that nothing is left on the account."""
    with running(out_of_credit(1.0)) as endpoint:
        engine = engines.load(changed(settings, base_url=endpoint.base_url, concurrency=4))
        if served:
            monkeypatch.setattr(engine.calls._delivery, "_waits", False)
        put = []
        monkeypatch.setattr(engine.calls._delivery, "_put", lambda response, _: put.append(response))
        with pytest.raises(InputError, match="402"):
            list(engine.answer(_requests(100)))
    assert len(endpoint.calls) == 4
    answered = [response.request_id for response in put if response.error is None]
    assert sorted(answered) == ([] if served else ["r1", "r2", "r3"])


def test_a_signal_while_an_error_ends_the_job_cuts_off_no_call(settings):
    """One call says that nothing is left on the account; the signal comes while the others are waited for."""
    signal_soon = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
    kept = []
    with running(out_of_credit(1.5, then=signal_soon.start)) as endpoint, sigterm_ends():
        engine = engines.load(changed(settings, base_url=endpoint.base_url, concurrency=4))
        with pytest.raises(SystemExit, match="ended on request"):
            collections.deque(map(kept.append, engine.answer(_requests(100))))
    assert sorted((response.request_id, response.error) for response in kept) == [(f"r{k}", None) for k in (1, 2, 3)]


# --- log-probabilities


def listed(token, others=()):
    """A generated token as an endpoint lists it; `others` are pairs of token and probability."""
    probabilities = [(token, 0.5), *others] if token not in dict(others) else list(others)
    top = [{"token": name, "logprob": math.log(p), "bytes": None} for name, p in probabilities]
    return {"token": token, "logprob": math.log(dict(probabilities)[token]), "bytes": None, "top_logprobs": top}


def answer_of(*tokens, text=None, **message):
    body = completion(text if text is not None else "".join(entry["token"] for entry in tokens), **message)
    body["choices"][0]["logprobs"] = {"content": list(tokens)}
    return Reply(body)


FIVE = [("5", 0.6), (" 5", 0.1), ("4", 0.2), ("3", 0.04), ("2", 0.03), ("1", 0.02), ("A", 0.0001)]


def test_log_probabilities_are_read_where_the_score_is_written(ask):
    reply = answer_of(listed("Score", [(":", 0.1)]), listed(": "), listed("5", FIVE))
    (response,), (call,) = ask(reply, answer_format="score")
    assert (call.body["logprobs"], call.body["top_logprobs"]) == (True, 20)
    assert response.option_token == 2
    assert [math.exp(value) for value in response.option_logprobs] == pytest.approx([0.02, 0.03, 0.04, 0.2, 0.7])


def test_a_feedback_is_asked_without_log_probabilities(ask):
    _, (call,) = ask(Reply(completion()))
    assert not {"logprobs", "top_logprobs"} & set(call.body)
    _, (call,) = ask(Reply(completion()), answer_format="score", top_logprobs=0)
    assert not {"logprobs", "top_logprobs"} & set(call.body)


def test_what_the_judge_thought_is_passed_over(ask):
    thought = [listed("maybe "), listed("3", [*FIVE, ("3x", 0.001)]), listed("</think>")]
    reply = answer_of(*thought, listed("5", FIVE), text="5", reasoning_content="maybe 3")
    (response,), _ = ask(reply, answer_format="score")
    assert response.option_token == 3


def test_an_endpoint_without_log_probabilities_is_counted(ask, caplog):
    caplog.set_level(logging.INFO)
    (response,), _ = ask(Reply(completion("5")), answer_format="score")
    assert (response.text, response.error, response.option_logprobs) == ("5", None, None)
    assert caplog.messages[-1].endswith("; 1 answers without the probabilities of all scores")


def test_who_asks_for_feedback_on_several_criteria_is_not_told_of_missing_probabilities(settings, caplog):
    caplog.set_level(logging.INFO)
    asked = [request("r0", "x", names=("Style", "Tone"))]
    for answer_format, told in (("feedback", False), ("score", True)):
        with running(lambda call: Reply(completion("Style: 5\nTone: 4"))) as endpoint:
            judge = changed(settings, base_url=endpoint.base_url, answer_format=answer_format)
            list(engines.load(judge).answer(asked))
        assert ("without the probabilities" in caplog.messages[-1]) == told


def tokens_of(*tokens):
    return [LoggedToken.of(entry) for entry in tokens]


VARIANTS = [[f"{score}", f" {score}"] for score in range(1, 6)]


def test_a_score_that_is_not_listed_is_impossible_only_where_that_makes_no_difference():
    sure = [("5", 0.99), ("4", 0.009), ("3", 1e-5)]  # 1 and 2 together have less than 4e-5
    logprobs, place = read_options(tokens_of(listed("5", sure)), VARIANTS)
    assert [math.exp(value) for value in logprobs] == pytest.approx([0, 0, 1e-5, 0.009, 0.99])
    assert logprobs[:2] == [-math.inf, -math.inf]
    assert place == 0
    unsure = [("5", 0.5), ("4", 0.3), ("3", 0.01)]  # 1 and 2 can have up to 0.04
    assert read_options(tokens_of(listed("5", unsure)), VARIANTS) == (None, None)


def test_where_no_score_is_written_the_first_token_counts():
    logprobs, place = read_options(tokens_of(listed("A", FIVE), listed("B")), VARIANTS)
    assert (place, round(math.exp(logprobs[4]), 6)) == (0, 0.7)
    assert read_options(tokens_of(listed("A", [("A", 0.9), ("B", 0.1)])), VARIANTS) == (None, None)
    assert read_options([], VARIANTS) == (None, None)


def test_several_scores_are_read_behind_the_names_of_their_criteria(ask):
    tokens = [
        listed("["),
        listed("Coherence"),
        listed("]"),
        listed(" 5", FIVE),
        listed("\n"),
        listed("Style: "),
        listed("4", FIVE),
    ]
    asked = request("r0", "x", names=("Style", "Tone", "Coherence"))
    (response,), (call,) = ask(answer_of(*tokens), [asked])
    assert call.body["top_logprobs"] == 20
    assert response.option_token is None
    style, tone, coherence = (response.option_logprobs[start : start + 5] for start in (0, 5, 10))
    assert [math.exp(value) for value in style] == pytest.approx([0.02, 0.03, 0.04, 0.2, 0.7])
    assert style == coherence
    assert all(map(math.isnan, tone))
    assert read_several(tokens_of(listed("x")), VARIANTS, questions(("Style",))) is None


def test_scores_line_by_line_are_asked_of_vllm(ask):
    asked = request("r0", "x", names=("Style", "Tone"))
    _, calls = ask(vllm_reply, [asked], dialect="vllm", criteria_format="lines", answer_prefix="Score: ")
    assert calls[-1].body["structured_outputs"] == {"regex": r"\[Style\] (?:1|2|3|4|5)\n\[Tone\] (?:1|2|3|4|5)"}
    assert [message["role"] for message in calls[-1].body["messages"]] == ["user"]


def test_a_second_request_is_the_answer_so_far_to_be_ended_by_a_score(ask):
    asked = request("r0", "x", begun="Fine.\n[RESULT] ")
    (response,), (call,) = ask(Reply(completion("4")), [asked], dialect="vllm", answer_format="score")
    assert call.body["messages"][-1] == {"role": "assistant", "content": "Fine.\n[RESULT] "}
    assert call.body["structured_outputs"] == {"choice": ["1", "2", "3", "4", "5"]}
    assert call.body["max_tokens"] == 8
    assert (response.text, response.option_logprobs) == ("4", None)


def test_tokens_of_one_text_add_up_and_minus_9999_is_nothing():
    entry = listed("5", [("5", 0.5), *FIVE[1:]])
    entry["top_logprobs"] += [{"token": "4", "logprob": math.log(0.1)}, {"token": " 3", "logprob": -9999.0}]
    logprobs, _ = read_options(tokens_of(entry), VARIANTS)
    assert math.exp(logprobs[3]) == pytest.approx(0.3)
    assert math.exp(logprobs[2]) == pytest.approx(0.04)


def vllm_reply(call):
    """A server of vLLM in which " 5" is two tokens and the digits have the ids 101 to 109."""
    if call.path == "/tokenize":
        text = call.body["prompt"]
        return Reply({"tokens": [100 + int(text)] if text.strip() == text and text.isdigit() else [1, 2]})
    top = [{"token": f"token_id:{100 + k}", "logprob": math.log(k / 100), "bytes": [48 + k]} for k in range(1, 6)]
    entry = {"token": "token_id:105", "logprob": math.log(0.05), "bytes": [53], "top_logprobs": top}
    return answer_of(entry, text="5")


def test_a_server_of_vllm_is_asked_for_the_tokens_of_all_scores(ask):
    (response,), calls = ask(vllm_reply, dialect="vllm", answer_format="score")
    assert [call.path for call in calls[:-1]] == ["/tokenize"] * 10
    assert calls[-1].body["logprob_token_ids"] == [101, 102, 103, 104, 105]
    assert calls[-1].body["return_tokens_as_token_ids"] is True
    assert [math.exp(value) for value in response.option_logprobs] == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert response.attempts == 1


def test_another_server_is_not_taken_for_one_of_vllm(ask):
    with pytest.raises(
        InputError, match=r"/tokenize does not say how scores are tokenized .*; expected a server of vLLM"
    ):
        ask(lambda call: status(404, "not found"), dialect="vllm", answer_format="score")


def logged(*, top, logprob=-0.1, **more):
    body = completion("4", reasoning="So be it.")
    entry = {"token": "4", "logprob": logprob, "top_logprobs": top} | more
    body["choices"][0]["logprobs"] = {"content": [entry]}
    return Reply(body)


@pytest.mark.parametrize(
    "reply",
    [
        logged(top=None),
        logged(top=[{"token": "4", "logprob": math.nan}]),
        logged(top=[{"token": "4", "logprob": 0.5}, {"token": "5", "logprob": -3.0}]),
        logged(top=[{"token": "4"}]),
        logged(top=[{"token": str(k), "logprob": math.log(0.9)} for k in range(1, 6)]),
        logged(top=[], logprob="-1"),
        logged(top=[], token=19),
        logged(top=[], bytes=10**15),
    ],
    ids=["null", "NaN", "above 0", "none", "sum above 1", "text", "number as token", "number as bytes"],
)
def test_an_answer_whose_probabilities_are_none_is_kept_without_them_and_is_one_call(ask, reply):
    (response,), calls = ask(reply, answer_format="score")
    assert (response.text, response.error, response.option_logprobs, len(calls)) == ("4", None, None, 1)


def test_rounding_above_0_is_0(ask):
    others = [{"token": str(k), "logprob": -20.0} for k in (1, 2, 3, 5)]
    (response,), _ = ask(logged(top=[{"token": "4", "logprob": 1e-6}, *others]), answer_format="score")
    assert response.option_logprobs == [-20.0, -20.0, -20.0, 0.0, -20.0]


def test_certificates_are_read_once_for_what_the_environment_names(tmp_path, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    usual = transport.certificates(trust_env=True)
    assert transport.certificates(trust_env=True) is usual
    assert usual.verify_mode == ssl.CERT_REQUIRED
    assert usual.check_hostname
    own = tmp_path / "own.pem"
    own.write_text(ssl.DER_cert_to_PEM_cert(usual.get_ca_certs(binary_form=True)[0]), encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    assert len(transport.certificates(trust_env=True).get_ca_certs()) == 1
    assert len(transport.certificates(trust_env=False).get_ca_certs()) > 1
    assert transport.client(trust_env=True) is not transport.client(trust_env=True)
