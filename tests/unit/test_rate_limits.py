"""Limits a minute that hold from one job to the next."""

import asyncio
import itertools
import json
import time

import pytest

from rubric_order.judging.engines import limits
from rubric_order.judging.engines.limits import RateLimiter


def send(limiter, *tokens, patience=10.0):
    """The times at which calls of so many tokens may be sent."""

    async def all_of_them():
        return [(await asyncio.wait_for(limiter.wait(number), patience)).time for number in tokens]

    limiter.begin()
    return asyncio.run(all_of_them())


@pytest.fixture
def waited(monkeypatch):
    """Seconds of each wait of a limiter, which are not spent."""
    seconds = []

    async def sleep(wanted):
        seconds.append(wanted)

    monkeypatch.setattr(limits.asyncio, "sleep", sleep)
    return seconds


def test_the_first_call_of_a_job_is_spaced_from_the_last_one_of_the_job_before(tmp_path):
    record, times = tmp_path / "sent.json", []
    for _ in range(3):
        limiter = RateLimiter(requests=300, record=record)
        times += send(limiter, 1, 1)
        limiter.close()
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(gaps) >= 0.2 - 1e-3


def test_tokens_of_the_last_minute_count_in_the_next_job(tmp_path):
    record = tmp_path / "sent.json"
    limiter = RateLimiter(tokens=100, record=record)
    send(limiter, 90)
    limiter.close()
    limiter = RateLimiter(tokens=100, record=record)
    send(limiter, 10)
    with pytest.raises(TimeoutError):
        send(limiter, 1, patience=0.1)


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"next": "soon", "sent": []}', '{"next": 1, "sent": [[1]]}'])
def test_a_record_that_is_missing_or_damaged_holds_nothing_back(tmp_path, waited, text):
    record = tmp_path / "sent.json"
    if text is not None:
        record.write_text(text)
    send(RateLimiter(requests=1, tokens=100, record=record), 100)
    assert sum(waited) == 0


def test_a_clock_that_was_set_back_holds_back_for_one_call_at_most(tmp_path, waited):
    record = tmp_path / "sent.json"
    record.write_text(json.dumps({"next": time.time() + 3600, "sent": []}))
    send(RateLimiter(requests=60, record=record), 1)
    assert sum(waited) <= 1
