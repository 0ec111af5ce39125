"""Ten numbers that misled: reported before, reported now, and the truth.

More is in `defect_recovery`. Formulas that were replaced are written out here.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.criteria.carry_over import estimate as carry_over
from rubric_order.analyses.criteria.criteria_agreement import estimate as criteria_agreement
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.analyses.criteria.crossed_orders import estimate as crossed_orders
from rubric_order.analyses.criteria.halo import estimate as halo
from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.base import permutations
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.extras.papers.rerun import estimate as rerun
from rubric_order.methods.agreement import rankings, subsets
from rubric_order.methods.position import panels, preference, uniformity
from rubric_order.methods.uncertainty import additive, fixed_effects, resampling
from rubric_order.prompts import orderings
from rubric_order.simulation import studies as simulated_studies
from rubric_order.simulation.judge import Simulation

FIRST_STUDY, FIRST_TRUTH = 7_000_000, 1  # seeds: studies and truths share no item
LEVEL, CONFIDENCE = 0.05, 0.95
RESAMPLES = 400
LEVELS, GROUPS, CANDIDATES = 5, 160, 2
SHARE, NUMBER = "{:.1%}", "{:.3f}"


def row(
    judge: str, quantity: str, *, old: float = np.nan, truth: float = np.nan, now: float = np.nan, form: str = NUMBER
) -> dict:
    """One row of a table: what was reported, what is true or what a test or interval promises, and what is reported."""
    return {"judge": judge, "quantity": quantity, "old": old, "truth": truth, "now": now, "form": form}


def _groups(count: int, size: int) -> np.ndarray:
    """Number of the group of each item, shape (count * size,)."""
    return np.repeat(np.arange(count), size)


def _rejected(p: pd.Series | np.ndarray) -> float:
    return float((np.asarray(p) < LEVEL).mean())


def weighted_r(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r where items count `weights` times, shapes (resamples, m), (m,), (m,) -> (resamples,)."""
    sums = weights @ np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])
    n, a, b, aa, bb, ab = sums.T
    return (n * ab - a * b) / np.sqrt((n * aa - a * a) * (n * bb - b * b))


# Point 2. Before: r of the mean of balanced reads less that of the mean of fixed reads is what balancing removes.
AVERAGED = {
    "temperature 0, no preference": (Simulation(prompts=1.2), 0.0),
    "temperature 1, no preference": (Simulation(prompts=1.2), 1.0),
    "temperature 0, the ends preferred": (Simulation(prompts=1.2, preference="u_shaped", preference_strength=1.5), 0.0),
}


def averaged(judge: Simulation, temperature: float, *, groups: int, seed: int, resamples: int = RESAMPLES) -> dict:
    """The difference of balanced and fixed reads in r, and its parts, with a p-value of each.

    Returns:
        `difference` with the percentile bootstrap's p, which is not computed without `resamples`; `order`, `averaging`
        and `averaging_baseline`, see `strategy_comparison.paired_differences`; and `{name}_p`.
    """
    reads = simulated_studies.read_items(
        judge,
        n=LEVELS,
        strategies=["balanced", "fixed"],
        temperature=temperature,
        groups=groups,
        candidates=CANDIDATES,
        seed=seed,
    )
    balanced, fixed, human = reads["balanced"].scores, reads["fixed"].scores, reads["balanced"].human
    group = _groups(groups, CANDIDATES)
    found = {}
    for name, part in strategy_comparison.paired_differences(
        balanced, fixed, human, group, confidence=CONFIDENCE
    ).items():
        found |= {name: part["estimate"], f"{name}_p": part["p"]}
    found["difference"] = found["order"] + found["averaging"] - found["averaging_baseline"]
    if resamples:
        drawn = resampling.bootstrap_weights(groups, resamples, rng=np.random.default_rng(seed))[:, group].astype(float)
        away = weighted_r(drawn, balanced.mean(axis=1), human) - weighted_r(drawn, fixed.mean(axis=1), human)
        found["difference_p"] = 2 * min((away <= 0).mean(), (away >= 0).mean())
    return found


# Point 3. Before: V of the selected positions, its interval and its direction are the preference.
PREFERRED = (0.8, 0.3, 0.0, -0.3, -0.8)
INTERACTION = 0.8
LENIENCY = 1.5


