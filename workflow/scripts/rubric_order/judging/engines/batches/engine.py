"""Endpoints that are asked in batches: requests are sent in files, and a later run can fetch the answers."""

import asyncio
import contextlib
import dataclasses
import json
import logging
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.judging.batches import Ended, Look, Record, Records, record_of
from rubric_order.judging.engines import REFUSED, Request, Resources, Response
from rubric_order.judging.engines.batches import api
from rubric_order.judging.engines.batches.answers import Reader
from rubric_order.judging.engines.batches.api import BatchApi
from rubric_order.judging.engines.batches.files import MAX_BYTES, Results, count_of, line_of
from rubric_order.judging.engines.calls import Calls
from rubric_order.judging.engines.delivery import MAX_REFUSED_IN_A_ROW
from rubric_order.judging.engines.failures import CallError
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.engines.openai_api import EndpointEngine
from rubric_order.judging.engines.openai_calls import connect
from rubric_order.judging.engines.openai_protocol import ChatCompletions
from rubric_order.settings.judges.endpoint import Batch, Endpoint, seconds

log = logging.getLogger(__name__)

MAX_LOOKS = 10  # looks at the results of an ended batch that are not whole; after that, no job waits for the rest


@dataclasses.dataclass
class Underway:
    """A batch at the endpoint; `looks` counts those at results that were not whole, and `answers` are in these."""

    record: Record
    state: str = "created"
    looks: int = 0
    answers: Sequence[Response] = ()

    @property
    def ended(self) -> Ended:
        return Ended(self.record, self.answers, whole=False)


