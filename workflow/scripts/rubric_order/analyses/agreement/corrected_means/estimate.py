"""Means, differences and pass rates of people's scores, from a judge's scores and from labels of some groups."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.intervals import UNKNOWN, Interval
from rubric_order.base.keys import EVERY, KEYS
from rubric_order.base.rows import Row
from rubric_order.methods import tidy
from rubric_order.methods.agreement import corrected, item_scores, pass_rates
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
    """Options of `of_items`.

    Attributes:
        confidence: nominal coverage.
        scale: least and greatest score that people can give.
        passes: lowest human score that passes, and lowest score of the judge that passes, both on people's scale. None
            if no pass rates are wanted.
        reference: candidate with which the other candidates are compared; by default the first candidate by name.
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
    """Means, differences and pass rates of people's scores: from labels alone, from the judge alone, and from both.

    Args:
        scores: reads with their scores, one row per read, see `blocks.blocks`. An item with a human score is labelled.
            The judge's score of an item is the mean over reads. An item without any scored read stays in the sample,
            see `corrected.sums`.
        confidence: nominal coverage of the intervals, such as 0.95.
        seed: seed of the draw of groups.
        human_scales: dictionary from dataset to its least and greatest human score, by default `HUMAN_SCALE`. The
            judge's levels are mapped to this scale linearly.
        human_pass: lowest human score that passes. Without it there are no pass rates.
        judge_pass: lowest score of the judge that passes, on the judge's levels. By default it is the score at the same
            point of the scale as `human_pass`.
        reference: candidate with which the other candidates are compared; by default the first candidate by name.
        margins: margins of error, in points, for which numbers of groups are computed.
        groups: number of labelled groups whose labels are used. They are drawn at random, and the labels of the other
            groups are hidden. By default all labels are used.

    Returns:
        One row per combination of `KEYS`, criterion (``all``: pooled), `readout`, `target`, `candidate`, `other`,
        `estimator`, `quantity` and `margin`. Clusters are groups.

        `target` is one of:

        - ``mean``: the mean over all items.
        - ``difference``: the mean of `candidate` minus the mean of `other`. `other` is the reference candidate. Every
          candidate except the reference is compared with it, if it has labels in at least `corrected.FEWEST` groups.
        - ``pass_rate``: the share of items that pass.

        Quantity ``value`` is an estimate of the target. `estimator` says how it is estimated:

        - ``labels``: from labels alone.
        - ``judge``: from the judge alone.
        - ``corrected``: from both, with the `weight` of the judge, see `corrected.corrected`.
        - ``rogan_gladen``: a pass rate from both, see `pass_rates.rogan_gladen`. It has two further quantities,
          ``sensitivity`` and ``specificity``.
        - ``all_labels``: from all labels, including hidden labels. It is given only if labels were hidden.

        Quantity ``labelled_less_others`` is the judge's mean over labelled groups less its mean over the other groups,
        with `p` of no difference, see `corrected.selection`. If p is below `LEVEL`, the labels are flagged, because
        they seem to be no random sample.

        The other quantities are ``correlation``, ``label_share`` and ``label_share_at_best``, see `corrected.Worth`,
        and ``groups_needed``. The latter is the number of labelled groups that the estimator ``labels`` or
        ``corrected`` needs for the margin of error in column `margin`, see `corrected.groups_needed`.

        `n_items` counts all items, `n_labels` the items with a label. `n_clusters` counts all groups, `n_labelled` the
        groups with a label, and `n_effective` the effective groups among these. `n_unscored` counts the items without a
        score of the judge. `flag` says why a number is missing, not corrected or doubtful.

    Source: see `corrected.corrected` and `pass_rates.rogan_gladen`.
    """
    rows: list[Row] = []
    for block in blocks.blocks(scores):
        dataset = block.keys["dataset"]
        scale = (human_scales or {}).get(dataset, HUMAN_SCALE)
        passes = None if human_pass is None else (human_pass, _on_scale(judge_pass, block.n, scale, human_pass))
        options = Options(confidence, scale, passes, reference, margins)
        people = block.items.rename(columns={"human_score": "human"})
        if people["human"].isna().all():
            continue
        hidden = people.assign(human=people["human"].where(_drawn(people, groups, seed, dataset)))
        for readout, values in block.readouts():
            given = (~np.isnan(values)).sum(axis=1)
            means = np.where(given > 0, np.nansum(values, axis=1) / np.maximum(given, 1), np.nan)
            judge = scale[0] + (means - 1) * (scale[1] - scale[0]) / (block.n - 1)
            items = hidden.assign(judge=judge, everybody=people["human"])
            for criterion, chosen in item_scores.criterion_masks(items["criterion"]):
                common = block.keys | {"criterion": criterion, "readout": readout, "cluster": "group"}
                rows += [common | row for row in of_items(items[chosen], options)]
    return multiplicity.adjust(as_table(rows).assign(confidence=confidence, seed=seed), "p")


