"""Judges that are asked in batches, by a server of the Batch API whose batches go on when a test says so."""

import contextlib
import json
from datetime import UTC, datetime

import pytest
from batch_server import FAULTS, as_lines, serving
from endpoint import Reply
from factories import complete_judge, request_table

from rubric_order.base.errors import InputError
from rubric_order.judging import jobs, shard, starting, status
from rubric_order.judging.engines import Resources
from rubric_order.judging.engines.batches.engine import MAX_LOOKS
from rubric_order.judging.engines.batches.files import Results
from rubric_order.judging.store import Store
from rubric_order.settings.config import Config

QUICK = {"first": 0.001, "longest": 0.01}
LEAVE = {"wait": "0s", "poll": "0s", "requests": 1000}  # the job sends its batches and ends
STAY = LEAVE | {"wait": "1d"}


class Study:
    """Requests of a judge over the server, and its store."""

    def __init__(self, folder, server, endpoint, requests=6):
        self.server, self.endpoint = server, endpoint
        self.store = Store(folder / "store/my_judge")
        self.table = request_table(*(f"r{k}" for k in range(requests)), repeat=0)
        self.table["prompt"] = [f"prompt {k}" for k in range(requests)]
        self.ids = self.table["request_id"].tolist()

    def judge(self, **settings):
        usual = {"answer_format": "feedback", "answer_prefix": "", "backoff": QUICK, "max_attempts": 3, "batch": STAY}
        ours = {"engine": "openai", "model": "a-model", "base_url": self.endpoint.base_url}
        return complete_judge(**ours | usual | settings)

    def run(self, table=None, **settings):
        """One job; the errors of its responses."""
        judge = self.judge(**settings)
        with starting.Starter(judge, self.store, Resources()) as start:
            done = shard.judge(self.table if table is None else table, self.store, start)
        return done["error"].astype(object).where(done["error"].notna(), None).tolist()

    @property
    def records(self):
        return sorted((self.store.folder / "batches").glob("*.json"))

    def texts(self):
        return self.store.read(self.ids, ["text"])["text"].tolist()

    def sent(self):
        """Number of requests of all batches that were created."""
        return sum(len(batch.asked) for batch in self.server.batches.values())


@pytest.fixture
def study(tmp_path):
    with serving() as (server, endpoint):
        yield Study(tmp_path, server, endpoint)


def hold(batch):
    """The server goes on with no batch."""
    if batch.output_file is None:
        batch.status = "in_progress"


def test_a_batch_gives_the_answers_that_single_calls_give(study, tmp_path):
    assert study.run() == [None] * 6
    rows = study.store.read(study.ids)
    assert study.texts() == ["Fine. [RESULT] 4"] * 6
    assert rows["prompt_tokens"].tolist() == [100] * 6
    assert rows["model"].tolist() == ["a-model"] * 6
    assert study.store.spent() == {"calls": 6, "tokens": 630, "cost": 0.0}
    assert study.records == []
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_lines_hold_the_bodies_of_single_calls(study, tmp_path):
    study.run()
    (batch,) = study.server.batches.values()
    lines = {line["custom_id"]: line for line in batch.asked}
    assert list(lines) == study.ids
    assert {(line["method"], line["url"]) for line in batch.asked} == {("POST", "/v1/chat/completions")}
    body = lines["r3"]["body"]
    assert body["messages"] == [{"role": "user", "content": "prompt 3"}]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("a-model", 0, 8)


def test_no_request_and_no_answer_depends_on_batches(study):
    with_batches, without = study.judge(), study.judge(batch=False)
    assert with_batches.identity([]) == without.identity([])
    study.run()
    calls = len(study.endpoint.calls)
    assert study.run(batch=False) == [None] * 6
    assert len(study.endpoint.calls) == calls  # one store serves both


