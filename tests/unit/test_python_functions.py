"""Functions of Python as judges: how they are found and known, called, and what their answers and failures become."""

import asyncio
import contextlib
import dataclasses
import functools
import gc
import math
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from endpoint import Reply, completion, running
from factories import request

from rubric_order import Answer
from rubric_order.base.errors import InputError
from rubric_order.judging import engines
from rubric_order.judging.engines import delivery
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.engines.python import answers as function_answers
from rubric_order.judging.engines.python import engine as python_engine
from rubric_order.judging.engines.python import functions
from rubric_order.run import loading
from rubric_order.settings import judges
from rubric_order.settings.base import parse
from rubric_order.settings.judges.judge import FORMATS, IDENTITY_VERSION

QUICK = {"max_attempts": 3, "backoff": {"first": 0.001, "longest": 0.002}}
CONFIG = {
    "datasets": {"demo": {}},
    "judges": {"mine": {"engine": "python", "function": "a_judge:judge"}},
    "studies": {"s": {"datasets": ["demo"], "judges": ["mine"], "strategies": ["balanced"]}},
}
WORDS = "def judge(prompt):\n    return 'Fine. [RESULT] 4'\n"


def settings(**changes):
    return judges.read({"engine": "python", "function": "a_judge:judge", "version": "1", **QUICK, **changes})


