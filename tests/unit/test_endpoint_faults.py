"""A whole judge job against an endpoint that fails in every way that endpoints do."""

import bisect
import collections
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest
from endpoint import Reply, completion, running
from factories import complete_judge, request_table

from rubric_order.judging.engines import PASSING
from rubric_order.judging.store import Store

pytestmark = pytest.mark.slow
KEY = "sk-fault-test-0123456789abcdef"
REQUESTS = 5000
CONCURRENCY = 32
PER_MINUTE = 24_000
ATTEMPTS = 4

# Each fault, how often it comes (in a thousand calls), and how a request ends whose last call it is.
FAULTS = {
    "429": (30, "rate_limited"),
    "429 with Retry-After": (30, "rate_limited"),
    "500 that repeats the key": (35, "server_error"),
    "503": (40, "server_error"),
    "cut in the body": (35, "connection"),
    "cut before the body": (20, "connection"),
    "stall": (5, "timeout"),
    "malformed JSON": (35, "malformed"),
    "null content": (35, "no_content"),
    "wrong model": (35, "wrong_model"),
}
ENDINGS = {kind: reason for kind, (_, reason) in FAULTS.items()} | {"answer": None}


def draw(prompt: str, number: int) -> str:
    """The fault of a prompt's call, the same in every run."""
    place = int.from_bytes(hashlib.blake2b(f"{prompt} {number}".encode(), digest_size=8).digest(), "big") % 1000
    for kind, (share, _) in FAULTS.items():
        if place < share:
            return kind
        place -= share
    return "answer"


def reply_to(call, number):
    kind = draw(call.prompt, number)
    body = completion(f"Fine. [RESULT] {len(call.prompt) % 5 + 1}", usage=(50, 10))
    return {
        "429": Reply({"error": {"message": "slow down"}}, status=429),
        "429 with Retry-After": Reply({}, status=429, headers={"Retry-After": "0.05"}),
        "500 that repeats the key": Reply({"error": {"message": call.headers["authorization"]}}, status=500),
        "503": Reply(b"<html>unavailable</html>", status=503, headers={"Content-Type": "text/html"}),
        "cut in the body": Reply(body, cut=60),
        "cut before the body": Reply(body, cut=0),
        "stall": Reply(stall=True),
        "malformed JSON": Reply(json.dumps(body).encode()[:-20]),
        "null content": Reply(completion(None, usage=(50, 10))),
        "wrong model": Reply(completion("[RESULT] 5", model="another-model", usage=(50, 10))),
        "answer": Reply(body),
    }[kind], kind


