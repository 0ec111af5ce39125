"""An OpenAI-compatible endpoint: many calls at once, within rate limits and a budget, with retries."""

import asyncio
import contextlib
import dataclasses
import functools
import importlib.metadata
import json
import logging
import queue
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import tenacity

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import (
    CUT_SHORT,
    PASSING,
    Request,
    Resources,
    Response,
    Turn,
    label_tokens,
    serving,
    transport,
)
from rubric_order.judging.engines.limits import Amount, Budget, BudgetSpentError, Prices, RateLimiter
from rubric_order.judging.engines.openai_answers import (
    MAX_TOKENS_COUNTED,
    LoggedToken,
    Usage,
    read_options,
    read_several,
    start_of_answer,
    texts_of,
)
from rubric_order.judging.engines.openai_calls import CallError, Connection, fill_in, secret
from rubric_order.judging.engines.vllm_offline import lines_pattern
from rubric_order.judging.open_calls import OpenCalls
from rubric_order.parsing.choices import are_numbers
from rubric_order.settings import judges
from rubric_order.settings.judges import Called, Endpoint, Server

log = logging.getLogger(__name__)

AT_ONCE = 32  # requests under way at an endpoint, where config does not say how many
AT_ONCE_SERVED = 512  # the same at a server of our own, which batches them: fewer leave a large GPU idle
MAX_REFUSED_IN_A_ROW = 10  # after as many refused requests, the mistake is in config and not in the requests
MAX_FAILED_IN_A_ROW = 50  # after as many failed requests, each with all its attempts, the endpoint is down
FULL_DISK_SECONDS = 1.0  # time between two tries to write down a call that is about to be sent
MAX_WAITING_RESPONSES = 4096  # finished responses that the job has not taken yet
ENDING_SECONDS = 15.0  # time for the calls under way where a job ends early; SLURM kills it 30 s after SIGTERM
WAITING_SECONDS = 0.02  # time between two looks for a request that the job has not given yet
MAX_TEMPLATE_TOKENS = 256  # tokens that a chat template adds to the messages
ANSWER_BYTES = 4 * 2**20  # of an answer, beside its tokens
TOKEN_BYTES = 256  # of a token that is written or listed, with its name, its bytes and its log-probability
TOKEN_ID = "token_id:"  # noqa: S105 - how vLLM's server names a token, if asked to

Finished = queue.SimpleQueue[Response | BaseException | None]  # ends with None


def load(judge: Endpoint | Server, resources: Resources) -> "OpenAiEngine":
    """Find the endpoint and its key, or start a server of our own."""
    headers, secrets = fill_in(judge.extra_headers)
    how: dict[str, Any] = {"headers": headers, "secrets": secrets, "timeout": judge.timeout}
    if isinstance(judge, Server):
        server = serving.start(judge, resources)
        return OpenAiEngine(judge, Connection(server.base_url, key=server.key, server=server, **how))
    key = None if judge.api_key_env is None else secret(judge.api_key_env, "api_key_env")
    return OpenAiEngine(judge, Connection(judge.base_url, key=key, **how), turn=resources.turn)


@dataclasses.dataclass
class _Tally:
    """The calls sent for one request, and the most that they can have used."""

    attempts: int = 0
    tokens: int = 0
    cost: float = 0.0