def _balanced(judge: Simulation, n: int, *, groups: int, seed: int) -> simulated_studies.Reads:
    options = {"n": n, "strategies": ["balanced"], "groups": groups, "candidates": CANDIDATES, "seed": seed}
    return simulated_studies.read_items(judge, **options)["balanced"]


def _largest_gap(scores: np.ndarray) -> float:
    """Largest gap between the mean scores of two orderings, scores being items by orderings."""
    return float(np.ptp(scores.mean(axis=0)))


def selected(judge: Simulation, n: int, *, seed: int) -> dict[str, float]:
    """The report on the positions of one study.

    Returns:
        `v`; `p` of uniform selection; `gap`, the largest between the mean scores of two orderings, and `p_order` of
        there being none; `first_last`, the preference for the first less the last position; the same where a term of
        score and position is fitted too (`given_term`), that `term`, and `p_term` of all such terms; and as 0 or 1
        whether the direction is ``near uniform`` and ``first-biased``, without a look at saturation; whether the
        interval of V has no width, before and now; and whether the study is `saturated`.
    """
    block = _balanced(judge, n, groups=GROUPS, seed=seed)
    group, scores = _groups(GROUPS, CANDIDATES), block.scores
    counts = resampling.sum_units((block.positions[..., None] == np.arange(1, n + 1)).sum(axis=1).astype(float), group)
    drawn = resampling.bootstrap_sums(counts, RESAMPLES, rng=np.random.default_rng(seed))
    direction = uniformity.direction(*uniformity.simultaneous_intervals(counts, CONFIDENCE))
    low, high = uniformity.v_interval(counts, drawn, CONFIDENCE)
    layout = preference.compare_scores(
        scores.astype(int) - 1, permutations.positions_of(np.ascontiguousarray(block.shown)) - 1, group
    )
    found = preference.preference(layout)
    cells = additive.Cells(scores, np.ones(scores.shape))
    away = resampling.sum_units(additive.departures(cells), group)
    commonest = np.unique(scores, return_counts=True)[1].max() / scores.size
    discordant = layout.discordant / layout.pairs
    b, with_term = found.positions.coefficients, found.interaction.coefficients
    return {
        "v": float(uniformity.cramers_v(counts.sum(axis=0))),
        "p": uniformity.count_test(counts.sum(axis=0)).p,
        "gap": _largest_gap(scores),
        "p_order": additive.no_shift(away, draws=499, seed=seed),
        "first_last": b[0] - b[-1],
        "given_term": with_term[0] - with_term[n - 1],
        "term": with_term[-1],
        "p_term": found.p_interaction,
        "near_uniform": direction == uniformity.DIRECTIONS.none,
        "first_biased": direction == uniformity.DIRECTIONS.first,
        "no_width": high - low <= uniformity.NO_WIDTH,
        "no_width_now": bool(np.diff(uniformity.drop_widthless(low, high))[0] <= uniformity.NO_WIDTH),
        "saturated": uniformity.is_saturated(commonest, discordant),
    }


# Point 4. Before: texts, or items, are the sample.
TEXTS, CRITERIA = 5, 4  # texts of a group; criteria of a text
GROUPED = {
    "item_scores": 0.5,
    "item_positions": 0.5,
    "prompts": 0.5,
    "group_scores": 0.5,
    "group_positions": 0.5,
    "group_error": 0.5,
}


def read_criteria(groups: int, effect: float, *, rng: np.random.Generator) -> panels.Panel:
    """Whole scores of several criteria under the rotations of their order, forward and reversed.

    Args:
        effect: standard deviation over groups of what a position adds to a criterion's scores in all texts of a group;
            its mean over groups is 0.
    """
    shown = orderings.choose("balanced", CRITERIA)
    places = permutations.positions_of(shown)
    group = _groups(groups, TEXTS)
    level = 3 + 0.7 * rng.normal(size=(len(group), 1, CRITERIA))
    of_group = effect * rng.normal(size=(groups, CRITERIA, CRITERIA))
    moved = of_group[group[:, None, None], np.arange(CRITERIA), places - 1]
    values = np.clip(np.rint(level + moved + 0.5 * rng.normal(size=moved.shape)), 1, LEVELS)
    positions = np.broadcast_to(places, values.shape)
    names = tuple(f"c{place}" for place in range(CRITERIA))
    nothing = np.full((len(group), CRITERIA), np.nan)
    return panels.Panel(
        names, np.arange(len(group)), group, group, values, positions, np.zeros(values.shape, int), nothing
    )


