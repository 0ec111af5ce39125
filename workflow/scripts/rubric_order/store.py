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
import pyarrow.dataset
import pyarrow.parquet as pq

from rubric_order import files
from rubric_order.engines import Response

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
    }
)


class Store:
    """Finished requests of one judge in one folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._written: list[Path] = []

    def append(self, responses: list[Response]) -> None:
        """Keep finished requests. They are on disk when this returns."""
        if responses:
            self._written.append(self._write(pa.Table.from_pylist([vars(r) for r in responses], schema=SCHEMA)))

    def read(self, request_ids: Iterable[str]) -> pd.DataFrame:
        """What is known of the given requests, one row each, in their order; unknown ones are left out."""
        wanted = pd.Index(request_ids)
        tables = [table for path in sorted(self.folder.glob("*.parquet")) if (table := self._load(path)) is not None]
        known = pa.concat_tables([SCHEMA.empty_table(), *tables]).to_pandas()
        known = known[known["request_id"].isin(wanted)].drop_duplicates("request_id").set_index("request_id")
        return known.reindex(wanted[wanted.isin(known.index)]).rename_axis("request_id").reset_index()

    def compact(self) -> None:
        """Join the files that this object wrote into one."""
        if len(self._written) > 1:
            tables = [pq.read_table(path, schema=SCHEMA) for path in self._written]
            joined = self._write(pa.concat_tables(tables).sort_by("request_id"))
            for path in self._written:
                if path != joined:
                    path.unlink()
            self._written = [joined]

    def _write(self, table: pa.Table) -> Path:
        digest = hashlib.blake2b(digest_size=16)
        for batch in table.combine_chunks().to_batches():
            digest.update(batch.serialize())
        path = self.folder / f"{digest.hexdigest()}.parquet"
        files.write_parquet(table, path)
        return path

    def _load(self, path: Path) -> pa.Table | None:
        try:
            return pq.read_table(path, schema=SCHEMA)
        except FileNotFoundError:  # another job has joined it with others, which are read too or will be
            return None
        except pa.ArrowInvalid as error:  # torn by a power cut: its requests are asked again
            log.warning("%s is not readable and is left aside: %s", path, error)
            return None
