"""Cost of planning the whole study of a paper: a dry run, all requests, and the reports before and after judging.

    python tests/benchmarks/planning.py --mirror PATH

By default the six judges of config/papers/position_bias.yaml: 2.8 million reads, 2 million requests. Each line says the
seconds and the memory of the largest process. Items are prepared before the clock starts. For the report on judging,
every request is given an answer of some 600 characters first.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

WORDS = ("response", "criterion", "although", "argument", "thin", "one", "claim", "lacks", "support", "follows", "well")
CHUNK = 8192  # answers that are stored at once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", default="", help="folder with the datasets' files, read instead of the network")
    parser.add_argument("--config", type=Path, default=ROOT / "config/papers/position_bias.yaml", help="config file")
    parser.add_argument("--cores", default="2", help="cores of Snakemake")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    options = parser.parse_args()
    studies = yaml.safe_load(options.config.read_text())["studies"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--cores", options.cores]
        command += ["--directory", str(folder), "--configfile", str(options.config)]
        command += ["--config", f"dataset_mirror={options.mirror}", "--"]

        timed("dry run of everything, asked: 15 s, 1 GB", [*command[:-1], "--dry-run", "--quiet", "rules"])
        datasets = {name for block in studies.values() for name in block["datasets"]}
        subprocess.run([*command, *(f"results/items/{name}.parquet" for name in datasets)], check=True, **QUIET)
        requests = {judge: {} for block in studies.values() for judge in block["judges"]}
        for study, block in studies.items():
            for judge in block["judges"]:
                requests[judge][study] = folder / f"results/requests/{study}/{judge}.parquet"
        paths = [str(path.relative_to(folder)) for files in requests.values() for path in files.values()]
        timed("all requests planned, asked: 180 s, 4 GB", [*command, *paths])
        size = sum((folder / path).stat().st_size for path in paths) / 1e6
        print(f"{'requests Parquet, asked: 180 MB':50} {size:8.1f} MB")
        report = timed("plan_cost", [*command, "plan_cost"])
        print(re.search(r"^[\d,]+ reads need .*$", report, flags=re.MULTILINE)[0])

        answers = fill_stores(folder / "results/store", requests)
        timed(f"judge_status, {answers:,} answers", [*command, "judge_status"])


QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def timed(what: str, command: list[str]) -> str:
    """Run a command and print its seconds, and the memory of the largest process among it and its children."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        errors.seek(0)
        if status:
            sys.exit(errors.read())
    seconds = time.perf_counter() - begun
    processor = usage.ru_utime + usage.ru_stime
    print(f"{what:50} {seconds:8.1f} s {usage.ru_maxrss / 1e6:6.2f} GB  (processor: {processor:.1f} s)", flush=True)
    return output


def fill_stores(folder: Path, requests: dict[str, dict[str, Path]]) -> int:
    """An answer to every request, in files of the size that joining leaves."""
    from rubric_order.judging.engines import Response
    from rubric_order.judging.store import Store

    rng, count = random.Random(1), 0  # noqa: S311 - any words do
    texts = [" ".join(rng.choices(WORDS, k=90)) for _ in range(1000)]
    tokens = {"prompt_tokens": 800, "completion_tokens": 130, "cached_tokens": 700}
    for judge, files in requests.items():
        store = Store(folder / judge)
        for path in files.values():
            ids = pq.read_table(path, columns=["request_id"])["request_id"].to_pylist()
            count += len(ids)
            for start in range(0, len(ids), CHUNK):
                chunk = ids[start : start + CHUNK]
                store.append([Response(name, text=rng.choice(texts), finish_reason="stop", **tokens) for name in chunk])
    return count


if __name__ == "__main__":
    main()
