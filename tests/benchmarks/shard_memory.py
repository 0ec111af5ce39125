"""Memory of one judge job out of 64 as the judge's requests grow, against that of a job with its own share alone.

    python tests/benchmarks/shard_memory.py --requests 256000 --requests 2000000

The judge is simulated. The response store holds the answers of all other shards. A line gives the largest memory of the
job's process and its seconds, for its part of all requests and for the same part as the judge's only requests.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from rubric_order.base import parquet
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import store as stores

ROOT = Path(__file__).resolve().parents[2]
SHARDS, OF_A_UNIT, CHARACTERS = 64, 10, 1500
QUESTION = [{"name": "", "labels": list("12345"), "names": "option"}]
JUDGE = {"engine": "simulated", "model": "j", "answer_format": "score", "sampling": {"temperature": 1}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, action="append", required=True, help="a number of requests")
    options = parser.parse_args()
    print(f"{'requests':>10} {'MB':>6} {'seconds':>8}   alone: {'MB':>6} {'seconds':>8} {'ratio':>6}", flush=True)
    for number in options.requests:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            share = -(-number // SHARDS)
            write_requests(folder / "s/all.parquet", number)
            write_requests(folder / "s/alone.parquet", share)
            write_store(folder / "store", range(share + OF_A_UNIT, number))
            of_all, alone = (job(folder, name, shards) for name, shards in (("all", SHARDS), ("alone", 1)))
            row = f"{number:10,} {of_all[0]:6.0f} {of_all[1]:8.1f}          {alone[0]:6.0f} {alone[1]:8.1f}"
            print(row, f"{of_all[0] / alone[0]:6.2f}", flush=True)


def write_requests(path: Path, number: int) -> None:
    """Requests with prompts of a usual length, ten of a unit, in the row groups that planning writes."""
    text = ("The instruction, the response and the rubric. " * CHARACTERS)[:CHARACTERS]

    def groups():
        for start in range(0, number, parquet.GROUP_ROWS):
            rows = range(start, min(start + parquet.GROUP_ROWS, number))
            columns = {
                "request_id": [name(row) for row in rows],
                "profile": ["default"] * len(rows),
                "dataset": ["d"] * len(rows),
                "unit_id": [f"u{row // OF_A_UNIT}" for row in rows],
                "n": [5] * len(rows),
                "condition": ["baseline"] * len(rows),
                "ordering": [[1, 2, 3, 4, 5]] * len(rows),
                "levels": [[]] * len(rows),
                "repeat": [row % OF_A_UNIT for row in rows],
                "prompt": [f"{row}: {text}" for row in rows],
                "options": [list("12345")] * len(rows),
                "questions": [QUESTION] * len(rows),
            }
            yield pa.table({key: columns[key] for key in REQUESTS.names}, schema=REQUESTS.schema)

    parquet.write(groups(), path)


def write_store(folder: Path, rows: range) -> None:
    """Answers to some requests, in files as large as jobs join them to."""
    for start in range(rows.start, rows.stop, 4 * stores.FULL_FILE_ROWS):
        part = rows[start - rows.start : start - rows.start + 4 * stores.FULL_FILE_ROWS]
        known = {"request_id": [name(row) for row in part], "text": ["4"] * len(part), "engine": ["{}"] * len(part)}
        table = pa.table(
            [pa.array(known.get(field.name, [None] * len(part)), field.type) for field in stores.SCHEMA],
            schema=stores.SCHEMA,
        )
        parquet.write_by_content(parquet.split_row_groups(table), folder, plain="request_id")


def name(row: int) -> str:
    """A name as long, and as random, as those of requests."""
    first, second = np.random.SeedSequence(row).generate_state(2, np.uint64).tolist()
    return f"{first:016x}{second:016x}"


def job(folder: Path, requests: str, shards: int) -> tuple[float, float]:
    """Largest memory in MB, and seconds, of the job of shard 1."""
    (folder / "judge.json").write_text(json.dumps(JUDGE))
    settings = {"--requests": folder / f"s/{requests}.parquet", "--shard": 1, "--shards": shards}
    settings |= {"--probes": "score_order", "--judge": folder / "judge.json"}
    settings |= {"--model-folder": "", "--weights": "", "--gpus": 0, "--output": folder / f"{requests}.parquet"}
    settings |= {"--store": folder / ("store" if requests == "all" else "store_alone")}
    command = [sys.executable, str(ROOT / "workflow/scripts/judge_shard.py")]
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*command, *(str(word) for pair in settings.items() for word in pair)], stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"the job of {requests} ended with status {status}")
    return usage.ru_maxrss / 1e3, time.perf_counter() - begun


if __name__ == "__main__":
    main()
