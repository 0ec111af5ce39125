"""From raw answers that score several criteria to scores: one row a read and criterion."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rubric_order.base import permutations
from rubric_order.parsing.one_score import ParsedScore
from rubric_order.parsing.several_scores import parse_criteria
from rubric_order.scoring.scores import MISSING


def score_criteria(reads: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The score of every criterion of every read of probe `criterion_order`.

    Args:
        reads: a plan, see `plan.plan_reads` and `probes.criterion_order.texts`.
        responses: see `store.SCHEMA`; each request once.

    Returns:
        One row a read and criterion, in canonical order of the criteria: the columns of the plan, of which `item_id`,
        `criterion` and `human_score` are those of the criterion's item, `ordering` is that of the criteria, and the
        lists are gone; `unit_id` (the text), `criterion_position` (1-based place of the criterion in the prompt),
        `predecessor` (the criterion right before it, null for the first), `level_ordering` (list; null where the prompt
        lists no levels), `score`, `position` (of that score in `level_ordering`), `pattern`, `failure`; and where the
        log-probabilities are known and there is a score, `expected_score` and `option_mass`, as `score_reads` has them.
    """
    table = reads.merge(responses, on="request_id", how="left", validate="many_to_one", indicator="_found")
    parsed: list[ParsedScore] = []
    cache: dict[tuple, list[ParsedScore]] = {}
    for (text, n, truncated, failure), names in zip(_answers(table), table["criterion_names"], strict=True):
        key = (text, n, truncated, failure, *names)
        if key not in cache:
            failed = [ParsedScore(None, reason=failure)] * len(names)
            cache[key] = failed if failure else parse_criteria(text, list(names), n, truncated=truncated)
        parsed += cache[key]
    lists = {"criterion_ids": "criterion", "criterion_items": "item_id", "criterion_human_scores": "human_score"}
    table = table.assign(
        unit_id=table["item_id"],
        level_ordering=_beyond(table["ordering"], table["criterion_ids"]),
        option_logprobs=_by_criterion(table),
        ordering=[list(o)[: len(c)] for o, c in zip(table["ordering"], table["criterion_ids"], strict=True)],
    )
    table["criterion_position"] = table["ordering"].map(lambda o: permutations.positions_of(np.array(o)).tolist())
    table["predecessor"] = [
        [None if option == 0 else ids[option - 1] for option in permutations.predecessors(np.array(ordering)).tolist()]
        for ordering, ids in zip(table["ordering"], table["criterion_ids"], strict=True)
    ]
    table = table.drop(columns=[*lists.values(), "criterion_names"]).rename(columns=lists)
    exploded = [*lists.values(), "criterion_position", "predecessor", "option_logprobs"]
    table = table.explode(exploded, ignore_index=True).astype({"criterion_position": "int8", "human_score": float})
    table["score"] = pd.array([each.score for each in parsed], dtype="Int8")
    table["pattern"] = [each.pattern for each in parsed]
    table["failure"] = [each.reason for each in parsed]
    table["position"] = pd.array(
        [
            None if levels is None or score is pd.NA else levels.index(score) + 1
            for levels, score in zip(table["level_ordering"], table["score"], strict=True)
        ],
        dtype="Int8",
    )
    # Where the answer gives no score there is no place at which scores could be likely: `Plot: 1 sentence`.
    probabilities = [
        np.exp(row) if isinstance(row, np.ndarray) and score is not pd.NA else None
        for row, score in zip(table["option_logprobs"], table["score"], strict=True)
    ]
    mass = np.array([np.nan if row is None else row.sum() for row in probabilities])
    table["option_mass"] = mass
    table["expected_score"] = [
        np.nan if row is None or not total > 0 else row @ np.arange(1, len(row) + 1) / total
        for row, total in zip(probabilities, mass, strict=True)
    ]
    columns = [name for name in reads.columns if not name.startswith("criterion_")]
    columns += ["unit_id", "criterion_position", "predecessor", "level_ordering", "score", "position", "pattern"]
    return table[[*columns, "failure", "expected_score", "option_mass"]]


def _beyond(ordering: pd.Series, options: pd.Series) -> list[list[int] | None]:
    """What follows the ordering of the criteria in a crossed design."""
    rows = [[int(level) for level in o[len(c) :]] for o, c in zip(ordering, options, strict=True)]
    return [row or None for row in rows]


def _by_criterion(table: pd.DataFrame) -> list[list]:
    """The option log-probabilities of each read, an array for each criterion in canonical order."""
    rows = []
    for logprobs, ordering, ids, n in zip(
        table["option_logprobs"], table["ordering"], table["criterion_ids"], table["n"], strict=True
    ):
        known = isinstance(logprobs, list | np.ndarray)
        by_position = list(np.reshape(logprobs, (len(ids), n))) if known else [None] * len(ids)
        place = permutations.positions_of(np.array(ordering[: len(ids)]))
        rows.append([by_position[position - 1] for position in place])
    return rows


def _answers(table: pd.DataFrame) -> Iterator[tuple[str, int, bool, str | None]]:
    """Text, number of levels, whether the text was cut, and the reason why there is no text to parse, if so."""
    for text, error, finish_reason, n, found in zip(
        table["text"], table["error"], table["finish_reason"], table["n"], table["_found"] == "both", strict=True
    ):
        failure = MISSING if not found else error.partition(":")[0] if isinstance(error, str) else None
        yield text if isinstance(text, str) else "", int(n), finish_reason == "length", failure
