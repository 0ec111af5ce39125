"""Single items that orderings move, savings, raters and items by groups: before and now, where the truth is known.

    python tests/recovery/spread_recovery.py --studies 200 [--only order_spread ...]

Prints a row of Markdown a quantity. Judges, raters and groups are simulated here, apart from the library's simulated
judge. Truths are computed without the estimators. Formulas that were replaced are written out here.
"""

import argparse
import os
from collections.abc import Iterator
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tables are small: threads only get in each other's way

import numpy as np
import pandas as pd
from scipy import special

from rubric_order.analyses.agreement.generalisability import estimate as generalisability
from rubric_order.analyses.position.bias_cost import estimate as bias_cost
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.cards import evidence, verdict
from rubric_order.cards.spread import Spread
from rubric_order.library import estimates
from rubric_order.methods.agreement import attenuation
from rubric_order.methods.position.shared_orderings import bias_cost as costs_of
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings

CONFIDENCE, LEVEL, MARGIN = 0.95, 0.05, 0.1
TOGETHER = 10  # studies estimated in one call
TRUE_ITEMS = 100_000
LEVELS = 5
SHOWN_SMALL = Spread("soft", Interval(0.0, 0.0, 0.0), 0.0, MARGIN, "shown")  # as a card took single items before
COLUMNS = ["point", "setting", "n_groups", "quantity", "studies", "before", "now", "target"]


class Cell(NamedTuple):
    """One setting.

    Attributes:
        point: what is looked at: ``order_spread``, ``bias_cost``, ``raters`` or ``generalisability``.
        title: the setting in words.
        groups: of a study.
        sizes: items of the groups, over and over.
        n: levels. length: log-odds by which a text that is longer by a standard deviation gains at the last position
            beside the first. lenient: added to the judge's opinion. text: standard deviation of what a prompt does to
            the log-weight of each option. interaction: of score and position, in log-odds.
        soft, hard: what is known of the reads. repeats: reads of an item in each ordering.
        severity: standard deviation between raters. shuffled: whether raters stand in another order in each item.
    """

    point: str
    title: str
    groups: int
    sizes: tuple[int, ...] = (2,)
    n: int = LEVELS
    length: float = 0.0
    lenient: float = 0.0
    text: float = 0.0
    interaction: float = 0.0
    soft: bool = True
    hard: bool = True
    repeats: int = 1
    severity: float = 0.0
    shuffled: bool = False


UNEQUAL = (1, 2, 1, 50, 3, 1, 2, 5, 1, 2)
HEAVY = (40, 2, 2, 2, 2, 2, 2, 2, 2, 2)


def cells() -> dict[str, Cell]:
    """All settings by name."""
    found = {}
    for n in (2, 3, 5, 9, 10):
        for length, words in ((0.0, "no effect on items"), (2.0, "late positions for long texts")):
            found[f"order_spread_{n}_{length:g}"] = Cell(
                "order_spread", f"{n} levels, {words}", 200, n=n, length=length
            )
    for groups in (20, 40, 100, 400):
        found[f"order_spread_groups_{groups}"] = Cell(
            "order_spread", "late positions for long texts", groups, length=1.0
        )
    found |= {
        "order_spread_unequal": Cell(
            "order_spread", "groups of 1 to 50 items, late positions for long texts", 100, UNEQUAL, length=1.0
        ),
        "order_spread_ceiling": Cell(
            "order_spread", "a ceiling, late positions for long texts", 200, length=2.0, lenient=2.0
        ),
        "order_spread_prompts": Cell("order_spread", "noise of prompts", 200, text=0.3),
        "order_spread_two_hard": Cell(
            "order_spread", "2 levels, written scores alone, each ordering read twice", 400, n=2, soft=False
        ),
        "order_spread_hard": Cell("order_spread", "written scores alone, each ordering read once", 200, soft=False),
        "order_spread_repeats": Cell(
            "order_spread", "written scores alone, each ordering read twice", 400, soft=False, repeats=2
        ),
        "order_spread_repeats_length": Cell(
            "order_spread",
            "written scores alone, each ordering read twice, late positions for long texts",
            400,
            soft=False,
            repeats=2,
            length=2.0,
        ),
    }
    for groups in (20, 60, 200):
        found[f"bias_cost_{groups}"] = Cell(
            "bias_cost", "high scores preferred at late positions", groups, interaction=1.0
        )
    found["bias_cost_none"] = Cell("bias_cost", "no preference", 60)
    for severity in (0.0, 0.5, 1.0):
        found[f"raters_{severity:g}"] = Cell(
            "raters", f"three raters, SD of severity {severity:g}", 50, (4,), severity=severity
        )
    found["raters_shuffled"] = Cell(
        "raters", "the same raters in no fixed order", 50, (4,), severity=0.5, shuffled=True
    )
    for groups in (20, 40, 100, 400):
        found[f"generalisability_{groups}"] = Cell(
            "generalisability", "a tenth of the groups with 40 items", groups, HEAVY
        )
    found["generalisability_equal"] = Cell("generalisability", "groups of 4 items", 40, (4,))
    return found