@pytest.fixture
def ask(tmp_path):
    """Ask a function some requests, as the process that makes a job's calls does."""

    def ask(function, count=1, *, names=("",), turn=None, requests=None, **changes):
        engine = engines.load(settings(**changes), engines.Resources(turn=turn, function=function))
        try:
            wanted = requests or [request(f"r{k}", f"prompt {k}", names=names) for k in range(count)]
            return sorted(engine.answer(wanted), key=lambda response: int(response.request_id[1:]))
        finally:
            engine.close()

    return ask


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module into a folder, and forget it afterwards; the judge that its function is."""
    path = list(sys.path)

    def write(text, *, name="a_judge", folder="here", **changes):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
        sys.path[:] = path
        changes = {"function": f"{name}:judge", "folder": str(place)} | changes
        judge = judges.read({"engine": "python", **changes})
        return functions.resolved(judge, functions.find(judge))

    yield write
    sys.path[:] = path
    for name in ("a_judge", "b_judge"):
        sys.modules.pop(name, None)


def test_a_changed_function_is_another_judge_and_a_moved_file_is_the_same(module):
    before = module(WORDS).identity(FORMATS)
    assert module(WORDS, folder="there").identity(FORMATS) == before
    assert module(WORDS, name="b_judge").identity(FORMATS) == before
    assert module(WORDS.replace("\n", "\r\n")).identity(FORMATS) == before
    assert module(WORDS.replace("4", "5")).identity(FORMATS) != before
    assert module(WORDS.replace("prompt", "messages")).identity(FORMATS) != before
    assert before["version"] == IDENTITY_VERSION


def test_a_declared_version_counts_in_place_of_the_source(module):
    declared = f"{WORDS}\njudge.__version__ = '2.1'\n"
    judge = module(declared)
    assert judge.version == "2.1"
    assert module(declared.replace("4", "5")).identity(FORMATS) == judge.identity(FORMATS)
    assert module(declared, name="b_judge").identity(FORMATS) != judge.identity(FORMATS)
    of_config = module(declared, version="3")
    assert of_config.version == "3"
    assert module(WORDS, version="3").identity(FORMATS) == of_config.identity(FORMATS)


def test_source_counts_of_the_module_that_a_function_is_imported_from(module):
    module(WORDS, name="b_judge")
    before = module("from b_judge import judge\n", folder="here").version
    module(WORDS.replace("4", "5"), name="b_judge")
    assert module("from b_judge import judge\n", folder="here").version != before


@pytest.mark.parametrize(
    ("parameters", "takes"),
    [
        ("prompt", "prompt"),
        ("messages", "messages"),
        ("text: list", "prompt"),
        ("messages, n=1", "messages"),
        ("*x", "prompt"),
    ],
)
def test_the_name_of_the_first_parameter_says_what_a_function_takes(module, parameters, takes):
    assert module(f"def judge({parameters}):\n    return 4\n").takes == takes


def test_config_says_what_a_function_takes_where_its_parameter_does_not(module, ask):
    seen = []
    judge = module("def judge(x):\n    return 4\n", takes="messages", system_prompt="Be brief.")
    assert judge.takes == "messages"
    ask(lambda x: seen.append(x) or 4, takes="messages", system_prompt="Be brief.")
    ask(lambda x: seen.append(x) or 4, takes="prompt")
    system, user = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "prompt 0"}
    assert seen == [[system, user], "prompt 0"]


IMPORTED = "function: 'a_judge:judge': module 'a_judge' cannot be imported: "
ONE = "expected module:name of a function of one argument"
ALL = {"top_p": None, "max_tokens": None, "seed": None}
MISFITS = [
    (
        None,
        {},
        "function: 'a_judge:judge': no module 'a_judge', neither among the installed packages nor in {folder}; " + ONE,
    ),
    ("x = 1\n", {}, "function: 'a_judge:judge': 'a_judge' has no 'judge'; " + ONE),
    ("judge = 4\n", {}, f"function: 'a_judge:judge': {ONE}, found 4"),
    ("import no_such\n", {}, IMPORTED + "ModuleNotFoundError: No module named 'no_such'"),
    ("def judge(\n", {}, IMPORTED + "SyntaxError: '(' was never closed (a_judge.py, line 1)"),
    ("import sys\nsys.exit('two\\nlines')\n", {}, IMPORTED + "SystemExit: two lines"),
    ("import asyncio\nraise asyncio.CancelledError\n", {}, IMPORTED + "CancelledError: "),
    (
        "def __getattr__(name):\n    raise SystemExit(0)\n",
        {},
        "function: 'a_judge:judge': 'judge' of 'a_judge': SystemExit: 0",
    ),
    (
        "def judge(a, b):\n    pass\n",
        {},
        "function: 'a_judge:judge': expected a function that can be called with one argument, found (a, b): missing a"
        " required argument: 'b'",
    ),
    (WORDS, {"function": "a_judge"}, "function: expected module:name, such as my_judges:judge, found 'a_judge'"),
    (
        WORDS,
        {"system_prompt": "Be brief."},
        "system_prompt: the function takes a prompt; expected takes: messages",
    ),
    (
        WORDS,
        {"sampling": {"temperature": 0.5, **ALL}},
        "sampling/temperature: the function samples as it does; leave it out",
    ),
    (
        WORDS,
        {"budget": {"tokens": 9}},
        "answer_tokens: limits of tokens or cost need a value, to know the most that a call can use",
    ),
    (WORDS, {"shards": 2}, "shards: one job calls a function, several times at once; expected 1, found 2"),
    (WORDS, {"second_request": True}, "second_request: its engine holds no answer to a form"),
    (WORDS, {"base_url": "http://x/v1"}, "base_url: it is for engine 'openai'"),
]


@pytest.mark.parametrize(("text", "changes", "message"), MISFITS)
def test_a_function_that_cannot_be_used_is_one_line_of_a_config(text, changes, message, tmp_path, root, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "a_judge", raising=False)
    if text is not None:
        (tmp_path / "a_judge.py").write_text(text)
    judge = {**CONFIG["judges"]["mine"], "folder": str(tmp_path), **changes}
    with pytest.raises(InputError) as error:
        loading.complete({**CONFIG, "judges": {"mine": judge}}, folder=root)
    assert str(error.value) == "config: judges/mine/" + message.format(folder=tmp_path)
    monkeypatch.delitem(sys.modules, "a_judge", raising=False)


def test_a_config_is_completed_by_what_the_function_says(tmp_path, root, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "a_judge", raising=False)
    moved = "import os\nos.chdir('/')\nprint('loading')\n"
    (tmp_path / "a_judge.py").write_text(moved + WORDS.replace("prompt", "messages"))
    monkeypatch.chdir(tmp_path)
    judge = loading.complete(CONFIG, folder=root).judges["mine"]
    assert (judge.takes, judge.folder, judge.model) == ("messages", str(tmp_path), "judge")
    assert judge.version.startswith("source:")
    assert judges.read(judge.block()) == judge
    assert capsys.readouterr() == ("", "loading\n")
    assert Path.cwd() == tmp_path
    monkeypatch.delitem(sys.modules, "a_judge", raising=False)


def test_a_module_that_has_changed_since_the_plan_answers_nothing(module):
    planned = module(WORDS)
    module(WORDS.replace("4", "5"))
    with pytest.raises(InputError, match=r"^judge: function: 'a_judge:judge': its module has changed since the reads"):
        engines.load(planned)


def test_what_a_function_of_a_job_prints_goes_to_the_log(module, capsys):
    engine = engines.load(module("def judge(prompt):\n    print('thinking')\n    return 4\n"))
    assert [response.text for response in engine.answer([request("r0")])] == ["4"]
    engine.close()
    print("done")
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("thinking")) == ("done\n", 1)


# --- answers


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("Fine. [RESULT] 4", "Fine. [RESULT] 4"),
        ("", ""),
        (4, "4"),
        (np.int64(4), "4"),
        ({"score": 4}, "4"),
        ({"text": "So: 4"}, "So: 4"),
        (Answer(score="4"), "4"),
        (Answer(text="So: 4", reasoning="Hm."), "So: 4"),
    ],
)
def test_an_answer_is_text_a_score_or_both_by_their_names(returned, text):
    response = function_answers.response(request("r"), returned)
    assert (response.text, response.error, response.option_logprobs) == (text, None, None)


LABELS = "probabilities: expected each label once, 1, 2, 3, 4, 5; found "
SUM = "probabilities: expected a sum above 0 and up to 1, found "
EACH = {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4, 5: 0}


def test_probabilities_are_those_of_the_labels_in_their_order():
    by_label = {str(label): p for label, p in reversed(EACH.items())}
    for given in (EACH, by_label):
        response = function_answers.response(request("r"), Answer(score=4, probabilities=given))
        assert response.option_logprobs == [math.log(0.1), math.log(0.2), math.log(0.3), math.log(0.4), -math.inf]
    several = request("r", names=("wit", "plot"))
    given = {"plot": EACH, "wit": dict.fromkeys(range(1, 6), 0.2)}
    response = function_answers.response(several, Answer(text="wit: 4, plot: 4", probabilities=given))
    assert response.option_logprobs[:5] == [math.log(0.2)] * 5
    assert response.option_logprobs[5:9] == [math.log(p) for p in (0.1, 0.2, 0.3, 0.4)]


class Message:
    content = "4"

    def __repr__(self):
        return "Message('4')"


WRONG = [
    (None, "expected text, a score as a whole number, or Answer(...), found NoneType None"),
    (4.0, "expected text, a score as a whole number, or Answer(...), found float 4.0"),
    (True, "expected text, a score as a whole number, or Answer(...), found bool True"),
    (b"4", "expected text, a score as a whole number, or Answer(...), found bytes b'4'"),
    ([4], "expected text, a score as a whole number, or Answer(...), found list [4]"),
    (Message(), "expected text, a score as a whole number, or Answer(...), found Message Message('4')"),
    ({}, "expected either a text or a score, found neither"),
    ({"text": "4", "score": 4}, "expected either a text or a score, found both"),
    ({"txt": "4"}, "unknown key 'txt'; expected text, score, "),
    ({"text": 4}, "text: expected text, found int 4"),
    ({"text": "4" * (4 * 2**20 + 1)}, "text: expected at most 4,194,304 characters, found 4,194,305"),
    ({"score": 4.5}, "score: expected a whole number or a label, found float 4.5"),
    ({"score": True}, "score: expected a whole number or a label, found bool True"),
    ({"score": 4, "prompt_tokens": -1}, "prompt_tokens: expected a number of tokens, found -1"),
    ({"score": 4, "prompt_tokens": 1, "cached_tokens": 2}, "cached_tokens: expected a part of prompt_tokens"),
    ({"score": 4, "model": 4}, "model: expected text, found int 4"),
    ({"score": 4, "probabilities": [0.2] * 5}, "probabilities: expected a mapping by label, found list"),
    ({"score": 4, "probabilities": {4: 1.0}}, LABELS + "4"),
    ({"score": 4, "probabilities": EACH | {"the": 0.1}}, LABELS + "1, 2, 3, 4, 5, the"),
    ({"score": 4, "probabilities": EACH | {5: 0.5}}, SUM + "1.5"),
    ({"score": 4, "probabilities": dict.fromkeys(range(1, 6), 0)}, SUM + "0"),
    ({"score": 4, "probabilities": EACH | {5: -0.1}}, "probabilities: 5: expected a probability, found -0.1"),
    ({"score": 4, "probabilities": EACH | {5: math.nan}}, "probabilities: 5: expected a probability, found nan"),
    ({"score": 4, "probabilities": EACH | {5: "0.1"}}, "probabilities: 5: expected a probability, found '0.1'"),
]


@pytest.mark.parametrize(("returned", "message"), WRONG, ids=[str(number) for number in range(len(WRONG))])
def test_an_answer_of_a_wrong_type_is_a_failure_for_good_with_a_reason(ask, returned, message):
    calls = []
    (response,) = ask(lambda prompt: calls.append(prompt) or returned)
    assert response.error.startswith(f"wrong_answer: a_judge:judge has returned no answer: {message}")
    assert (response.text, response.attempts, len(calls)) == (None, 1, 1)
    assert "wrong_answer" not in engines.PASSING


# --- calls


def test_calls_of_a_function_are_made_one_at_a_time_and_those_of_an_async_one_together(ask):
    """Each call waits until as many are under way as are expected, and then a while for one too many."""
    most, wanted, lock = [0, 0], [0], threading.Lock()

    def note(change):
        with lock:
            most[0] += change
            most[1] = max(most)

    def waits():
        return (0.005 for _ in range(6000) if most[1] < wanted[0])  # half a minute where so many never come

    def plain(prompt):
        note(1)
        for seconds in waits():
            time.sleep(seconds)
        time.sleep(0.005)
        note(-1)
        return 4

    async def coroutine(prompt):
        note(1)
        for seconds in waits():
            await asyncio.sleep(seconds)
        await asyncio.sleep(0.005)
        note(-1)
        return 4

    for function, changes, expected in (
        (plain, {}, 1),
        (plain, {"concurrency": 5}, 5),
        (coroutine, {}, 32),
        (functools.partial(coroutine), {"concurrency": 7}, 7),
        (lambda prompt: coroutine(prompt), {}, 1),
    ):
        most[:], wanted[0] = [0, 0], expected
        assert [response.text for response in ask(function, 64, **changes)] == ["4"] * 64
        assert most[1] == expected


class BusyError(Exception):
    pass


class ThrottledError(BusyError):
    pass


@pytest.mark.parametrize("kind", ["plain", "async"])
@pytest.mark.parametrize(
    ("raised", "transient", "error", "calls"),
    [
        (KeyError("x"), [], "raised: a_judge:judge raised KeyError: 'x'", 1),
        (SystemExit("bye"), [], "raised: a_judge:judge raised SystemExit: bye", 1),
        (KeyboardInterrupt(), [], "raised: a_judge:judge raised KeyboardInterrupt:", 1),
        (asyncio.CancelledError(), [], "raised: a_judge:judge raised CancelledError:", 1),
        (ThrottledError("a\nb"), [], "raised: a_judge:judge raised ThrottledError: a b", 1),
        (ThrottledError("a\nb"), ["BusyError"], "transient: a_judge:judge raised ThrottledError: a b", 3),
        (ThrottledError("x"), [f"{__name__}.ThrottledError"], "transient: a_judge:judge raised ThrottledError: x", 3),
        (ConnectionResetError("x"), [], "transient: a_judge:judge raised ConnectionResetError: x", 3),
        (TimeoutError(), [], "transient: a_judge:judge raised TimeoutError:", 3),
    ],
)  # fmt: skip
def test_an_exception_is_a_failure_and_is_tried_again_where_it_is_transient(ask, kind, raised, transient, error, calls):
    made = []

    def plain(prompt):
        made.append(prompt)
        raise raised

    async def coroutine(prompt):
        await asyncio.sleep(0)
        plain(prompt)

    (response,) = ask(plain if kind == "plain" else coroutine, transient=transient)
    assert (response.error, response.attempts, len(made)) == (error, calls, calls)
    assert (response.error.partition(":")[0] in engines.PASSING) == (calls > 1)


def test_no_message_holds_a_secret_of_the_environment(ask, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "very-secret-key")

    def judge(prompt):
        raise ValueError("no access with very-secret-key")

    (response,) = ask(judge)
    assert response.error == "raised: a_judge:judge raised ValueError: no access with ***"


def endless(kind, ended, begun):
    """A function whose calls go on until an event is set, a minute at most."""

    def plain(prompt):
        begun.release()
        return ended.wait(60) and 4

    async def coroutine(prompt):
        begun.release()
        await asyncio.sleep(60)

    async def blocking(prompt):
        begun.release()
        return ended.wait(60) and 4

    async def uncancelled(prompt):
        begun.release()
        for _ in range(6000):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            if ended.is_set():
                break

    async def unclosed(prompt):
        begun.release()
        while not ended.is_set():
            with contextlib.suppress(BaseException):
                await asyncio.sleep(60)

    kinds = {"plain": plain, "async": coroutine, "blocking": blocking, "uncancelled": uncancelled, "unclosed": unclosed}
    return kinds[kind]


@pytest.fixture
def ended():
    """An event that is set at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


