"""Settings of judges whose calls are counted, limited and repeated after failures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from annotated_types import Ge, Le

from rubric_order.settings.base import Count, From0, Numeric, Positive, Role, Settings, setting
from rubric_order.settings.judges.judge import WIRE, Judge


class Backoff(Settings):
    """Waiting between repeated calls for one request."""

    first: From0 = setting(
        1,
        "Longest wait before the second call, in seconds. It doubles with each further call. The wait itself is drawn"
        " at random between 0 and this limit.",
    )
    longest: From0 = setting(
        60,
        "Upper bound, in seconds, up to which the wait of `first` doubles. If the endpoint asks for a wait, that time"
        " is added.",
    )


class Budget(Settings):
    """Limits on what all runs together may use."""

    calls: Annotated[int, Ge(0)] | None = setting(
        None,
        "Largest number of calls that all runs together may send; null: no limit. Repeated calls after a failure count"
        " too.",
    )
    tokens: Annotated[int, Ge(0)] | None = setting(
        None, "Largest number of tokens, of prompts and answers, that all runs together may use; null: no limit."
    )
    cost: Annotated[float, Numeric(ge=0)] | None = setting(
        None, "Largest amount of money that all runs together may spend, in the currency of the prices; null: no limit."
    )


class Prices(Settings):
    """Prices of a million tokens."""

    prompt: From0 = setting(..., "Price of a million tokens of prompts.")
    completion: From0 = setting(
        ..., "Price of a million tokens of answers. The judge's reasoning is part of the answers."
    )
    cached: From0 = setting(
        None, "Price of a million tokens of prompts that the endpoint reads from its cache.", otherwise="as `prompt`"
    )
    cache_write: From0 = setting(
        None, "Price of a million tokens of prompts that the endpoint writes to its cache.", otherwise="as `prompt`"
    )
    currency: str = setting(None, "Name of the currency.", otherwise="`USD`")

    def cost(self, prompt: int, completion: int, cached: int = 0, written: int = 0) -> float:
        """Price of a call, from tokens of prompt and answer; `cached` and `written` are tokens of the prompt."""
        from_cache = self.prompt if self.cached is None else self.cached
        into_cache = self.prompt if self.cache_write is None else self.cache_write
        parts = (prompt - cached - written) * self.prompt + cached * from_cache + written * into_cache
        return (parts + completion * self.completion) / 1e6

    def most(self, prompt: int, completion: int) -> float:
        """Highest price of a call with these numbers of tokens, whatever the cache does."""
        return max(self.cost(prompt, completion), self.cost(prompt, completion, written=prompt))


class Metered(Judge):
    """A judge whose calls are counted, limited and repeated after failures."""

    concurrency: Annotated[int, Ge(1), Le(4096)] | None = setting(
        None,
        "Largest number of requests under way at once. Null: 32 for an endpoint or an async function, 1 for any other"
        " function, 512 if the job serves the model itself.",
        **WIRE,
    )
    requests_per_minute: Positive | None = setting(None, "Largest number of calls per minute; null: no limit.", **WIRE)
    tokens_per_minute: Positive | None = setting(
        None, "Largest number of tokens per minute, of prompts and answers; null: no limit.", **WIRE
    )
    timeout: Positive = setting(600, "Seconds after which a call is given up.", **WIRE)
    max_attempts: Count = setting(6, "Largest number of calls for one request.", **WIRE)
    backoff: Backoff = setting(factory=Backoff, **WIRE)
    budget: Budget = setting(
        description="Limits of what all runs together may use. They are never exceeded: before a call is sent, it"
        " counts with the most that it can use.",
        factory=Budget,
        **WIRE,
    )
    prices: Prices | None = setting(
        None,
        "Prices per million tokens; null: the prices are not known.",
        role=Role.WIRE,
        tracked=False,
        reruns="`summary.html`; no answer",
    )

    @property
    def currency(self) -> str:
        return (self.prices.currency or "USD") if self.prices else ""

    @property
    def limits_tokens(self) -> bool:
        return any(limit is not None for limit in (self.tokens_per_minute, self.budget.tokens, self.budget.cost))

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if self.budget.cost is not None and self.prices is None:
            yield "budget/cost: it needs prices"
