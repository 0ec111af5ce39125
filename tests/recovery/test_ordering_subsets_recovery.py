"""Errors by few orderings against errors that are known: what judges of known bias really miss their means by."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rubric_order.analyses.agreement.ordering_subsets import estimate as statistic
from rubric_order.analyses.position.order_spread import estimate as order_spread
from rubric_order.methods.agreement import ordering_subsets as subsets
from rubric_order.methods.position import blocks
from rubric_order.methods.position.by_ordering import complete_orderings
from rubric_order.methods.uncertainty import resampling
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

REVERSE = np.array([5, 9, 8, 7, 6, 0, 4, 3, 2, 1])  # of the ten balanced orderings of five levels
SETS = subsets.choices(REVERSE, 10, 1000, seed=1)
JUDGES = {
    "first": Simulation(preference="first", preference_strength=1.5, prompts=0.3, group_positions=0.3),
    "indecisive, by item": Simulation(decisiveness=0.3, item_positions=0.8, prompts=0.3, group_scores=0.3),
    "interaction": Simulation(preference="u_shaped", interaction=1.0, group_positions=0.5),
    "saturated": Simulation(preference="first", preference_strength=1.5, decisiveness=30),
}
TEMPERATURES = {"simulated": {"default": 1.0}}
OPTIONS = {"resamples": 20, "confidence": 0.95}


def study(of, *, groups, seed, candidates=4, strategy="balanced", budget=None):
    """Reads of groups of unequal sizes, from one item to `candidates`, and what is known of them."""
    reads = studies.read_items(
        of, n=5, strategies=[strategy], groups=groups, candidates=candidates, seed=seed, budget=budget
    )
    size = np.random.default_rng(seed).choice([1, 1, 2, candidates], groups)
    kept = np.tile(np.arange(candidates), groups) < np.repeat(size, candidates)
    table = studies.as_scores(reads, candidates=candidates)
    return table[np.repeat(kept, reads[strategy].shown.shape[1])].reset_index(drop=True)


def known(of, *, groups=4000, seed=99):
    """Mean and variance of a read of each item in each ordering, by its probabilities: shapes (m, 10)."""
    reads = studies.read_items(of, n=5, strategies=["balanced"], groups=groups, candidates=1, seed=seed)["balanced"]
    mean = (reads.probabilities * reads.shown).sum(axis=2)
    return mean, (reads.probabilities * reads.shown**2).sum(axis=2) - mean**2


def true_squares(mean, variance, masks):
    """Mean square of the error by each set of orderings, read once each."""
    errors = []
    for mask in masks:
        bias = mean[:, mask].mean(axis=1) - mean.mean(axis=1)
        errors.append((bias**2).mean() + variance[:, mask].mean() / mask.sum())
    return np.array(errors)


def of_design(rows, design, quantity="rmse", readout="hard"):
    chosen = rows[(rows["design"] == design) & (rows["quantity"] == quantity) & (rows["readout"] == readout)]
    return chosen.sort_values("k")["estimate"].to_numpy()


@pytest.mark.parametrize(
    "name",
    [
        "first",
        "saturated",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("indecisive, by item", "interaction")),
    ],
)
def test_errors_are_those_that_the_judge_has(name):
    """Groups have from one to four items, which count alike: the truth is that of items of groups of one."""
    of = JUDGES[name]
    mean, variance = known(of)
    singles, usual = SETS.masks[SETS.sizes == 1], SETS.masks[:1]
    pairs = SETS.masks[SETS.of_pairs & (SETS.sizes == 2)]
    halves = np.array([np.arange(10) < 5, np.arange(10) >= 5])
    wanted = {"random": (singles, 0), "usual": (usual, 0), "pairs": (pairs, 0), "balanced": (halves, 0)}
    wanted |= {"random, nine": (SETS.masks[SETS.sizes == 9], 8)}
    found = {key: [] for key in wanted}
    soft, most, least = ({key: [] for key in wanted} for _ in range(3))
    for seed in range(5):
        table = study(of, groups=60, seed=seed)
        rows = statistic.estimate(table, **OPTIONS, seed=seed, temperatures=TEMPERATURES)
        unknown = statistic.estimate(table.drop(columns="position_probabilities"), **OPTIONS, seed=seed)
        for key, (_, place) in wanted.items():
            design = key.partition(",")[0]
            found[key].append(of_design(rows, design)[place] ** 2)
            soft[key].append(of_design(rows, design, readout="soft")[place] ** 2)
            most[key].append(of_design(unknown, design)[place] ** 2)
            least[key].append(of_design(unknown, design, "rmse_least")[place] ** 2)
    for key, (masks, _) in wanted.items():
        truth = true_squares(mean, variance, masks).mean()
        error = 4 * np.std(found[key]) / np.sqrt(len(found[key]) - 1) + 0.02 * truth
        assert np.mean(found[key]) == pytest.approx(truth, abs=error), key
        assert np.mean(least[key]) - error < truth < np.mean(most[key]) + error, key
        exact = true_squares(mean, 0 * variance, masks).mean()
        error = 4 * np.std(soft[key]) / np.sqrt(len(soft[key]) - 1) + 0.02 * exact
        assert np.mean(soft[key]) == pytest.approx(exact, abs=error), key


def test_repeats_give_the_same_errors_as_probabilities():
    of = JUDGES["indecisive, by item"]
    mean, variance = known(of)
    rotations = np.arange(10) < 5
    mean, variance = mean[:, rotations], variance[:, rotations]
    truth = true_squares(mean, variance, np.eye(5, dtype=bool)).mean()
    found = []
    for seed in range(12):
        table = study(of, groups=60, seed=seed, strategy="repeated_rotations", budget=15)
        rows = statistic.estimate(table.drop(columns="position_probabilities"), **OPTIONS, seed=seed)
        assert set(rows.query("readout == 'hard'")["known_from"]) == {"repeats"}
        found.append(of_design(rows, "random")[0] ** 2)
    assert np.mean(found) == pytest.approx(truth, abs=4 * np.std(found) / np.sqrt(11))


def test_a_choice_looks_no_better_than_it_is():
    """The error of the chosen orderings in held-out groups is theirs; in the groups that chose them it is too small."""
    of = Simulation(decisiveness=0.3, group_positions=1.0, prompts=0.5)
    mean, variance = known(of)
    truth = true_squares(mean, variance, SETS.masks)
    claimed, seen, true = [], [], []
    for seed in range(60):
        (block,) = blocks.blocks(study(of, groups=12, seed=seed, candidates=2))
        reads = complete_orderings(block, "hard", dict(block.readouts())["hard"], 1.0)
        fold = resampling.folds(12, 5, seed=seed, name="x")
        arm = statistic.arms(reads, SETS, fold, np.ones((1, 12)))["best"]
        items = np.bincount(reads.group)
        claimed.append(arm.squares[:, 1].sum() / items.sum())
        sums = subsets.group_squares(reads.means, subsets.noise(reads), SETS.masks, reads.group)
        seen.append(sums[:, arm.choice[-1, 1]].sum() / items.sum())
        true.append(items @ truth[arm.choice[fold, 1]] / items.sum())
    apart = np.std(np.array(claimed) - true) / np.sqrt(len(true) - 1)
    assert np.mean(claimed) == pytest.approx(np.mean(true), abs=4 * apart)
    assert np.mean(seen) < np.mean(true) - 4 * np.std(np.array(seen) - true) / np.sqrt(len(true) - 1)


def test_the_best_two_are_a_pair_where_the_judge_is_moved_along_the_order_and_not_where_by_one_score():
    """A preference that falls along the prompt is undone by the reverse; one for the first position alone is not."""
    for preference, is_pair in (([1.5, 0.75, 0, -0.75, -1.5], True), ([2.0, 0, 0, 0, 0], False)):
        table = study(Simulation(preference=preference), groups=150, seed=1)
        rows = statistic.estimate(table, **OPTIONS, seed=1).query("readout == 'soft' and k == 2")
        (best,) = rows.query("design == 'best' and quantity == 'rmse'").to_dict("records")
        (gap,) = rows.query("design == 'best_pairs' and quantity == 'over_best'").to_dict("records")
        assert (best["n_pairs"] == 5) == is_pair
        assert (gap["estimate"] == 0) if is_pair else gap["ci_low"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("readout", ["hard", "soft"])
def test_intervals_cover_with_few_unequal_groups(readout):
    """Those without a choice as often as they say, those of chosen orderings at least as often."""
    of, count, groups = JUDGES["first"], 60, 25
    mean, variance = known(of, groups=10_000)
    truth = true_squares(mean, variance if readout == "hard" else 0 * variance, SETS.masks)
    random = np.sqrt(truth[SETS.sizes == 2].mean())
    covered = dict.fromkeys(("random", "best", "over_random"), 0)
    for seed in range(count):
        table = study(of, groups=groups, seed=seed)
        if readout == "hard":
            table = table.drop(columns="expected_score").assign(expected_score=np.nan)
        else:
            table["score"] = pd.array([pd.NA] * len(table), dtype="Int8")
        rows = statistic.estimate(table, resamples=150, confidence=0.95, seed=seed, temperatures=TEMPERATURES)
        rows = rows[(rows["readout"] == readout) & (rows["k"] == 2)].set_index(["design", "quantity"])
        (block,) = blocks.blocks(table)
        reads = complete_orderings(block, readout, dict(block.readouts())[readout], 1.0)
        fold = resampling.folds(groups, 5, seed=seed, name="/".join(map(str, block.key)))
        choice = statistic.arms(reads, SETS, fold, np.ones((1, groups)))["best"].choice[fold, 1]
        best = np.sqrt(np.bincount(reads.group) @ truth[choice] / len(reads.group))
        for key, row, value in (
            ("random", ("random", "rmse"), random),
            ("best", ("best", "rmse"), best),
            ("over_random", ("best", "over_random"), best - random),
        ):
            covered[key] += rows.loc[row, "ci_low"] <= value <= rows.loc[row, "ci_high"]
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], count, 0.95)
    assert low <= covered["random"] <= high
    assert min(covered.values()) >= low, covered


@pytest.mark.slow
def test_a_judge_without_preference_gains_nothing_by_a_choice_of_orderings():
    of, count = Simulation(group_scores=0.5, prompts=0.3), 30
    gains, errors = [], 0
    for seed in range(count):
        table = study(of, groups=25, seed=seed).assign(expected_score=np.nan)
        rows = statistic.estimate(table, resamples=150, confidence=0.95, seed=seed)
        rows = rows[(rows["design"] == "best") & (rows["quantity"] == "over_random") & (rows["k"] == 2)]
        (row,) = rows.to_dict("records")
        gains.append(row["estimate"])
        errors += not row["ci_low"] <= 0 <= row["ci_high"]
    assert abs(np.mean(gains)) < 4 * np.std(gains) / np.sqrt(count - 1)
    assert errors <= stats.binom.ppf(1 - 1e-3, count, 0.05)


def of_few(table, margin, readout):
    """Rows of `order_spread` that cards read: of one read, and of the orderings that suffice."""
    options = {"confidence": 0.95, "level": 0.05, "temperatures": TEMPERATURES, "clusters": ["group"]}
    rows = order_spread.estimate(table, margin=margin, **options).query("readout == @readout").set_index("quantity")
    return rows.loc["one_read"], rows.loc["needed"]


def of_all_sets(mean, variance):
    """Mean square of the error by all sets of each size: the truth of orderings that are drawn at random."""
    size = mean.shape[1]
    sets = subsets.choices(np.full(size, -1), size, 1000, seed=1)
    assert sets.complete.all()
    errors = true_squares(mean, variance, sets.masks)
    return np.array([errors[sets.sizes == k].mean() for k in range(1, size + 1)])


def least(errors, margin):
    enough = np.flatnonzero(np.sqrt(errors) <= margin)
    return enough[0] + 1 if len(enough) else np.inf


@pytest.mark.parametrize(
    "name", ["first", *(pytest.param(name, marks=pytest.mark.slow) for name in JUDGES if name != "first")]
)
def test_a_card_knows_what_few_orderings_miss(name):
    of = JUDGES[name]
    mean, variance = known(of)
    rotations = np.arange(10) < 5
    truths = {"hard": of_all_sets(mean, variance), "soft": of_all_sets(mean, 0 * variance)}
    truths["repeats"] = of_all_sets(mean[:, rotations], variance[:, rotations])
    found, needed = ({key: [] for key in (*truths, "unknown")} for _ in range(2))
    for seed in range(6):
        table = study(of, groups=60, seed=seed)
        alone = table.drop(columns="position_probabilities").assign(expected_score=np.nan)
        twice = study(of, groups=60, seed=seed, strategy="repeated_rotations", budget=10)
        twice = twice.drop(columns="position_probabilities").assign(expected_score=np.nan)
        for key, reads in (("hard", table), ("soft", table), ("repeats", twice), ("unknown", alone)):
            truth = truths.get(key, truths["hard"])
            margin = np.sqrt(truth[2]) * 1.05  # three are enough
            one, row = of_few(reads, margin, "soft" if key == "soft" else "hard")
            assert (row["known_from"] == "") == (key == "unknown")
            found[key].append(one["estimate"] ** 2)
            needed[key].append(row["ci_low"] <= least(truth, margin) <= row["ci_high"])
    for key, values in found.items():
        truth = truths.get(key, truths["hard"])[0]
        error = 4 * np.std(values) / np.sqrt(len(values) - 1) + 0.02 * truth
        if key == "unknown":
            assert truth - error < np.mean(values) < 1.2 * truth + error
        else:
            assert np.mean(values) == pytest.approx(truth, abs=error), key
        assert sum(needed[key]) >= 5, key


@pytest.mark.slow
@pytest.mark.parametrize("readout", ["hard", "soft"])
def test_intervals_of_a_card_cover_what_few_orderings_miss(readout):
    """With 25 unequal groups. A whole number is in its interval at least as often as its error is."""
    of, count = JUDGES["first"], 60
    mean, variance = known(of, groups=10_000)
    truth = of_all_sets(mean, variance if readout == "hard" else 0 * variance)
    covered = np.zeros(2)
    for seed in range(count):
        one, needed = of_few(study(of, groups=25, seed=seed), 0.3 if readout == "hard" else 0.1, readout)
        numbers = np.sqrt(truth[0]), least(truth, needed["margin"])
        covered += [row["ci_low"] <= value <= row["ci_high"] for row, value in zip((one, needed), numbers, strict=True)]
    low, high = stats.binom.ppf([1e-3, 1 - 1e-3], count, 0.95)
    assert low <= covered[0] <= high
    assert covered[1] >= low
