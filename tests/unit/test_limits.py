import asyncio
import selectors

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.judging.engines import limits
from rubric_order.judging.engines.limits import Amount, Budget, BudgetSpentError, Prices, RateLimiter


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop in which waiting takes no time: its clock jumps to when the next thing is due."""

    def __init__(self):
        self.now = 1000.0
        super().__init__(_JumpingSelector(self))

    def time(self):
        return self.now


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self.loop = loop

    def select(self, timeout=None):
        assert timeout is not None, "everything waits for something that never comes"
        self.loop.now += timeout
        return super().select(0)


def run(main):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def send(limiter, sizes, *, used=None, seconds=1.0, delays=None):
    """Send calls of the given sizes, all at once but for `delays`; when each was sent, in the order of sending."""
    loop = asyncio.get_running_loop()
    times = []

    async def call(number, size):
        await asyncio.sleep(0 if delays is None else delays[number])
        sent = await limiter.wait(size)
        times.append((loop.time(), size if used is None else used[number]))
        await asyncio.sleep(seconds)
        if used is not None:
            limiter.correct(sent, used[number])

    await asyncio.gather(*(call(number, size) for number, size in enumerate(sizes)))
    return times


def in_any_minute(times, weight):
    """The most that was sent in a minute, as the endpoint would count it."""
    end = 60 - 1e-6  # times are sums of floats
    return max(sum(weight(size) for at, size in times if start <= at < start + end) for start, _ in times)


def test_requests_are_spaced_evenly():
    times = run(send(RateLimiter(requests=30), [1] * 5))
    assert [round(at - times[0][0], 6) for at, _ in times] == [0, 2, 4, 6, 8]


def test_without_limits_nothing_waits():
    times = run(send(RateLimiter(), [10**9] * 100))
    assert len({at for at, _ in times}) == 1


@given(
    st.lists(st.tuples(st.integers(1, 60), st.floats(0, 200)), min_size=1, max_size=40),
    st.sampled_from([None, 7.0, 30.0]),
    st.sampled_from([None, 60.0, 100.0]),
)
def test_no_minute_has_more_than_the_limits(calls, requests, tokens):
    sizes, delays = zip(*calls, strict=True)
    times = run(send(RateLimiter(requests=requests, tokens=tokens), sizes, delays=delays))
    assert sorted(size for _, size in times) == sorted(sizes)
    if requests:
        assert in_any_minute(times, lambda size: 1) <= requests
    if tokens:
        assert in_any_minute(times, lambda size: size) <= tokens


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=40), st.floats(0.1, 100))
def test_tokens_count_as_used_once_that_is_known(calls, seconds):
    most = [max(pair) for pair in calls]
    used = [min(pair) for pair in calls]
    times = run(send(RateLimiter(tokens=100), most, used=used, seconds=seconds))
    assert in_any_minute(times, lambda size: size) <= 100


def test_what_was_not_used_makes_room():
    times = run(send(RateLimiter(tokens=100), [100, 90], used=[10, 10], seconds=3))
    assert times[1][0] - times[0][0] == pytest.approx(3)


def test_a_call_that_is_larger_than_the_limit_goes_alone():
    times = run(send(RateLimiter(tokens=100), [10, 500, 10]))
    assert [round(at - times[0][0]) for at, _ in times] == [0, 60, 120]


def test_a_job_begins_with_what_the_one_before_it_sent(tmp_path, monkeypatch):
    record = tmp_path / "sent.json"
    for start, expected in ((5000.0, [0.0, 0.0]), (5010.0, [50.0, 50.0]), (5200.0, [0.0, 0.0])):
        # Clocks of the machine, and of the loop: the first is that of the world, the second starts anywhere.
        monkeypatch.setattr(limits.time, "time", lambda start=start: start)
        monkeypatch.setattr(limits.time, "monotonic", lambda: 1000.0)
        limiter = RateLimiter(tokens=1000, record=record)
        times = run(send(limiter, [500, 500]))
        assert [at - 1000.0 for at, _ in times] == pytest.approx(expected)
        limiter.close()


def test_without_a_limit_of_tokens_nothing_is_recorded(tmp_path):
    limiter = RateLimiter(requests=100, record=tmp_path / "sent.json")
    run(send(limiter, [500]))
    limiter.close()
    assert list(tmp_path.iterdir()) == []


def test_a_correction_after_a_minute_changes_nothing():
    async def main():
        limiter = RateLimiter(tokens=100)
        sent = await limiter.wait(100)
        await asyncio.sleep(61)
        await limiter.wait(100)
        limiter.correct(sent, 0)
        assert limiter._in_window == 100

    run(main())


# --- budget


def test_prices_are_those_of_a_million_tokens():
    prices = Prices(prompt=2.0, completion=8.0, cached=0.5)
    assert prices.cost(1_000_000, 500_000) == pytest.approx(6.0)
    assert prices.cost(1_000_000, 0, cached=400_000) == pytest.approx(1.2 + 0.2)
    assert Prices(prompt=2.0, completion=8.0).cost(1_000_000, 0, cached=400_000) == pytest.approx(2.0)


def test_a_budget_is_used_up_to_its_limit_and_no_further():
    async def main():
        budget = Budget({"calls": 3, "tokens": None, "cost": None})
        for _ in range(3):
            await budget.reserve(Amount(1))
            budget.settle(Amount(1), Amount(1))
        with pytest.raises(BudgetSpentError, match=r"^calls: 0 of 3 left, the next call can take 1$"):
            await budget.reserve(Amount(1))
        return budget.spent

    assert run(main()) == Amount(3)


def test_what_was_spent_before_counts():
    async def main():
        await Budget({"tokens": 100}, Amount(calls=4, tokens=90)).reserve(Amount(1, 11))

    with pytest.raises(BudgetSpentError, match="tokens: 10 of 100 left"):
        run(main())


def test_a_call_waits_for_what_others_may_give_back():
    async def main():
        loop = asyncio.get_running_loop()
        budget = Budget({"tokens": 100})
        started = []

        async def call(seconds):
            await budget.reserve(Amount(1, 60))
            started.append(loop.time() - 1000)
            await asyncio.sleep(seconds)
            budget.settle(Amount(1, 60), Amount(1, 20))

        await asyncio.gather(call(5), call(5), call(5))
        return started, budget.spent

    started, spent = run(main())
    assert started == [0, 5, 10]
    assert spent == Amount(3, 60)


def test_after_one_refusal_smaller_calls_are_refused_too():
    async def main():
        budget = Budget({"tokens": 100})
        with pytest.raises(BudgetSpentError):
            await budget.reserve(Amount(1, 101))
        await budget.reserve(Amount(1, 1))

    with pytest.raises(BudgetSpentError, match="100 of 100 left, the next call can take 101"):
        run(main())


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 50), st.floats(0, 5)), min_size=1, max_size=60),
    st.integers(0, 300),
    st.integers(1, 10),
)
def test_a_budget_is_never_exceeded_however_calls_overlap(calls, limit, workers):
    async def main():
        budget = Budget({"tokens": limit, "calls": 40})
        waiting = iter(calls)

        async def work():
            for most, used, seconds in waiting:
                reserved = Amount(1, most)
                try:
                    await budget.reserve(reserved)
                except BudgetSpentError:
                    return
                await asyncio.sleep(seconds)
                budget.settle(reserved, Amount(1, min(used, most)))

        await asyncio.gather(*(work() for _ in range(workers)))
        return budget.spent

    spent = run(main())
    assert spent.tokens <= limit
    assert spent.calls <= 40
