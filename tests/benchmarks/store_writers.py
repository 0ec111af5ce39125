"""The store after many judge jobs that write to one response store and end within seconds of each other.

    python tests/benchmarks/store_writers.py --writers 16 --answers 5120

Each writer is a process of its own. It begins a little after the one before it, writes its answers in files of 256,
and then joins the files that hold them, as a judge job does at its end. The last lines say what is left.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pyarrow.parquet as pq

from rubric_order.judging.engines import Response
from rubric_order.judging.store import Store

OF_A_FILE = 256
TEXT = "Score: 4, since " * 40  # as long as feedback is


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--answers", type=int, default=5120, help="answers of each")
    parser.add_argument("--apart", type=float, default=0.3, help="seconds between two beginnings")
    options = parser.parse_args()
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["rubric_order.judging.store"])
    begin, found = processes.Barrier(options.writers + 1), processes.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        work = [(folder, number, options.answers, options.apart, begin, found) for number in range(options.writers)]
        jobs = [processes.Process(target=write, args=each) for each in work]
        for job in jobs:
            job.start()
        begin.wait()  # every process is there, and has loaded the library
        begun = time.perf_counter()
        results = [found.get() for _ in jobs]
        seconds = time.perf_counter() - begun
        paths = list(Path(folder).glob("[!.]*.parquet"))
        ids = [name for path in paths for name in pq.read_table(path, columns=["request_id"])["request_id"].to_pylist()]
    print(f"{'writer':>6} {'MB':>6} {'seconds':>8} {'joining':>8}")
    for number, megabytes, whole, joining in sorted(results):
        print(f"{number:6} {megabytes:6.0f} {whole:8.1f} {joining:8.1f}")
    distinct = options.writers * options.answers
    print(
        f"{len(ids):,} rows of {distinct:,} answers ({len(ids) / distinct:.2f}) in {len(paths)} files; {seconds:.1f} s;"
    )
    print(f"largest process {max(megabytes for _, megabytes, *_ in results):.0f} MB; {len(set(ids)):,} distinct")


def write(folder: str, number: int, answers: int, apart: float, begin: Barrier, found: SimpleQueue) -> None:
    """Write a job's answers and join their files; tells its number, its MB, its seconds, and those of joining."""
    begin.wait()
    time.sleep(number * apart)
    begun = time.perf_counter()
    store, names = Store(folder), [f"{number:02d}-{row:06d}" for row in range(answers)]
    for start in range(0, answers, OF_A_FILE):
        rows = [
            Response(name, text=TEXT + name, finish_reason="stop", option_logprobs=[-1.5] * 5)
            for name in names[start : start + OF_A_FILE]
        ]
        store.append(rows, engine="e" * 300)
    joining = time.perf_counter()
    store.compact(names)
    ended = time.perf_counter()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    found.put((number, megabytes, ended - begun, ended - joining))


if __name__ == "__main__":
    main()
