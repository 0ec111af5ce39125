"""Agreement with people, criterion by criterion."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import CLUSTERS, KEYS, MACRO, VALUES, stream
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import correlations
from rubric_order.methods.position import panels
from rubric_order.methods.uncertainty import multiplicity, resampling
from rubric_order.strategies import COMPARED

COLUMNS = {"scores": panels.COLUMNS}
SETTING = [key for key in KEYS if key != "strategy"]


def criterion_correlations(judge: np.ndarray, human: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's r under each criterion, and the mean of those that are defined."""
    columns = []
    for place in range(judge.shape[1]):
        has_both = ~np.isnan(judge[:, place]) & ~np.isnan(human[:, place])
        if has_both.sum() < 2:
            columns.append(np.full(len(weights), np.nan))
        else:
            pair = (judge[has_both, place], human[has_both, place])
            columns.append(correlations.weighted_pearson(*pair, weights[:, has_both]))
    pearson = np.column_stack(columns)
    some = ~np.isnan(pearson)
    macro = np.where(some, pearson, 0).sum(axis=1) / np.where(some.any(axis=1), some.sum(axis=1), np.nan)
    return np.column_stack([pearson, macro])


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, resamples: int, confidence: float, seed: int
) -> pd.DataFrame:
    """Correlation with people of each strategy (criterion ``macro``: the mean), and paired differences.

    Source: Xu et al. (2026), Section 5.5, Table 6.
    """
    rows = []
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        for _, setting in table.groupby(SETTING):
            for readout in VALUES:
                strategies = [
                    (name, panel) for name, kind, panel, _ in panels.blocks(setting, crossed=False) if kind == readout
                ]
                strategies.sort(key=lambda pair: COMPARED.index(pair[0]["strategy"]))
                if strategies:
                    rows += _setting(strategies, readout, resamples=resamples, confidence=confidence, seed=seed)
    columns = [*KEYS, "other", "readout", "cluster", "criterion", "quantity", "estimate", "ci_low", "ci_high", "p"]
    columns += ["n_texts", "n_clusters", "n_criteria", "method", "confidence", "seed"]
    return multiplicity.adjust(tidy.make_table_with_gaps(rows, columns))


def _setting(found: list[Any], readout: Readout, *, resamples: int, confidence: float, seed: int) -> list[Row]:
    first = found[0][1]
    texts = sorted(set().union(*(panel.texts for _, panel in found)))
    means: dict[str, np.ndarray] = {}
    humans: dict[str, np.ndarray] = {}
    group_of: dict[str, str] = {}
    for name, panel in found:
        place = np.searchsorted(texts, panel.texts)
        for values, source in ((means, panels.text_means(panel.values)), (humans, panel.human)):
            laid_out = np.full((len(texts), len(panel.criteria)), np.nan)
            laid_out[place] = source
            values[name["strategy"]] = laid_out
        group_of |= dict(zip(panel.texts, panel.group_ids, strict=True))
    human = humans[found[0][0]["strategy"]]
    group_ids = np.array([group_of[text] for text in texts], dtype=object)
    rows = []
    for cluster in CLUSTERS:
        codes = np.arange(len(texts)) if cluster == "item" else pd.factorize(group_ids, sort=True)[0]
        n_clusters = int(codes.max()) + 1
        key = [value for name, value in found[0][0].items() if name != "strategy"]
        rng = randomness.generator(seed, "criteria agreement", *stream(key), readout, cluster)
        drawn: np.ndarray = resampling.bootstrap_weights(n_clusters, resamples, rng=rng)[:, codes].astype(float)
        if n_clusters == 1:  # resamples of one cluster do not vary
            drawn[:] = np.nan
        weights = np.vstack([np.ones(len(texts)), drawn])
        common = {
            "readout": readout,
            "cluster": cluster,
            "n_clusters": n_clusters,
            "method": f"percentile bootstrap over {cluster}s, {resamples} resamples",
            "confidence": confidence,
            "seed": seed,
        }

        def add(name: Row, values: np.ndarray, known: np.ndarray, common: Row = common) -> None:
            low, high = resampling.percentile_interval(values[1:], confidence)
            for place, criterion in enumerate((*first.criteria, MACRO)):
                p = resampling.two_sided_p(values[1:, place]) if "other" in name else np.nan
                row = {"criterion": criterion, "estimate": values[0, place], "ci_low": low[place], "p": p}
                used = known.any(axis=1) if criterion == MACRO else known[:, place]
                n_criteria = int((~np.isnan(values[0, :-1])).sum()) if criterion == MACRO else 1
                counts = {"ci_high": high[place], "n_texts": int(used.sum()), "n_criteria": n_criteria}
                rows.append(common | name | row | counts)

        rated = ~np.isnan(human)
        for name, _ in found:
            judge = means[name["strategy"]]
            quantity = {"quantity": "pearson"}
            add(name | quantity, criterion_correlations(judge, human, weights), ~np.isnan(judge) & rated)
        for (name, _), (other, _) in itertools.combinations(found, 2):
            both = [means[one["strategy"]] for one in (name, other)]
            in_both = ~np.isnan(both[0]) & ~np.isnan(both[1])
            one, two = (criterion_correlations(np.where(in_both, judge, np.nan), human, weights) for judge in both)
            quantity = {"quantity": "pearson_difference", "other": other["strategy"]}
            add(name | quantity, one - two, in_both & rated)
    return rows
