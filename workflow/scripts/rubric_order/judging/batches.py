"""Records of sent batches. A record stays on disk until all answers of its batch are stored.

Each batch has a record, in a file of its own. The record exists from before the batch's requests leave this machine
until all answers of the batch are in the response store. So a killed job loses no answer, and no batch is sent twice.
The record holds all that is needed to read the answers: they are stored even if the study has changed since. The record
is flushed to the disk before each step that may cost money.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Request, Response
from rubric_order.judging.engines.limits import Amount
from rubric_order.judging.store import Store
from rubric_order.probes import Question

STORED_AT_ONCE = 16_384


class Sent(NamedTuple):
    """A request of a batch, with the fields that are needed to read its answer.

    Attributes:
        request_id, profile, repeat, begun: see `engines.Request`.
        questions: index of the request's questions in `Record.questions`.
        tokens: largest number of tokens that the request can use.
        cost: largest cost of the request.
    """

    request_id: str
    profile: str
    repeat: int
    begun: str | None
    questions: int
    tokens: int
    cost: float


class Record(BaseModel):
    """Record of a batch, kept on disk.

    Attributes:
        key: name of the record. The endpoint keeps it with the batch, so that a job can find the batch by its key.
        engine: description of the engine, as the store will hold it.
        base_url: address of the endpoint.
        state: ``made`` before the endpoint is asked to create the batch, ``creating`` from then on, and ``created``
            once the id of the batch is known.
        input_file: id that the endpoint gave the file of requests.
        batch: id that the endpoint gave the batch.
        questions: distinct lists of questions that the requests have.
        requests: the requests.
        sent: time at which the record was made, right before the batch was sent; None in a record of an earlier
            version.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    engine: str
    base_url: str
    state: Literal["made", "creating", "created"] = "made"
    input_file: str | None = None
    batch: str | None = None
    questions: list[list[Question]] = []
    requests: list[Sent] = []
    sent: AwareDatetime | None = None

    def asked(self) -> dict[str, Request]:
        """Dictionary from the id of each request to the request, without its prompt."""
        questions = [tuple(entry) for entry in self.questions]
        return {
            sent.request_id: Request(
                sent.request_id, "", questions[sent.questions], sent.repeat, profile=sent.profile, begun=sent.begun
            )
            for sent in self.requests
        }

    @property
    def most(self) -> dict[str, Amount]:
        """Dictionary from the id of each request to the most that the request can use."""
        return {sent.request_id: Amount(1, sent.tokens, sent.cost) for sent in self.requests}

    def most_without(self, answered: Collection[str]) -> Amount:
        """The most that all requests together can use, except those with an answer."""
        left = [sent for sent in self.requests if sent.request_id not in answered]
        return Amount(len(left), sum(sent.tokens for sent in left), sum(sent.cost for sent in left))


class Look(BaseModel):
    """State of a batch when a job last looked at it.

    Attributes:
        at: time of the look.
        status: the endpoint's word for the state, such as ``in_progress``.
        done: number of the batch's requests that were answered.
    """

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    status: str
    done: int


@dataclass(frozen=True)
class Ended:
    """A batch that has ended.

    Attributes:
        record: record of the batch.
        responses: one response to each of its requests; empty where the endpoint refused the batch as a whole.
        whole: False if some requests have neither a result nor a failure yet; `responses` then lacks these requests.
    """

    record: Record
    responses: Sequence[Response]
    whole: bool = True


def record_of(key: str, engine: str, base_url: str, requests: Sequence[Request], most: Mapping[str, Amount]) -> Record:
    """Record of a batch that is about to be sent."""
    questions: dict[tuple[Question, ...], int] = {}
    sent = [
        Sent(
            request.request_id,
            request.profile,
            request.repeat,
            request.begun,
            questions.setdefault(request.questions, len(questions)),
            most[request.request_id].tokens,
            most[request.request_id].cost,
        )
        for request in requests
    ]
    return Record(
        key=key,
        engine=engine,
        base_url=base_url,
        questions=[list(entry) for entry in questions],
        requests=sent,
        sent=datetime.now(UTC),
    )


class Records:
    """The records of one judge's batches, in a folder. One job at a time writes them; anyone may read them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """File of a record."""
        return self.folder / f"{key}.json"

    def write(self, record: Record) -> None:
        """Write a record. It is on disk when the method returns."""
        files.write_text(record.model_dump_json() + "\n", self.path(record.key))

    def remove(self, record: Record) -> None:
        """Remove a record, if it exists, and the last look at its batch."""
        self._look_path(record.key).unlink(missing_ok=True)
        self.path(record.key).unlink(missing_ok=True)

    def note(self, record: Record, look: Look) -> None:
        """Keep the last look at a batch beside its record."""
        files.write_text(look.model_dump_json() + "\n", self._look_path(record.key))

    def last_look(self, record: Record) -> Look | None:
        """Return the last look at a batch; None if no job has looked, or if the file of the look cannot be read."""
        try:
            return Look.model_validate_json(self._look_path(record.key).read_bytes())
        except (OSError, ValidationError):
            return None

    def all(self) -> list[Record]:
        """All records, in the order of the names of their files. A record that is removed meanwhile is left out.

        Raises:
            InputError: a record cannot be read.
        """
        records = (self._read(path) for path in sorted(self.folder.glob("[!.]*.json")))
        return [record for record in records if record is not None]

    def _look_path(self, key: str) -> Path:
        return self.folder / f"{key}.look"

    def _read(self, path: Path) -> Record | None:
        try:
            return Record.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            raise InputError(
                f"{path}: expected the record of a batch, as this version writes it; its requests may be under way at"
                " the endpoint. Remove the file to ask them again"
            ) from None

    def prune(self, store: Store) -> None:
        """Remove each record whose answers are all stored: its job was killed before it could remove the record."""
        for record in self.all():
            rows = store.read([sent.request_id for sent in record.requests], [])
            if record.batch is not None and int(rows["error"].isna().sum()) == len(record.requests):
                self.remove(record)

    def settle(self, ended: list[Ended], store: Store) -> None:
        """Store those responses of ended batches that the store lacks, and remove the records of whole batches."""
        while ended:
            record, responses = ended[0].record, ended[0].responses
            rows = store.read([response.request_id for response in responses], [])
            # The error of a failed request names its batch.
            stored = set(rows["request_id"][_is_of(rows["error"], record)])
            lacking = [response for response in responses if response.request_id not in stored]
            for start in range(0, len(lacking), STORED_AT_ONCE):
                store.append(lacking[start : start + STORED_AT_ONCE], engine=record.engine)
            if ended[0].whole:
                self.remove(record)
            ended.pop(0)


def _is_of(errors: pd.Series, record: Record) -> pd.Series:
    """True for an answer, which has no error, and for a failure whose error names the record's batch."""
    return errors.isna() | errors.str.contains(str(record.batch), regex=False).fillna(False).astype(bool)
