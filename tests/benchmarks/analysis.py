"""Time and memory of the whole analysis of Setting 1, from scores to figures.

    python tests/benchmarks/analysis.py --directory FOLDER

Six simulated judges read four datasets under three strategies on four scales: about a million reads. They are planned,
answered and parsed first, in FOLDER; with scores there already, that is skipped. Then all statistics, figures and
tables are made from the scores, by the workflow, and timed: the wall clock of the whole run, the resident memory of
all its processes together, sampled, and the seconds of each rule.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import yaml

from rubric_order import registry
from rubric_order.settings import results

ROOT = Path(__file__).resolve().parents[2]

# Preference, its strength, and the temperature of each judge.
JUDGES = (
    ("none", 0, 0),
    ("first", 1, 0.3),
    ("last", 0.6, 0.6),
    ("u_shaped", 0.8, 1.0),
    ("first", 0.3, 0.3),
    ("u_shaped", 1.5, 0),
)
# Groups and candidates of each dataset: as many items as MT-Bench, Vicuna-Bench, HANNA and a part of SummEval.
DATASETS = {"sim_a": (80, 4), "sim_b": (20, 4), "sim_c": (96, 6), "sim_d": (50, 10)}  # fmt: skip
MADE = ("statistics", "figures", "tables")


def config(scale: float) -> dict:
    """Config of the study, with every figure and table of Setting 1 at its defaults."""
    judges = {
        f"judge_{place}": {
            "engine": "simulated",
            "model": f"judge_{place}",
            "answer_format": "score",
            "sampling": {"temperature": temperature},
            "simulation": {
                "preference": preference,
                "preference_strength": strength,
                "item_scores": 0.5,
                "item_positions": 0.5,
                "prompts": 0.5,
                "failure_rate": [0.01, 0],
            },
        }
        for place, (preference, strength, temperature) in enumerate(JUDGES, start=1)
    }
    datasets = {
        name: {
            "adapter": "simulated",
            "options": {"n_groups": max(round(groups * scale), 2), "n_candidates": candidates},
        }
        for name, (groups, candidates) in DATASETS.items()
    }
    study = {"datasets": list(DATASETS), "judges": list(judges), "scales": [2, 3, 5, 9]}
    study["strategies"] = ["balanced", "random", "fixed"]
    blocks = {
        kind: {name: {} for name in registry.OURS[kind] if _of_setting_1(results.defaults(kind, name))}
        for kind in registry.SHOWN
    }
    return {"datasets": datasets, "judges": judges, "studies": {"position_bias": study}, **blocks}


def scores() -> list[str]:
    """Files of scores of all datasets and judges."""
    return [
        f"results/scores/position_bias/{dataset}/judge_{place}.parquet"
        for dataset in DATASETS
        for place in range(1, len(JUDGES) + 1)
    ]


def _of_setting_1(defaults: Mapping[str, object]) -> bool:
    """True if a figure or table is about the order of score options in one study."""
    return defaults.get("study") == "position_bias"


def snakemake(folder: Path, *arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--directory", str(folder), "--quiet", "all"]
    command += ["--configfile", str(folder / "config.yaml"), "--", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"})


def finished(process: subprocess.Popen) -> None:
    if process.wait():
        sys.exit(f"snakemake failed with status {process.returncode}")


def peak_memory(process: subprocess.Popen, found: list[int]) -> None:
    """Keep the largest memory of a process and all below it; pages that they share count in each."""
    parent = psutil.Process(process.pid)
    while process.poll() is None:
        total = 0
        for each in [parent, *_below(parent)]:
            try:
                total += each.memory_info().rss
            except psutil.Error:
                continue
        found[0] = max(found[0], total)
        time.sleep(0.1)


def _below(parent: psutil.Process) -> list[psutil.Process]:
    try:
        return parent.children(recursive=True)
    except psutil.Error:
        return []


def seconds_of_rules(folder: Path) -> dict[str, tuple[float, float]]:
    """Seconds and largest memory (MB) of each statistic, figure and table."""
    found: dict[str, tuple[float, float]] = {}
    for path in (folder / "results/benchmarks").rglob("*.jsonl"):
        rule = path.relative_to(folder / "results/benchmarks").with_suffix("").as_posix()
        if rule.startswith(("estimate_statistic/", "draw_figure/", "render_table/")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                seconds, memory = found.get(rule, (0.0, 0.0))
                found[rule] = (seconds + float(row["s"]), max(memory, float(row["max_rss"] or 0)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the groups, for a quick run")
    options = parser.parse_args()
    folder = options.directory.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    settings = config(options.scale)
    (folder / "config.yaml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")

    start = time.perf_counter()
    finished(snakemake(folder, *(f"results/items/{name}.parquet" for name in DATASETS), *scores()))
    print(f"scores: {time.perf_counter() - start:.0f} s")

    for name in MADE:
        shutil.rmtree(folder / "results" / name, ignore_errors=True)
    start = time.perf_counter()
    process, peak = snakemake(folder), [0]
    sampler = threading.Thread(target=peak_memory, args=(process, peak))
    sampler.start()
    finished(process)
    seconds = time.perf_counter() - start
    sampler.join()
    made = [folder / f"results/tables/{name}.csv" for name in settings["tables"]]
    made += [folder / f"results/figures/{name}.svg" for name in settings["figures"]]
    if missing := [path.stem for path in made if not path.exists()]:
        sys.exit(f"snakemake ended without {', '.join(missing)}: there is nothing to time")

    plan = folder / "results/plan/position_bias"
    reads = sum(pq.read_metadata(path).num_rows for path in plan.rglob("*.parquet"))
    names = [name for kind in ("figures", "tables") for name in settings[kind]]
    print(f"{reads} reads; {len(settings['figures'])} figures, {len(settings['tables'])} tables: {', '.join(names)}")
    for rule, (taken, memory) in sorted(seconds_of_rules(folder).items(), key=lambda entry: -entry[1][0]):
        print(f"  {rule}: {taken:.1f} s, {memory:.0f} MB")
    print(f"analysis: {seconds:.0f} s on 2 cores, peak memory of all processes {peak[0] / 1e9:.2f} GB")
    print(f"3 minutes over that: {180 / seconds:.2f}; 3 GB over that: {3e9 / peak[0]:.2f}")


if __name__ == "__main__":
    main()
