"""Records of sent batches, each on disk before anything leaves the machine until all its answers are stored: a killed
job loses no answer, nothing is sent twice, and answers are read even if the study has changed.
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
    """A request of a batch, with what is needed to read its answer.

    Attributes:
        questions: index in `Record.questions`.
        tokens, cost: the most that the request can use.
    """

    request_id: str
    profile: str
    repeat: int
    begun: str | None
    questions: int
    tokens: int
    cost: float


class Record(BaseModel):
    """Record of a batch.

    Attributes:
        key: also in the batch's metadata at the endpoint, by which a job finds the batch.
        engine: description of the engine, as the store will hold it.
        state: ``made``; ``creating`` before the endpoint is asked; ``created`` once the batch has an id.
        input_file, batch: ids that the endpoint gave.
        questions: distinct lists of questions.
        sent: time at which the record was made; None in records of earlier versions.
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
        """Requests by id, without their prompts."""
        questions = [tuple(entry) for entry in self.questions]
        return {
            sent.request_id: Request(
                sent.request_id, "", questions[sent.questions], sent.repeat, profile=sent.profile, begun=sent.begun
            )
            for sent in self.requests
        }

    @property
    def most(self) -> dict[str, Amount]:
        return {sent.request_id: Amount(1, sent.tokens, sent.cost) for sent in self.requests}

    def most_without(self, answered: Collection[str]) -> Amount:
        """The most that all requests together can use, except those with an answer."""
        left = [sent for sent in self.requests if sent.request_id not in answered]
        return Amount(len(left), sum(sent.tokens for sent in left), sum(sent.cost for sent in left))


class Look(BaseModel):
    """State of a batch when a job last looked at it; `status` is the endpoint's word, `done` the requests answered."""

    model_config = ConfigDict(frozen=True)

    at: AwareDatetime
    status: str
    done: int


@dataclass(frozen=True)
class Ended:
    """A batch that has ended, with a response to each request (none where it was refused as a whole); not `whole` while
    some lack both result and failure.
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
    """The records of one judge's batches; one job at a time writes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def write(self, record: Record) -> None:
        files.write_text(record.model_dump_json() + "\n", self.path(record.key))

    def remove(self, record: Record) -> None:
        self._look_path(record.key).unlink(missing_ok=True)
        self.path(record.key).unlink(missing_ok=True)

    def note(self, record: Record, look: Look) -> None:
        files.write_text(look.model_dump_json() + "\n", self._look_path(record.key))

    def last_look(self, record: Record) -> Look | None:
        """Last look at a batch; None without one that can be read."""
        try:
            return Look.model_validate_json(self._look_path(record.key).read_bytes())
        except (OSError, ValidationError):
            return None

    def all(self) -> list[Record]:
        """All records, by name; one that is removed meanwhile is left out."""
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
        """Remove records whose answers are all stored: their job was killed before it could."""
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
    return errors.isna() | errors.str.contains(str(record.batch), regex=False).fillna(False).astype(bool)
