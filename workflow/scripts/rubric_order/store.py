"""The response store: finished requests, kept from the moment they are finished.

A judge's store is a folder of small Parquet files, each named by the hash of its content and never changed. Several
jobs can write to it at once, and a job that is killed loses at most the requests that were not finished.
"""

import hashlib
import logging
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.parquet as pq

from rubric_order import files
from rubric_order.engines import PASSING, Response

log = logging.getLogger(__name__)

SCHEMA = pa.schema(
    {
        "request_id": pa.string(),
        "text": pa.string(),  # exactly what the judge wrote; null where there is no answer
        "finish_reason": pa.string(),
        "error": pa.string(),  # why there is no answer
        "prompt_tokens": pa.int32(),
        "completion_tokens": pa.int32(),
        "cached_tokens": pa.int32(),
        "option_logprobs": pa.list_(pa.float64()),  # of the scores 1..n, where the score was written
        "option_token": pa.int32(),  # index of the generated token at which they were read
        "reasoning": pa.string(),  # what the judge thought, where that is kept apart from the answer
        "refusal": pa.string(),  # what an endpoint says where the model refuses
        "attempts": pa.int32(),  # calls that were sent for it
        "cost": pa.float64(),  # in the currency of the judge's prices
        "model": pa.string(),  # who says to have answered
        "engine": pa.string(),  # what gave the answer: versions and arguments, as JSON
    }
)


class Store:
    """Finished requests of one judge in one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._written: list[Path] = []

    def append(self, responses: list[Response], *, engine: str | None = None) -> None:
        """Keep finished requests, with what gave them. They are on disk when this returns."""
        if responses:
            rows = [vars(response) | {"engine": engine} for response in responses]
            self._written.append(self._write(pa.Table.from_pylist(rows, schema=SCHEMA)))

    def read(self, request_ids: Iterable[str], columns: list[str] | None = None) -> pd.DataFrame:
        """What is known of the given requests, one row each, in their order; unknown ones are left out.

        Of several rows of a request an answer comes before a failure for good, and that before one that may pass.

        Args:
            columns: of `SCHEMA`, by default all; `request_id` and `error` are always there.
        """
        wanted = pd.Index(request_ids)
        names = [name for name in SCHEMA.names if columns is None or name in {*columns, "request_id", "error"}]
        ids = pa.array(wanted, pa.string())
        parts = [table.select(names).filter(pc.is_in(table["request_id"], ids)) for table in self._load_all(names)]
        known = pa.concat_tables([SCHEMA.empty_table().select(names), *parts]).to_pandas()
        rank = known["error"].map(_rank)
        known = known.loc[rank.sort_values(kind="stable").index].drop_duplicates("request_id").set_index("request_id")
        return known.reindex(wanted[wanted.isin(known.index)]).rename_axis("request_id").reset_index()

    def compact(self) -> None:
        """Join the files that this object wrote into one, with each request once."""
        # A file that another job wrote too, byte for byte, may already be part of what that job joined.
        written = [path for path in dict.fromkeys(self._written) if path.exists()]
        if len(written) > 1:
            table = pa.concat_tables(
                [pq.read_table(path, schema=SCHEMA, page_checksum_verification=True) for path in written]
            )
            rank = table["error"].to_pandas().map(_rank).sort_values(kind="stable")
            table = table.take(pa.array(rank.index))
            repeated = table["request_id"].to_pandas().duplicated().to_numpy()
            joined = self._write(table.filter(~repeated).sort_by("request_id"))
            for path in written:
                if path != joined:
                    path.unlink(missing_ok=True)
            self._written = [joined]

    def _write(self, table: pa.Table) -> Path:
        digest = hashlib.blake2b(digest_size=16)
        for batch in table.combine_chunks().to_batches():
            digest.update(batch.serialize())
        path = self.folder / f"{digest.hexdigest()}.parquet"
        files.write_parquet(table, path)
        return path

    def _load_all(self, columns: list[str]) -> list[pa.Table]:
        while True:
            # Names that begin with a dot are files that are being written.
            paths = sorted(path for path in self.folder.glob("*.parquet") if path.is_file() and path.name[0] != ".")
            try:
                return [table for path in paths if (table := self._load(path, columns)) is not None]
            except FileNotFoundError:  # another job has joined it with others since the folder was listed
                continue

    def _load(self, path: Path, columns: list[str]) -> pa.Table | None:
        try:
            return _read(path, columns)
        except FileNotFoundError:
            raise
        except (pa.ArrowInvalid, OSError) as error:  # torn by a power cut: its requests are asked again
            log.warning("%s is not readable and is left aside: %s", path, " ".join(str(error).split()))
            return None


def _read(path: Path, columns: list[str]) -> pa.Table:
    # Files of earlier versions lack some columns, which are then null.
    return pq.read_table(path, schema=SCHEMA, columns=columns, page_checksum_verification=True)


def _rank(error: str | None) -> int:
    """Answers first, then failures for good, then failures that may pass."""
    return 0 if not isinstance(error, str) else 2 if may_pass(error) else 1


def may_pass(error: object) -> bool:
    """Whether a failure is for a reason that may pass, so that the request is asked again."""
    return isinstance(error, str) and error.partition(":")[0] in PASSING
