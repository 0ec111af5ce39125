"""Scores, made from raw answers: each read is joined with the parsed response to its request."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rubric_order import probes
from rubric_order.base import parquet
from rubric_order.contracts.responses import reason_of
from rubric_order.contracts.scores import CONSTRAINED
from rubric_order.judging.second_requests import completed
from rubric_order.parsing import decisions
from rubric_order.parsing.choices import Choice
from rubric_order.parsing.decisions import Form
from rubric_order.probes import Probe, Question

MISSING = "no_response"
# Columns that scores are made from. The last column exists only if a judge gets second requests.
RESPONSES = ["request_id", "text", "error", "finish_reason", "option_logprobs", "constrained_text"]

Questions = tuple[Question, ...]
Choices = tuple[Choice, ...]


def read_requested(
    paths: Iterable[Path], request_ids: Iterable[str], columns: Sequence[str] = tuple(RESPONSES)
) -> pd.DataFrame:
    """Some columns of the rows about some requests: the ids of each file are read, then only the row groups with wanted
    ones. A column that a file lacks is null, or absent if all files lack it.
    """
    wanted = pa.array(request_ids, pa.string(), from_pandas=True).unique()
    tables = []
    for path in paths:
        with pq.ParquetFile(path) as file:
            ids = file.read(["request_id"])["request_id"]
            rows = np.flatnonzero(pc.is_in(ids.cast(pa.string()), wanted).to_numpy())
            there = [name for name in columns if name in file.schema_arrow.names]
            tables += [file.schema_arrow.empty_table().select(there), *parquet.read_rows(file, rows, there)]
    return pa.concat_tables(tables, promote_options="permissive").to_pandas()


def score_reads(
    reads: pd.DataFrame,
    responses: pd.DataFrame,
    *,
    probe: str,
    answer_prefix: str = "",
    labels: Sequence[str] | None = None,
    form: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Scores of every read under each of its questions, one row each: `SCORES` with the columns of the probe.

    Args:
        reads: a plan; `responses`: columns of `RESPONSES`, one row per request.
        answer_prefix: beginning of each answer to a single question.
        labels: names of the options of recorded answers, lowest score first; None for those of the probe.
        form: dialect and kind of question of a decision model, whose answers are JSON, see `decisions.Form`.
    """
    module = probes.load(probe)
    table = reads.merge(responses, on="request_id", how="left", validate="many_to_one", indicator="_found")
    questions = module.questions(reads)
    if labels is not None:
        questions = [tuple(_relabelled(question, labels) for question in asked) for asked in questions]
    parsed = _decisions(table, questions, Form.of(form)) if form else _choices(table, questions, module, answer_prefix)
    choices = list(parsed)
    logprobs = [row if isinstance(row, list | np.ndarray) else None for row in table["option_logprobs"]]
    if form:
        logprobs = list(_read_logprobs(table, logprobs))
    answered = reads.reset_index(drop=True).assign(option_logprobs=pd.Series(logprobs, dtype=object))
    return module.score(answered, questions, choices)


def _relabelled(question: Question, labels: Sequence[str]) -> Question:
    return question._replace(labels=tuple(labels[: len(question.labels)]))


def _choices(table: pd.DataFrame, questions: list[Questions], probe: Probe, prefix: str) -> Iterator[Choices]:
    """Choices of each answer. Equal answers to the same questions are parsed once."""
    second = table["constrained_text"] if "constrained_text" in table else [None] * len(table)
    parsed: dict[tuple[Any, ...], Choices] = {}
    rows = zip(table["text"], _failures(table), table["finish_reason"], second, questions, strict=True)
    for text, failure, finish_reason, constrained, asked in rows:
        if failure:
            yield (Choice(None, reason=failure),) * len(asked)
            continue
        text = completed(text, prefix if len(asked) == 1 else "")
        constrained = constrained if isinstance(constrained, str) else None
        key = (text, finish_reason == "length", constrained, asked)
        if key not in parsed:
            parsed[key] = _parse(*key, probe)
        yield parsed[key]


def _failures(table: pd.DataFrame) -> Iterator[str | None]:
    for error, indicator in zip(table["error"], table["_found"], strict=True):
        yield MISSING if indicator != "both" else reason_of(error)


def _decisions(table: pd.DataFrame, questions: list[Questions], form: Form) -> Iterator[Choices]:
    """The choice of each answer of a decision model, from the probability of the option at each position."""
    columns = ("text", "ordering", "levels", "n", "read_index")
    rows = zip(*(table[name] for name in columns), _failures(table), questions, strict=True)
    for text, ordering, levels, n, place, failure, (question,) in rows:
        if failure:
            yield (Choice(None, reason=failure),)
            continue
        together = np.asarray(levels, dtype=int).reshape(-1, n).tolist()
        labels = [[question.labels[option - 1] for option in order] for order in together or [ordering]]
        yield (decisions.reread(text, form, labels, place if together else 0),)


def _read_logprobs(table: pd.DataFrame, logprobs: Sequence[Any]) -> Iterator[Any]:
    for row, levels, n, place in zip(logprobs, table["levels"], table["n"], table["read_index"], strict=True):
        part = row[place * n : (place + 1) * n] if row is not None and len(levels) else row
        yield None if part is None or np.isnan(part).all() else part


def _parse(text: str, truncated: bool, constrained: str | None, questions: Questions, probe: Probe) -> Choices:
    """Choices of an answer, or of its constrained second request if the first answer has no label."""
    choices = probe.read(text, questions, truncated=truncated)
    if constrained is None or choices[0].label is not None:
        return choices
    # The second request allowed labels only. Anything else is a failure, as before.
    (last,) = probe.read(completed(constrained, ""), questions, truncated=False)
    return choices if last.label is None else (last._replace(pattern=CONSTRAINED),)
