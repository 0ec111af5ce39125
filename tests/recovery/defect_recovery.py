"""Results of formulas that look right where the truth is known, beside ours.

Most were ours once; more of them are in `point_recovery`.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import preference_recovery

from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.methods.agreement import rankings
from rubric_order.methods.position import preference, repetition
from rubric_order.simulation import studies as simulated_studies
from rubric_order.simulation.judge import Simulation

FIRST_STUDY = 5_000_000  # seed; studies share no item with those of other pages
CONFIDENCE = 0.95
LEVELS, GROUPS, CANDIDATES = 5, 96, 3
HALVINGS = 20

# Of both, repeats of the usual ordering vary otherwise than those of the others.
SPLIT = {
    "last preferred, severe": Simulation(preference="last", preference_strength=4.6, leniency=-2.35, decisiveness=0.25),
    "no preference, the usual order answered more surely": Simulation(usual_decisiveness=3.0, tolerance=0.9),
}
NOISE = {
    "items prefer positions": Simulation(item_positions=1.5, item_scores=0.5, prompts=0.5),
    "groups prefer positions": Simulation(group_positions=1.5, item_scores=0.5, prompts=0.5),
    "reads independent": Simulation(tolerance=1.0),
}
NOISE_TEMPERATURE = 0.3


def shares_of_the_order(judge: Simulation, studies: int) -> pd.DataFrame:
    """Share of the order in the variance of a read of `balanced`, one row per study.

    Returns:
        `truth`, from the probabilities of every read of these items; `of_fixed`, where the variance in repeats of the
        usual ordering is taken for that under every ordering; `of_probabilities` and `of_repeats`, what
        `within_item_deviation` says from option probabilities, and from repeats of the rotations, whose share is
        `truth_of_rotations`.
    """
    rows = []
    for study in range(studies):
        reads = simulated_studies.read_items(
            judge,
            n=LEVELS,
            strategies=["balanced", "fixed", "repeated_rotations"],
            groups=GROUPS,
            candidates=CANDIDATES,
            seed=FIRST_STUDY + study,
        )
        known = {"temperatures": {"simulated": {"default": 1.0}}, "confidence": CONFIDENCE}
        scores = simulated_studies.as_scores(reads, candidates=CANDIDATES)
        found = {
            "of_probabilities": within_item_deviation.estimate(scores[scores["strategy"] == "balanced"], **known),
            "of_repeats": within_item_deviation.estimate(
                scores[scores["strategy"] == "repeated_rotations"], confidence=CONFIDENCE
            ),
        }
        wanted = "quantity == 'ordering_share' and cluster == 'group' and readout == 'hard'"
        row = {name: table.query(wanted)["estimate"].item() for name, table in found.items()}
        row |= {"truth": _true_share(reads["balanced"]), "of_fixed": _share_by_repeats_of_one(reads)}
        rows.append(row | {"truth_of_rotations": _true_share(reads["repeated_rotations"])})
    return pd.DataFrame(rows)


def _true_share(reads: simulated_studies.Reads) -> float:
    expected = (reads.probabilities * reads.shown).sum(axis=2)
    ordering = expected.var(axis=1).mean()
    return ordering / (ordering + repetition.variance_of_draw(reads.probabilities, reads.shown).mean())


def _share_by_repeats_of_one(reads: dict[str, simulated_studies.Reads]) -> float:
    """The share if the variance of repetition were the same under every ordering as under the usual one."""
    total, noise = (np.nanvar(reads[name].scores, axis=1, ddof=1).mean() for name in ("balanced", "fixed"))
    orderings = len(np.unique(reads["balanced"].shown[0], axis=0))
    ordering = (orderings - 1) / orderings * (total - noise)
    return ordering / (ordering + noise)


def flips_between_halves(judge: Simulation, studies: int) -> pd.DataFrame:
    """The share of studies where two halves of a strategy's reads have no best candidate in common, one row per study.

    Returns:
        `truth`: of two runs that each draw two of the five rotations and read them anew. `complementary`: of halves of
        five rotations that were read once. `independent`: of halves of rotations that were read twice, as
        `rank_reversal` makes them.
    """
    rows, rng = [], np.random.default_rng(FIRST_STUDY)
    for study in range(studies):
        reads = simulated_studies.read_items(
            judge,
            n=LEVELS,
            strategies=["repeated_rotations"],
            temperature=NOISE_TEMPERATURE,
            groups=GROUPS,
            candidates=8,
            seed=FIRST_STUDY + study,
        )["repeated_rotations"]
        ordering = np.unique(reads.shown[0], axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(ordering, kind="stable")
        first, second = order[::2], order[1::2]  # the two reads of each rotation
        runs = np.zeros((2, HALVINGS, len(ordering)))
        for side, columns in enumerate((first, second)):
            chosen = columns[rng.random((HALVINGS, LEVELS)).argsort(axis=1)[:, :2]]
            np.put_along_axis(runs[side], chosen, 1.0, axis=1)
        once = reads.scores[:, np.sort(first)]
        rows.append(
            {
                "truth": _flips(reads.scores, runs),
                "complementary": _flips(once, rank_reversal.halves(LEVELS, 2, HALVINGS, rng=rng)),
                "independent": _flips(
                    reads.scores, rank_reversal.halves(2 * LEVELS, 2, HALVINGS, ordering=ordering, rng=rng)
                ),
            }
        )
    return pd.DataFrame(rows)


def _flips(scores: np.ndarray, halves: np.ndarray) -> float:
    one, other = (rankings.mean_scores(scores, chosen).reshape(HALVINGS, GROUPS, -1) for chosen in halves)
    return float(np.nanmean(rankings.compare_rankings(one, other).top1_flip))


def of_two_levels(setting: preference_recovery.Setting, studies: int) -> pd.DataFrame:
    """Preference for the first of two positions by several formulas, one row per study.

    Returns:
        `likelihood`: maximum likelihood. `firth`: ours, with half a comparison more of each outcome. `scaled`: Firth's
        penalty times what the comparisons' dependence multiplies the variance by (1 at least). `jackknife`: maximum
        likelihood less the jackknife's estimate of its bias, over groups. NaN where there is no finite number.
    """
    rows = []
    for laid in preference_recovery.laid(setting, studies):
        ahead = preference.rows_of_places(laid)[:, 0] > 0
        won, lost = (
            np.bincount(laid.data.cluster, laid.data.weight * side[laid.data.row], setting.groups)
            for side in (ahead, ~ahead)
        )
        rows.append(_by_formula(won, lost))
    return pd.DataFrame(rows) / 4  # the log-odds of a comparison are two differences of two opposite numbers


def _by_formula(won: np.ndarray, lost: np.ndarray) -> dict[str, float]:
    """Log-odds of winning from comparisons that were won and lost in each group."""
    n, p = len(won), (won.sum() + 0.5) / (won.sum() + lost.sum() + 1)
    score, information = won * (1 - p) - lost * p, (won + lost) * p * (1 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = np.log(won.sum() / lost.sum())
        left_out = np.log((won.sum() - won) / (lost.sum() - lost))
        influence = score / (information.sum() - information)
        dependence = np.nan_to_num((influence**2).sum() * (n - 1) / n * information.sum(), nan=1.0, posinf=1.0)
        half = 0.5 * max(1.0, dependence)
        found = {
            "likelihood": plain,
            "firth": np.log((won.sum() + 0.5) / (lost.sum() + 0.5)),
            "scaled": np.log((won.sum() + half) / (lost.sum() + half)),
            "jackknife": n * plain - (n - 1) * left_out.mean(),
        }
    return {name: value if np.isfinite(value) else np.nan for name, value in found.items()}


def likelihood_table(studies: int) -> pd.DataFrame:
    """Means and deviations of `of_two_levels`, see `_summary`; `truth` is what was planted.

    The judges are those of `preference_recovery.planted`.
    """
    found = {}
    for setting in preference_recovery.planted().values():
        if setting.n == 2 and setting.readout == "hard" and setting.groups < 320:
            title = f"{setting.groups} groups, {setting.title}"
            found[title] = of_two_levels(setting, 5 * studies).assign(truth=preference_recovery.truth(setting)[0])
    return _summary(found)


def _summary(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """One row per judge and quantity: `mean`, `sd` over studies, and the share `known` of studies with a number."""
    rows = []
    for title, table in found.items():
        rows += [
            {"title": title, "quantity": name, "mean": each.mean(), "sd": each.std(), "known": each.notna().mean()}
            for name, each in table.items()
        ]
    return pd.DataFrame(rows)


TABLES = {"likelihood": likelihood_table}
COLUMNS = {
    "likelihood": "maximum likelihood",
    "jackknife": "jackknife over groups",
    "scaled": "Firth, larger penalty",
    "firth": "Firth",
}


def lines(table: pd.DataFrame) -> Iterator[str]:
    """The lines of the table `likelihood`: of each formula the largest bias, and how many studies have a number."""
    yield "| formula | largest bias | judge | fewest studies with an estimate |"
    yield "|:--|--:|:--|--:|"
    by_title = table.pivot(index="title", columns="quantity", values=["mean", "known"])
    for name, words in COLUMNS.items():
        bias, known = by_title["mean"][name] - by_title["mean"]["truth"], by_title["known"][name]
        yield f"| {words} | {bias[bias.abs().idxmax()]:+.3f} | {bias.abs().idxmax()} | {known.min():.0%} |"