def test_a_job_that_does_not_wait_says_what_is_under_way_and_a_later_one_fetches_it(study):
    study.server.at_each_look = hold
    with pytest.raises(InputError, match=r"6 requests are under way in 1 batches \(batch_0: .*run again later"):
        study.run(batch=LEAVE)
    assert len(study.records) == 1
    with pytest.raises(InputError, match="6 requests are under way"):
        study.run(batch=LEAVE)
    study.server.at_each_look = study.server.complete
    assert study.run(batch=LEAVE) == [None] * 6
    assert study.sent() == 6
    assert study.records == []


def test_the_last_look_at_a_batch_is_kept_until_its_answers_are_stored(study):
    study.server.at_each_look = hold
    before = datetime.now(UTC)
    with pytest.raises(InputError):
        study.run(batch=LEAVE)
    (open_batch,) = status.open_batches(study.store, datetime.now(UTC)).to_dict("records")
    assert open_batch["batch"] == "batch_0"
    assert (open_batch["state"], open_batch["done"], open_batch["requests"]) == ("in_progress", 0, 6)
    assert before.replace(microsecond=0) <= datetime.fromisoformat(open_batch["sent"]) <= datetime.now(UTC)
    first = datetime.fromisoformat(open_batch["looked"])
    with pytest.raises(InputError):
        study.run(batch=LEAVE)
    (open_batch,) = status.open_batches(study.store, datetime.now(UTC)).to_dict("records")
    assert datetime.fromisoformat(open_batch["looked"]) >= first
    study.server.at_each_look = study.server.complete
    study.run(batch=LEAVE)
    assert status.open_batches(study.store, datetime.now(UTC)).empty
    assert list((study.store.folder / "batches").iterdir()) == []


def test_counts_in_a_form_of_their_own_are_not_read(study):
    batch = later(study)
    as_json = batch.as_json
    batch.as_json = lambda: as_json() | {"request_counts": ["many"]}
    with pytest.raises(InputError, match="in_progress, 0 of 6 done"):
        study.run(batch=LEAVE)


def test_only_what_no_open_batch_holds_is_sent(study):
    study.server.at_each_look = hold
    with pytest.raises(InputError):
        study.run(study.table[:4], batch=LEAVE)
    with pytest.raises(InputError, match="6 requests are under way in 2 batches"):
        study.run(batch=LEAVE)
    assert sorted(len(batch.asked) for batch in study.server.batches.values()) == [2, 4]
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_answers_of_a_batch_are_stored_where_no_study_asks_for_them_any_more(study):
    study.server.at_each_look = hold
    with pytest.raises(InputError):
        study.run(batch=LEAVE)
    study.server.at_each_look = study.server.complete
    assert study.run(study.table[:1]) == [None]
    assert study.texts() == ["Fine. [RESULT] 4"] * 6
    assert study.records == []


def test_many_requests_go_out_in_several_batches(study):
    assert study.run(batch=STAY | {"requests": 4}) == [None] * 6
    assert sorted(len(batch.asked) for batch in study.server.batches.values()) == [2, 4]


def test_while_a_batch_is_under_way_no_single_call_is_made(study):
    study.server.at_each_look = hold
    with pytest.raises(InputError):
        study.run(batch=LEAVE)
    with pytest.raises(InputError, match="6 requests are under way in batches; set batch: true until"):
        study.run(batch=False)
    assert study.sent() == 6


def test_a_batch_at_another_address_is_not_given_up(study):
    study.server.at_each_look = hold
    with pytest.raises(InputError):
        study.run(batch=LEAVE)
    with pytest.raises(InputError, match=r"6 requests are under way in a batch at .*found base_url http://other"):
        study.run(base_url="http://other.invalid/v1")