ENDLESS = ["plain", "async", "blocking", "uncancelled"]


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_call_that_takes_too_long_is_given_up_and_may_pass(ask, kind, ended, monkeypatch):
    monkeypatch.setattr(python_engine, "HELD_SECONDS", 0.05)
    monkeypatch.setattr(python_engine, "CLEAN_UP_SECONDS", 0.05)
    (response,) = ask(endless(kind, ended, threading.Semaphore(0)), timeout=0.05, max_attempts=2)
    assert not ended.is_set()
    assert response.error == "timeout: a_judge:judge gave no answer within 0.05 s"
    assert response.attempts == 2


def test_calls_that_wait_for_a_blocked_event_loop_are_not_late(ask, monkeypatch):
    """Each call blocks the loop for longer than `timeout`. It is paid for, so its answer is kept."""
    monkeypatch.setattr(python_engine, "HELD_SECONDS", 60.0)
    made = []

    async def judge(prompt):
        made.append(prompt)
        time.sleep(0.02)
        return 4

    responses = ask(judge, 12, timeout=0.01)
    assert [(response.text, response.attempts) for response in responses] == [("4", 1)] * 12
    assert len(made) == 12


def test_calls_behind_one_that_never_returns_are_neither_made_nor_charged(ask, ended, monkeypatch):
    monkeypatch.setattr(python_engine, "HELD_SECONDS", 0.2)
    begun = threading.Semaphore(0)
    responses = ask(endless("blocking", ended, begun), 60, timeout=0.05, max_attempts=1, concurrency=20)
    assert not ended.is_set()
    assert [response.reason for response in responses].count("timeout") == 60
    uncalled = [response for response in responses if not response.attempts]
    assert len(uncalled) > 40
    assert {(response.error, response.tokens) for response in uncalled} == {
        ("timeout: a_judge:judge was not called, since another call has blocked the event loop for over 0.05 s", 0)
    }


