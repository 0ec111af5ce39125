"""Times in the log of a judge job, by a clock that the answers move."""

import logging

import pytest

from rubric_order.judging.engines import Response
from rubric_order.judging.progress import progress


@pytest.fixture
def logged(caplog):
    """The lines of the log when answers come at given seconds, by the seconds at which they were written."""
    caplog.set_level(logging.INFO)

    def run(times, total=None):
        now = 0.0

        def answers():
            nonlocal now
            for number, at in enumerate(times):
                now = at
                yield Response(str(number))

        passed = list(progress(answers(), total or len(times), clock=lambda: now))
        assert [response.request_id for response in passed] == [str(number) for number in range(len(times))]
        return caplog.messages

    return run


END = ", 0 failed, 0% of prompt tokens from cache"


def test_no_time_is_told_before_it_rests_on_20_seconds_and_20_answers(logged):
    # The first answer takes a minute. Then they come at 0.8 a second.
    lines = logged([60 + 1.25 * k for k in range(50)], total=1000)
    assert lines == [
        f"asked 1 / 1000 requests{END}",
        f"asked 9 / 1000 requests{END}",
        f"asked 17 / 1000 requests{END}",
        f"asked 25 / 1000 requests, 0.8 a second, 0:20:19 left{END}",  # 975 / 0.8
        f"asked 33 / 1000 requests, 0.8 a second, 0:20:09 left{END}",
        f"asked 41 / 1000 requests, 0.8 a second, 0:19:59 left{END}",
        f"asked 49 / 1000 requests, 0.8 a second, 0:19:49 left{END}",
    ]


def test_many_answers_in_a_moment_tell_no_time(logged):
    assert logged([0.1 * k for k in range(150)], total=1000)[-1] == f"asked 101 / 1000 requests{END}"


def test_few_answers_in_a_long_time_tell_none_but_20_do_whatever_time_they_took(logged):
    lines = logged([5000.0 * k for k in range(23)], total=1001)
    assert lines[19] == f"asked 20 / 1001 requests{END}"
    assert lines[20] == f"asked 21 / 1001 requests, 0.0 a second, 56 days, 17:06:40 left{END}"  # 980 x 5000 s
    assert lines[22] == f"asked 23 / 1001 requests, 0.0 a second, 56 days, 14:20:00 left{END}"


def test_the_speed_is_that_of_the_last_two_minutes(logged):
    # 10 a second for 100 seconds, then 1 a second for 180 seconds.
    times = [k / 10 for k in range(1000)] + [100.0 + k for k in range(180)]
    lines = logged(times, total=2000)
    assert "10.0 a second" in lines[9]
    assert lines[-1] == f"asked 1171 / 2000 requests, 1.0 a second, 0:13:49 left{END}"


def test_the_last_line_says_how_long_it_took(logged):
    assert logged([61.0, 62.0, 130.4])[-1] == f"asked 3 / 3 requests in 0:02:10{END}"


def test_failures_and_cached_tokens_are_counted(caplog):
    caplog.set_level(logging.INFO)
    answers = [Response("a", prompt_tokens=30, cached_tokens=10), Response("b", error="no", prompt_tokens=10)]
    list(progress(answers, 2, clock=lambda: 0.0))
    assert caplog.messages[-1] == "asked 2 / 2 requests in 0:00:00, 1 failed, 25% of prompt tokens from cache"


def test_requests_that_are_not_asked_since_an_endpoint_is_down_are_no_failures_of_their_own(caplog):
    caplog.set_level(logging.INFO)
    down = [Response(str(k), error="connection: ConnectError", attempts=0) for k in range(3)]
    rest = [Response("s", error="stopped: 3 requests in a row failed", attempts=0)] * 5
    held = [Response("h", error="stopped: bad_request: no", attempts=1)]
    list(progress([*down, *rest, *held], 9, clock=lambda: 0.0))
    assert caplog.messages[-1] == (
        "asked 4 / 9 requests in 0:00:00, 4 failed, 5 not asked, 0% of prompt tokens from cache"
    )


def test_a_line_is_logged_now_and_then(caplog):
    caplog.set_level(logging.INFO)
    assert len(list(progress((Response(str(k)) for k in range(500)), 500, every=3600))) == 500
    assert len(caplog.messages) == 2  # the first answer, and the last