def test_batches_are_for_chat_completions_as_openai_has_them():
    for right in (True, {}, {"wait": "90m"}):
        assert complete_judge(engine="openai", model="m", answer_prefix="", batch=right).batches is not None
    assert complete_judge(engine="openai", model="m", answer_prefix="", batch={}).batches.wait == "1h"
    judge = complete_judge(engine="openai", model="m", dialect="vllm", batch=True)
    assert "batch: it is for dialect 'openai', found 'vllm'" in list(judge.problems())


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (
            {"wiat": "1h"},
            "judges/a/batch: unknown key 'wiat'; expected wait, poll, requests, window; did you mean 'wait'?",
        ),
        ({"wait": "1 hour"}, "judges/a/batch/wait: '1 hour' does not match"),
        ({"requests": 50_001}, "judges/a/batch/requests: 50001 is greater than the maximum of 50000"),
        ([1], r"judges/a/batch: expected a mapping or true or false, found \[1\]"),
    ],
)
def test_a_mistake_in_the_settings_of_batches_is_one_error(batch, message):
    judge = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m", "batch": batch}
    with pytest.raises(InputError, match=message.replace("?", "[?]")):
        Config.read({"datasets": {"demo": {"adapter": "demo"}}, "judges": {"a": judge}, "studies": {}})


def test_a_record_that_cannot_be_read_is_one_error(study):
    path = study.store.folder / "batches/1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"key": 1}))
    with pytest.raises(InputError, match=r"batches/1\.json: expected the record of a batch"):
        study.run()
    assert study.endpoint.calls == []


# --- faults of the endpoint


def later(study):
    """Run a job until its batch is at the endpoint; the batch, which the server leaves alone from now on."""
    study.server.at_each_look = hold
    with pytest.raises(InputError, match="under way"):
        study.run(batch=LEAVE)
    study.server.at_each_look = lambda batch: None
    return list(study.server.batches.values())[-1]


def failed_line(name, status, message, **error):
    body = {"error": {"message": message, "type": "invalid_request_error", **error}}
    return {
        "id": "x",
        "custom_id": name,
        "response": {"status_code": status, "request_id": "r", "body": body},
        "error": None,
    }


def unasked_line(name, code, message):
    return {"id": "x", "custom_id": name, "response": None, "error": {"code": code, "message": message}}


def test_of_an_expired_batch_what_was_done_is_kept_and_the_rest_is_asked_again(study):
    batch = later(study)
    done = [study.server.answer(name) for name in study.ids[:4]]
    expired = [unasked_line(name, "batch_expired", "not executed in time") for name in study.ids[4:5]]
    study.server.end(batch, done, expired, status="expired")  # of the last one there is no line
    with pytest.raises(InputError, match=r"under way in 1 batches \(batch_1"):
        study.run(batch=LEAVE)
    assert [line["custom_id"] for line in study.server.batches["batch_1"].asked] == study.ids[4:]
    errors = study.store.read(study.ids[4:])["error"].tolist()
    assert errors == [
        "timeout: not asked, batch_expired not executed in time (batch batch_0)",
        "timeout: not asked, expired (batch batch_0)",
    ]
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)
    assert study.store.spent()["tokens"] == 6 * 105


def test_a_batch_that_somebody_cancels_is_asked_again(study):
    batch = later(study)
    study.server.end(batch, [study.server.answer("r0")], status="cancelled")
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_a_batch_that_is_refused_as_a_whole_is_one_error_and_is_sent_anew(study):
    batch = later(study)
    batch.status = "failed"
    batch.errors = [{"code": "invalid", "message": "This model has no batches.", "line": k} for k in (1, 2)]
    with pytest.raises(InputError) as error:
        study.run()
    assert str(error.value) == (
        "judge: batch batch_0 was refused: line 1: This model has no batches. (and 1 more); none of it was asked"
    )
    assert study.records == []
    assert study.store.spent()["calls"] == 0
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6


