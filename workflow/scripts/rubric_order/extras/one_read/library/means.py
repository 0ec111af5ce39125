"""People's mean score of all items, from a judge's scores of all and people's scores of some."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rubric_order.base.errors import InputError, nearest
from rubric_order.base.keys import DEFAULT_PROFILE, EVERY, KEYS
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import Row
from rubric_order.extras.one_read.agreement.corrected_means import estimate as corrected_means
from rubric_order.extras.one_read.library import labelled
from rubric_order.library import estimates, results
from rubric_order.library.results import Reads, Result

MARGINS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)  # the margins of `statistics.corrected_means` in config


def corrected_mean(
    scores: Reads,
    *,
    scale: tuple[float, float] | None = None,
    passes: float | tuple[float, float] | None = None,
    reference: str | None = None,
    confidence: float = estimates.CONFIDENCE,
    margins: Sequence[float] = MARGINS,
    columns: Mapping[str, str] | None = None,
) -> Result:
    """People's mean score over all items, from a judge's scores of all items and people's scores of some.

    Differences between candidates and pass rates are estimated too. Any scores of any judge can be used; orderings are
    not needed. ``docs/corrected_means.md`` says when the correction helps, and when it fails.

    Args:
        scores: a table of the scores of one judge, or a file of it. Columns are score (by the judge), human_score
            (empty if nobody gave one) and, if they are known, item, group and candidate. Several rows of an item are
            averaged. Without item, each row is an item; without group, each item is a group. Items of one group may
            depend on each other. The labelled groups must be a random sample of the groups.
        scale: least and greatest score that people can give; estimates are cut off there.
        passes: least score that passes, or a pair of such scores: for scores of people, and for scores of the judge. By
            default there are no pass rates.
        reference: candidate that others are compared with, by default the first by name.
        confidence: nominal coverage of the intervals.
        margins: margins of error for which the necessary numbers of labelled groups are given.
        columns: names that the table has for its columns, see `position_bias`.

    Returns:
        A result whose `table` has one row per estimate: `target` (mean, difference, pass rate), `estimator` (labels,
        judge, corrected, rogan_gladen) and `quantity`, see ``docs/statistics.md``.

    Raises:
        InputError: the table is not as described; the message names row and field.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> worth = rng.normal(3, 1, 400)
        >>> table = pd.DataFrame({"score": worth + 0.5, "human_score": worth + rng.normal(0, 0.5, 400)})
        >>> table.loc[60:, "human_score"] = np.nan  # people scored 60 of 400
        >>> value = ro.corrected_mean(table).table.query("quantity == 'value'").set_index("estimator")
        >>> value[["estimate", "ci_low", "ci_high"]].round(2).T.to_dict("list")
        {'labels': [3.01, 2.76, 3.27], 'judge': [3.42, 3.33, 3.51], 'corrected': [2.98, 2.83, 3.14]}
    """
    items = labelled.items(scores, columns)
    if not 0 < confidence < 1:
        raise InputError(f"confidence: expected a number between 0 and 1, found {confidence!r:.60}")
    least = passes if isinstance(passes, tuple) or passes is None else (float(passes), float(passes))
    if reference is not None and reference not in set(items["candidate"]):
        raise InputError(f"reference: {reference!r:.60} is no candidate{nearest(reference, set(items['candidate']))}")
    options = corrected_means.Options(confidence, scale or (-math.inf, math.inf), least, reference, margins)
    common: Row = dict.fromkeys(KEYS, "reads") | {"judge": "judge", "profile": DEFAULT_PROFILE, "n": 0}
    common |= {"criterion": EVERY, "readout": Readout.HARD, "cluster": "group"}
    rows = [common | row for row in corrected_means.item_rows(items, options)]
    estimated = {"corrected_means": corrected_means.as_table(rows)}
    shown_by: dict[str, Any] = {"readout": Readout.HARD, "criterion": EVERY, "target": "mean", "row_height_in": 0.3}
    table = results.shown(estimated["corrected_means"]).drop(columns=["strategy", "n", "criterion", "readout"])
    return Result(table, estimated, lambda: results.drawn("corrected_means", estimated, **shown_by))
