"""Costs of `rubric-order audit` of a simulated file of reads: seconds, those of the processor, and memory.

    python tests/benchmarks/audit_reads.py --reads 1000000 --form csv --form jsonl --form parquet

Each line is one run of the program on a file of one form: five levels, ten orderings per item, four items per group.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from rubric_order.prompts import orderings

FORMS = ("csv", "csv.gz", "jsonl", "parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reads", type=int, default=1_000_000, help="number of reads")
    parser.add_argument("--form", action="append", choices=FORMS, help="of the file; several times; csv by default")
    parser.add_argument("--probabilities", action="store_true", help="with p_1 to p_5")
    options = parser.parse_args()
    table = reads(options.reads, probabilities=options.probabilities)
    print(f"{len(table):,} reads\n{'file':12} {'MB':>7} {'seconds':>8} {'CPU':>8} {'GB':>6}", flush=True)
    for form in options.form or ["csv"]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"reads.{form}")
            write(table, path)
            seconds, cpu, memory = timed(
                [sys.executable, "-m", "rubric_order.commands.app", "audit", str(path), "--json"]
            )
            print(f"{form:12} {path.stat().st_size / 1e6:7.1f} {seconds:8.1f} {cpu:8.1f} {memory:6.2f}", flush=True)


def reads(count: int, *, probabilities: bool) -> pd.DataFrame:
    """Reads of a judge that likes the first position a little."""
    rng, shown = np.random.default_rng(20261125), orderings.balanced(5)
    items = -(-count // len(shown))
    item, at = np.repeat(np.arange(items), len(shown)), np.tile(np.arange(len(shown)), items)
    likes = rng.normal(size=(items, 5))[item] * 1.5
    worth = np.take_along_axis(np.tile([0.3, 0, 0, 0, 0], (len(item), 1)), np.argsort(shown, axis=1)[at], axis=1)
    weights = np.exp(likes + worth)
    weights /= weights.sum(axis=1, keepdims=True)
    score = 1 + (weights.cumsum(axis=1) < rng.random(len(item))[:, None]).sum(axis=1)
    words = np.array([" ".join(map(str, row)) for row in shown])
    table = pd.DataFrame(
        {
            "item": np.char.add("item_", item.astype(str)),
            "group": np.char.add("g", (item // 4).astype(str)),
            "ordering": words[at],
            "score": np.minimum(score, 5),
        }
    )
    if probabilities:
        table[[f"p_{k}" for k in range(1, 6)]] = weights.round(6)
    return table.head(count)


def write(table: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False)


def timed(command: list[str]) -> tuple[float, float, float]:
    """Seconds, seconds of the processor and GB of the largest process of a command."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


if __name__ == "__main__":
    main()