def test_lines_in_another_order_and_lines_that_count_for_nothing(study, caplog):
    batch = later(study)
    lines = [study.server.answer(name, f"Text of {name}. [RESULT] 4") for name in reversed(study.ids)]
    second = study.server.answer("r1", "Another. [RESULT] 1")
    stray = study.server.answer("stranger")
    unreadable = [b"{not JSON", b"[1]", b'{"custom_id": 7}', b'{"custom_id": "r2"}', b""]
    study.server.end(batch, [*lines, second, stray, *unreadable], [failed_line("r2", 500, "no")])
    assert study.run() == [None] * 6
    assert study.texts() == [f"Text of {name}. [RESULT] 4" for name in study.ids]
    assert "2 a second result of a request, 1 of an unknown request, 4 no result in JSON" in caplog.text
    assert len(study.store.read(["stranger"])) == 0


def test_an_answer_counts_rather_than_an_error_of_the_same_request(study):
    batch = later(study)
    lines = [failed_line("r0", 500, "no"), *map(study.server.answer, study.ids)]
    study.server.end(batch, lines)
    assert study.run() == [None] * 6


def test_errors_of_single_requests_are_as_those_of_single_calls(study):
    batch = later(study)
    errors = [
        failed_line("r1", 400, "the maximum context length is 8", code="context_length_exceeded"),
        failed_line("r2", 400, "filtered", code="content_filter"),
        failed_line("r3", 422, "no such field"),
    ]
    study.server.end(batch, [study.server.answer(name) for name in ("r0", "r4", "r5")], errors)
    told = study.run()
    assert told[0] is told[4] is told[5] is None
    assert [error.partition(":")[0] for error in told[1:4]] == ["prompt_too_long", "content_filter", "bad_request"]
    assert all("batch_0" in error for error in told[1:4])
    assert study.store.spent() == {"calls": 6, "tokens": 3 * 105, "cost": 0.0}


def test_errors_that_may_pass_are_asked_again_by_the_next_run(study):
    batch = later(study)
    study.server.end(batch, [study.server.answer("r0")], [failed_line(name, 429, "busy") for name in study.ids[1:]])
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)
    assert study.store.spent()["calls"] == 11


def test_a_mistake_in_config_is_one_error_and_its_requests_are_asked_again(study):
    batch = later(study)
    study.server.end(batch, [], [failed_line(name, 404, "no model a-model") for name in study.ids])
    with pytest.raises(InputError, match="does not accept the model or base_url: 404 no model a-model"):
        study.run()
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6


def test_where_all_of_many_requests_are_refused_the_job_ends_and_they_are_asked_again(tmp_path):
    with serving() as (server, endpoint):
        study = Study(tmp_path, server, endpoint, requests=10)
        batch = later(study)
        server.end(batch, [], [failed_line(name, 422, "no such field") for name in study.ids])
        with pytest.raises(InputError, match="all 10 requests of a batch failed, the last as bad_request: 422 no such"):
            study.run()
        server.at_each_look = server.complete
        assert study.run() == [None] * 10


@pytest.mark.parametrize("batch", [STAY, False])
def test_answers_of_another_model_are_paid_once_and_are_used_once_config_accepts_it(tmp_path, batch):
    with serving() as (server, endpoint):
        server.model = "another"
        study = Study(tmp_path, server, endpoint, requests=40)
        study.table["probe"] = "score_order"

        def respond(**settings):
            judge = study.judge(batch=batch, concurrency=4, **settings)
            return jobs.respond(study.table, judge, study.store, Resources())

        for again in (False, True):
            calls = len(endpoint.calls)
            with pytest.raises(InputError, match=r"asked for a-model,? .*answered by another"):
                respond()
            assert (calls == len(endpoint.calls)) == again
        paid = sum(server.billed.values())
        assert paid == 40 if batch else 10 <= paid <= 10 + 4
        done = respond(accept_models=["another"])
        assert done["error"].isna().all()
        assert server.billed == dict.fromkeys(study.ids, 1)
        assert study.store.spent()["calls"] == 40


