"""Corrected means of real answers: what people say of all texts, from labels of 20, 50 and 100 groups and a judge.

    python tests/benchmarks/corrected_means.py SCORES.parquet ... [--draws 1000] [--pass 4] [--criteria NAME ...]

Files are those of `results/scores/` with human scores of all items. The groups that there are stand for the population:
a study is 400 groups drawn from them with replacement, of which the first are labelled, so that the truth is the mean
of all. Widths and coverage are means over such studies. A difference is that of the two candidates whom people rate
highest and lowest. "As seen" is the variance of corrected estimates over that of labels alone.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

import numpy as np
import pandas as pd

from rubric_order.extras.one_read.methods import corrected

GROUPS, LABELLED, SEED, CONFIDENCE = 400, (20, 50, 100), 20_261_125, 0.95


def items_of(path: str) -> pd.DataFrame:
    """Judge's mean score and human score of each item, by judge, profile, criterion and candidate."""
    scores = pd.read_parquet(path)
    keys = ["judge", "profile", "criterion", "candidate", "group_id", "item_id"]
    table = scores.groupby(keys, as_index=False).agg({"score": "mean", "human_score": "first"})
    return table.astype({"score": float, "human_score": float})


def contrast_of(items: pd.DataFrame, kind: str, least: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple]:
    """People's scores, the judge's, the kinds of items, and what each kind counts."""
    if kind == "pass rate":
        passed = np.where(items["score"].isna(), np.nan, items["score"] >= least)
        return (items["human_score"] >= least).to_numpy(float), passed, np.zeros(len(items), int), (1.0,)
    number = (items["candidate"] == items["candidate"].max()).to_numpy(int) if kind == "difference" else None
    if number is None:
        return items["human_score"].to_numpy(), items["score"].to_numpy(), np.zeros(len(items), int), (1.0,)
    return items["human_score"].to_numpy(), items["score"].to_numpy(), number, (1.0, -1.0)


def run(items: pd.DataFrame, kind: str, least: float, draws: int, *, seed: int = SEED) -> list[dict[str, float]]:
    """A row for each number of labelled groups: coverage and width of each estimator, and the share of labels."""
    human, judge, number, contrast = contrast_of(items, kind, least)
    group = pd.factorize(items["group_id"], sort=True)[0]
    rows_of = [np.flatnonzero(group == g) for g in range(group.max() + 1)]
    truth = sum(c * human[number == k].mean() for k, c in enumerate(contrast))
    options = {"contrast": contrast} | ({"bounds": (0.0, 1.0), "share": True} if kind == "pass rate" else {})
    made = []
    for labelled in LABELLED:
        inside, widths, shares, values = np.zeros(3), [], [], []
        for draw in range(draws):
            rng = np.random.default_rng([seed, labelled, draw])
            drawn = rng.integers(0, len(rows_of), GROUPS)
            rows = np.concatenate([rows_of[g] for g in drawn])
            unit = np.repeat(np.arange(GROUPS), [len(rows_of[g]) for g in drawn])
            shown = np.where(unit < labelled, human[rows], np.nan)
            sums = corrected.sums(shown, judge[rows], unit, number[rows], len(contrast))
            estimates = [corrected.corrected(sums, CONFIDENCE, weight=weight, **options) for weight in (0.0, None)]
            estimates.append(corrected.judge_alone(sums, CONFIDENCE, **options))
            intervals = [estimate.interval for estimate in estimates]
            inside += [interval.low <= truth <= interval.high for interval in intervals]
            widths.append([interval.high - interval.low for interval in intervals])
            values.append([interval.estimate for interval in intervals])
            shares.append(corrected.worth(sums, CONFIDENCE, contrast=contrast).share.estimate)
        variances = np.var(values, axis=0)
        row = {"labelled": labelled, "truth": truth, "judge": float(np.mean(values, axis=0)[2])}
        row |= {"variance": float(variances[1] / variances[0]), "share": float(np.mean(shares))}
        row |= dict(zip(("covers_labels", "covers", "covers_judge"), inside / draws, strict=True))
        made.append(row | dict(zip(("width_labels", "width", "width_judge"), np.mean(widths, axis=0), strict=True)))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--pass", type=float, default=4.0, dest="least")
    parser.add_argument("--criteria", nargs="*", help="all by default")
    arguments = parser.parse_args()
    heads = ["judge", "criterion", "what", "people", "judge alone", "labelled groups", "covers: labels", "corrected"]
    print(f"| {' | '.join([*heads, 'judge', 'width: labels', 'corrected', 'share of labels', 'as seen'])} |")
    print(f"|:--|:--|:--{'|--:' * 10}|")
    for path in arguments.files:
        for (judge, profile, criterion), items in items_of(path).groupby(["judge", "profile", "criterion"]):
            if arguments.criteria and criterion not in arguments.criteria:
                continue
            extremes = items.groupby("candidate")["human_score"].mean().sort_values().index[[0, -1]]
            both = items[items["candidate"].isin(extremes)]
            for kind, own in (("mean", items), ("difference", both), ("pass rate", items)):
                for row in run(own, kind, arguments.least, arguments.draws):
                    cells = [f"{judge} {profile}", criterion, kind, f"{row['truth']:.2f}", f"{row['judge']:.2f}"]
                    cells.append(f"{row['labelled']:.0f}")
                    cells += [f"{100 * row[name]:.1f}%" for name in ("covers_labels", "covers", "covers_judge")]
                    cells += [f"{row[name]:.2f}" for name in ("width_labels", "width", "share", "variance")]
                    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