def run(cell: Cell, studies: int, seed: int) -> pd.DataFrame:
    """The numbers reported before and now, over so many studies.

    Returns:
        One row per quantity: `COLUMNS`; `target` is the truth, or what a test or an interval promises.
    """
    rows = RUNS[cell.point](cell, studies, seed)
    about = {"point": cell.point, "setting": cell.title, "n_groups": cell.groups, "studies": studies}
    return pd.DataFrame([about | row for row in rows], columns=COLUMNS)


def groups_of(cell: Cell) -> np.ndarray:
    """Number of the group of each item."""
    return np.repeat(np.arange(cell.groups), np.resize(cell.sizes, cell.groups))


def probabilities(cell: Cell, group: np.ndarray, shown: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Probabilities of the positions, by item and ordering, shape (m, D, n). Groups share opinions in part."""
    m, n = len(group), cell.n
    opinion, length = (
        np.sqrt(0.25) * rng.normal(size=group.max() + 1)[group] + np.sqrt(0.75) * rng.normal(size=m) for _ in range(2)
    )
    value = np.linspace(1, 5, n)[shown - 1]
    weight = -((value - (3 + cell.lenient + opinion)[:, None, None]) ** 2) / (2 * 0.75**2)
    place = np.linspace(-0.5, 0.5, n)
    weight = weight + cell.length * length[:, None, None] * place
    weight += cell.interaction * 4 * place * (shown - (n + 1) / 2) / (n - 1)
    weight += cell.text * rng.normal(size=weight.shape)
    return special.softmax(weight, axis=2)


def reads(cell: Cell, studies: range, seed: int) -> pd.DataFrame:
    """Reads of several studies as `scoring` has them; each study is a dataset of its own."""
    shown = orderings.balanced(cell.n)
    first = shown[: cell.n] if cell.n == 2 else shown  # of two levels each ordering stands there twice
    parts = []
    for study in studies:
        rng = np.random.default_rng([seed, study])
        group = groups_of(cell)
        shares = probabilities(cell, group, first, rng)
        times = cell.repeats * len(shown) // len(first)
        shares, rows = np.repeat(shares, times, axis=1), np.repeat(first, times, axis=0)
        m, count, n = shares.shape
        place = (shares.cumsum(axis=2) < rng.random((m, count, 1))).sum(axis=2).clip(max=n - 1)
        score = np.take_along_axis(np.broadcast_to(rows, shares.shape), place[..., None], axis=2)[..., 0]
        table = pd.DataFrame({"item_id": np.repeat([f"i{k:05d}" for k in range(m)], count)})
        table["group_id"] = np.repeat([f"g{k:05d}" for k in group], count)
        table["candidate"] = table["item_id"]
        table = table.assign(study="s", dataset=f"d{study:05d}", criterion="c", human_score=np.nan)
        table["read_index"], table["repeat"] = np.tile(np.arange(count), m), np.tile(np.arange(count) % times, m)
        table["ordering"] = list(np.tile(rows, (m, 1)))
        table["score"] = pd.array(score.ravel() if cell.hard else [pd.NA] * score.size, dtype="Int8")
        table["position"] = pd.array(place.ravel() + 1 if cell.hard else [pd.NA] * score.size, dtype="Int8")
        table["expected_score"] = (shares * rows).sum(axis=2).ravel() if cell.soft else np.nan
        table["position_probabilities"] = list(shares.reshape(-1, n)) if cell.soft else None
        parts.append(table)
    keys = {"judge": "j", "profile": DEFAULT_PROFILE, "condition": BASELINE, "strategy": "balanced", "n": cell.n}
    return pd.concat(parts, ignore_index=True).assign(**keys)


def _batches(cell: Cell, studies: int, seed: int) -> Iterator[pd.DataFrame]:
    for start in range(0, studies, TOGETHER):
        yield reads(cell, range(start, min(start + TOGETHER, studies)), seed)


def true_spread(cell: Cell, seed: int) -> float:
    """Standard deviation between very many items of what orderings do to their expected scores."""
    shown = orderings.balanced(cell.n)
    shown = shown[: cell.n] if cell.n == 2 else shown
    rng = np.random.default_rng([seed, 10**6])
    expected = (probabilities(cell, np.arange(TRUE_ITEMS), shown, rng) * shown).sum(axis=2)
    away = expected - expected.mean(axis=1, keepdims=True)
    return float(np.sqrt(away.var(axis=0).mean()))


def _order_spread(cell: Cell, studies: int, seed: int) -> Iterator[dict]:
    true = true_spread(cell, seed)
    rows, words = [], []
    for scores in _batches(cell, studies, seed):
        statistics = estimates.card_statistics(scores)
        table = statistics[evidence.spreads.NAME]
        table = table[(table["cluster"] == "group") & (table["quantity"] == "spread")]
        rows.append(table[table["readout"] == ("soft" if cell.soft else "hard")])
        for found in evidence.gather(statistics):
            before = found.__class__(**(found.__dict__ | {"spread": SHOWN_SMALL}))
            words.append((verdict.judge(before).word, verdict.judge(found).word))
    table, words = pd.concat(rows), pd.DataFrame(words, columns=["before", "now"])
    equivalent = (words == verdict.EQUIVALENT).mean()
    target = LEVEL if true >= MARGIN else np.nan
    yield {"quantity": "equivalent", "before": equivalent["before"], "now": equivalent["now"], "target": target}
    yield {"quantity": "spread", "now": table["estimate"].mean(), "target": true}
    if true > 1e-6 and table["estimate"].notna().any():
        covered = (table["ci_low"] <= true) & (table["ci_high"] >= true)
        yield {"quantity": "spread, coverage", "now": covered.mean(), "target": CONFIDENCE}
        yield {"quantity": "spread above its upper end", "now": (table["high"] < true).mean(), "target": LEVEL}


def _bias_cost(cell: Cell, studies: int, seed: int) -> Iterator[dict]:
    shown, splits = orderings.balanced(cell.n), 5
    shares = probabilities(cell, np.arange(TRUE_ITEMS), shown, np.random.default_rng([seed, 10**6]))
    by_score = np.stack([(shares * (shown == score)).sum(axis=(0, 1)) for score in range(1, cell.n + 1)])
    true = costs_of(by_score / by_score.sum(axis=1, keepdims=True), shown)
    saved, plain, rows = [], [], []
    for scores in _batches(cell, studies, seed):
        found = bias_cost.estimate(scores, resamples=2, confidence=CONFIDENCE, seed=1, splits=splits)
        found = found[(found["cluster"] == "group") & (found["readout"] == "hard") & (found["dataset"] != "all")]
        rows.append(found[found["quantity"] == "heldout_cost_saved"])
        for number, study in enumerate(sorted(scores["dataset"].unique())):
            own = scores[scores["dataset"] == study]
            drawn = np.random.default_rng([seed, 10**7 + number])
            for _ in range(splits):
                groups = drawn.permutation(own["group_id"].unique())
                first = own["group_id"].isin(groups[: len(groups) // 2])
                costs = [costs_of(_shares(half), shown) for half in (own[first], own[~first])]
                for train, test in (costs, costs[::-1]):
                    chosen = int(np.argmin(train))
                    saved.append(true[0] - true[chosen])
                    plain.append(test[0] - test[chosen])
    table, truth = pd.concat(rows), float(np.mean(saved))
    yield {"quantity": "cost saved", "before": np.mean(plain), "now": table["estimate"].mean(), "target": truth}
    covered = ((table["ci_low"] <= truth) & (table["ci_high"] >= truth)).mean()
    yield {"quantity": "cost saved, coverage", "now": covered, "target": CONFIDENCE}


def _shares(table: pd.DataFrame) -> np.ndarray:
    n = int(table["n"].iloc[0])
    counts = np.zeros((n, n))
    np.add.at(counts, (table["score"].to_numpy(dtype=int) - 1, table["position"].to_numpy(dtype=int) - 1), 1)
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=1, keepdims=True)


def _raters(cell: Cell, studies: int, seed: int) -> Iterator[dict]:
    true, values, told = 0.8, [], []
    for study in range(studies):
        rng = np.random.default_rng([seed, study])
        group = groups_of(cell)
        quality = 0.5 * rng.normal(size=cell.groups)[group] + np.sqrt(0.75) * rng.normal(size=len(group))
        judge = true * quality + np.sqrt(1 - true**2) * rng.normal(size=len(group))
        scores = quality[:, None] + cell.severity * rng.normal(size=3) + 0.75 * rng.normal(size=(len(group), 3))
        scores = rng.permuted(scores, axis=1) if cell.shuffled else scores
        noise, differ = attenuation.rater_noise(scores)
        told.append(differ)
        plain = scores.var(axis=1, ddof=1) / 3
        for kind, each in (("before", plain), ("now", noise)):
            found = attenuation.corrected(judge, scores.mean(axis=1), each, group, CONFIDENCE)["pearson_corrected"]
            values.append((kind, *found))
    table = pd.DataFrame(values, columns=["kind", "value", "low", "high"]).set_index("kind")
    covered = (table["low"] <= true) & (table["high"] >= true)
    both = {name: table.loc[name, "value"].mean() for name in ("before", "now")}
    yield {"quantity": "r without rater noise", "target": true} | both
    both = {name: covered.loc[name].mean() for name in ("before", "now")}
    yield {"quantity": "r without rater noise, coverage", "target": CONFIDENCE} | both
    yield {"quantity": "raters told apart", "now": np.mean(told)}


def _generalisability(cell: Cell, studies: int, seed: int) -> Iterator[dict]:
    true, d, rows = 0.6, 6, []
    for study in range(studies):
        rng = np.random.default_rng([seed, study])
        group = groups_of(cell)
        m = len(group)
        item = np.sqrt(true / 2) * (rng.normal(size=cell.groups)[group] + rng.normal(size=m))
        own = np.sqrt(0.05) * (rng.normal(size=(cell.groups, d))[group] + rng.normal(size=(m, d)))
        values = item[:, None] + own + np.sqrt(0.3) * rng.normal(size=(m, d))
        moments = generalisability.unit_moments(values, np.full(m, 0.3), group)
        whole = moments.sum(axis=0)
        sums = np.vstack([whole, whole - moments])
        now = generalisability.components(sums, 1).item
        before = _item_before(sums)
        sizes = np.bincount(group)
        ends = resampling.left_out_interval(np.column_stack([before]), CONFIDENCE).ravel()
        ends = [*ends, *generalisability.variance_interval(np.column_stack([now]), CONFIDENCE, sizes).ravel()]
        rows.append([before[0], now[0], ends[0] <= true <= ends[1], ends[2] <= true <= ends[3]])
    means = np.mean(rows, axis=0)
    yield {"quantity": "variance of items", "before": means[0], "now": means[1], "target": true}
    yield {"quantity": "variance of items, coverage", "before": means[2], "now": means[3], "target": CONFIDENCE}


def _item_before(sums: np.ndarray) -> np.ndarray:
    """The variance of items as if they were independent."""
    d = (sums.shape[1] - 9) // 2
    _, count, mean, square, within = sums[:, :5].T
    shift = sums[:, 9 : 9 + d]
    residual = (within - (shift**2).sum(axis=1) / count) / ((count - 1) * (d - 1))
    return (square - mean**2 / count) / (count - 1) - residual / d


RUNS = {
    "order_spread": _order_spread,
    "bias_cost": _bias_cost,
    "raters": _raters,
    "generalisability": _generalisability,
}


def lines(table: pd.DataFrame) -> Iterator[str]:
    """The rows in Markdown."""
    yield "| point | setting | groups | quantity | studies | before | now | truth, or what is promised |"
    yield "|:--|:--|--:|:--|--:|--:|--:|--:|"
    for row in table.itertuples():
        numbers = ("" if pd.isna(value) else f"{value + 0.0:.3f}" for value in (row.before, row.now, row.target))
        about = (row.point, row.setting, row.n_groups, row.quantity, row.studies)
        yield f"| {' | '.join([*map(str, about), *numbers])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="points, or names of cells")
    options = parser.parse_args()
    for number, (name, cell) in enumerate(cells().items()):
        if not options.only or name in options.only or cell.point in options.only:
            table = run(cell, options.studies, options.seed + number)
            shown = list(lines(table))
            print("\n".join(shown if number == 0 else shown[2:]), flush=True)


if __name__ == "__main__":
    main()