def test_answers_that_do_not_follow_the_protocol_are_failures_that_count(study):
    batch = later(study)
    lines = [study.server.answer(name) for name in study.ids]
    lines[0]["response"]["body"] = {"choices": []}
    lines[1]["response"]["body"] = None
    lines[2]["response"]["body"]["model"] = "another"
    study.server.end(batch, lines[:5])  # of the last one there is no line
    study.server.at_each_look = hold
    with pytest.raises(InputError, match="3 requests are under way"):  # the wrong model's answer is final
        study.run(batch=LEAVE)
    rows = study.store.read(study.ids)
    kinds = [
        error and error.partition(":")[0] for error in rows["error"].astype(object).where(rows["error"].notna(), None)
    ]
    assert kinds == ["malformed", "malformed", "wrong_model", None, None, "malformed"]
    # What is not known counts with the most that it can have used: bytes of the prompt, its template, and the answer.
    most = len("prompt 0") + 256 + 8
    assert rows["tokens"].tolist() == [most, most, 105, 105, 105, most]


@pytest.mark.parametrize("faults", [*([name] for name in FAULTS if name != "no_list"), ["late_name", "cut_file"]])
def test_under_each_fault_of_the_endpoint_a_request_is_billed_once(tmp_path, faults):
    with serving(*faults) as (server, endpoint):
        study = Study(tmp_path, server, endpoint, requests=12)
        lost = lose_creation(server) if "no_metadata" in faults else []
        with contextlib.suppress(*[InputError] * ("expired" in faults)):
            assert study.run(batch=STAY | {"requests": 6}) == [None] * 12
        assert study.run() == [None] * 12
        for batch in server.batches.values():  # also one that no job knows of
            server.complete(batch)
        assert server.billed == dict.fromkeys(study.ids, 1)
        assert study.records == []
        assert len(lost) == ("no_metadata" in faults)


@pytest.mark.parametrize(
    ("status", "counts", "answers", "failures", "missing"),
    [
        ("completed", {"total": 4, "completed": 4, "failed": 0}, 2, 0, 2),
        ("completed", {"total": 4, "completed": 2, "failed": 2}, 2, 0, 0),  # the endpoint counts them as failed
        ("completed", {"total": 4, "completed": 2, "failed": 2}, 1, 2, 1),  # one answer is not there
        ("completed", {"total": 4, "completed": 2, "failed": 0}, 2, 0, 2),
        ("completed", None, 2, 0, 2),
        ("completed", None, 3, 1, 0),
        ("expired", {"total": 4, "completed": 2, "failed": 0}, 2, 0, 0),
        ("expired", {"total": 4, "completed": 2, "failed": 2}, 1, 2, 1),
        ("cancelled", {"total": 4, "completed": 3, "failed": 0}, 2, 0, 2),
        ("expired", "many", 2, 0, 2),
    ],
)
def test_counts_of_an_ended_batch_are_compared_with_its_lines(status, counts, answers, failures, missing):
    names = [f"r{k}" for k in range(4)]
    lines = [{"custom_id": name, "response": {"status_code": 200, "body": {}}} for name in names[:answers]]
    lines += [failed_line(name, 400, "no") for name in names[answers : answers + failures]]
    results = Results()
    results.add([json.dumps(line).encode() for line in lines], names)
    assert results.missing({"status": status, "request_counts": counts}, 4) == missing


