"""Duties of every engine that makes calls, whatever answers: faults are rows. Kills are in `test_paid_once.py`."""

import asyncio
import collections
import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest
from decision_model import LEVELS, DecisionModel
from endpoint import Reply, completion, running, sigterm_as_the_main_thread_wakes, sigterm_ends
from factories import complete_judge, request

from rubric_order.base.errors import InputError
from rubric_order.judging import engines, open_calls
from rubric_order.judging.engines import delivery, openai_api
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store
from rubric_order.prompts.structured import Choice, Structured
from rubric_order.settings import judges

HTTP, FUNCTIONS = ("endpoint", "server", "decisions"), ("function", "coroutine")
KINDS = (*HTTP, *FUNCTIONS)
ATTEMPTS, AT_ONCE = 3, 4
COMMON = {"max_attempts": ATTEMPTS, "backoff": {"first": 0.001, "longest": 0.01}, "concurrency": AT_ONCE, "timeout": 60}
OPTIONS = tuple(Choice(str(k), text) for k, text in enumerate(LEVELS, start=1))

# What goes wrong in a call, the kinds of judges at which it can, the reason, and whether the call is made again.
FAULTS = {
    "conflict": (HTTP, Reply({}, status=409), "server_error", True),
    "a gateway's page": (HTTP, Reply(b"<html>Bad gateway</html>", status=502), "server_error", True),
    "too many calls": (HTTP, Reply({}, status=429), "rate_limited", True),
    "cut": (HTTP, Reply({"model": "a-model"}, cut=9), "connection", True),
    "no body": (HTTP, Reply(b"", cut=0, headers={"Content-Length": "9"}), "connection", True),
    "half of the JSON": (HTTP, Reply(b'{"model": "a-'), "malformed", True),
    "no text": (HTTP, Reply(b'{"model": "\xff"}'), "malformed", True),
    "empty": (HTTP, Reply(b""), "malformed", True),
    "an error in the answer": (HTTP, Reply({"error": "overloaded"}), "server_error", True),
    "no message": (("endpoint", "server"), Reply({"choices": [{"message": "4"}]}), "malformed", True),
    "slow": (KINDS, Reply(stall=True), "timeout", True),
    "a page": (HTTP, Reply(b"<html>It works!</html>"), "bad_request", False),
    "a list": (HTTP, Reply([1, 2]), "bad_request", False),
    "another encoding": (HTTP, Reply(b"x", headers={"Content-Encoding": "br"}), "bad_request", False),
    "refused": (HTTP, Reply({}, status=422), "bad_request", False),
    "too long": (HTTP, Reply({"error": {"message": "prompt is too long"}}, status=400), "prompt_too_long", False),
    "filtered": (HTTP, Reply({"error": {"code": "content_filter"}}, status=400), "content_filter", False),
    "no connection": (FUNCTIONS, ConnectionResetError("x"), "transient", True),
    "a defect": (FUNCTIONS, KeyError("x"), "raised", False),
    "an exit": (FUNCTIONS, SystemExit("bye"), "raised", False),
    "nothing": (FUNCTIONS, {"score": None}, "wrong_answer", False),
    "a fraction": (FUNCTIONS, {"score": 4.5}, "wrong_answer", False),
}
FAULT_ROWS = [(kind, name) for name, (kinds, *_) in FAULTS.items() for kind in kinds]
FATAL = {
    "redirect": Reply({}, status=307, headers={"Location": "/v1/elsewhere"}),
    "key": Reply({}, status=401),
    "credit": Reply({}, status=402),
    "address": Reply({}, status=404),
}


