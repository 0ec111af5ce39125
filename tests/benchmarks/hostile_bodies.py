"""Memory of a judge job whose endpoint sends bodies of 200 MB, or gzip bombs, against that of ordinary answers.

    python tests/benchmarks/hostile_bodies.py

The server is a process of its own. Every second call is answered in the hostile way. A line gives the largest memory of
the job and of the process that sends its calls, together, and what became of the requests.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "workflow/scripts")]

from endpoint import Reply, completion, running  # noqa: E402
from factories import complete_judge, request_table  # noqa: E402

REQUESTS, CONCURRENCY = 64, 8
MEGABYTE = 10**6
BODY = 200 * MEGABYTE
QUICK = {"concurrency": CONCURRENCY, "max_attempts": 2, "backoff": {"first": 0.01, "longest": 0.05}}


def bomb() -> bytes:
    """Some 200 kB that are 200 MB of JSON once they are decompressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    start, end = json.dumps(completion("@")).split("@")
    block = b"4" * MEGABYTE
    return (
        b"".join(
            [
                packer.compress(start.encode()),
                *(packer.compress(block) for _ in range(200)),
                packer.compress(end.encode()),
            ]
        )
        + packer.flush()
    )


def kinds() -> dict[str, Reply]:
    chunked = {"Content-Length": "", "Connection": "close"}
    huge = json.dumps(completion("4" * BODY)).encode()
    return {
        "ordinary": Reply(completion("[RESULT] 4")),
        "200 MB with its length": Reply(huge),
        "200 MB without a length": Reply(huge, headers=chunked, cut=len(huge)),
        "gzip bomb": Reply(bomb(), headers={"Content-Encoding": "gzip"}),
    }


def serve(kind: str, address) -> None:
    hostile, ordinary = kinds()[kind], Reply(completion("[RESULT] 4"))
    with running(lambda call: hostile if int(call.prompt.split()[1]) % 2 else ordinary) as endpoint:
        address.send(endpoint.base_url)
        address.recv()


def job(folder: Path, base_url: str) -> None:
    from rubric_order.jobs.judge_shard import judge_shard

    table = request_table(*(f"{k:032x}" for k in range(REQUESTS)), repeat=0)
    table = table.assign(prompt=[f"prompt {k}" for k in range(REQUESTS)], unit_id=[f"i{k}" for k in range(REQUESTS)])
    table.to_parquet(folder / "requests.parquet")
    how = {"engine": "openai", "base_url": base_url, **QUICK}
    judge = complete_judge(model="a-model", answer_format="feedback", answer_prefix="", **how)
    judge_shard(
        [folder / "requests.parquet"],
        ["score_order"],
        1,
        1,
        judge,
        gpus=0,
        store=folder / "store",
        output=folder / "responses.parquet",
        model_folder=None,
        weights=None,
    )


def measure(kind: str) -> tuple[float, dict]:
    """Largest memory of a job in MB, and its failures by reason."""
    import pandas as pd

    processes = multiprocessing.get_context("spawn")
    ours, theirs = processes.Pipe()
    server = processes.Process(target=serve, args=(kind, theirs), daemon=True)
    server.start()
    base_url = ours.recv()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        worker = processes.Process(target=job, args=(folder, base_url))
        worker.start()
        most, ended = [0.0], threading.Event()

        def watch() -> None:
            while not ended.is_set():
                try:
                    tree = [psutil.Process(worker.pid), *psutil.Process(worker.pid).children(recursive=True)]
                    most[0] = max(most[0], sum(process.memory_info().rss for process in tree) / MEGABYTE)
                except psutil.NoSuchProcess:
                    pass
                time.sleep(0.005)

        thread = threading.Thread(target=watch)
        thread.start()
        worker.join()
        ended.set()
        thread.join()
        ours.send(None)
        server.join()
        responses = pd.read_parquet(folder / "responses.parquet")
    return most[0], responses["error"].str.partition(":")[0].fillna("answered").value_counts().to_dict()


def main() -> None:
    os.environ["PYTHONPATH"] = str(ROOT / "workflow/scripts")
    usual = None
    for kind in ("ordinary", "200 MB with its length", "200 MB without a length", "gzip bomb"):
        memory, ends = measure(kind)
        usual = memory if usual is None else usual
        print(f"{kind:25} {memory:7.0f} MB, {memory - usual:+6.0f} MB beside ordinary answers; {ends}", flush=True)


if __name__ == "__main__":
    main()