def test_where_results_never_come_whole_the_record_stays_and_the_answers_are_stored(study):
    """The way on that the message names asks only the requests without an answer."""
    batch = later(study)
    study.server.end(batch, [study.server.answer(name) for name in study.ids[:4]])
    batch.completed = 6
    for _ in range(2):
        with pytest.raises(InputError) as error:
            study.run()
        (record,) = study.records
        assert "2 requests are under way in 1 batches (batch_0: completed, 6 of 6 done, 2 without a result)" in str(
            error.value
        )
        assert f"{record}: this batch has ended without all its results" in str(error.value)
        assert batch.looks >= MAX_LOOKS
        batch.looks = 0
        assert study.texts() == ["Fine. [RESULT] 4"] * 4
    record.unlink()
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_of_a_batch_without_all_its_results_the_budget_holds_what_has_no_answer(study, tmp_path):
    """A budget of 8 calls has 2 left while 4 are answered and 2 under way, and none when the batch gives the rest."""
    batch = later(study)
    study.server.end(batch, [study.server.answer(name) for name in study.ids[:4]])
    batch.completed = 6
    with pytest.raises(InputError, match="2 requests are under way"):
        study.run()
    others = Study(tmp_path, study.server, study.endpoint, requests=10).table[6:]
    with pytest.raises(InputError, match="4 requests are under way in 2 batches"):
        study.run(others, batch=LEAVE, budget={"calls": 8})
    assert study.sent() == 6 + 2
    late = [study.server.answer(name) for name in study.ids[4:]]
    study.server.files[batch.output_file] += as_lines(late)
    study.server.at_each_look = study.server.complete
    with pytest.raises(InputError, match=r"2 of 4 requests failed for reasons that may pass \(2 budget\)"):
        study.run(others, budget={"calls": 8})
    assert study.texts() == ["Fine. [RESULT] 4"] * 6
    assert study.store.spent()["calls"] == 8


def test_a_batch_that_fails_midway_keeps_the_answers_that_it_gave(study):
    batch = later(study)
    study.server.end(batch, [study.server.answer(name) for name in study.ids[:4]], status="failed")
    study.server.at_each_look = study.server.complete
    assert study.run() == [None] * 6
    assert len(study.server.batches["batch_1"].asked) == 2
    assert study.server.billed == dict.fromkeys(study.ids, 1)


@pytest.mark.parametrize("errors", ["No batches.", ["No batches."], {"data": ["No batches."]}])
def test_the_reason_of_a_refusal_is_read_in_any_form(study, errors):
    batch = later(study)
    batch.status = "failed"
    as_json = batch.as_json
    batch.as_json = lambda: as_json() | {"errors": errors}
    with pytest.raises(InputError, match=r"batch batch_0 was refused: No batches\.; none of it was asked"):
        study.run()


def lose_creation(server, reply="of which nothing arrives"):
    """Lose the reply to the first creation of a batch; the list of what was lost."""
    lost = []

    def replace(call):
        if call.path == "/v1/batches" and call.method == "POST" and not lost:
            lost.append(server._do(call))
            return Reply(reply, cut=0) if reply.startswith("of") else Reply(reply.encode())
        return None

    server.reply = replace
    return lost


def test_where_a_page_comes_in_place_of_a_created_batch_the_batch_is_looked_for(study):
    lose_creation(study.server, "<html>A gateway.</html>")
    assert study.run() == [None] * 6
    assert study.sent() == 6


@pytest.mark.parametrize("fault", ["no_list", "nameless", "repeated_page"])
def test_where_it_is_not_known_if_a_batch_was_created_a_message_names_record_and_way_on(tmp_path, fault):
    with serving(*{"no_list"} & {fault}) as (server, endpoint):
        study = Study(tmp_path, server, endpoint)
        lose_creation(server)
        if fault != "no_list":
            listed = {"id": "batch_9", **({"input_file_id": "another"} if fault == "repeated_page" else {})}
            server._list = lambda query: Reply({"data": [listed], "has_more": fault == "repeated_page"})
        for _ in range(2):
            with pytest.raises(InputError) as error:
                study.run()
            (record,) = study.records
            message = str(error.value)
            assert message.startswith(f"{record}: whether the batch of these 6 requests was created is not known: ")
            assert message.endswith(
                'run again, or find the batch of file-1 in the provider\'s console and write its id as "batch" into'
                " the file; if there is none, remove the file"
            )
        assert '"batch":null' in record.read_text()
        record.write_text(record.read_text().replace('"batch":null', '"batch":"batch_0"'))
        assert study.run() == [None] * 6
        assert server.billed == dict.fromkeys(study.ids, 1)
        assert study.records == []