def test_a_call_that_waits_for_a_blocked_event_loop_is_not_made_after_the_job_has_ended(ended):
    begun = threading.Semaphore(0)
    engine = engines.load(settings(concurrency=3), engines.Resources(function=endless("blocking", ended, begun)))
    responses = []
    answers = threading.Thread(target=lambda: responses.extend(engine.answer(request(f"r{k}") for k in range(9))))
    answers.start()
    begun.acquire()
    engine.calls.end_early(30.0)
    ended.set()
    answers.join()
    engine.close()
    assert [(response.text, response.attempts) for response in responses] == [("4", 1)]
    assert not begun.acquire(blocking=False)


@pytest.mark.parametrize("kind", ["uncancelled", "unclosed"])
def test_calls_that_ignore_their_cancellation_leave_no_message(ask, kind, ended, monkeypatch, caplog):
    monkeypatch.setattr(python_engine, "CLEAN_UP_SECONDS", 0.05)
    messages = []
    monkeypatch.setattr(sys, "unraisablehook", messages.append)
    ask(endless(kind, ended, threading.Semaphore(0)), 5, timeout=0.05, max_attempts=1)
    gc.collect()
    assert [*messages, *(record.message for record in caplog.records if record.name == "asyncio")] == []


def test_a_task_of_an_async_function_that_ends_the_program_ends_no_other_call(ask):
    async def quits():
        raise SystemExit(0)

    async def judge(prompt):
        with contextlib.suppress(BaseException):
            await asyncio.create_task(quits())
        return 4

    assert [response.text for response in ask(judge, 5)] == ["4"] * 5


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_function_that_never_returns_does_not_keep_its_job_from_ending(tmp_path, monkeypatch, kind, ended):
    """The calls that have begun count as made, and all requests are asked again."""
    begun = threading.Semaphore(0)
    judge = endless(kind, ended, begun)
    monkeypatch.setattr(python_engine, "CLEAN_UP_SECONDS", 0.05)
    turn = engines.Turn(Amount(), tmp_path / "sent.json", tmp_path / "open_calls.jsonl")
    engine = engines.load(settings(concurrency=3), engines.Resources(turn=turn, function=judge))
    responses = []
    answers = threading.Thread(target=lambda: responses.extend(engine.answer(request(f"r{k}") for k in range(9))))
    answers.start()
    calls = 1 if kind == "blocking" else 3  # others wait for the event loop
    for _ in range(calls):
        begun.acquire()
    engine.calls.end_early(0.01)
    answers.join(30)
    assert not answers.is_alive()
    ended.set()
    engine.close()
    stopped = ("stopped: the job was ended before the answer came", 1)
    assert [(response.error, response.attempts) for response in responses] == [stopped] * calls
    assert (tmp_path / "open_calls.jsonl").read_text().count('["call"') == 3


