"""Corrected means of people's scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.rows import Row
from rubric_order.extras.one_read.methods import corrected, pass_rates
from rubric_order.methods import tidy
from rubric_order.methods.agreement import item_scores
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import multiplicity

COLUMNS = {"scores": [*item_scores.COLUMNS, "candidate"]}
HUMAN_SCALE = (1, 5)  # least and greatest human score, by default
LABELS, JUDGE, CORRECTED, BY_ERRORS, HIDDEN = "labels", "judge", "corrected", "rogan_gladen", "all_labels"
MEAN, DIFFERENCE, PASS_RATE = "mean", "difference", "pass_rate"
MARGINS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
FEW_LABELS = f"fewer than {corrected.FEWEST} effective labelled groups: not corrected"
SELECTED = "labelled groups are unlike the others"
LEVEL = 0.05  # of the test whether labelled groups are like the others
ALL_LABELLED = "all labelled: nothing to correct"
METHODS = {
    LABELS: "labelled items; jackknife over groups, Student's t",
    JUDGE: "the judge's scores; jackknife over groups, Student's t",
    CORRECTED: "PPI++ with groups as the sample; jackknife over labelled groups, Student's t",
    BY_ERRORS: "Rogan and Gladen; Fieller's interval over groups",
    SELECTED: "Welch's test of the judge's means of groups",
    HIDDEN: "labels that were hidden included; jackknife over groups, Student's t",
}
WORDS = ["criterion", "readout", "cluster", "target", "candidate", "other", "estimator", "quantity", "flag", "method"]


class Options(NamedTuple):
    """Options of `item_rows`.

    Attributes:
        scale: least and greatest score that people can give.
        passes: lowest passing score of people and of the judge, on people's scale.
        reference: candidate that others are compared with; None: the first by name.
        margins: margins of error, in points, for which numbers of groups are computed.
    """

    confidence: float
    scale: Sequence[float] = HUMAN_SCALE
    passes: tuple[float, float] | None = None
    reference: str | None = None
    margins: Sequence[float] = MARGINS


def estimate(
    scores: pd.DataFrame | Iterable[pd.DataFrame],
    *,
    confidence: float,
    seed: int,
    human_scales: Mapping[str, Sequence[float]] | None = None,
    human_pass: float | None = None,
    judge_pass: float | None = None,
    reference: str | None = None,
    margins: Sequence[float] = MARGINS,
    groups: int | None = None,
) -> pd.DataFrame:
    """Means, differences and pass rates: from labels alone, from the judge alone, and from both.

    ``difference`` is `candidate` less `other`. ``corrected`` has the `weight` of the judge (`corrected.corrected`),
    ``rogan_gladen`` is by the judge's errors (`pass_rates.rogan_gladen`), ``all_labels`` includes hidden labels.
    """
    rows: list[Row] = []
    for block in blocks.blocks(scores):
        dataset = block.keys["dataset"]
        scale = (human_scales or {}).get(dataset, HUMAN_SCALE)
        passes = None if human_pass is None else (human_pass, _rescaled_score(judge_pass, block.n, scale, human_pass))
        options = Options(confidence, scale, passes, reference, margins)
        people = block.items.rename(columns={"human_score": "human"})
        if people["human"].isna().all():
            continue
        hidden = people.assign(human=people["human"].where(_drawn(people, groups, seed, dataset)))
        for readout, values in block.readouts():
            n_labels = (~np.isnan(values)).sum(axis=1)
            means = np.where(n_labels > 0, np.nansum(values, axis=1) / np.maximum(n_labels, 1), np.nan)
            judge = scale[0] + (means - 1) * (scale[1] - scale[0]) / (block.n - 1)
            items = hidden.assign(judge=judge, everybody=people["human"])
            for criterion, chosen in item_scores.criterion_masks(items["criterion"]):
                common = block.keys | {"criterion": criterion, "readout": readout, "cluster": "group"}
                rows += [common | row for row in item_rows(items[chosen], options)]
    return multiplicity.adjust(as_table(rows).assign(confidence=confidence, seed=seed), "p")


def as_table(rows: list[Row]) -> pd.DataFrame:
    columns = [*KEYS, *WORDS[:-2], "margin", "estimate", "ci_low", "ci_high", "p", "se", "df", "weight"]
    columns += ["n_items", "n_labels", "n_clusters", "n_labelled", "n_effective", "n_unscored", "flag", "method"]
    words = dict.fromkeys(WORDS, "")
    return tidy.make_table([words | row for row in rows], columns, {"target": "str"})


def _rescaled_score(score: float | None, n: int, scale: Sequence[float], otherwise: float) -> float:
    return otherwise if score is None else scale[0] + (score - 1) * (scale[1] - scale[0]) / (n - 1)


def _drawn(items: pd.DataFrame, groups: int | None, seed: int, dataset: str) -> np.ndarray:
    labelled = np.sort(items.loc[items["human"].notna(), "group_id"].unique())
    if groups is None or groups >= len(labelled):
        return np.full(len(items), True)
    rng = randomness.generator(seed, "corrected means", dataset)
    return items["group_id"].isin(rng.choice(labelled, size=groups, replace=False)).to_numpy()


def item_rows(items: pd.DataFrame, options: Options) -> Iterator[Row]:
    targets = [MEAN] if options.passes is None else [MEAN, PASS_RATE]
    candidates = _candidates(items)
    for candidate in [EVERY, *candidates] if len(candidates) > 1 else [EVERY]:
        selection = items if candidate == EVERY else items[items["candidate"] == candidate]
        for target in targets:
            yield from _target_rows(selection, options, {"target": target, "candidate": candidate})
    if len(candidates) > 1:
        reference = options.reference if options.reference in candidates else candidates[0]
        for candidate in candidates:
            if candidate != reference:
                selection = items[items["candidate"].isin([candidate, reference])]
                compared = {"target": DIFFERENCE, "candidate": candidate, "other": reference}
                yield from _target_rows(selection, options, compared)


def _candidates(items: pd.DataFrame) -> list[str]:
    labelled = items[items["human"].notna()].groupby("candidate")["group_id"].nunique()
    return sorted(labelled.index[labelled >= corrected.FEWEST])


def _target_rows(items: pd.DataFrame, options: Options, names: Row) -> Iterator[Row]:
    human, judge = (items[column].to_numpy(dtype=float) for column in ("human", "judge"))
    everybody = items["everybody"].to_numpy(dtype=float) if "everybody" in items else human
    group = pd.factorize(items["group_id"], sort=True)[0]
    labelled = ~np.isnan(human)
    counts = {
        "n_items": len(items),
        "n_labels": int(labelled.sum()),
        "n_clusters": int(group.max()) + 1,
        "n_labelled": len(np.unique(group[labelled])),
        "n_unscored": int(np.isnan(judge).sum()),
    }
    least, most = options.scale
    arguments: dict[str, Any] = {"bounds": (float(least), float(most))}
    kind, kinds = None, 1
    if names["target"] == DIFFERENCE:
        kind, kinds = (items["candidate"] == names["other"]).to_numpy().astype(int), 2
        arguments = {"bounds": (float(least - most), float(most - least)), "contrast": (1.0, -1.0)}
    elif names["target"] == PASS_RATE and options.passes is not None:
        human, everybody = _passed(human, options.passes[0]), _passed(everybody, options.passes[0])
        judge = _passed(judge, options.passes[1])
        arguments = {"bounds": (0.0, 1.0), "share": True}
    sums = corrected.sums(human, judge, group, kind, kinds)
    common = names | counts | {"n_effective": sums.effective}
    selection = corrected.selection(sums, options.confidence)
    selected = SELECTED if selection.p < LEVEL else ""
    row = {"estimator": JUDGE, "quantity": "labelled_less_others", "flag": selected, "method": METHODS[SELECTED]}
    yield common | row | selection.interval.columns() | {"p": selection.p}
    for estimator, value, flag in _values(sums, options.confidence, arguments, bool(labelled.all())):
        yield common | _row(estimator, value, flag or ("" if estimator == JUDGE else selected))
    if (~np.isnan(everybody)).sum() > labelled.sum():
        of_all = corrected.sums(everybody, judge, group, kind, kinds)
        value = corrected.corrected(of_all, options.confidence, weight=0.0, **arguments)
        all_counts = {
            "n_labels": int((~np.isnan(everybody)).sum()),
            "n_labelled": value.n_labelled,
            "n_effective": value.effective,
        }
        yield common | all_counts | _row(HIDDEN, value, "")
    if names["target"] == PASS_RATE:
        yield from (common | row for row in _rogan_gladen_rows(human, judge, group, options.confidence))
    yield from (common | row for row in _labels_needed(sums, options, arguments))


def _passed(scores: np.ndarray, least: float) -> np.ndarray:
    return np.where(np.isnan(scores), np.nan, scores >= least - 1e-9)


def _values(
    sums: corrected.Sums, confidence: float, arguments: Mapping[str, Any], complete: bool
) -> Iterator[tuple[str, corrected.Corrected, str]]:
    labels = corrected.corrected(sums, confidence, weight=0.0, **arguments)
    yield LABELS, labels, ""
    yield JUDGE, corrected.judge_alone(sums, confidence, **arguments), ""
    few = FEW_LABELS if labels.effective < corrected.FEWEST else ""
    yield CORRECTED, corrected.corrected(sums, confidence, **arguments), ALL_LABELLED if complete else few


def _row(estimator: str, value: corrected.Corrected, flag: str) -> Row:
    weight = {"weight": value.weight} if estimator == CORRECTED else {}
    row = {"estimator": estimator, "quantity": "value", "method": METHODS[estimator], "flag": flag}
    return row | value.interval.columns() | {"se": value.se, "df": value.df} | weight


def _rogan_gladen_rows(human: np.ndarray, judge: np.ndarray, group: np.ndarray, confidence: float) -> Iterator[Row]:
    by_errors = pass_rates.rogan_gladen(human, judge, group, confidence)
    common = {"estimator": BY_ERRORS, "method": METHODS[BY_ERRORS]}
    yield common | {"quantity": "value", "flag": by_errors.problem} | by_errors.rate.columns()
    for name, rate, labels in (
        ("sensitivity", by_errors.sensitivity, by_errors.n_passed),
        ("specificity", by_errors.specificity, by_errors.n_failed),
    ):
        flag = pass_rates.NO_LABELS if not rate.known else ""
        yield common | {"quantity": name, "n_labels": labels, "flag": flag} | rate.columns()


def _labels_needed(sums: corrected.Sums, options: Options, arguments: Mapping[str, Any]) -> Iterator[Row]:
    contrast = arguments.get("contrast", (1.0,))
    worth = corrected.worth(sums, options.confidence, contrast=contrast)
    common = {"estimator": CORRECTED, "method": METHODS[CORRECTED]}
    quantities: dict[str, Interval] = {
        "correlation": worth.correlation,
        "label_share": worth.share,
        "label_share_at_best": worth.at_best,
    }
    for quantity, interval in quantities.items():
        yield common | {"quantity": quantity, "flag": "" if interval.known else FEW_LABELS} | interval.columns()
    labels = corrected.corrected(sums, options.confidence, weight=0.0, **arguments)
    m = labels.n_labelled
    is_known = worth.share.known and labels.se > 0
    planned: dict[str, Any] = {"groups": len(sums.values), "alike": labels.effective / max(m, 1)}
    for margin in options.margins:
        for estimator, used in ((LABELS, None), (CORRECTED, worth.square)):
            number = (
                corrected.groups_needed(margin, labels.se**2 * m, options.confidence, square=used, **planned)
                if is_known
                else np.nan
            )
            row = {"estimator": estimator, "quantity": "groups_needed", "margin": float(margin)}
            yield row | {"method": METHODS[estimator]} | UNKNOWN._replace(estimate=number).columns()
