"""Agreement among judges, and their majority."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import judge_panels, series
from rubric_order.methods.comparisons.judge_panels import Panel
from rubric_order.methods.uncertainty import cluster_robust, shares

COLUMNS = {"scores": [*KEYS, *judge_panels.NEEDED]}
MAJORITY = "majority"  # in place of a judge: the commonest choice of all judges
LEAST_JUDGES = 3  # a majority needs this many judges


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float, forms: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Agreement of each pair of judges, disagreement among all judges, and consistency of their majority.

    ``kappa`` is `judge_panels.kappa`. By `level` (a number of judges): ``at_most`` this many deviate from the commonest
    choice; ``consistency`` where this many deviate in the order with most. ``mean_consistency`` is over judges.

    Source: Shi et al., Judging the Judges, Appendix C, Figures 3 and 4; kappa, the majority and intervals are ours.
    """
    rows: list[Row] = []
    tables = [scores] if isinstance(scores, pd.DataFrame) else scores
    for panel in judge_panels.panels(tables, forms):
        parts = [_pairs(panel, confidence)]
        common = panel.common()
        if len(panel.judges) >= LEAST_JUDGES and len(common.reads):
            parts += [_disagreement(common, confidence), _majority(common, confidence)]
        rows += (panel.about | row | _flag(row) for part in parts for row in part)
    columns = [*KEYS, "benchmark", "other", "quantity", "level", "estimate", "ci_low", "ci_high"]
    columns += ["n_judges", "n_values", "n_clusters", "flag"]
    return tidy.make_table_with_gaps(rows, columns, {"level": "Int64"}).assign(confidence=confidence)


def _flag(row: Row) -> Row:
    few = flags.FEW_CLUSTERS if row["n_clusters"] < FEW_CLUSTERS else ""
    return {"flag": ", ".join(filter(None, (row.get("flag", ""), few)))}


def _pairs(panel: Panel, confidence: float) -> Iterator[Row]:
    cluster = pd.factorize(panel.reads["group_id"])[0]
    for place, judge in enumerate(panel.judges):
        for further in range(place + 1, len(panel.judges)):
            one, other = panel.winners[:, place], panel.winners[:, further]
            both = (one != series.NONE) & (other != series.NONE)
            decided = both & (one != series.TIE) & (other != series.TIE)
            common = {"judge": judge, "other": panel.judges[further], "n_judges": 2}
            for quantity, chosen in {"agreement": both, "agreement_decided": decided}.items():
                ratio = shares.share((one == other)[chosen].astype(float), cluster[chosen], confidence)
                yield common | {"quantity": quantity} | _row(ratio)
            if both.any():
                unit = np.unique(cluster[both], return_inverse=True)[1]
                kappa = judge_panels.kappa(one[both], other[both], unit, panel.p, confidence)
                sizes = {"n_values": int(both.sum()), "n_clusters": int(unit.max()) + 1}
                yield common | {"quantity": "kappa"} | kappa.columns() | sizes


def _row(ratio: shares.Ratio) -> Row:
    return ratio.interval.columns() | {"n_values": ratio.n, "n_clusters": ratio.n_clusters}


def _disagreement(panel: Panel, confidence: float) -> Iterator[Row]:
    off = judge_panels.off_the_mode(panel.winners, panel.p)
    cluster = pd.factorize(panel.reads["group_id"])[0]
    common = {"judge": EVERY, "other": "", "n_judges": len(panel.judges)}
    options = panel.p + int((panel.winners == series.TIE).any())
    most = len(panel.judges) - -(-len(panel.judges) // options)  # judges that can deviate from the commonest choice
    for level in range(int(off.max()) + 1):
        row = _row(shares.share((off <= level).astype(float), cluster, confidence))
        always = {"ci_low": np.nan, "ci_high": np.nan} if level >= most else {}
        yield common | {"quantity": "at_most", "level": level} | row | always
    units, rows, _ = panel.series()
    if units.empty:
        return
    agreed = np.stack([series.consistent(panel.winners[rows, k]) for k in range(len(panel.judges))], axis=1)
    worst, group = off[rows].max(axis=1), pd.factorize(units["group_id"])[0]
    for level in np.unique(worst):
        of_level = worst == level
        clusters: np.ndarray = np.repeat(group[of_level], agreed.shape[1])
        ratio = shares.share(agreed[of_level].ravel(), clusters, confidence)
        yield common | {"quantity": "consistency", "level": int(level)} | _row(ratio)
    ratio = shares.share(agreed.ravel(), np.repeat(group, agreed.shape[1]), confidence)
    yield common | {"quantity": "mean_consistency"} | _row(ratio)


def _majority(panel: Panel, confidence: float) -> Iterator[Row]:
    units, rows, by_place = panel.series()
    if units.empty:
        return
    winners = judge_panels.majority(panel.winners, panel.p)[rows]
    at = np.argmax(by_place == winners[..., None], axis=2) + 1
    places = np.where(winners > series.TIE, at, winners)
    group = pd.factorize(units["group_id"])[0]
    common = {"judge": MAJORITY, "other": "", "n_judges": len(panel.judges)}
    ratio = shares.share(series.consistent(winners), group, confidence)
    yield common | {"quantity": "position_consistency"} | _row(ratio)
    ratio = shares.mean(series.leaning(places, winners, p=panel.p), group, confidence, bounds=(-1, 1))
    yield common | {"quantity": "preference_fairness"} | _row(ratio)
    fit, n_values = series.place_preference(winners, by_place, group)
    interval = Interval.of(fit.interval(series.first_last(panel.p), confidence))
    count = 0 if fit.problem else cluster_robust.counted(fit.influence)
    row = {"quantity": "first_last", "n_values": n_values, "n_clusters": count, "flag": ", ".join(fit.flags)}
    yield common | row | interval.columns()