def dealt_gaps(panel: panels.Panel, resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Gaps between positions when a text's answers are dealt anew among its orderings, shape (resamples, C)."""
    key = rng.random((resamples, *panel.values.shape[:2]))
    dealt = np.take_along_axis(panel.values[None], np.argsort(key, axis=2)[..., None], axis=2)
    at = (panel.positions[0][..., None] == np.arange(1, CRITERIA + 1)).astype(float)
    means = np.einsum("krc,rcp->kcp", dealt.mean(axis=1), at) / at.sum(axis=0)
    return np.ptp(means, axis=2)


def order_p_values(panel: panels.Panel, *, rng: np.random.Generator, resamples: int = 199) -> dict[str, np.ndarray]:
    """p-values of each criterion's order by texts and by groups: of its gap and of a rank test. Each of shape (C,)."""
    cells = panels.cells(panel.values, panel.positions)
    gap = criterion_order.gaps(panels.position_effects(cells)[1])
    by_text = dealt_gaps(panel, resamples, rng=rng)
    by_group = criterion_order.gaps(panels.flipped_shifts(cells, panel.groups, resamples, rng=rng))
    tests = criterion_order.position_tests(cells, panel.groups)
    found = {"ranks_texts": [test["p"] for test in tests], "ranks_groups": [test["p_cluster"] for test in tests]}
    for name, drawn in (("gap_texts", by_text), ("gap_groups", by_group)):
        found[name] = (1 + (drawn >= gap - 1e-9).sum(axis=0)) / (1 + resamples)
    return {name: np.array(p) for name, p in found.items()}


def held(groups: int, *, seed: int) -> dict[str, np.ndarray]:
    """Intervals of r and V of one study with effects of groups, by items and by groups; each of shape (2,)."""
    block = simulated_studies.read_items(
        Simulation(preference="first", **GROUPED),
        n=LEVELS,
        strategies=["balanced"],
        temperature=0.5,
        groups=groups,
        candidates=8,
        seed=seed,
    )["balanced"]
    rng, group, mean = np.random.default_rng(seed), _groups(groups, 8), block.scores.mean(axis=1)
    counts = (block.positions[..., None] == np.arange(1, LEVELS + 1)).sum(axis=1).astype(float)
    found = {}
    for cluster, unit in (("items", np.arange(len(mean))), ("groups", group)):
        drawn = resampling.bootstrap_weights(unit[-1] + 1, RESAMPLES, rng=rng).astype(float)
        r = weighted_r(drawn[:, unit], mean, block.human)
        found[f"r_{cluster}"] = np.array(resampling.percentile_interval(r, CONFIDENCE))
        of_unit = resampling.sum_units(counts, unit)
        found[f"v_{cluster}"] = np.array(uniformity.v_interval(of_unit, drawn @ of_unit, CONFIDENCE))
    found["r_jackknife"] = np.array(resampling.correlation(mean, block.human, group, CONFIDENCE)[1:])
    return found


# Point 5. Before: the interaction of the two orders is a product of their columns on the score.
def read_crossed(lenient: float, *, together: float = 0.0, texts: int = 60, rng: np.random.Generator) -> pd.DataFrame:
    """Reads of a judge whose two axes add up in log-odds but for `together`.

    Args:
        lenient: points by which it is more lenient.
        together: log-odds that the level that stands first gains in the criterion that stands first, beyond others.
    """
    criteria, points = 3, np.arange(1, LEVELS + 1)
    rows = orderings.choose("balanced", criteria)
    place = np.broadcast_to(permutations.positions_of(rows), (texts, *rows.shape))
    levels = np.array(
        [orderings.levels_beside("balanced", len(rows), LEVELS, start=text, rng=rng) for text in range(texts)]
    )
    leading = place == 1
    opinion = 3 + lenient + rng.normal(size=(texts, 1, criteria)) + 2.0 * leading
    weights = -((points - opinion[..., None]) ** 2) / 2
    at_first = points == levels[:, :, :1]
    weights = weights + (2.0 + together * leading)[..., None] * at_first[:, :, None, :]
    score = (weights + rng.gumbel(size=weights.shape)).argmax(axis=-1) + 1
    text, read, criterion = (axis.ravel() for axis in np.indices(score.shape))
    names = np.array([f"t{number:04d}" for number in range(texts)])
    return pd.DataFrame(
        {
            "unit_id": names[text],
            "group_id": names[text],
            "criterion": np.array(["a", "b", "c"])[criterion],
            "criterion_position": place.ravel(),
            "levels": list(levels[text, read]),
            "score": score.ravel(),
        }
    )


def interaction_in_points(reads: pd.DataFrame) -> float:
    """p-value of products of the two orders' columns on the score, given both."""
    columns = crossed_orders.terms(reads, LEVELS)
    products = columns["criterion_order"][:, :, None] * columns["level_order"][:, None, :]
    block, group = (pd.factorize(each)[0] for each in (reads["unit_id"] + reads["criterion"], reads["group_id"]))
    main, products = np.hstack(list(columns.values())), products.reshape(len(reads), -1)
    return fixed_effects.no_effect(reads["score"].to_numpy(dtype=float), products, main, block, group)


def crossed_table(studies: int) -> pd.DataFrame:
    """Point 5: effects that add up in log-odds interact in points near an end of the scale."""
    rows, rng = [], np.random.default_rng([FIRST_STUDY, 5])
    for title, lenient, together in (
        ("effects add up in log-odds, middle of the scale", -1.0, 0.0),
        ("effects add up in log-odds, near the end", 0.5, 0.0),
        ("effects add up in log-odds, at the end", 1.5, 0.0),
        ("effects do not add up", 0.0, 2.0),
    ):
        found = []
        for _ in range(studies):
            reads = read_crossed(lenient, together=together, rng=rng)
            pairs = crossed_orders.pairs_of_reads(reads, LEVELS)
            found.append((interaction_in_points(reads), crossed_orders.act_apart(pairs)))
        old, now = (_rejected(p) for p in np.array(found).T)
        share = {"old": old, "truth": np.nan if together else LEVEL, "now": now, "form": SHARE}
        rows.append(row(title, "an interaction is found at 5%", **share))
    return pd.DataFrame(rows)


# Point 6. Before: ties are broken at random, anew in each ranking, and what that changes is a reversal.
RANKED_GROUPS, RANKED = 96, 5  # prompts of a study, and candidates of each


def tau_and_flips_with_broken_ties(scores: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Kendall's tau-a of two rankings of each prompt's candidates, and the probability that the best differ.

    Args:
        scores, other: shape (prompts, candidates).

    Returns:
        Both of shape (prompts,).
    """
    first, second = np.triu_indices(scores.shape[-1], 1)
    x, y = (np.sign(each[..., first] - each[..., second]) for each in (scores, other))
    best = [each == each.max(axis=-1, keepdims=True) for each in (scores, other)]
    same = np.prod([each / each.sum(axis=-1, keepdims=True) for each in best], axis=0).sum(axis=-1)
    return (x * y).mean(axis=-1), 1 - same


def ties_table(studies: int) -> pd.DataFrame:
    """Point 6: rankings that put no two candidates the other way round, with ties in both or in one of them."""
    titles = ("whole scores, and the same again", "means of ten reads, and the same rounded")
    found = []
    for study in range(studies):
        reads = simulated_studies.read_items(
            Simulation(tolerance=1.0),
            n=LEVELS,
            strategies=["balanced"],
            groups=RANKED_GROUPS,
            candidates=RANKED,
            seed=FIRST_STUDY + 600_000 + study,
        )["balanced"]
        mean, whole = (each.reshape(RANKED_GROUPS, -1) for each in (reads.scores.mean(axis=1), reads.scores[:, 0]))
        for title, pair in zip(titles, ((whole, whole), (mean, np.rint(mean))), strict=True):
            tau, flip = tau_and_flips_with_broken_ties(*pair)
            now = rankings.compare_rankings(*pair)
            found.append(
                {"title": title, "tau": tau.mean(), "flip": flip.mean(), "tau_b": np.nanmean(now.kendall_tau_b)}
                | {"strict": now.top1_flip.mean(), "tie": now.top1_tie.mean(), "reversed": now.reversed_pairs.mean()}
            )
    rows = []
    for title, of in pd.DataFrame(found).groupby("title", sort=False).mean().iterrows():
        rows += [
            row(title, "Kendall's tau (before: a; now: b)", old=of["tau"], truth=1.0, now=of["tau_b"]),
            row(title, "prompts with another best candidate", old=of["flip"], truth=0.0, now=of["strict"], form=SHARE),
            row(title, "what ties add to these", now=of["tie"], form=SHARE),
            row(title, "pairs in the opposite order", truth=0.0, now=of["reversed"], form=SHARE),
        ]
    return pd.DataFrame(rows)


# Point 7. Before: a published number agrees with ours where our interval over items holds it.
def rerun_of(worse: Simulation, *, seed: int, items: int = 320) -> dict[str, float]:
    """1 where the r of another run, or of a worse judge, lies in the interval and in the range of a rerun, else 0.

    Returns:
        `same_items`, `same_rerun`, `worse_items`, `worse_rerun`, and by how much r is `lower`.
    """
    found = {}
    for name, judge in (("same", Simulation(tolerance=1.0)), ("worse", worse)):
        block = simulated_studies.read_items(
            judge, n=LEVELS, strategies=["repeated_rotations"], budget=4 * LEVELS, groups=items, seed=seed
        )["repeated_rotations"]
        found[name] = block.scores[:, : 2 * LEVELS], block.scores[:, 2 * LEVELS :]
    human = block.human
    r, error = rerun.pearson_error(found["same"][0], human)
    drawn = resampling.bootstrap_weights(items, RESAMPLES, rng=np.random.default_rng(seed)).astype(float)
    low, high = resampling.percentile_interval(weighted_r(drawn, found["same"][0].mean(axis=1), human), CONFIDENCE)
    reach = 1.959964 * np.sqrt(2) * error
    result = {}
    for name in ("same", "worse"):
        other = weighted_r(np.ones((1, items)), found[name][1].mean(axis=1), human)[0]
        result |= {
            f"{name}_items": low <= other <= high,
            f"{name}_rerun": abs(other - r) <= reach,
            f"{name}_lower": r - other,
        }
    return {key: float(value) for key, value in result.items()}


def rerun_table(studies: int) -> pd.DataFrame:
    """Point 7: what is said of a number that the same judge, or a worse one, gave for the same items."""
    rows = []
    for error in (0.6, 0.7):
        worse = Simulation(tolerance=1.0, item_error=error)
        found = pd.DataFrame([rerun_of(worse, seed=FIRST_STUDY + 700_000 + study) for study in range(studies)]).mean()
        if not rows:
            rows.append(
                row(
                    "the same judge, run again",
                    "its r is held",
                    old=found["same_items"],
                    truth=CONFIDENCE,
                    now=found["same_rerun"],
                    form=SHARE,
                )
            )
        title = f"a judge whose r is lower by {found['worse_lower']:.3f}"
        rows.append(row(title, "its r is held", old=found["worse_items"], now=found["worse_rerun"], form=SHARE))
    return pd.DataFrame(rows)


# Point 8. Before: each p-value of a table was looked at by itself.
JUDGES, FAMILY_TEXTS, FAMILY_CRITERIA, FAMILY_RESAMPLES = 6, 24, 3, 100
FAMILY_MANY = 96  # texts of larger families: a test has to keep its level with few texts and with many
NAMES = np.array([f"c{place}" for place in range(FAMILY_CRITERIA)])


def _about(judge: int, strategy: str) -> dict:
    return {
        "study": "simulated",
        "judge": f"judge{judge}",
        "profile": DEFAULT_PROFILE,
        "condition": BASELINE,
        "dataset": "simulated",
        "strategy": strategy,
        "n": LEVELS,
    }


def criteria_scores(values: np.ndarray, human: np.ndarray, *, judge: int, strategy: str = "balanced") -> pd.DataFrame:
    """Scores of one judge as statistics of several criteria take them.

    Args:
        values: of texts, reads and criteria, shape (U, R, C); each text is a group.
        human: shape (U, C).
    """
    rows = orderings.choose(strategy, values.shape[2], budget=values.shape[1])
    place = permutations.positions_of(rows)
    before = np.take_along_axis(np.column_stack([np.zeros(len(rows), int), rows]), place - 1, axis=1)
    text, read, criterion = (axis.ravel() for axis in np.indices(values.shape))
    units = np.array([f"t{number:03d}" for number in range(len(values))])[text]
    names = NAMES[criterion]
    return pd.DataFrame(
        _about(judge, strategy)
        | {
            "unit_id": units,
            "group_id": units,
            "item_id": np.char.add(np.char.add(units, "-"), names),
            "criterion": names,
            "human_score": human[text, criterion],
            "read_index": read,
            "ordering": rows[read].tolist(),
            "levels": [[]] * len(read),
            "criterion_position": place[read, criterion],
            "predecessor": np.array([None, *NAMES], dtype=object)[before[read, criterion]],
            "score": pd.array(values.ravel().astype(int), dtype="Int8"),
            "expected_score": np.nan,
        }
    )


def _opinions(rng: np.random.Generator, texts: int = FAMILY_TEXTS) -> np.ndarray:
    """A judge's opinion of texts under criteria, half of it about the text as a whole. Shape (U, C)."""
    return 3 + 0.7 * (rng.normal(size=(texts, 1)) + rng.normal(size=(texts, FAMILY_CRITERIA)))


def _whole(opinion: np.ndarray, reads: int, rng: np.random.Generator) -> np.ndarray:
    """Whole scores of independent reads, shape (U, C) -> (U, reads, C)."""
    noise = 0.7 * rng.normal(size=(len(opinion), reads, opinion.shape[1]))
    return np.clip(np.rint(opinion[:, None] + noise), 1, LEVELS)


def _family_of_carry_over(rng: np.random.Generator) -> pd.DataFrame:
    tables = []
    for judge in range(JUDGES):
        opinion = _opinions(rng)
        tables.append(criteria_scores(_whole(opinion, 2 * FAMILY_CRITERIA, rng), opinion, judge=judge))
    found = carry_over.estimate(pd.concat(tables), confidence=CONFIDENCE)
    return found[found["quantity"] == "any_predecessor"]


def _family_of_agreement(rng: np.random.Generator) -> pd.DataFrame:
    tables = []
    for judge in range(JUDGES):
        opinion = _opinions(rng)
        human = opinion + 0.5 * rng.normal(size=opinion.shape)
        for strategy in ("balanced", "fixed"):
            values = _whole(opinion, 2 * FAMILY_CRITERIA, rng)
            tables.append(criteria_scores(values, human, judge=judge, strategy=strategy))
    found = criteria_agreement.estimate(pd.concat(tables), resamples=FAMILY_RESAMPLES, confidence=CONFIDENCE, seed=1)
    return found[
        (found["quantity"] == "pearson_difference") & (found["criterion"] != "macro") & (found["cluster"] == "group")
    ]


def _family_of_halo(rng: np.random.Generator, *, texts: int = FAMILY_TEXTS, shared: float = 0.0) -> pd.DataFrame:
    """Judges whose answers about all criteria share an impression of the text: `shared` is its deviation in points."""
    inside, alone = [], []
    for judge in range(JUDGES):
        opinion = _opinions(rng, texts)
        impression = shared * rng.normal(size=(texts, 1)) if shared else 0.0
        for tables, seen in ((inside, opinion + impression), (alone, opinion)):
            tables.append(criteria_scores(_whole(seen, 2 * FAMILY_CRITERIA, rng), opinion, judge=judge))
    found = halo.estimate(pd.concat(inside), pd.concat(alone), confidence=CONFIDENCE)
    return found[(found["quantity"] == "inside_minus_alone") & (found["basis"] == "mean")]


def _family_of_crossed(rng: np.random.Generator) -> pd.DataFrame:
    tables = []
    for judge in range(JUDGES):
        reads = read_crossed(0.0, texts=FAMILY_TEXTS, rng=rng).assign(**_about(judge, "balanced"))
        at = permutations.positions_of(np.array(reads["levels"].tolist()))
        tables.append(reads.assign(position=at[np.arange(len(reads)), reads["score"] - 1]))
    found = crossed_orders.estimate(pd.concat(tables), resamples=2, confidence=CONFIDENCE, seed=1)
    return found[found["quantity"] == "interaction"]


def _family_of_rankings(
    rng: np.random.Generator, *, texts: int = FAMILY_TEXTS, planted: dict[str, float] | None = None
) -> pd.DataFrame:
    tables = []
    for judge in range(JUDGES):
        reads = simulated_studies.read_items(
            Simulation(tolerance=1.0, **planted or {}),
            n=LEVELS,
            strategies=["repeated_rotations", "fixed"],
            groups=texts,
            candidates=4,
            seed=int(rng.integers(2**31)),
        )
        tables.append(
            simulated_studies.as_scores(reads, candidates=4, judge=f"judge{judge}").assign(expected_score=np.nan)
        )
    found = rank_reversal.estimate(pd.concat(tables), confidence=CONFIDENCE, seed=1, halvings=5)
    return found[(found["comparison"] == "excess") & (found["quantity"] == "reversed_pairs")]


# One question of each table, asked of judges that give it nothing to find.
FAMILIES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "carry_over: a criterion before": _family_of_carry_over,
    "criteria_agreement: balanced less fixed, three criteria": _family_of_agreement,
    "halo: inside less alone": _family_of_halo,
    "crossed_orders: interaction": _family_of_crossed,
    "rank_reversal: excess of reversed pairs": _family_of_rankings,
    "halo: inside less alone, 96 groups": partial(_family_of_halo, texts=FAMILY_MANY),
    "rank_reversal: excess of reversed pairs, 96 groups": partial(_family_of_rankings, texts=FAMILY_MANY),
}
# The same where there is something to find.
PLANTED: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "halo: an impression of a point": partial(_family_of_halo, shared=1.0),
    "rank_reversal: items prefer positions": partial(_family_of_rankings, planted={"item_positions": 1.0}),
}