def as_table(rows: list[Row]) -> pd.DataFrame:
    """Table of the rows of `of_items`. Rows may also have the columns of `KEYS`."""
    columns = [*KEYS, *WORDS[:-2], "margin", "estimate", "ci_low", "ci_high", "p", "se", "df", "weight"]
    columns += ["n_items", "n_labels", "n_clusters", "n_labelled", "n_effective", "n_unscored", "flag", "method"]
    words = dict.fromkeys(WORDS, "")
    return tidy.from_rows([words | row for row in rows], columns, {"target": "str"})


def _on_scale(score: float | None, n: int, scale: Sequence[float], otherwise: float) -> float:
    """A score on the judge's levels, mapped to people's scale. The result is `otherwise` if `score` is None."""
    return otherwise if score is None else scale[0] + (score - 1) * (scale[1] - scale[0]) / (n - 1)


def _drawn(items: pd.DataFrame, groups: int | None, seed: int, dataset: str) -> np.ndarray:
    """True for items whose labels are used: items of `groups` labelled groups drawn at random; by default all items."""
    labelled = np.sort(items.loc[items["human"].notna(), "group_id"].unique())
    if groups is None or groups >= len(labelled):
        return np.full(len(items), True)
    rng = randomness.generator(seed, "corrected means", dataset)
    return items["group_id"].isin(rng.choice(labelled, size=groups, replace=False)).to_numpy()


def of_items(items: pd.DataFrame, options: Options) -> Iterator[Row]:
    """Rows for all items together, for the items of each candidate, and for differences from the reference.

    Args:
        items: one row per item. Columns are `group_id`, `candidate`, `human` (NaN without a label) and `judge` (NaN
            without a score), both on people's scale. If labels were hidden, column `everybody` has all labels.
        options: scale, reference, margins and scores that pass.
    """
    targets = [MEAN] if options.passes is None else [MEAN, PASS_RATE]
    candidates = _candidates(items)
    for candidate in [EVERY, *candidates] if len(candidates) > 1 else [EVERY]:
        own = items if candidate == EVERY else items[items["candidate"] == candidate]
        for target in targets:
            yield from _of_target(own, options, {"target": target, "candidate": candidate})
    if len(candidates) > 1:
        reference = options.reference if options.reference in candidates else candidates[0]
        for candidate in candidates:
            if candidate != reference:
                own = items[items["candidate"].isin([candidate, reference])]
                compared = {"target": DIFFERENCE, "candidate": candidate, "other": reference}
                yield from _of_target(own, options, compared)


def _candidates(items: pd.DataFrame) -> list[str]:
    """Candidates with labels in at least `corrected.FEWEST` groups, sorted by name."""
    labelled = items[items["human"].notna()].groupby("candidate")["group_id"].nunique()
    return sorted(labelled.index[labelled >= corrected.FEWEST])


def _of_target(items: pd.DataFrame, options: Options, names: Row) -> Iterator[Row]:
    """The rows of a mean, a difference or a pass rate of some items."""
    human, judge = (items[column].to_numpy(dtype=float) for column in ("human", "judge"))
    everybody = items["everybody"].to_numpy(dtype=float) if "everybody" in items else human
    group = pd.factorize(items["group_id"], sort=True)[0]
    given = ~np.isnan(human)
    counts = {
        "n_items": len(items),
        "n_labels": int(given.sum()),
        "n_clusters": int(group.max()) + 1,
        "n_labelled": len(np.unique(group[given])),
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
    for estimator, value, flag in _values(sums, options.confidence, arguments, bool(given.all())):
        yield common | _row(estimator, value, flag or ("" if estimator == JUDGE else selected))
    if (~np.isnan(everybody)).sum() > given.sum():
        of_all = corrected.sums(everybody, judge, group, kind, kinds)
        value = corrected.corrected(of_all, options.confidence, weight=0.0, **arguments)
        shown = {
            "n_labels": int((~np.isnan(everybody)).sum()),
            "n_labelled": value.n_labelled,
            "n_effective": value.effective,
        }
        yield common | shown | _row(HIDDEN, value, "")
    if names["target"] == PASS_RATE:
        yield from (common | row for row in _by_errors(human, judge, group, options.confidence))
    yield from (common | row for row in _labels_needed(sums, options, arguments))


def _passed(scores: np.ndarray, least: float) -> np.ndarray:
    """1 for a score that passes, 0 if it fails, NaN without a score. Rounding errors of means do not fail an item.

    Args:
        scores: score of each item, shape (m,); NaN without a score.
        least: lowest score that passes.
    """
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


def _by_errors(human: np.ndarray, judge: np.ndarray, group: np.ndarray, confidence: float) -> Iterator[Row]:
    """Rows of a pass rate that is computed from the judge's sensitivity and specificity.

    Args:
        human: 1 if people pass an item, 0 if they fail it, shape (m,); NaN for an item without a label.
        judge: 1 if the judge passes an item, 0 if it fails the item, shape (m,); NaN without a score.
        group: index of each item's group, from 0, shape (m,).
        confidence: nominal coverage of the intervals, such as 0.95.
    """
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
    """Rows of the share of labels that are still needed with a judge, and of labelled groups for margins of error.

    Args:
        sums: sums over groups.
        options: confidence and margins of error.
        arguments: further arguments of `corrected.corrected` for this target.
    """
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