def command_lines() -> list[bytes]:
    """The command line and the environment of every process of the machine."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes())
        except OSError:  # it has ended
            continue
    return lines


def arguments(folder, endpoint):
    """Arguments of the job, as a rule gives them."""
    how = {
        **{"base_url": endpoint.base_url, "api_key_env": "FAULT_TEST_KEY"},
        **{"extra_headers": {"X-Tenant": "$FAULT_TEST_KEY"}, "concurrency": CONCURRENCY},
        **{"requests_per_minute": PER_MINUTE, "timeout": 5},
        **{"max_attempts": ATTEMPTS, "backoff": {"first": 0.01, "longest": 0.1}},
        **{"budget": {"calls": 10_000, "tokens": None, "cost": 10.0}},
        **{"prices": {"prompt": 1.0, "completion": 10.0, "currency": "EUR"}},
    }
    sampling = {"temperature": 0, "max_tokens": 64}
    asked = {"engine": "openai", "model": "a-model", "answer_format": "feedback", "answer_prefix": ""}
    judge = complete_judge(**asked, sampling=sampling, **how)
    (folder / "judge.json").write_text(json.dumps(judge.block()))
    return [
        *("--requests", folder / "requests.parquet", "--shard", "1", "--shards", "1", "--probes", "score_order"),
        *("--judge", folder / "judge.json", "--model-folder", "--weights", "--gpus", "0"),
        *("--store", folder / "store", "--output", folder / "responses.parquet"),
    ]


@pytest.fixture(scope="module")
def job(pytestconfig, tmp_path_factory):
    """Two runs of the job: what the server saw in each, what the job printed, and where its files are."""
    folder = tmp_path_factory.mktemp("faults")
    names = (f"{number:032x}" for number in range(REQUESTS))
    prompts = [f"prompt {number} {'x' * (number % 7)}" for number in range(REQUESTS)]
    table = request_table(*names, prompt=prompts, repeat=0)
    table = table.assign(unit_id=[f"i{number // 10}" for number in range(REQUESTS)])
    table.to_parquet(folder / "requests.parquet")
    counts: collections.Counter = collections.Counter()

    def reply(call):
        counts[call.prompt] += 1
        answer, call.kind = reply_to(call, counts[call.prompt])
        answer.kind = call.kind
        return answer

    with running(reply) as endpoint:
        command = [
            sys.executable,
            pytestconfig.rootpath / "workflow/scripts/judge_shard.py",
            *arguments(folder, endpoint),
        ]
        runs, seen = [], []
        for number in (1, 2):
            before = len(endpoint.calls)
            with (folder / f"{number}.log").open("w") as log:
                process = subprocess.Popen(
                    command, env={**os.environ, "FAULT_TEST_KEY": KEY}, stdout=log, stderr=subprocess.STDOUT
                )
                watch = threading.Thread(target=_watch, args=(process, seen))
                watch.start()
                status = process.wait()
                watch.join()
            runs.append((status, endpoint.calls[before:], (folder / f"{number}.log").read_text()))
        yield folder, table, runs, seen


def _watch(process, seen):
    while process.poll() is None:
        seen += [line for line in command_lines() if b"judge_shard.py" in line or KEY.encode() in line]
        time.sleep(0.2)


def stored(folder, table):
    return Store(folder / "store").read(table["request_id"]).assign(prompt=table["prompt"])


def test_every_request_ends_answered_or_with_its_true_reason(job):
    folder, table, runs, _ = job
    calls = collections.defaultdict(list)
    for _, of_run, _ in runs:
        for call in of_run:
            calls[call.prompt].append(call.kind)
    rows = stored(folder, table)
    assert len(rows) == REQUESTS
    assert rows["prompt"].map(calls.__contains__).all()
    reasons = rows["error"].map(lambda error: error.partition(":")[0] if isinstance(error, str) else None)
    expected = rows["prompt"].map(lambda prompt: ENDINGS[calls[prompt][-1]])
    assert reasons.where(reasons.notna(), None).tolist() == expected.where(expected.notna(), None).tolist()
    answered = rows[rows["error"].isna()]
    assert (answered["text"] == [f"Fine. [RESULT] {len(prompt) % 5 + 1}" for prompt in answered["prompt"]]).all()
    assert len(answered) > 0.85 * REQUESTS
    assert {"no_content", "wrong_model"} <= set(reasons.dropna())


def test_no_request_is_asked_again_once_it_is_answered_or_failed_for_good(job):
    _, _, runs, _ = job
    calls = collections.defaultdict(list)
    for number, (_, of_run, _) in enumerate(runs):
        for call in of_run:
            calls[call.prompt].append((number, call.kind))
    for of_prompt in calls.values():
        *earlier, _ = of_prompt
        assert all(ENDINGS[kind] in PASSING for _, kind in earlier)
        for run in (0, 1):
            assert sum(number == run for number, _ in of_prompt) <= ATTEMPTS


def test_as_many_calls_are_booked_as_the_endpoint_saw(job):
    folder, _, runs, _ = job
    spent = Store(folder / "store").spent()
    seen = [call for _, calls, _ in runs for call in calls]
    assert spent["calls"] == len(seen)
    # Answers and failures for good have 50 + 10 tokens; calls whose end is not known count with all they can have.
    known = sum(ENDINGS[call.kind] not in PASSING for call in seen)
    unknown = sum(call.kind in ("cut in the body", "cut before the body", "stall", "malformed JSON") for call in seen)
    assert 60 * known + unknown * 320 <= spent["tokens"] <= 60 * known + unknown * (320 + 44)
    assert spent["cost"] >= (known * (50 + 100) + unknown * 640) / 1e6
    assert spent["cost"] <= (known * (50 + 100) + unknown * (640 + 300)) / 1e6


def test_the_first_run_ends_with_one_line_and_the_second_asks_only_what_may_have_passed(job):
    folder, _, ((first, calls, log), (second, again, _)), _ = job
    last = {call.prompt: ENDINGS[call.kind] for call in calls}
    failed = {prompt for prompt, reason in last.items() if reason in PASSING}
    assert failed
    assert first == 1
    assert log.splitlines()[-1].startswith(
        f"error: {len(failed)} of {REQUESTS} requests failed for reasons that may pass"
    )
    assert "Traceback" not in log
    assert {call.prompt for call in again} == failed
    still = {call.prompt: ENDINGS[call.kind] for call in again}
    assert second == (1 if any(reason in PASSING for reason in still.values()) else 0)
    assert (folder / "responses.parquet").exists() == (second == 0)


def test_the_rate_limit_was_respected(job):
    _, _, runs, _ = job
    for _, calls, _ in runs:
        times = [call.time for call in calls]
        assert times == sorted(times)
        # What arrives in a second was sent in it or was under way when it began.
        for start, begin in enumerate(times):
            assert bisect.bisect_left(times, begin + 1.0) - start <= PER_MINUTE / 60 + CONCURRENCY


def test_the_key_is_in_no_file_log_or_process_list(job):
    folder, _, runs, seen = job
    assert all(call.headers["authorization"] == f"Bearer {KEY}" for _, calls, _ in runs for call in calls)
    assert all(call.headers["x-tenant"] == KEY for _, calls, _ in runs for call in calls)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) >= 4
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    for path in (folder / "store").glob("*.parquet"):  # they are compressed
        assert KEY not in pd.read_parquet(path).to_json()
    assert seen
    assert not any(KEY.encode() in line for line in seen)