# Point 9. Before: percentiles of the bootstrap over groups.
INTERVAL_CANDIDATES, HALVINGS = 8, 10


class Statistic:
    """Parts of an estimate: a table with a row per group, and the functions of its sums used before and now."""

    def __init__(
        self,
        table: np.ndarray,
        old: Callable[[np.ndarray], np.ndarray],
        now: tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]] | None = None,
        scales: dict[str, Callable[[np.ndarray], np.ndarray]] | None = None,
    ) -> None:
        self.table, self.old, self.scales = table, old, scales or {}
        self.table_now, self.now = now or (table, old)

    def estimate(self) -> float:
        return float(self.now(self.table_now.sum(axis=0, keepdims=True))[0])

    def intervals(self, *, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Percentiles of resamples of groups, and the jackknife's with Student's t; each of shape (2,)."""
        drawn = self.old(resampling.bootstrap_sums(self.table, RESAMPLES, rng=rng))
        left_out = resampling.left_out_sums(self.table_now, np.arange(len(self.table_now)))
        found = resampling.jackknife_t(self.now(left_out), CONFIDENCE, **self.scales)
        return np.array(resampling.percentile_interval(drawn, CONFIDENCE)), np.array([found.low, found.high])


def _ratio(sums: np.ndarray) -> np.ndarray:
    return sums[:, 0] / sums[:, 1]


def old_shift(sums: np.ndarray) -> np.ndarray:
    """Variance that all items have in common between D orderings, as it was estimated.

    Args:
        sums: of `within_item_deviation.parts` over items, shape (resamples, 3 + D).

    What chance adds was taken to be that of a mean over items.
    """
    count, d = sums[:, 0], sums.shape[1] - 3
    of_means = ((sums[:, 3:] / count[:, None]) ** 2).sum(axis=1) / (d - 1)
    return (d - 1) / d * (of_means - (sums[:, 1] / count - of_means) / (count - 1))


def statistics_of(groups: int, *, seed: int) -> dict[str, Statistic]:
    """The statistics of one study with effects of groups."""
    reads = simulated_studies.read_items(
        Simulation(preference="first", **GROUPED),
        n=LEVELS,
        strategies=["balanced", "fixed"],
        temperature=0.5,
        groups=groups,
        candidates=INTERVAL_CANDIDATES,
        seed=seed,
    )
    rng, group = np.random.default_rng(seed), _groups(groups, INTERVAL_CANDIDATES)
    balanced, fixed, human = reads["balanced"].scores, reads["fixed"].scores, reads["balanced"].human
    one = np.ones(groups)

    def ranked(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return rankings.mean_scores(values, chosen).reshape(len(chosen), groups, -1)

    def flips(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return rankings.compare_rankings(left, right).top1_flip.mean(axis=0)

    reads_each = balanced.shape[1]
    whole = np.ones((1, reads_each))
    dealt = [reads[name].shown[0] @ 10 ** np.arange(LEVELS) for name in ("balanced", "fixed")]  # the same for all items
    same = rank_reversal.same_answers(*dealt)
    drawn = rank_reversal.halves_of_two(dealt, same, reads_each // 2, HALVINGS, rng=rng)
    halved = [
        [ranked(values, half) for half in halves] for values, halves in zip((balanced, fixed), drawn, strict=True)
    ]
    between = (flips(halved[0][0], halved[1][0]) + flips(halved[0][1], halved[1][1])) / 2
    within = (flips(*halved[0]) + flips(*halved[1])) / 2
    spread = within_item_deviation.item_moments(balanced)
    parts = within_item_deviation.parts(balanced, np.full(len(balanced), np.nan))
    known = np.nan_to_num(parts)
    moments = resampling.sum_units(subsets.moments(balanced, human), group)
    chosen = subsets.draw(reads_each, 252, rng=rng)
    five = chosen.sizes == 5
    fives = subsets.Subsets(chosen.masks[five], chosen.sizes[five], chosen.pairs[:, five])
    return {
        "rank reversal: flips": Statistic(
            np.column_stack([flips(ranked(balanced, whole), ranked(fixed, whole)), one]), _ratio
        ),
        "rank reversal: excess of flips": Statistic(np.column_stack([between - within, one]), _ratio),
        "within items: mean standard deviation": Statistic(
            resampling.sum_units(np.column_stack([spread[:, 2], np.ones(len(group))]), group), _ratio
        ),
        "within items: shift": Statistic(
            resampling.sum_units(known, group),
            old_shift,
            (
                within_item_deviation.unit_parts(parts, group),
                lambda sums: within_item_deviation.split(sums, known=False)["shift"],
            ),
        ),
        "budget curve: r of five reads": Statistic(
            moments,
            lambda sums: np.nanmean(subsets.pearson_of_subsets(sums, fives), axis=1),
            scales={"scale": np.arctanh, "back": np.tanh},
        ),
    }


# Point 10. Before: the raw V, and all reads that there are.
DATASETS, V_ITEMS = 4, 160
INSIDE, ALONE = 4, 16  # reads of a text in one prompt, and of each criterion alone


def mean_vs(judge: Simulation, *, seed: int) -> tuple[float, float]:
    """Mean over `DATASETS` datasets of the raw V, and of the corrected one."""
    found = []
    for dataset in range(DATASETS):
        block = simulated_studies.read_items(
            judge, n=LEVELS, strategies=["balanced"], groups=V_ITEMS, seed=seed + 10_000 * dataset
        )["balanced"]
        counts = (block.positions[..., None] == np.arange(1, LEVELS + 1)).sum(axis=1).astype(float)
        found.append((float(uniformity.cramers_v(counts.sum(axis=0))), uniformity.corrected_v(counts)))
    return tuple(np.mean(found, axis=0))


def halo_of_unequal(rng: np.random.Generator) -> tuple[float, float]:
    """Halo of a judge that has none, from unequal numbers of reads: over all of them, and as `halo` has it."""
    opinion = _opinions(rng)
    reads = [_whole(opinion, count, rng) for count in (INSIDE, ALONE)]
    inside, alone = (halo.mean_correlation(panels.text_means(each), np.ones((1, len(opinion))))[0] for each in reads)
    tables = [criteria_scores(each, opinion, judge=0, strategy="fixed") for each in reads]
    tables = [table.assign(ordering=[[number] for number in table["read_index"]]) for table in tables]
    found = halo.estimate(*tables, confidence=CONFIDENCE).set_index(["basis", "quantity"])["estimate"]
    return inside - alone, found["mean", "inside_minus_alone"]