class Judged:
    """Judges of one kind, all of whose calls are answered by `reply(prompt, number)`.

    `number`: of the call among those of the same prompt, from 0. A reply is a `Reply`, or what a function returns or
    raises; None is an ordinary answer.
    """

    def __init__(self, kind, monkeypatch, folder):
        self.kind, self.monkeypatch, self.folder = kind, monkeypatch, folder
        self.prompts, self.reply, self.ended = [], lambda prompt, number: None, threading.Event()
        self._seen, self._lock = collections.Counter(), threading.Lock()

    def next_reply(self, prompt):
        with self._lock:
            number = self._seen[prompt]
            self._seen[prompt] += 1
            self.prompts.append(prompt)
        return self.reply(prompt, number)

    def http(self, call):
        """A reply of the server; with its own `after` and `delay` where an ordinary answer is to wait."""
        text = call.body["input"] if self.kind == "decisions" else call.prompt
        reply = self.next_reply(text) or Reply()
        if reply.body is None and reply.status == 200 and not reply.stall:
            reply.body = DecisionModel()(call).body if self.kind == "decisions" else completion("[RESULT] 4")
        return reply

    def called(self, prompt):
        """Outcome of a call of the function: seconds to wait, and a value or an exception."""
        reply = self.next_reply(prompt)
        if not isinstance(reply, Reply):
            return (lambda: True), "[RESULT] 4" if reply is None else reply
        return (self.ended.is_set if reply.stall else reply.after), "[RESULT] 4"

    def plain(self, prompt):
        ready, value = self.called(prompt)
        while not ready():
            time.sleep(0.005)
        if isinstance(value, BaseException):
            raise value
        return value

    async def coroutine(self, prompt):
        ready, value = self.called(prompt)
        while not ready():
            await asyncio.sleep(0.005)
        if isinstance(value, BaseException):
            raise value
        return value

    def engine(self, base_url, **changes):
        how = COMMON | changes
        turn = engines.Turn(Amount(), self.folder / "sent.json", self.folder / "open_calls.jsonl")
        if self.kind in FUNCTIONS:
            judge = judges.read({"engine": "python", "function": "a:judge", "version": "1", "takes": "prompt", **how})
            function = self.plain if self.kind == "function" else self.coroutine
            return engines.load(judge, engines.Resources(turn=turn, function=function))
        if self.kind == "decisions":
            judge = judges.read({"engine": "decisions", "model": "a-model", "base_url": base_url, **how})
            return engines.load(judge, engines.Resources(turn=turn))
        sampling = {"temperature": 0, "max_tokens": 16, "seed": 7}
        asked = {"engine": "openai", "model": "a-model", "answer_format": "feedback", "answer_prefix": ""}
        if self.kind == "endpoint":
            judge = complete_judge(**asked, sampling=sampling, base_url=base_url, **how)
            return engines.load(judge, engines.Resources(turn=turn))
        server = SimpleNamespace(base_url=base_url, key="k", describe=dict, stop=lambda: None, check=lambda: None)
        self.monkeypatch.setattr(openai_api.serving, "start", lambda judge, resources: server)
        return engines.load(complete_judge(**asked, sampling=sampling, serve={}, **how))

    def requests(self, count):
        for number in range(count):
            text = f"prompt {number}"
            prompt = Structured(text, "How good?", OPTIONS).encode() if self.kind == "decisions" else text
            yield request(f"r{number}", prompt)

    def ask(self, count, **changes):
        """Responses to requests, in their order, and the calls on the account."""
        with running(self.http) as endpoint:
            engine = self.engine(endpoint.base_url, **changes)
            try:
                responses = sorted(engine.answer(self.requests(count)), key=lambda made: int(made.request_id[1:]))
            finally:
                self.ended.set()
                self.spent = engine.calls.budget.spent
                engine.close()
        return responses


@pytest.fixture
def judged(monkeypatch, tmp_path):
    return lambda kind: Judged(kind, monkeypatch, tmp_path)