def refuse(times, *, path, status=503, method=None):
    """Refuse the first requests to an address."""
    left = [times]

    def reply(call):
        right = call.path.partition("?")[0].endswith(path) and method in (None, call.method)
        if right and left[0]:
            left[0] -= 1
            return Reply({"error": {"message": "busy"}}, status=status)
        return None

    return reply


@pytest.mark.parametrize("path", ["/files", "/batches", "/batches/batch_0", "/content"])
def test_a_step_that_fails_for_a_reason_that_may_pass_is_tried_again(study, path):
    study.server.reply = refuse(2, path=path)
    assert study.run() == [None] * 6
    assert study.sent() == 6


def test_where_the_answer_to_a_creation_is_lost_the_batch_is_looked_for(study):
    lose_creation(study.server)
    assert study.run() == [None] * 6
    assert study.sent() == 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_a_creation_that_comes_late_is_no_second_batch(study):
    """The server does a creation only after the job has looked for it in vain, and has sent the batch anew."""
    late = []

    def reply(call):
        if call.path == "/v1/batches" and call.method == "POST" and not late:
            late.append(call)
            return Reply("of which nothing arrives", cut=0)
        return None

    study.server.reply = reply
    assert study.run() == [None] * 6
    assert study.server._do(late[0]).status == 400  # its file is gone
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_an_endpoint_that_creates_no_batch_is_one_error(study):
    study.server.reply = refuse(9, path="/batches", method="POST")
    with pytest.raises(InputError, match="no batch can be created: server_error: 503 busy; run again"):
        study.run()
    assert study.records == []
    study.server.reply = refuse(9, path="/batches", method="POST", status=400)
    with pytest.raises(InputError, match="no batch can be created: bad_request: 400 busy"):
        study.run()
    assert study.records == []


def test_an_endpoint_without_batches_is_one_error(study):
    study.server.reply = refuse(9, path="/files", status=404)
    with pytest.raises(InputError, match=r"no batch can be uploaded: .*404 busy .*needs an endpoint with a Batch API"):
        study.run()
    assert study.records == []


def test_a_batch_that_is_gone_is_one_error_that_says_what_to_do(study):
    later(study)
    study.server.batches.clear()
    with pytest.raises(InputError, match=r"its batch batch_0 cannot be looked at: .*remove the file to ask"):
        study.run()


# --- budget


@pytest.mark.parametrize(
    ("budget", "sent"),
    [({"calls": 4}, 4), ({"tokens": 3 * (256 + 8 + 8)}, 3), ({"cost": 2.5 * (264 * 1 + 8 * 2) / 1e6}, 2)],
)
def test_a_batch_is_never_larger_than_the_budget_allows(study, budget, sent):
    study.server.at_each_look = hold
    prices = {"prompt": 1.0, "completion": 2.0}
    with pytest.raises(InputError, match=f"{sent} requests are under way in 1 batches"):
        study.run(batch=LEAVE, budget=budget, prices=prices)
    with pytest.raises(InputError, match=f"{sent} requests are under way in 1 batches"):  # they are reserved
        study.run(batch=LEAVE, budget=budget, prices=prices)
    assert study.sent() == sent


def test_what_a_batch_did_not_use_pays_for_the_next_one(study):
    """A request can use 272 tokens and takes 105: a budget for three at once is enough for six."""
    assert study.run(budget={"tokens": 3 * 272}) == [None] * 6
    assert study.store.spent()["tokens"] == 630


def test_what_no_budget_is_left_for_is_a_failure_that_may_pass(study):
    with pytest.raises(InputError, match=r"2 of 6 requests failed for reasons that may pass \(2 budget\)"):
        study.run(budget={"calls": 4})
    assert study.run(budget={"calls": 6}) == [None] * 6
    assert study.server.billed == dict.fromkeys(study.ids, 1)


def test_prices_are_those_of_batches_as_config_says_them(study):
    study.run(prices={"prompt": 1.0, "completion": 2.0})
    assert study.store.spent()["cost"] == pytest.approx(6 * (100 * 1.0 + 5 * 2.0) / 1e6)
