"""From raw answers to scores: reads joined with the parsed responses to their requests."""

import numpy as np
import pandas as pd

from rubric_order.base import permutations
from rubric_order.parsing.one_score import parse_score

MISSING = "no_response"
CONSTRAINED = "constrained"  # the form of a score that was given only to a second, constrained request


def score_reads(
    reads: pd.DataFrame, responses: pd.DataFrame, *, answer_prefix: str = "", labels: str | None = None
) -> pd.DataFrame:
    """The score of every read, by the option that it selects and by the probabilities of all options.

    Args:
        reads: a plan, see `plan.plan_reads`.
        responses: see `store.SCHEMA`; each request once.
        answer_prefix: what the judge's answer was made to begin with.
        labels: how the options were named, lowest score first, if not by their numbers.

    Returns:
        The reads with `score` (null where the answer gives none), `position` (the selected position), `pattern` (the
        form that the parser found, or `CONSTRAINED`), `failure` (the reason where there is no score); and where the
        log-probabilities of the options are known `expected_score` (sum of k times p_k), `option_mass` (the probability
        that the judge wrote any score at all) and `position_probabilities` (list: the probability of each position,
        summing to 1).
    """
    table = reads.merge(responses, on="request_id", how="left", validate="many_to_one", indicator="_found")
    found = table["_found"] == "both"
    second = table["constrained_text"] if "constrained_text" in table else [None] * len(table)
    answers = zip(table["text"], table["error"], table["finish_reason"], table["n"], found, second, strict=True)
    parsed = [_parse(*row, answer_prefix, labels) for row in answers]
    table["score"] = pd.array([score for score, _, _ in parsed], dtype="Int8")
    table["pattern"] = [pattern for _, pattern, _ in parsed]
    table["failure"] = [failure for _, _, failure in parsed]
    table["position"] = pd.array([pd.NA] * len(table), dtype="Int8")
    table["expected_score"] = np.nan
    table["option_mass"] = np.nan
    table["position_probabilities"] = None
    for n, block in table.groupby("n"):
        _add_positions(table, block, int(n))
    columns = [*reads.columns, "score", "position", "pattern", "failure"]
    return table[[*columns, "expected_score", "option_mass", "position_probabilities"]]


def _parse(text, error, finish_reason, n, found, second, answer_prefix, labels):
    """Score, form and reason of one read."""
    if not found:
        return None, None, MISSING
    if isinstance(error, str):
        return None, None, error.partition(":")[0]
    parsed = parse_answer(text, finish_reason, n, answer_prefix, labels)
    if parsed.score is None and isinstance(second, str):
        # What was allowed was a score and nothing else; anything else is a failure as before.
        last = parse_answer(second, None, n, labels=labels)
        if last.score is not None:
            return last.score, CONSTRAINED, None
    return parsed.score, parsed.pattern, parsed.reason


def parse_answer(text: object, finish_reason: object, n: int, answer_prefix: str = "", labels: str | None = None):
    """What the parser makes of an answer, `one_score.Parsed`; null text is an empty answer.

    The prefix is ours: an answer that adds nothing to it is empty.
    """
    answer = text if isinstance(text, str) else ""
    return parse_score(
        answer_prefix + answer if answer.strip() else "",
        int(n),
        labels=None if labels is None else labels[: int(n)],
        truncated=finish_reason == "length",
    )


def _add_positions(table: pd.DataFrame, block: pd.DataFrame, n: int) -> None:
    """Fill in what depends on the ordering, for the reads of one scale."""
    shown = np.array(block["ordering"].tolist()).reshape(len(block), n)
    place = permutations.positions_of(shown)
    scored = block["score"].notna().to_numpy()
    selected = place[scored, block["score"][scored].to_numpy(dtype=int) - 1]
    table.loc[block.index[scored], "position"] = selected.astype("int8")

    # An option that the model gives no chance at all is stored as minus infinity, which exp turns into 0.
    probabilities = np.full((len(block), n), np.nan)
    known = block["option_logprobs"].notna().to_numpy()
    if known.any():
        probabilities[known] = np.exp(np.array(block["option_logprobs"][known].tolist(), dtype=float))
    mass = probabilities.sum(axis=1)
    table.loc[block.index, "option_mass"] = mass
    usable = mass > 0  # neither unknown nor without a chance for any option
    if not usable.any():
        return
    shares = probabilities[usable] / mass[usable, None]
    at_position = np.take_along_axis(shares, shown[usable] - 1, axis=1)
    rows = block.index[usable]
    table.loc[rows, "expected_score"] = shares @ np.arange(1, n + 1)
    table.loc[rows, "position_probabilities"] = pd.Series(list(at_position), index=rows, dtype=object)
