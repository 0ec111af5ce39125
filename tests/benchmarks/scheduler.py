"""Passes of Snakemake's scheduler and their processor time, with one timer (`rubric_order.run.scheduling`) and without.

    python tests/benchmarks/scheduler.py --jobs 300

Both run the same jobs, which sleep for a moment, one run after the other. The seconds are those of Snakemake's own
process and of the solver that it starts, user and system.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SNAKEFILE = """
import sys
sys.path.insert(0, {scripts!r})
from rubric_order.run import scheduling
if config["ours"]:
    scheduling.keep_one_timer(scheduling.scheduler_class())
rule all:
    input: expand("made/{{number}}", number=range(config["jobs"]))
rule one:
    output: touch("made/{{number}}")
    shell: "sleep 0.3"
"""


def run(jobs: int, *, ours: bool) -> tuple[int, float]:
    """Number of passes over ready jobs, and seconds of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "Snakefile").write_text(SNAKEFILE.format(scripts=str(ROOT / "workflow/scripts")))
        command = [sys.executable, "-m", "snakemake", "--cores", "2", "--verbose"]
        before = os.times()
        settings = ["--config", f"ours={int(ours)}", f"jobs={jobs}"]
        done = subprocess.run([*command, *settings], cwd=folder, capture_output=True, text=True, check=True)
        after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stderr.count("Ready jobs: "), used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=300)
    jobs = parser.parse_args().jobs
    (passes, seconds), (many, more) = run(jobs, ours=True), run(jobs, ours=False)
    print("| | passes | seconds of processor |\n|:--|--:|--:|")
    print(f"| one timer | {passes:,} | {seconds:.1f} |\n| Snakemake alone | {many:,} | {more:.1f} |")
    print(f"\n{jobs} jobs; {more / seconds:.1f} times the processor time, {many / passes:.1f} times the passes.")


if __name__ == "__main__":
    main()
