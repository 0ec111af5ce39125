"""Cost of each stage as reads grow: a simulated run, by default of 4 judges x 16 shards x 3 studies.

    python tests/benchmarks/scale.py --reads 1000000 --reads 10000000

Each stage is one run of Snakemake over all judges and studies. A line gives its seconds, those of the processor (of all
processes together; they count on a busy machine too), the memory of the largest process, and the files that it made.
The last columns divide the run of most reads by that of fewest.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
SHARDS, ORDERINGS, CANDIDATES = 16, 10, 4
RESAMPLES = 200
STAGES = {  # targets, and the folder of results that they fill
    "items": ["results/items/{study}.parquet"],
    "plan": ["results/plan/{study}/{study}/{judge}.parquet"],
    "requests": ["results/requests/{study}/{judge}.parquet"],
    "responses": ["results/responses/{judge}/{shard}.parquet"],
    "scores": ["results/scores/{study}/{study}/{judge}.parquet"],
    "position_selection": ["results/statistics/position_selection.parquet"],
    "human_agreement": ["results/statistics/human_agreement.parquet"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reads", type=int, action="append", required=True, help="number of reads; several times")
    parser.add_argument("--judges", type=int, default=4, help="number of judges, which share the reads")
    parser.add_argument("--studies", type=int, default=3, help="number of studies, which share the reads")
    parser.add_argument("--cores", default="2", help="cores of Snakemake")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    options = parser.parse_args()
    runs = {}
    for reads in sorted(options.reads):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            print(
                f"\n{reads:,} reads\n{'stage':20} {'seconds':>8} {'CPU':>8} {'GB':>6} {'files':>6} {'MB on disk':>10}",
                flush=True,
            )
            runs[reads] = run(Path(folder), reads, options)
    if len(runs) > 1:
        print(f"\n{max(runs) / min(runs):g} times the reads: seconds, those of the processor, memory and files times")
        for stage, few in runs[min(runs)].items():
            print(f"{stage:20}", *(f"{b / a:8.1f}" for a, b in zip(few, runs[max(runs)][stage], strict=True)))


def run(folder: Path, reads: int, options: argparse.Namespace) -> dict[str, tuple[float, float, float, int]]:
    """Seconds, seconds of the processor, GB of the largest process and number of files of each stage."""
    (folder / "study.yaml").write_text(yaml.safe_dump(config(reads, options.judges, options.studies)))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--cores", options.cores, "--quiet", "all", "--configfile"]
    command += [str(folder / "study.yaml"), "--"]
    found = {}
    for stage, patterns in STAGES.items():
        targets = {
            pattern.format(study=f"s{study}", judge=f"j{judge}", shard=shard)
            for pattern in patterns
            for study in range(options.studies)
            for judge in range(options.judges)
            for shard in range(1, SHARDS + 1)
        }
        before = sizes(folder)
        seconds, cpu, memory = timed([*command, *sorted(targets)])
        made = {path: size for path, size in sizes(folder).items() if path not in before}
        found[stage] = seconds, cpu, memory, len(made)
        print(
            f"{stage:20} {seconds:8.1f} {cpu:8.1f} {memory:6.2f} {len(made):6} {sum(made.values()) / 1e6:10.1f}",
            flush=True,
        )
    return found


def config(reads: int, n_judges: int, n_studies: int) -> dict:
    """So many reads: every study has a dataset of its own, so that no two share a request."""
    groups = reads // (n_judges * n_studies * ORDERINGS * CANDIDATES)
    options = {"n_groups": groups, "n_candidates": CANDIDATES}
    datasets = {f"s{k}": {"adapter": "simulated", "options": options} for k in range(n_studies)}
    judge = {"engine": "simulated", "answer_format": "score", "sampling": {"temperature": 1}, "shards": SHARDS}
    judges = {f"j{k}": judge | {"model": f"j{k}", "simulation": {"preference": "first"}} for k in range(n_judges)}
    return {
        "datasets": datasets,
        "judges": judges,
        "studies": {name: {"datasets": [name], "judges": [*judges], "strategies": ["balanced"]} for name in datasets},
        "statistics": {"bootstrap": {"resamples": RESAMPLES}},
    }


def sizes(folder: Path) -> dict[Path, int]:
    """Bytes of each file of results, without what Snakemake and jobs note about their runs."""
    notes = {"logs", "benchmarks"}
    paths = (path for path in (folder / "results").rglob("*") if path.is_file())
    return {path: path.stat().st_size for path in paths if path.relative_to(folder).parts[1] not in notes}


def timed(command: list[str]) -> tuple[float, float, float]:
    """Seconds of a command, those of the processor, and GB of the largest process, among it and its children."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            errors.seek(0)
            sys.exit(errors.read()[-5000:])
    return time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


if __name__ == "__main__":
    main()
