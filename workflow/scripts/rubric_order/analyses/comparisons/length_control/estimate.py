"""Effect of length on verdicts."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from rubric_order.base import flags
from rubric_order.base.intervals import Interval
from rubric_order.base.keys import BASELINE, EVERY, FEW_CLUSTERS, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.comparisons import length_control, series
from rubric_order.methods.comparisons.length_control import Pairs
from rubric_order.methods.uncertainty import cluster_robust, resampling, shares

COLUMNS = {
    "scores": [
        *KEYS,
        *("unit_id", "group_id", "benchmark", "candidates", "baseline", "human_scores", "lengths"),
        *("ordering", "repeat", "score", "position_probabilities"),
    ]
}
PADDED = {"padded_1": 1, "padded_2": 2}  # conditions, with the candidate whose text is padded
NOT_TOLD = "not identified"
PADDING = "padding"  # in place of a condition: the padded conditions together
DIFFICULT = "logistic regression of verdicts, normal difficulties of questions; sandwich CR3 over groups, Student's t"
LOGIT = f"logistic regression of verdicts; {cluster_robust.LARGER.format('group')}"
# Methods of win rates. Errors come from clusters alone, even if independent comparisons would have larger errors.
COUNTED = "share of wins; jackknife over groups, Student's t"
EQUAL = "mean of the regression's probabilities at equal lengths; sandwich CR3 over groups, Student's t"
DIFFERENCE = EQUAL.replace("; ", ", less the share of wins; ")
WITHIN = f"conditional logit of reads of one pair; {cluster_robust.LARGER.format('group')}"
SQUARES = "least squares of log-probabilities; sandwich CR3 over groups, Student's t"


def estimate(scores: pd.DataFrame | Iterable[pd.DataFrame], *, confidence: float) -> pd.DataFrame:
    """Dependence of verdicts on the lengths of the texts that are compared (uncut, also in conditions that cut them).

    `varied` stands for the condition. ``length_two_steps`` estimates difficulties of questions as AlpacaEval does;
    ``length_given_people`` has human scores in the model; ``win_rate_controlled`` is at a difference of lengths of 0.
    ``padding`` and ``padding_share`` compare padded texts (50% longer) with the baseline, pair by pair.

    Source: Dubois et al. (2024), see `length_control.design`; padding is ours.
    """
    rows: list[Row] = []
    keys = [*(key for key in KEYS if key != "condition"), "benchmark"]
    for table in [scores] if isinstance(scores, pd.DataFrame) else scores:
        table = table[(table["n"] == 2) & table["lengths"].notna()]
        for key, block in table.groupby(keys, sort=True):
            common = dict(zip(keys, key, strict=True))
            for condition, part in block[~block["condition"].isin(PADDED)].groupby("condition", sort=True):
                rows += (common | {"varied": condition} | row for row in _condition_rows(part, confidence))
            rows += (common | {"varied": PADDING} | row for row in _padding_rows(block, confidence))
    columns = [*keys, "varied", "readout", "candidate", "quantity", "estimate", "ci_low", "ci_high", "n_pairs"]
    columns += ["n_clusters", "flag", "method"]
    return tidy.make_table(rows, columns).assign(confidence=confidence)


def _verdicts(block: pd.DataFrame) -> np.ndarray:
    return block["score"].map({1: 1.0, 2: 0.0, series.TIE: 0.5}).to_numpy(dtype=float, na_value=np.nan)


def _log_odds(block: pd.DataFrame) -> np.ndarray:
    log_odds = np.full(len(block), np.nan)
    for place, (row, order) in enumerate(zip(block["position_probabilities"], block["ordering"], strict=True)):
        if row is not None and min(row[:2]) > 0:
            log_odds[place] = np.log(row[0] / row[1]) * (1 if order[0] == 1 else -1)
    return log_odds


def _shares(block: pd.DataFrame) -> np.ndarray:
    win_shares = np.full(len(block), np.nan)
    for number, (row, order) in enumerate(zip(block["position_probabilities"], block["ordering"], strict=True)):
        if row is not None:
            share = row[0] + (row[2] / 2 if len(row) > 2 else 0.0)
            win_shares[number] = share if order[0] == 1 else 1 - share
    return win_shares


def _left_out(block: pd.DataFrame) -> tuple[str, ...]:
    count = sum(row is not None and not min(row[:2]) > 0 for row in block["position_probabilities"])
    return (f"{count} reads with a probability of 0 left out",) if count else ()


def _places(block: pd.DataFrame) -> np.ndarray:
    return np.array([1.0 if order[0] == 1 else -1.0 for order in block["ordering"]])


def _pairs(block: pd.DataFrame, verdict: np.ndarray) -> Pairs:
    lengths = np.array([list(row) for row in block["lengths"]], dtype=float).reshape(-1, 2)
    candidates = np.array([list(row) for row in block["candidates"]], dtype=object).reshape(-1, 2)
    unique_names, number = np.unique(candidates.astype(str), return_inverse=True)
    number = number.reshape(-1, 2)
    baseline = block["baseline"].iloc[0]
    first = ~block["unit_id"].duplicated().to_numpy()
    return Pairs(
        verdict,
        number[:, 0],
        number[:, 1],
        int(np.searchsorted(unique_names, baseline)) if isinstance(baseline, str) else -1,
        pd.factorize(block["group_id"])[0],
        lengths[:, 0] - lengths[:, 1],
        float((lengths[:, 0] - lengths[:, 1])[first].std()),
        _places(block),
        pd.factorize(block["group_id"])[0],
    )


def _condition_rows(block: pd.DataFrame, confidence: float) -> Iterator[Row]:
    for readout, values in ((Readout.HARD, _verdicts(block)), (Readout.SOFT, _log_odds(block))):
        has_value = ~np.isnan(values)
        part, values = block[has_value], values[has_value]
        if part.empty:
            continue
        pairs = _pairs(part, _verdicts(part) if readout == Readout.HARD else values)
        clusters = int(pairs.cluster.max()) + 1
        common = {"readout": readout, "candidate": EVERY, "n_pairs": part["unit_id"].nunique()}
        columns = _columns(part, pairs)
        for quantity, (length, further) in columns.items():
            if readout == Readout.SOFT:
                # A candidate that always wins has finite log-odds too, so no candidate is left out. There are no
                # difficulties.
                x, notes = _linear(pairs, length, further)
                notes = (*notes, *_left_out(block))
                fit = length_control.fit_log_odds(x, values, pairs.cluster, clusters)
            else:
                design, some, fit = _fitted(pairs, length, further, clusters)
                notes, x = design.notes, design.x
            contrast, last = np.eye(len(fit.coefficients)), x.shape[1]
            rows = {quantity: contrast[last - 2]} | (
                {"first_place": contrast[last - 1]} if quantity == "length" else {}
            )
            method = SQUARES if readout == Readout.SOFT else LOGIT if design.side is None else DIFFICULT
            for name, weights in rows.items():
                yield common | {"quantity": name, "method": method} | _interval(fit, weights, confidence, notes)
            if quantity == "length" and readout == Readout.HARD and "no strengths" not in notes and not fit.problem:
                yield from _win_rates(part, some, design, fit, clusters, confidence, readout)
                if design.side is not None:
                    identified = fit.tells(contrast[last - 2])
                    value = length_control.two_steps(design, some, clusters) if identified else np.nan
                    row = {"quantity": "length_two_steps", "estimate": value, "n_clusters": clusters}
                    row |= {"flag": "no interval" if identified else NOT_TOLD, "method": "AlpacaEval's two steps"}
                    yield common | row
        if readout == Readout.HARD:
            yield from (common | row for row in _plain(part, pairs, confidence))
    yield from _share_rows(block, confidence)


def _fitted(
    pairs: Pairs, length: np.ndarray, further: np.ndarray | None, clusters: int
) -> tuple[length_control.Design, Pairs, cluster_robust.Fit]:
    design = length_control.design(pairs, length, further)
    some = pairs.rows(design.usable)
    if design.side is None:
        return design, some, length_control.fit(design.x, some.verdict, some.cluster, clusters)
    return design, some, length_control.fit_difficulties(design, some, clusters).fit


def _share_rows(block: pd.DataFrame, confidence: float) -> Iterator[Row]:
    """Win rates from the probabilities themselves, which can be 0 and 1 in a sure read."""
    values = _shares(block)
    has_value = ~np.isnan(values)
    if not has_value.any():
        return
    part = block[has_value]
    pairs = _pairs(part, values[has_value])
    clusters = int(pairs.cluster.max()) + 1
    design, some, fit = _fitted(pairs, length_control.scaled(pairs), None, clusters)
    if "no strengths" not in design.notes and not fit.problem:
        yield from _win_rates(part, some, design, fit, clusters, confidence, Readout.SOFT)


def _columns(block: pd.DataFrame, pairs: Pairs) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    lengths = np.array([list(row) for row in block["lengths"]], dtype=float).reshape(-1, 2).clip(min=1)
    scaled = length_control.scaled(pairs)
    columns: dict[str, tuple[np.ndarray, np.ndarray | None]] = {
        "length": (scaled, None),
        "length_doubling": (np.log2(lengths[:, 0] / lengths[:, 1]), None),
    }
    people = _human_differences(block)
    if people is not None and people.std() > 0:
        columns["length_given_people"] = scaled, (people / people.std())[:, None]
    return columns


def _human_differences(block: pd.DataFrame) -> np.ndarray | None:
    if block["human_scores"].isna().any():
        return None
    scores = np.array([list(row) for row in block["human_scores"]], dtype=float).reshape(-1, 2)
    return scores[:, 0] - scores[:, 1]


def _linear(pairs: Pairs, length: np.ndarray, further: np.ndarray | None) -> tuple[np.ndarray, tuple[str, ...]]:
    columns = [] if further is None else [further]
    reads = np.bincount(np.concatenate([pairs.first, pairs.second]))
    enough = bool(reads[reads > 0].min() >= length_control.LEAST_PAIRS)
    if enough:
        one = np.eye(len(reads))
        columns.append(one[pairs.first] - one[pairs.second])
    return np.column_stack([*columns, length, pairs.place]), () if enough else ("no strengths",)


def _interval(found: cluster_robust.Fit, weights: np.ndarray, confidence: float, notes: tuple[str, ...]) -> Row:
    row = found.interval(weights, confidence)
    count = 0 if found.problem else cluster_robust.counted(found.influence)
    few = (flags.FEW_CLUSTERS,) if count < FEW_CLUSTERS else ()
    untold = () if found.problem or found.tells(weights) else (NOT_TOLD,)
    flag = ", ".join((*found.flags, *untold, *notes, *few))
    return Interval.of(row).columns() | {"n_clusters": count, "flag": flag}


def _win_rates(
    block: pd.DataFrame,
    pairs: Pairs,
    design: length_control.Design,
    found: cluster_robust.Fit,
    clusters: int,
    confidence: float,
    readout: Readout,
) -> Iterator[Row]:
    candidates = np.unique(np.array([list(row) for row in block["candidates"]], dtype=object).astype(str))
    for number in np.unique(np.concatenate([pairs.first, pairs.second])):
        rate = length_control.win_rate(pairs, design, found, number, clusters)
        values = {
            "win_rate": (rate.raw, rate.of_raw),
            "win_rate_controlled": (rate.controlled, rate.of_controlled),
            "difference": (rate.controlled - rate.raw, rate.of_controlled - rate.of_raw),
        }
        reads = (pairs.first == number) | (pairs.second == number)
        common = {"readout": readout, "candidate": candidates[number]}
        common |= {"n_pairs": int(reads.sum()), "n_clusters": len(np.unique(pairs.cluster[reads]))}
        for quantity, (value, influence) in values.items():
            row = Interval.of(cluster_robust.interval(value, influence, confidence)).columns()
            untold = (NOT_TOLD,) if np.isnan(value) else ()
            method = {"win_rate": COUNTED, "win_rate_controlled": EQUAL, "difference": DIFFERENCE}[quantity]
            yield common | {"quantity": quantity, "method": method, "flag": ", ".join((*untold, *design.notes))} | row


def _plain(block: pd.DataFrame, pairs: Pairs, confidence: float) -> Iterator[Row]:
    correlation = resampling.correlation(pairs.length, pairs.verdict, pairs.cluster, confidence)
    count = int(pairs.cluster.max()) + 1
    few = flags.FEW_CLUSTERS if count < FEW_CLUSTERS else ""
    row: Row = {"n_clusters": count, "flag": few, "method": "Pearson; jackknife over groups"}
    yield {"quantity": "correlation"} | correlation.columns() | row
    people = _human_differences(block)
    of_people = None if people is None else np.where(people == 0, 0.5, people > 0)
    for quantity, verdict in {"longer_wins": pairs.verdict, "longer_wins_of_people": of_people}.items():
        if verdict is None:
            continue
        longer = np.where(pairs.length > 0, verdict, np.where(pairs.length < 0, 1 - verdict, np.nan))
        ratio = shares.share(longer.astype(float), pairs.cluster, confidence)
        row = {"quantity": quantity, **ratio.interval.columns()}
        yield row | {"n_clusters": ratio.n_clusters, "flag": few, "method": "share; Clopper-Pearson, jackknife's error"}


def _padding_rows(block: pd.DataFrame, confidence: float) -> Iterator[Row]:
    block = block[block["condition"].isin([BASELINE, *PADDED])]
    if block["condition"].nunique() < 2:
        return
    for readout, values in ((Readout.HARD, _verdicts(block)), (Readout.SOFT, _log_odds(block))):
        has_value = ~np.isnan(values)
        part, values = block[has_value], values[has_value]
        if part["condition"].nunique() < 2:
            continue
        padded = part["condition"].map({BASELINE: 0.0, "padded_1": 1.0, "padded_2": -1.0}).to_numpy(dtype=float)
        unit, group = pd.factorize(part["unit_id"])[0], pd.factorize(part["group_id"])[0]
        clusters = int(group.max()) + 1
        common = {"readout": readout, "candidate": EVERY, "n_pairs": int(unit.max()) + 1}
        terms = np.column_stack([padded, _places(part)])
        if readout == Readout.HARD:
            fit = length_control.within(np.sign(2 * values - 1), terms, unit, group, clusters)
        else:
            centred = [column - (np.bincount(unit, column) / np.bincount(unit))[unit] for column in (*terms.T, values)]
            fit = length_control.fit_log_odds(np.column_stack(centred[:2]), centred[2], group, clusters)
        row = {"quantity": "padding", "method": WITHIN if readout == Readout.HARD else SQUARES}
        notes = () if readout == Readout.HARD else _left_out(block)
        yield common | row | _interval(fit, np.array([1.0, 0.0]), confidence, notes)
        if readout == Readout.HARD:
            yield common | _shares_gained(part, values, padded, confidence)


def _shares_gained(block: pd.DataFrame, verdict: np.ndarray, padded: np.ndarray, confidence: float) -> Row:
    order = block["ordering"].map(lambda ordering: int(ordering[0]))
    table = pd.DataFrame({"value": verdict, "padded": padded, "order": order.to_numpy()})
    keys = [block["unit_id"].to_numpy(), block["group_id"].to_numpy(), table["order"], table["padded"]]
    means = table.groupby(keys)["value"].mean().unstack()
    gains = [(means[side] - means[0.0]) * side for side in (1.0, -1.0) if side in means and 0.0 in means]
    values = pd.concat(gains).dropna() if gains else pd.Series(dtype=float)
    group = values.index.get_level_values(1) if len(values) else np.array([], dtype=str)
    gain = shares.mean(values.to_numpy(), pd.factorize(group)[0], confidence, bounds=(-1, 1))
    few = flags.FEW_CLUSTERS if gain.n_clusters < FEW_CLUSTERS else ""
    row = {"quantity": "padding_share"} | gain.interval.columns()
    return row | {"n_clusters": gain.n_clusters, "flag": few, "method": "mean of differences; jackknife over groups"}
