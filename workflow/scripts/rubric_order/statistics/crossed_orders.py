"""Crossed designs: whether the order of the criteria and the order of the score levels act apart from each other.

In every read both orders vary. If the two axes are orthogonal, the place of a criterion shifts its score by the same
amount whichever level stands first or last, and the places of the levels are selected equally often wherever the
criterion stands.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import EVERY_POSITION, KEYS, stream
from rubric_order.methods import fixed_effects, multiplicity, rao_scott, resampling, tidy, uniformity
from rubric_order.methods.resampling import sum_units

COLUMNS = {"scores": [*KEYS, "unit_id", "group_id", "criterion", "criterion_position", "levels", "score", "position"]}
EFFECTS = ("criterion_order", "level_order", "interaction")


def terms(reads: pd.DataFrame, n: int) -> dict[str, np.ndarray]:
    """The columns of each effect on the score of each read.

    Returns:
        ``criterion_order``: 1 in the column of the criterion's position, shape (n_reads, P). ``level_order``: 1 in the
        columns of the level that stands first and of that which stands last, shape (n_reads, 2n). ``interaction``: all
        products of a column of the one with one of the other.
    """
    place = reads["criterion_position"].to_numpy(dtype=int)
    shown = np.array(reads["levels"].tolist(), dtype=int).reshape(len(reads), n)
    position = (place[:, None] == np.arange(1, place.max() + 1)).astype(float)
    levels = np.arange(1, n + 1)
    level = np.hstack([shown[:, [end]] == levels for end in (0, -1)]).astype(float)
    products = (position[:, :, None] * level[:, None, :]).reshape(len(reads), -1)
    return {"criterion_order": position, "level_order": level, "interaction": products}


def same_selection(counts: np.ndarray) -> float:
    """p-value of level positions being selected in the same shares wherever the criterion stands.

    Args:
        counts: of each position of the criterion and each selected position among the levels, by group, shape
            (n_groups, P, n).

    Returns:
        The p-value, with groups as the sample; NaN for one group.

    Source: the chi-square test of homogeneity, with the correction of Rao and Scott (1981), second order.
    """
    if len(counts) < 2:
        return np.nan
    shares = counts.sum(axis=(0, 1)) / counts.sum()
    excess = counts - counts.sum(axis=2, keepdims=True) * shares
    # The pooled shares follow what each group selects; without this, groups would seem to vary more than they do.
    of_position = counts.sum(axis=(0, 2)) / counts.sum()
    excess = excess - of_position[:, None] * excess.sum(axis=1, keepdims=True)
    return rao_scott.zero_total(excess.reshape(len(counts), -1))


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Tests of both axes and of their interaction, and the selected level positions by the criterion's place.

    Args:
        scores: see `panels.blocks`; reads without a level ordering, and strategies in which orders do
            not vary, are left out.
        resamples, confidence, seed: see the package; groups of texts are drawn.

    Returns:
        One row an estimate. `quantity` ``criterion_order``, ``level_order`` and ``interaction``: `p` of no effect on
        the score, each axis given the other and the interaction given both, with a level for each text and criterion.
        ``same_selection``: `p` of the shares of level positions not depending on the criterion's place. ``share`` of a
        `position` among the selected levels where the criterion stands in `criterion_position`, and ``cramers_v`` of
        these shares against uniform, with their intervals. All p-values take groups as the
        sample, and are adjusted as `multiplicity` says.
    """
    rows = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        listed = table[(table["levels"].map(len) > 0) & table["strategy"].isin(EVERY_POSITION)]
        for key, reads in listed.groupby(KEYS):
            usable = reads[reads["score"].notna()]
            if usable.empty:
                continue
            name = dict(zip(KEYS, key, strict=True))
            common = name | {
                "n_texts": reads["unit_id"].nunique(),
                "n_groups": reads["group_id"].nunique(),
                "n_scores": len(usable),
                "n_failed": len(reads) - len(usable),
                "confidence": confidence,
                "seed": seed,
            }
            rng = randomness.generator(seed, "crossed orders", *stream(key))
            found = [*_tests(usable, int(name["n"])), *_selections(usable, int(name["n"]), resamples, confidence, rng)]
            rows += [common | row for row in found]
    columns = [*KEYS, "quantity", "criterion_position", "position", "estimate", "ci_low", "ci_high", "p", "n_texts"]
    columns += ["n_groups", "n_scores", "n_failed", "method", "confidence", "seed"]
    return multiplicity.adjust(tidy.from_rows_with_gaps(rows, columns, ["quantity", "method"]))


def _tests(reads: pd.DataFrame, n: int) -> list[dict]:
    """p-values of the effects on the score."""
    columns = terms(reads, n)
    block = pd.factorize(reads["unit_id"] + "\x1f" + reads["criterion"])[0]
    group = pd.factorize(reads["group_id"])[0]
    score = reads["score"].to_numpy(dtype=float)
    rows = []
    for effect, given in (
        ("criterion_order", ["level_order"]),
        ("level_order", ["criterion_order"]),
        ("interaction", ["criterion_order", "level_order"]),
    ):
        others = np.hstack([columns[name] for name in given])
        p = fixed_effects.no_effect(score, columns[effect], others, block, group)
        rows.append({"quantity": effect, "p": p, "method": "score test, fixed effects of text and criterion"})
    return rows


def _selections(reads: pd.DataFrame, n: int, resamples: int, confidence: float, rng: np.random.Generator) -> list[dict]:
    """Selected level positions by the place of the criterion."""
    group = pd.factorize(reads["group_id"], sort=True)[0]
    place = reads["criterion_position"].to_numpy(dtype=int) - 1
    n_places = int(place.max()) + 1
    cell = place * n + reads["position"].to_numpy(dtype=int) - 1
    of_read = (cell[:, None] == np.arange(n_places * n)).astype(float)
    counts = sum_units(of_read, group)
    weights = resampling.bootstrap_weights(len(counts), resamples, rng=rng).astype(float)
    drawn = np.vstack([counts.sum(axis=0, keepdims=True), weights @ counts]).reshape(-1, n_places, n)
    if len(counts) < 2:
        drawn[1:] = np.nan
    with np.errstate(invalid="ignore"):
        shares, v = drawn / drawn.sum(axis=-1, keepdims=True), uniformity.cramers_v(drawn)
    low, high = resampling.percentile_interval(shares[1:], confidence)
    v_low, v_high = resampling.percentile_interval(v[1:], confidence)
    method = {"method": f"percentile bootstrap over groups, {resamples} resamples"}
    rows = []
    for p in range(n_places):
        for q in range(n):
            ends = {"estimate": shares[0, p, q], "ci_low": low[p, q], "ci_high": high[p, q]}
            rows.append(method | {"quantity": "share", "criterion_position": p + 1, "position": q + 1} | ends)
        ends = {"estimate": v[0, p], "ci_low": v_low[p], "ci_high": v_high[p]}
        rows.append(method | {"quantity": "cramers_v", "criterion_position": p + 1} | ends)
    p_value = same_selection(counts.reshape(-1, n_places, n))
    rows.append({"quantity": "same_selection", "p": p_value, "method": "homogeneity of shares, groups as the sample"})
    return rows