def test_a_profile_changes_the_system_message_and_nothing_else(module):
    judge = module("def judge(messages):\n    return 4\n", profiles={"brief": {"system_prompt": "Be brief."}})
    assert list(judge.problems()) == []
    seen = []
    engine = engines.load(judge, engines.Resources(function=lambda messages: seen.append(messages) or 4))
    asked = [dataclasses.replace(request("r0"), profile="brief"), request("r1")]
    assert [response.text for response in engine.answer(asked)] == ["4", "4"]
    assert [[message["role"] for message in messages] for messages in seen] == [["system", "user"], ["user"]]
    judge = module("def judge(messages):\n    return 4\n", profiles={"warm": {"sampling": {"temperature": 1}}})
    expected = "profiles/warm/sampling/temperature: the function samples as it does; leave it out"
    assert list(judge.problems()) == [expected]


def test_a_run_stops_after_ten_failures_in_a_row_and_names_function_and_exception(ask):
    made = []

    def judge(prompt):
        made.append(prompt)
        raise KeyError("score")

    with pytest.raises(InputError) as error:
        ask(judge, 100)
    assert (
        str(error.value)
        == "judge: 10 requests in a row failed, the last as raised: a_judge:judge raised KeyError: 'score'"
    )
    assert len(made) == delivery.MAX_REFUSED_IN_A_ROW