class TestEveryEngine:
    """Duties on which a judge job relies."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_request_has_one_answer_in_each_round(self, judged, kind):
        judge = judged(kind)
        with running(judge.http) as endpoint:
            engine = judge.engine(endpoint.base_url)
            for count in (20, 0, 7):
                responses = list(engine.answer(judge.requests(count)))
                assert sorted(made.request_id for made in responses) == sorted(f"r{k}" for k in range(count))
                assert [(made.error, made.attempts) for made in responses] == [(None, 1)] * count
            assert engine.calls.budget.spent.calls == len(judge.prompts) == 27
            engine.close()

    @pytest.mark.parametrize(("kind", "fault"), FAULT_ROWS)
    def test_a_fault_is_tried_again_where_it_may_pass_and_has_its_reason(self, judged, kind, fault):
        judge, (_, reply, reason, again) = judged(kind), FAULTS[fault]
        judge.reply = lambda prompt, number: reply if prompt == "prompt 0" or number == 0 else None
        failed, answered = judge.ask(2, timeout=0.3) if fault == "slow" else judge.ask(2)
        calls = ATTEMPTS if again else 1
        assert failed.error.partition(":")[0] == reason
        assert (reason in engines.PASSING) == again
        assert (failed.text, failed.attempts, judge.prompts.count("prompt 0")) == (None, calls, calls)
        assert (answered.error is None, answered.attempts) == ((True, 2) if again else (False, 1))
        assert judge.spent.calls == len(judge.prompts)

    @pytest.mark.parametrize("kind", HTTP)
    @pytest.mark.parametrize("fault", FATAL)
    def test_a_mistake_in_config_ends_the_job_at_once(self, judged, kind, fault):
        judge = judged(kind)
        judge.reply = lambda prompt, number: FATAL[fault]
        with pytest.raises(InputError, match=str(FATAL[fault].status)):
            judge.ask(50)
        assert len(judge.prompts) <= AT_ONCE
        assert judge.spent.calls == len(judge.prompts)

    @pytest.mark.parametrize("kind", HTTP)
    @pytest.mark.parametrize("count", [2**31, -1, 1.5, "9", None])
    def test_a_count_that_cannot_be_is_none_and_the_most_is_booked(self, judged, kind, count):
        judge = judged(kind)
        answer = completion("[RESULT] 4", usage=None) if kind != "decisions" else None

        def http(call):
            body = DecisionModel()(call).body if answer is None else dict(answer)
            names = ("input_tokens", "output_tokens") if kind == "decisions" else ("prompt_tokens", "completion_tokens")
            return Reply(body | {"usage": dict.fromkeys(names, count)})

        judge.http = http
        (response,) = judge.ask(1)
        assert (response.error, response.prompt_tokens, response.attempts) == (None, None, 1)
        assert response.tokens == judge.spent.tokens > 256

    @pytest.mark.parametrize("kind", KINDS)
    def test_as_many_calls_as_allowed_are_under_way(self, judged, kind):
        judge, waiting, lock, most = judged(kind), set(), threading.Lock(), []

        def after(prompt):
            with lock:
                waiting.add(prompt)
                most.append(len(waiting))
                return max(most) >= AT_ONCE

        def leave(prompt):
            with lock:
                waiting.discard(prompt)

        def reply(prompt, number):
            return Reply(after=lambda: after(prompt) and (leave(prompt) or True))

        judge.reply = reply
        assert [made.error for made in judge.ask(20)] == [None] * 20
        assert max(most) == AT_ONCE

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_budget_of_calls_counts_those_made_again(self, judged, kind):
        judge = judged(kind)
        fault = Reply({}, status=503) if kind in HTTP else ConnectionError("x")
        judge.reply = lambda prompt, number: fault if number == 0 else None
        responses = judge.ask(30, budget={"calls": 10})
        assert len(judge.prompts) == sum(made.attempts for made in responses) == 10
        refused = {made.error for made in responses if made.error is not None}
        assert refused == {"budget: calls: 0 of 10 left, the next call can take 1"}

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_judge_that_is_down_is_not_asked_everything(self, judged, kind):
        judge = judged(kind)
        fault = Reply({}, status=503) if kind in HTTP else ConnectionError("x")
        judge.reply = lambda prompt, number: fault
        responses = judge.ask(200, max_attempts=1)
        most = delivery.MAX_FAILED_IN_A_ROW
        assert most <= len(judge.prompts) < most + AT_ONCE
        stopped = [made for made in responses if made.attempts == 0]
        assert len(stopped) == 200 - len(judge.prompts)
        assert all(made.error.startswith("stopped: 50 requests in a row failed") for made in stopped)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_judge_that_refuses_everything_ends_the_job(self, judged, kind):
        judge = judged(kind)
        fault = Reply({}, status=422) if kind in HTTP else KeyError("x")
        judge.reply = lambda prompt, number: fault
        with pytest.raises(InputError, match=r"^judge: 10 requests in a row failed, the last as "):
            judge.ask(200)
        assert len(judge.prompts) < delivery.MAX_REFUSED_IN_A_ROW + AT_ONCE

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_defect_in_the_requests_reaches_the_job(self, judged, kind):
        judge = judged(kind)

        def broken(count, requests=judge.requests):
            yield from requests(count)
            raise KeyError("no such column")

        judge.requests = broken
        with pytest.raises(KeyError, match="no such column"):
            judge.ask(1)

    @pytest.mark.parametrize("kind", KINDS)
    def test_requests_are_taken_as_they_are_needed_and_an_engine_that_is_left_makes_no_more_calls(self, judged, kind):
        judge, taken = judged(kind), []
        with running(judge.http) as endpoint:
            engine = judge.engine(endpoint.base_url)
            answers = engine.answer(taken.append(made) or made for made in judge.requests(10_000))
            next(answers)
            answers.close()
            assert "endpoint" not in [thread.name for thread in threading.enumerate()]
            time.sleep(0.2)  # the server counts what is on its way
            sent = len(judge.prompts)
            time.sleep(0.2)
            assert len(judge.prompts) == sent
            engine.close()
        assert max(sent, len(taken)) < 10_000

    @pytest.mark.parametrize("how", ["signal", "end_early"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_job_that_ends_sends_nothing_more_and_keeps_the_answers_under_way(self, judged, kind, how):
        """A server of the job's own is not waited for: its answers cost nothing."""
        judge, told = judged(kind), threading.Event()
        judge.reply = lambda prompt, number: Reply(after=told.is_set)
        kept, ends = [], kind == "server"
        with running(judge.http) as endpoint, sigterm_ends(told.set):
            engine = judge.engine(endpoint.base_url)

            def tell():
                deadline = time.monotonic() + 60
                while len(judge.prompts) < AT_ONCE and time.monotonic() < deadline:
                    time.sleep(0.005)
                if how == "signal":
                    os.kill(os.getpid(), signal.SIGTERM)
                else:
                    engine.calls.end_early()
                    told.set()

            threading.Thread(target=tell, daemon=True).start()
            answers = engine.answer(judge.requests(100))
            if how == "signal":
                with pytest.raises(SystemExit, match="ended on request"):
                    collections.deque(map(kept.append, answers))
            else:
                kept = list(answers)
                assert list(engine.answer(judge.requests(100))) == [], "and for good"
            judge.ended.set()
            engine.close()
        assert len(kept) == len(judge.prompts) == AT_ONCE
        assert all(made.attempts == 1 for made in kept)
        if not ends:
            assert [made.error for made in kept] == [None] * AT_ONCE

    @pytest.mark.parametrize("kind", KINDS)
    def test_an_answer_that_comes_at_the_moment_of_the_signal_is_kept(self, judged, kind):
        judge, kept = judged(kind), []
        with running(judge.http) as endpoint, sigterm_as_the_main_thread_wakes():
            engine = judge.engine(endpoint.base_url)
            with pytest.raises(SystemExit, match="ended on request"):
                collections.deque(map(kept.append, engine.answer(judge.requests(100))))
            engine.close()
        assert len(kept) == len(judge.prompts) > 0

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "server"])
    def test_what_a_killed_job_has_written_down_is_what_was_called_and_answered(self, judged, kind):
        """As if the job had been killed before anything was stored."""
        judge = judged(kind)
        fault = Reply({}, status=503) if kind in HTTP else ConnectionError("x")
        judge.reply = lambda prompt, number: fault if prompt == "prompt 0" else None
        responses = {made.request_id: made for made in judge.ask(9)}
        store = Store(judge.folder / "store")
        open_calls.book(judge.folder / "open_calls.jsonl", store)
        rows = store.read(list(responses), ["text", "attempts"]).set_index("request_id")
        assert rows["text"].dropna().to_dict() == {name: made.text for name, made in responses.items() if made.text}
        assert store.spent()["calls"] == rows["attempts"].sum() == len(judge.prompts) == 8 + ATTEMPTS