class OpenAiEngine:
    """A judge behind an endpoint that speaks the chat completions protocol."""

    def __init__(self, judge: Called, connection: Connection, *, turn: Turn | None = None) -> None:
        self.judge = judge
        self.connection = connection
        self.vllm = connection.server is not None or judge.dialect == "vllm"
        self.prices = _prices(judge.prices)
        self.budget = Budget(judge.budget.block(), turn.spent if turn else Amount())
        self._at_once = judge.concurrency or (AT_ONCE_SERVED if connection.server is not None else AT_ONCE)
        limits = {"requests": judge.requests_per_minute, "tokens": judge.tokens_per_minute}
        self.limiter = RateLimiter(**limits, record=turn.sent if turn else None)
        self.model = judge.shown_name
        # What answers under a name may change; and a call that failed in two runs was paid for twice.
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.open_calls = turn and OpenCalls(turn.open_calls, json.dumps(self.describe(), sort_keys=True))
        self._profiles: dict[str, Called] = {}
        # Of vLLM, by labels: the tokens of each, alone and after a space.
        self._tokens: dict[tuple[str, ...], asyncio.Task[list[list[list[int]]]]] = {}
        self._told: set[tuple[str, ...]] = set()  # labels whose probabilities are not asked for
        self._failures: Counter[str] = Counter()  # calls by reason
        self._unknown = 0  # answers whose options' probabilities are not known well enough
        self._refused: list[Response] = []
        self._in_a_row = 0
        self._stopped: str | None = None
        self._ending = False  # whether the job ends early: then no call is sent any more
        self._ending_seconds = ENDING_SECONDS
        self._cancel_work: Callable[[], object] = lambda: None
        self._under_way = 0  # calls that were sent and have no answer yet

    def describe(self) -> dict:
        described = {
            "engine": "openai",
            "engine_version": importlib.metadata.version("openai"),
            "started": self.started,
        }
        server = self.connection.server
        return described | ({"base_url": self.connection.base_url} if server is None else server.describe())

    def close(self) -> None:
        self.limiter.close()
        if self.connection.server is not None:
            self.connection.server.stop()

    def end_early(self, seconds: float | None = None) -> None:
        """End `answer` for good, from any thread: no more calls are sent, and later rounds answer nothing.

        Args:
            seconds: that the calls under way have to be answered; `ENDING_SECONDS` if None.
        """
        self._ending, self._ending_seconds = True, ENDING_SECONDS if seconds is None else seconds
        self._cancel_work()

    def answer(self, requests: Iterable[Request | None]) -> Iterator[Response]:
        """Answer requests, see `Engine.answer`. None among them says that the next one is not there yet.

        A job that a signal or an error ends sends no more calls. Those under way have `ENDING_SECONDS` to be answered.
        After a signal all finished responses are still yielded. The calls that are cut off are yielded as failures,
        and count with the most that they may have cost.
        """
        finished: Finished = queue.SimpleQueue()
        self._under_way = 0
        loop = asyncio.new_event_loop()
        work = loop.create_task(self._answer_all(iter(requests), finished))
        self._cancel_work = functools.partial(_cancel, loop, work)
        if self._ending:
            self._cancel_work()
        thread = threading.Thread(target=_run, args=(loop, work, finished), name="endpoint", daemon=True)
        try:
            thread.start()
            yield from _taken(finished)
        except (KeyboardInterrupt, SystemExit):
            self.end_early()
            _join(thread)
            while not finished.empty():
                if isinstance(entry := finished.get(), Response):
                    yield entry
            raise
        finally:
            _cancel(loop, work)
            _join(thread)
            self._report()

    async def _answer_all(self, waiting: Iterator[Request | None], finished: Finished) -> None:
        self._refused.clear()
        self._in_a_row, self._stopped = 0, None
        self.budget.begin()
        self.limiter.begin()
        async with self.connection:
            self._tokens = {}
            ended_well = False
            tasks = [asyncio.create_task(self._work(waiting, finished)) for _ in range(self._at_once)]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                for task in done:
                    task.result()
                ended_well = not self._ending
            finally:
                if not ended_well:
                    await self._last_answers()
                tasks += self._tokens.values()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                for held in self._refused:  # where the job does not end well they are asked again
                    error = held.error if ended_well else f"stopped: {held.error}"
                    self._put(dataclasses.replace(held, error=error), finished)

    async def _last_answers(self) -> None:
        """Send no more calls, and wait for the answers to those under way."""
        self._ending = True
        if self.connection.server is not None:  # nothing is paid for, and it ends with this job
            return
        if self._under_way:
            log.info("ending: up to %.0f s for the answers to %d calls", self._ending_seconds, self._under_way)
        begun = time.monotonic()
        while self._under_way and time.monotonic() < begun + self._ending_seconds:
            with contextlib.suppress(asyncio.CancelledError):  # a signal can come when an error has ended the job
                await asyncio.sleep(0.02)

    async def _work(self, waiting: Iterator[Request | None], finished: Finished) -> None:
        """Take requests, one at a time, until there are none."""
        for request in waiting:
            if request is None:
                await asyncio.sleep(WAITING_SECONDS)
                continue
            self._deliver(await self._answer(request, finished), finished)
            await asyncio.sleep(0)
            while finished.qsize() > MAX_WAITING_RESPONSES:
                await asyncio.sleep(0.05)

    def _deliver(self, response: Response, finished: Finished) -> None:
        """Pass a response on, and stop where too many requests in a row have failed.

        Raises:
            InputError: all requests fail, for a reason that is in config.
        """
        reason = _reason(response)
        if reason in ("bad_request", "wrong_model"):
            # Held back until something is answered: the reason may be our settings, and not this prompt.
            self._refused.append(response)
            if len(self._refused) >= MAX_REFUSED_IN_A_ROW:
                raise InputError(
                    f"judge: {MAX_REFUSED_IN_A_ROW} requests in a row failed, the last as {response.error}"
                )
            return
        if reason not in PASSING:
            for held in self._refused:
                self._put(held, finished)
            self._refused.clear()
            self._in_a_row = 0
        elif response.attempts or reason == "connection":
            self._in_a_row += 1
            if self._in_a_row == MAX_FAILED_IN_A_ROW:
                self._stopped = f"{MAX_FAILED_IN_A_ROW} requests in a row failed, the last as {response.error}"
                log.warning("nothing more is asked: %s", self._stopped)
        self._put(response, finished)

    def _put(self, response: Response, finished: Finished) -> None:
        """Pass a response on to the job. If calls were made for it, it is written to the file of open calls first."""
        if self.open_calls is not None and response.attempts:
            self.open_calls.answered(response)
        finished.put(response)

    async def _answer(self, request: Request, finished: Finished) -> Response:
        """One request, with its retries."""
        if self._stopped is not None:
            return Response(request.request_id, error=f"stopped: {self._stopped}", attempts=0)
        tally = _Tally()
        back_off = self.judge.backoff
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, CallError) and error.again),
            stop=tenacity.stop_after_attempt(self.judge.max_attempts),
            wait=_AskedWait() + tenacity.wait_random_exponential(multiplier=back_off.first, max=back_off.longest),
            reraise=True,
        )
        try:
            answer = await retrying(self._call, request, tally)
            return dataclasses.replace(answer, **self._used(tally))
        except CallError as error:
            return Response(request.request_id, error=str(error), **self._used(tally))
        except asyncio.CancelledError:
            if tally.attempts:
                error = "stopped: the job was ended before the answer came"
                self._put(Response(request.request_id, error=error, **self._used(tally)), finished)
            raise

    def _used(self, tally: _Tally) -> dict:
        cost = None if self.prices is None else tally.cost
        return {"attempts": tally.attempts, "tokens": tally.tokens, "cost": cost}

    async def _call(self, request: Request, tally: _Tally) -> Response:
        """One call. What it may have cost is in the budget and the tally when it returns or raises."""
        judge = self._under(request.profile)
        variants = await self._variants(request) if self._reads_options(request) else None
        body = self._body(request, judge, variants)
        answer = min(judge.sampling.max_tokens or 0, MAX_TOKENS_COUNTED)  # the most that is booked for one
        longest = _prompt_bytes(body) + MAX_TEMPLATE_TOKENS, answer
        most = Amount(1, sum(longest), self.prices.cost(*longest) if self.prices else 0.0)
        try:
            await self.budget.reserve(most)
        except BudgetSpentError as error:
            raise CallError("budget", str(error), again=False) from None
        used, sent = Amount(), None
        try:
            sent = await self.limiter.wait(most.tokens)
            # It is on disk before it is sent: nothing is paid for that could not be stored, or booked after a kill.
            while self._ending or not (self.open_calls is None or self.open_calls.add(request.request_id, most)):
                await asyncio.sleep(FULL_DISK_SECONDS)
            tally.attempts += 1
            used = most  # until it is known to be less
            self._under_way += 1
            try:
                content = await self.connection.post("/chat/completions", body, limit=_largest(body, longest[1]))
            finally:
                self._under_way -= 1
            usage = Usage.of(content)
            if usage is not None:
                cost = self.prices.cost(usage.prompt, usage.completion, usage.cached or 0) if self.prices else 0.0
                used = Amount(1, usage.prompt + usage.completion, cost)
            return self._response(request, content, usage, variants)
        except CallError as error:
            self._failures[error.reason] += 1
            if not error.sent:
                used = Amount()
                tally.attempts -= 1
                if self.open_calls is not None:
                    self.open_calls.unsent(request.request_id, most)
            elif not error.billed:
                used = Amount(1)
            raise
        finally:
            self.budget.settle(most, used)
            if sent is not None:
                self.limiter.correct(sent, used.tokens)
            tally.tokens += used.tokens
            tally.cost += used.cost

    def _under(self, profile: str) -> Called:
        if profile not in self._profiles:
            self._profiles[profile] = self.judge.under(profile)
        return self._profiles[profile]

    def _body(self, request: Request, judge: Called, variants: list[list[str]] | None) -> dict[str, Any]:
        """Body that is sent for a request. Sampling settings that are null are left out."""
        messages = [{"role": "user", "content": request.prompt}]
        if judge.system_prompt:
            messages.insert(0, {"role": "system", "content": judge.system_prompt})
        sampling = judge.sampling
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            judge.max_tokens_name: sampling.max_tokens,
            "stop": sampling.stop or None,
            "seed": None if sampling.seed is None else sampling.seed + request.repeat,
            "chat_template_kwargs": judge.chat_template_kwargs or None,
        }
        begun = judge.answer_prefix if request.begun is None else request.begun
        if begun and not request.names:
            messages.append({"role": "assistant", "content": begun})
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        if request.begun is not None:
            choices = {"choice": list(request.labels)}
            body |= {judge.max_tokens_name: 8, "stop": None, "structured_outputs": choices}
        elif request.names and judge.criteria_format == "lines":
            body["structured_outputs"] = {"regex": lines_pattern(request.questions)}
        if variants is not None and self.vllm:
            ids = sorted(int(name.removeprefix(TOKEN_ID)) for tokens in variants for name in tokens)
            body |= {"logprobs": True, "logprob_token_ids": ids, "return_tokens_as_token_ids": True}
        elif variants is not None:
            body |= {"logprobs": True, "top_logprobs": judge.top_logprobs}
        return {key: value for key, value in body.items() if value is not None} | judge.extra_body

    def _reads_options(self, request: Request) -> bool:
        """Tell whether the log-probabilities of the labels are asked for."""
        wanted = bool(request.names) or self._under(request.profile).answer_format == "score"
        return wanted and request.begun is None and (self.vllm or self.judge.top_logprobs > 0)

    async def _variants(self, request: Request) -> list[list[str]] | None:
        """For each label the tokens that write it, as an answer names them; None where one has no token.

        Raises:
            InputError: a label has no token of its own, and one question is asked.
        """
        texts = [[label, f" {label}"] for label in request.labels]
        numbers = are_numbers(request.labels)
        if not self.vllm:
            reason = None if numbers else label_tokens.shared_beginning(request.labels)
            return texts if reason is None else self._unread(request.labels, reason)
        if request.labels not in self._tokens:
            self._tokens[request.labels] = asyncio.create_task(self._find_tokens(request.labels))
        spellings = await asyncio.shield(self._tokens[request.labels])
        reason = label_tokens.problem(request.labels, spellings)
        if reason is None:
            singles = label_tokens.single_tokens(spellings)
            return [sorted(f"{TOKEN_ID}{token}" for token in tokens) for tokens in singles]
        if request.names:
            return None
        if numbers:
            raise InputError(f"judge: {reason}; use answer_format: feedback")
        return self._unread(request.labels, reason)

    def _unread(self, labels: tuple[str, ...], reason: str) -> None:
        """Say once why the probabilities of labels are not asked for."""
        if labels not in self._told:
            self._told.add(labels)
            log.warning("no option probabilities for scores %s: %s", ", ".join(labels), reason)

    async def _find_tokens(self, labels: tuple[str, ...]) -> list[list[list[int]]]:
        """Ask vLLM's server for the tokens of each label, alone and after a space."""
        address = f"{self.connection.base_url.rstrip('/').removesuffix('/v1')}/tokenize"
        spellings: list[list[list[int]]] = []
        for text in (f"{space}{label}" for label in labels for space in ("", " ")):
            body = {"model": self.model, "prompt": text, "add_special_tokens": False}
            try:
                tokens = (await self.connection.post(address, body)).get("tokens")
            except (CallError, InputError) as error:
                raise InputError(
                    f"judge: {address} does not say how scores are tokenized ({error}); expected a server of vLLM, or"
                    " dialect: openai"
                ) from None
            spellings.append(tokens if isinstance(tokens, list) else [])
        return [spellings[place : place + 2] for place in range(0, len(spellings), 2)]

    def _response(
        self, request: Request, content: dict, usage: Usage | None, variants: list[list[str]] | None
    ) -> Response:
        """The response that an answer holds. An answer without text is a refusal, a filtered answer, or empty.

        Raises:
            CallError: the answer does not follow the protocol.
        """
        choices = content.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise CallError("malformed", "the answer has no message", billed=True)
        finish = choice.get("finish_reason")
        texts = texts_of(message) | {"finish_reason": finish, "model": content.get("model")}
        for name, text in texts.items():
            if not isinstance(text, str | None):
                raise CallError("bad_request", f"{name} of the answer is no text", billed=True)
        if finish in CUT_SHORT:
            raise CallError("server_error", f"the answer ended with {finish}", billed=True)
        error, logprobs, place = None, None, None
        if not self._is_asked_model(texts["model"]):
            error = f"wrong_model: asked for {self.model}, answered by {self.connection.plain(texts['model'])}"
        elif finish == "content_filter":
            error = "content_filter"
        elif texts["refusal"]:
            error = "refusal"
        elif texts["text"] is None and finish != "length":
            error = f"no_content: finish_reason {self.connection.plain(str(finish))}"
        elif variants is not None:
            logprobs, place = self._options(request, choice, texts, variants)
        return Response(
            request.request_id,
            **texts,
            error=error,
            prompt_tokens=usage and usage.prompt,
            completion_tokens=usage and usage.completion,
            cached_tokens=usage and usage.cached,
            option_logprobs=logprobs,
            option_token=place,
        )

    def _is_asked_model(self, model: str | None) -> bool:
        """Tell whether the model that answered is the one that was asked, by its name or that of a dated version."""
        if model is None or model in (self.model, *self.judge.accept_models):
            return True
        return re.fullmatch(re.escape(self.model) + r"-(\d{4}-\d{2}-\d{2}|\d{8}|\d{4})", model) is not None

    def _options(
        self, request: Request, choice: dict, texts: dict, variants: list[list[str]]
    ) -> tuple[list[float] | None, int | None]:
        """Log-probabilities of the labels, and the index of the token where they are read if that is one."""
        try:
            tokens = [LoggedToken.of(entry) for entry in (choice.get("logprobs") or {}).get("content") or []]
            start = start_of_answer(tokens, texts["text"] or "", bool(texts["reasoning"]))
        except (KeyError, TypeError, AttributeError, ValueError):  # the answer was paid for, and is one without them
            tokens, start = [], 0
        if request.names:
            logprobs, place = read_several(tokens[start:], variants, request.questions), None
        else:
            logprobs, place = read_options(tokens[start:], variants)
            place = None if place is None else start + place
        self._unknown += logprobs is None
        return logprobs, place

    def _report(self) -> None:
        spent = self.budget.spent
        line = f"{spent.calls} calls and {spent.tokens} tokens so far, earlier runs included"
        if self.judge.prices is not None:
            line += f", at most {spent.cost:.4f} {self.judge.prices.currency or 'USD'}"
        if self._failures:
            line += "; calls without an answer: " + ", ".join(f"{n} {why}" for why, n in self._failures.most_common())
        if self._unknown:
            line += f"; {self._unknown} answers without the probabilities of all scores"
        log.info(line)