def test_calls_are_booked_as_the_answer_says_and_within_the_budget(ask, tmp_path):
    turn = engines.Turn(Amount(), tmp_path / "sent.json", tmp_path / "open_calls.jsonl")
    prices = {"prompt": 1e6, "completion": 2e6}
    changes = {"answer_tokens": 10, "prices": prices, "budget": {"calls": 2}}
    used = Answer(score=4, prompt_tokens=100, completion_tokens=5)
    responses = ask(lambda prompt: used if prompt == "prompt 0" else 4, 3, turn=turn, **changes)
    assert [(r.tokens, r.cost) for r in responses[:2]] == [(105, 110.0), (len("prompt 1") + 10, len("prompt 1") + 20.0)]
    assert responses[2].error.startswith("budget: calls: 0 of 2 left")


def test_the_example_asks_twice_for_an_answer_and_its_config_is_whole(root, ask, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    config = parse((root / "config/examples/python_judge.yaml").read_text(encoding="utf-8"))
    judge = loading.complete(config, folder=root).judges["my_function"]
    assert judge.takes == "messages"
    with running(lambda call: Reply(completion(f"{len(call.body['messages'])} [RESULT] 4"))) as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", "no-key-of-anybody")
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        responses = ask(functions.find(judge), 3)
    assert [response.text for response in responses] == ["3 [RESULT] 4"] * 3
    assert len(endpoint.calls) == 6
    sys.modules.pop("two_step_judge", None)
