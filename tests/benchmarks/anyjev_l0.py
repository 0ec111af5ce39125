"""AnyJev's L0 beside calibrated single reads: errors of both, on the same model, prompts and texts.

    python tests/benchmarks/anyjev_l0.py MODEL ITEMS.parquet RUBRICS.parquet [--criterion coherence] [--most 24]

It needs anyjev, transformers and torch. ITEMS and RUBRICS are those of `results/items/` and `results/rubrics/`; their
first texts are asked, one per group. AnyJev asks for all rotations of the levels from the worst to the best, and all
of the levels from the best to the worst: ten orderings, which are the reads of `balanced`. L0 averages the five
log-probabilities of one direction, without a prior and divided by the mean over texts (its default). It is compared
with the mean over the other direction's single reads, as every other method of statistic `calibration` is.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow" / "scripts"))

import numpy as np
import pandas as pd
from anyjev import Decider, Question
from anyjev.backends.hf import HFBackend
from anyjev.calibrate.permute import marginalize

from rubric_order.datasets.rubrics import at_scale
from rubric_order.extras.one_read.agreement.calibration import estimate as calibration
from rubric_order.extras.one_read.methods.calibration import errors
from rubric_order.library import estimates

LEVELS, DESIGNS = 5, (("usual", 1), ("random", 1), ("opposite", 2), ("balanced", 5))
CONFIDENCE, SEED, RESAMPLES = 0.95, 20_261_127, 10_000


def asked(model: str, items: pd.DataFrame, rubric: pd.Series) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Reads of `balanced`, a row each, and L0's expected scores by prior: of both directions, shape (items, 2)."""
    decider = Decider(HFBackend(model, device="cpu", dtype="float32"), shared_prefix=True)
    levels, n = at_scale(tuple(rubric["levels"]), LEVELS), LEVELS
    states = [f"{one.instruction}\n\n{one.response}" for one in items.itertuples()]
    rows, scores = [], {"none": np.empty((len(items), 2)), "batch": np.empty((len(items), 2))}
    for side, direction in enumerate((np.arange(n), np.arange(n)[::-1])):
        question = Question.choice(rubric["question"], [levels[level] for level in direction])
        for place, decision in enumerate(decider.decide_batch(states, question)):
            single, shown = decision.diagnostics["p_pos_raw"], decision.diagnostics["perms"]
            assert decision.diagnostics["prior_method"] == "batch"
            scores["batch"][place, side] = decision.probs @ (direction + 1)
            scores["none"][place, side] = marginalize(single, shown, decider.combine) @ (direction + 1)
            for shares, order in zip(single, shown, strict=True):
                ordering = direction[np.asarray(order)] + 1
                by_level = dict(zip((f"p_{level}" for level in ordering), map(float, shares), strict=True))
                about = {"item": items["item_id"].iloc[place], "group": items["group_id"].iloc[place]}
                row = {"ordering": " ".join(map(str, ordering)), "score": int(ordering[shares.argmax()])}
                rows.append(about | row | by_level)
    return pd.DataFrame(rows), scores


def error_of(scores: np.ndarray, reads: pd.DataFrame, items: pd.DataFrame) -> tuple[float, float, float]:
    """Root mean square of what one direction says less the level of the other, with a bootstrap over groups."""
    expected = sum(level * reads[f"p_{level}"] for level in range(1, LEVELS + 1))
    ascending = reads["ordering"].map(lambda text: np.sort(np.diff([int(word) for word in text.split()]))[-2] == 1)
    halves = [expected[side].groupby(reads["item"][side], sort=False).mean() for side in (ascending, ~ascending)]
    means = np.column_stack(halves)
    group = pd.factorize(items["group_id"])[0]
    square = ((scores - errors.levels(means, group)[:, ::-1]) ** 2).mean(axis=1)
    of_group = np.bincount(group, square) / np.bincount(group)
    drawn = np.random.default_rng(SEED).integers(len(of_group), size=(RESAMPLES, len(of_group)))
    low, high = np.quantile(np.sqrt(of_group[drawn].mean(axis=1)), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(np.sqrt(square.mean())), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("items")
    parser.add_argument("rubrics")
    parser.add_argument("--criterion", default="coherence")
    parser.add_argument("--most", type=int, default=24)
    parser.add_argument("--save", help="file that the reads are written to")
    options = parser.parse_args()
    items = pd.read_parquet(options.items)
    items = items[items["criterion"] == options.criterion].drop_duplicates("group_id").head(options.most)
    rubric = pd.read_parquet(options.rubrics).set_index("rubric_id").loc[items["rubric_id"].iloc[0]]
    reads, scores = asked(options.model, items.reset_index(drop=True), rubric)
    if options.save:
        reads.to_parquet(options.save)
    rows = calibration.estimate(estimates.scores_of(reads), confidence=CONFIDENCE, seed=SEED, groups=())
    rows = rows[(rows["readout"] == "soft") & (rows["quantity"] == "rmse")].set_index(
        ["design", "reads", "calibration"]
    )
    print(f"{len(items)} texts, one per group, {LEVELS} levels, {options.criterion}, {CONFIDENCE:.0%} intervals\n")
    print("| method | calls per text | error, points |\n|---|---|---|")
    for design in DESIGNS:
        for kind, words in (("none", ""), ("folds", ", calibrated")):
            row = rows.loc[(*design, kind)]
            print(f"| {design[0]}{words} | {design[1]} | {row.estimate:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}] |")
    for prior, values in scores.items():
        value, low, high = error_of(values, reads, items)
        print(f"| AnyJev L0, prior {prior} | {LEVELS} | {value:.3f} [{low:.3f}, {high:.3f}] |")


if __name__ == "__main__":
    main()