def _prices(prices: judges.Prices | None) -> Prices | None:
    return None if prices is None else Prices(prices.prompt, prices.completion, prices.cached)


def _prompt_bytes(body: dict) -> int:
    """An upper bound on the tokens of the messages: a token has at least one byte."""
    return sum(len(message["content"].encode()) for message in body["messages"])


def _largest(body: Mapping, max_tokens: int) -> int:
    """Size of the largest answer that is read, in bytes: far more than the protocol takes for what is asked."""
    if not max_tokens:
        return transport.DEFAULT_LIMIT
    listed = len(body.get("logprob_token_ids", ())) or body.get("top_logprobs", 0)
    return min(ANSWER_BYTES + max_tokens * (1 + listed) * TOKEN_BYTES, transport.DEFAULT_LIMIT * 16)


def _reason(response: Response) -> str | None:
    return response.error and response.error.partition(":")[0]


# --- between the event loop, which runs in a thread of its own, and the job


def _run(loop: asyncio.AbstractEventLoop, work: asyncio.Task, finished: Finished) -> None:
    try:
        loop.run_until_complete(work)
    except asyncio.CancelledError:
        pass
    except BaseException as error:  # it is raised where the responses are taken
        finished.put(error)
    finally:
        finished.put(None)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _taken(finished: Finished) -> Iterator[Response]:
    while (entry := finished.get()) is not None:
        if isinstance(entry, BaseException):
            raise entry
        yield entry


def _cancel(loop: asyncio.AbstractEventLoop, work: asyncio.Task) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(work.cancel)


def _join(thread: threading.Thread) -> None:
    with contextlib.suppress(RuntimeError):  # the thread was not started
        thread.join()


class _AskedWait(tenacity.wait.wait_base):
    """As long as the endpoint asks to."""

    def __call__(self, retry_state: tenacity.RetryCallState) -> float:
        return retry_state.outcome.exception().after