class BatchEngine(EndpointEngine):
    """A judge whose requests are sent in batches; its job may be killed at any time. `ended`: batches whose answers
    have come, until `Records.settle` has stored these.
    """

    def __init__(self, judge: Endpoint, resources: Resources) -> None:
        super().__init__(judge, resources)
        if resources.turn is None:
            raise ValueError("a batch needs a turn: its record is kept beside the store")
        self._how_batches: Batch = judge.batches or Batch()
        self._records = Records(resources.turn.batches)
        self._underway: list[Underway] = []
        self._counted: set[str] = set()  # keys of records whose use is in the account
        self._stored: set[str] = set()  # requests of batches under way whose answers an earlier job or `take_up` stored
        self._mistake: str | None = None
        self.ended: list[Ended] = []

    def start(self) -> None:
        self._connection = connect(self.judge)
        self._chat = ChatCompletions(self.judge, self._connection)
        self.calls = Calls(self._chat, self.judge, self.resources.turn, self.describe())
        self._reader = Reader(self._chat)
        self._api = BatchApi(self._connection, max_attempts=self.judge.max_attempts, backoff=self.judge.backoff)
        self._runner = asyncio.Runner()

    def take_up(self) -> None:
        """Take up the batches of earlier jobs; those that have ended, or have answers, are added to `ended`."""
        for record in self._records.all():
            if record.base_url != self.judge.base_url:
                raise InputError(
                    f"{self._records.path(record.key)}: {len(record.requests)} requests are under way in a batch at"
                    f" {record.base_url}, found base_url {self.judge.base_url}; run with the former until it has"
                    " ended, or remove the file to give its answers up"
                )
            if record.state == "made":  # the endpoint was not asked to create it
                self._records.remove(record)
                continue
            try:
                batch = self._run(self._taken_up(record))
            except CallError as error:
                raise InputError(f"judge: an earlier batch cannot be looked at: {error}; run again later") from None
            if batch is not None:
                self._underway.append(batch)
        self._look()
        self.ended += [batch.ended for batch in self._underway if batch.answers]

    def begin(self, spent: Amount) -> None:
        """Begin, after the responses of ended batches were stored; `spent`: use of the budget by all calls in the
        store.
        """
        self.calls.budget.spent = spent
        self._stored = {response.request_id for batch in self._underway for response in batch.answers}
        for batch in self._underway:
            self.calls.budget.hold(batch.record.most_without(self._stored))
        self._refuse_mistake()

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answer requests, see `Engine.answer`. Requests in a batch under way are not sent again; an InputError if
        batches are still under way after the time that config gives, or when the job ends early.
        """
        open_requests = {request.request_id: request for request in requests}
        until = time.monotonic() + seconds(self._how_batches.wait)
        try:
            yield from self._answers(open_requests, until)
        finally:
            self.calls.report()

    def _answers(self, open_requests: dict[str, Request], until: float) -> Iterator[Response]:
        yield from self._send(open_requests)
        while open_requests:
            if self._look():
                for response in self._booked():
                    if open_requests.pop(response.request_id, None) is not None:
                        yield response
                self._refuse_mistake()
                yield from self._send(open_requests)
                continue
            ended = all(batch.looks >= MAX_LOOKS for batch in self._underway)
            if ended or time.monotonic() >= until:
                self.ended += [batch.ended for batch in self._underway]
                raise InputError(self._still_under_way())
            time.sleep(min(seconds(self._how_batches.poll), max(until - time.monotonic(), 0.0)))

    def close(self) -> None:
        self._runner.close()
        super().close()

    def _run(self, work: Any) -> Any:
        async def inside() -> Any:
            async with self._chat:
                return await work

        return self._runner.run(inside())

    def _refuse_mistake(self) -> None:
        if self._mistake is not None:
            raise InputError(f"judge: {self._mistake}")

    def _still_under_way(self) -> str:
        number = sum(len(batch.record.requests) - len(batch.answers) for batch in self._underway)
        listed = ", ".join(f"{batch.record.batch}: {batch.state}" for batch in self._underway)
        incomplete = "".join(
            f"; {self._records.path(batch.record.key)}: this batch has ended without all its results; the answers that"
            " have come are stored; if the endpoint never gives the others, remove the file to ask them again"
            for batch in self._underway
            if batch.looks
        )
        return (
            f"judge: {number} requests are under way in {len(self._underway)} batches ({listed}); run again later to"
            f" fetch their answers: nothing is sent twice{incomplete}"
        )

    # --- sending

    def _send(self, open_requests: dict[str, Request]) -> Iterator[Response]:
        """Send requests that no batch holds, while the budget allows it, and yield a failure for each refused one."""
        held = {sent.request_id for batch in self._underway for sent in batch.record.requests}
        left = [request for name, request in open_requests.items() if name not in held]
        while left:
            sent, refused = self._run(self._send_one(left))
            left = left[sent:]
            if sent:
                continue
            if self._underway:  # these batches may use less than they reserve
                return
            for request in left:
                del open_requests[request.request_id]
                yield Response(request.request_id, error=f"budget: {refused}", attempts=0)
            return

    async def _send_one(self, requests: list[Request]) -> tuple[int, str | None]:
        """Send the first requests in one batch. Returns their number, and a reason if the budget allows no request."""
        lines: list[bytes] = []
        most: dict[str, Amount] = {}
        size, refused = 0, None
        for request in requests[: self._how_batches.requests]:
            prepared = await self._chat.prepare(request)
            line = line_of(request.request_id, prepared.body)
            if len(line) > MAX_BYTES:
                raise InputError(f"judge: a request of {len(line)} bytes is too long for a batch")
            if size + len(line) > MAX_BYTES:
                break
            amount = prepared.most(self.judge.prices)
            if not self.calls.budget.take(amount):
                refused = None if self._underway or lines else self.calls.budget.refuse(amount)
                break
            size += len(line)
            lines.append(line)
            most[request.request_id] = amount
        if lines:
            description = json.dumps(self.describe(), sort_keys=True)
            key = uuid.uuid4().hex
            record = record_of(key, description, self.judge.base_url, requests[: len(lines)], most)
            self._underway.append(await self._sent(record, b"".join(lines)))
        return len(lines), refused

    async def _sent(self, record: Record, content: bytes) -> Underway:
        """Create a batch, with its record on disk before each step."""
        for attempt in range(self.judge.max_attempts):
            if attempt:
                await asyncio.sleep(self.judge.backoff.first)
            self._records.write(record)
            try:
                file = await self._api.upload(f"{record.key}.jsonl", content)
            except (CallError, InputError) as error:
                self._records.remove(record)
                raise InputError(_after_judge(error, "no batch can be uploaded")) from None
            creating = record.model_copy(update={"state": "creating", "input_file": file})
            self._records.write(creating)
            try:
                return self._created(creating, await self._api.create(file, record.key, self._how_batches.window))
            except InputError as error:  # for example, a key that is not accepted
                self._records.remove(record)
                raise InputError(_after_judge(error, "no batch can be created")) from None
            except CallError as error:
                failure = error
            if not (failure.again or failure.billed):
                break
            if (batch := await self._search(creating)) is not None:
                return self._created(creating, batch)
        self._records.remove(record)
        raise InputError(f"judge: no batch can be created: {failure}; run again")

    def _created(self, record: Record, batch: Mapping[str, Any]) -> Underway:
        record = record.model_copy(update={"state": "created", "batch": api.id_of(batch)})
        self._records.write(record)
        log.info("batch %s: %d requests are sent", record.batch, len(record.requests))
        return Underway(record)

    async def _taken_up(self, record: Record) -> Underway | None:
        if record.batch is not None:
            return Underway(record)
        batch = await self._search(record)
        if batch is None:
            self._records.remove(record)
            return None
        return self._created(record, batch)

    async def _search(self, record: Record) -> Mapping[str, Any] | None:
        """The batch that was created for a record. If this cannot be known, the record stays and an InputError
        says so.
        """
        try:
            return await self._api.find(record.key, record.input_file)
        except (CallError, InputError) as error:
            raise InputError(
                f"{self._records.path(record.key)}: whether the batch of these {len(record.requests)} requests was"
                f" created is not known: {str(error).removeprefix('judge: ')}; run again, or find the batch of"
                f' {record.input_file} in the provider\'s console and write its id as "batch" into the file; if there'
                " is none, remove the file"
            ) from None

    # --- results

    def _look(self) -> bool:
        """Look at the batches under way; True if any has ended, with its responses in `ended`."""
        before = len(self._underway)
        for batch in list(self._underway):
            try:
                ended = self._run(self._fetched(batch))
            except CallError as error:
                log.warning("batch %s cannot be looked at: %s", batch.record.batch, error)
                continue
            if ended is not None:
                self._underway.remove(batch)
                self.ended.append(ended)
        return len(self._underway) < before

    def _booked(self) -> Iterator[Response]:
        """Responses of the batches that have just ended. Their use is added to the account."""
        for ended in self.ended:
            if ended.record.key in self._counted:
                continue
            self._counted.add(ended.record.key)
            used = Amount()
            for response in ended.responses:
                if response.request_id in self._stored:
                    continue
                used = used.plus(Amount(response.attempts or 0, response.tokens or 0, response.cost or 0.0))
            self.calls.budget.settle(ended.record.most_without(self._stored), used)
            yield from ended.responses

    async def _fetched(self, batch: Underway) -> Ended | None:
        """A batch that has ended, with its responses; None while it is under way."""
        try:
            content = await self._api.batch(str(batch.record.batch))
        except InputError as error:
            raise InputError(
                f"{self._records.path(batch.record.key)}: its batch {batch.record.batch} cannot be looked at:"
                f" {str(error).removeprefix('judge: ')}; mend this and run again, or, if the endpoint has lost the"
                " batch, remove the file to ask its requests again"
            ) from None
        done = count_of(content, "completed") or 0
        with contextlib.suppress(OSError):  # the note is only for people, so a full disk does not end the job here
            self._records.note(batch.record, Look(at=datetime.now(UTC), status=content["status"], done=done))
        state = f"{content['status']}, {done} of {len(batch.record.requests)} done"
        if state != batch.state:
            batch.state = state
            log.info("batch %s: %s", batch.record.batch, state)
        if content["status"] in api.UNDER_WAY:
            return None
        if content["status"] == api.FAILED and not (done or content.get("output_file_id")):
            self._mistake = f"batch {batch.record.batch} was refused: {self._why(content)}; none of it was asked"
            return Ended(batch.record, [])
        results, asked = Results(), batch.record.asked()
        for file in filter(None, (content.get("output_file_id"), content.get("error_file_id"))):
            try:
                results.add(await self._api.lines(file), asked)
            except InputError as error:  # the file may come later
                log.warning("batch %s: file %s cannot be read: %s", batch.record.batch, file, error)
        if warning := results.warning():
            log.warning("batch %s: lines that are ignored: %s", batch.record.batch, warning)
        responses, mistakes = await self._responses(batch.record, asked, results, content["status"])
        if missing := results.missing(content, len(asked)):
            batch.looks += 1
            batch.state = f"{state}, {missing} without a result"
            batch.answers = [response for response in responses if response.error is None]
            return None
        return Ended(batch.record, self._refused(responses, mistakes))

    def _why(self, batch: Mapping[str, Any]) -> str:
        """Reason why a batch was refused as a whole."""
        errors = batch.get("errors")
        errors = errors.get("data") if isinstance(errors, dict) else errors
        listed = errors if isinstance(errors, list) else [errors] if errors else []
        errors = [error if isinstance(error, dict) else {"message": str(error)} for error in listed]
        if not errors:
            return "the endpoint gives no reason"
        line = f"line {errors[0]['line']}: " if errors[0].get("line") is not None else ""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return self._connection.plain(f"{line}{errors[0].get('message') or errors[0].get('code')}") + more

    async def _responses(
        self, record: Record, asked: Mapping[str, Request], results: Results, status: str
    ) -> tuple[list[Response], list[str]]:
        """Responses to all requests of a batch, and the mistakes in config that the endpoint names."""
        most, responses, mistakes = record.most, [], []
        for name, request in asked.items():
            try:
                response = await self._reader.response(request, results.by_request.get(name, []), status, most[name])
            except InputError as error:  # no request can succeed
                response = Response(name, error=f"stopped: {error}", attempts=1, tokens=0, cost=self._reader.cost(0.0))
                mistakes.append(str(error).removeprefix("judge: "))
            if response.error is not None:
                response = dataclasses.replace(response, error=_named(response.error, str(record.batch)))
            responses.append(response)
        return responses, mistakes

    def _refused(self, responses: list[Response], mistakes: list[str]) -> list[Response]:
        """Responses of a whole batch. If all of `MAX_REFUSED_IN_A_ROW` or more were refused, the settings may be the
        cause: the failures may pass.
        """
        refused = [response for response in responses if response.reason in REFUSED]
        if len(refused) == len(responses) >= MAX_REFUSED_IN_A_ROW:
            mistakes.append(f"all {len(refused)} requests of a batch failed, the last as {refused[-1].error}")
            responses = [dataclasses.replace(entry, error=f"stopped: {entry.error}") for entry in responses]
        if mistakes:
            self._mistake = mistakes[0]
        return responses


def _named(error: str, batch: str) -> str:
    # the id distinguishes two failures of one request in the store
    return f"{error} (batch {batch})" if ":" in error else f"{error}: batch {batch}"


def _after_judge(error: Exception, what: str) -> str:
    return f"judge: {what}: {str(error).removeprefix('judge: ')}"
