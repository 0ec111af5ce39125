"""Logs of comparisons by other programs, turned into plain tables of choices, see `choice_tables.as_comparisons`."""

import contextlib
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rubric_order.base.errors import InputError
from rubric_order.intake import choices
from rubric_order.intake import columns as column_names
from rubric_order.intake.choice_tables import USEFUL
from rubric_order.intake.choices import MISSING, TIE, candidates
from rubric_order.intake.columns import Columns

SCORES, CHOICES = "reads that score", "reads that choose"
LENGTHS = ("length_a", "length_b")  # lengths of the candidates of two columns


class Log(NamedTuple):
    """A table in a known form (`SCORES`, `CHOICES`, or a log's), its names for columns, and notes on how a log was
    read.

    `ordered` is False for a log of scores without an ordering, whose rows are as in the file.
    """

    form: str
    table: pd.DataFrame
    columns: Columns = Columns()
    notes: tuple[str, ...] = ()
    ordered: bool = True


Rows = tuple[list[dict[str, Any]], tuple[str, ...]]  # rows of a plain table of choices, and notes


class Form(NamedTuple):
    """A form of logs: its name, the columns that identify it, and the reader of its choices; None for scores without an
    order.
    """

    form: str
    marks: tuple[str, ...]
    reader: Callable[[pd.DataFrame, str | Path], Rows] | None = None

    def fits(self, table: pd.DataFrame) -> bool:
        """True for a table with all marks; without a reader, also only for one that names no ordering."""
        named = any(name in table for name in ("ordering", "ordering_index"))
        return all(mark in table.columns for mark in self.marks) and not (self.reader is None and named)


def recognise(table: pd.DataFrame, where: str | Path, names: Columns, *, nominal: bool = False) -> Log:
    """The form of a table; with `names`, or without the marks of a log, it is plain, with candidates in its orderings
    if `nominal`.
    """
    form = None if names.names else next((form for form in FORMS if form.fits(table)), None)
    if form is None:
        chooses = nominal or column_names.has_choices(column_names.named(table, names, where))
        return Log(CHOICES if chooses else SCORES, table, names)
    if form.reader is None:
        return Log(form.form, table, ordered=False)
    rows, notes = form.reader(table, where)
    if not rows:
        raise InputError(f"{where}: {form.form}: expected rows that compare answers, found none")
    return Log(form.form, pd.DataFrame(rows), notes=notes)


def _records(table: pd.DataFrame) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, record in enumerate(table.astype(object).to_dict("records"), start=1):
        yield number, {str(name): None if _is_missing(value) else value for name, value in record.items()}


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _field(record: Mapping[str, Any], name: str, row: int, where: str | Path) -> Any:
    if record.get(name) is None:
        raise InputError(f"{where}: row {row}: field {name!r}: expected a value, found nothing")
    return record[name]


def _number(record: Mapping[str, Any], name: str, row: int, where: str | Path) -> float | None:
    """A number, even if it is written as text; None for an empty value."""
    value = record.get(name)
    if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
        return None
    with contextlib.suppress(ValueError, TypeError):
        number = None if isinstance(value, bool | list | Mapping) else float(value)
        if number is not None and math.isfinite(number):
            return number
    raise InputError(f"{where}: row {row}: field {name!r}: expected a number, found {value!r:.60}")


def _listed(value: Any, name: str, row: int, where: str | Path) -> list[str]:
    listed = candidates(value) if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or any(isinstance(part, list | Mapping) or part is None for part in listed):
        raise InputError(f"{where}: row {row}: field {name!r}: expected a list of names, found {value!r:.60}")
    return [str(part) for part in listed]


def _fastchat(table: pd.DataFrame, where: str | Path) -> Rows:
    """Both games of FastChat's judgments of pairs: with ``model_1`` shown first, and with ``model_2`` shown first.

    Source: ``play_a_match_pair`` of ``llm_judge/common.py``: a winner is named regardless of which model stood first.
    """
    rows: list[dict[str, Any]] = []
    scored = 0
    for row, record in _records(table):
        if record.get("m1_score") not in (None, ""):  # each answer was scored alone, so none was shown first
            scored += 1
            continue
        models = [str(_field(record, f"model_{k}", row, where)) for k in (1, 2)]
        if models[0] == models[1]:
            raise InputError(f"{where}: row {row}: field 'model_2': expected another model than model_1")
        judge = record.get("judge")
        name = " ".join(map(str, judge)) if isinstance(judge, list | tuple) else judge
        question, turn = _field(record, "question_id", row, where), _number(record, "turn", row, where)
        item = f"{question}" if turn is None else f"{question} turn {turn:g}"
        for game, order in ((1, models), (2, models[::-1])):
            winner = str(_field(record, f"g{game}_winner", row, where))
            chosen = {"model_1": models[0], "model_2": models[1], "tie": TIE, "error": None}
            if winner not in chosen:
                text = f"expected model_1, model_2, tie or error, found {winner!r:.60}"
                raise InputError(f"{where}: row {row}: field 'g{game}_winner': {text}")
            common = {"item": item, "group": str(question), "judge": name or "judge"}
            rows.append(common | {"ordering": order, "choice": chosen[winner]})
    notes = (f"{scored:,} rows score one answer at a time, in which nothing stands first; they are left out.",)
    return rows, notes if scored else ()


def _alpaca(table: pd.DataFrame, where: str | Path) -> Rows:
    """AlpacaEval's annotations. The order follows from the answer (``m`` was first, ``M`` second) and from
    `preference`.

    If one names no output, the order is that drawn from instruction and seed 0 (``utils.random_seeded_choice``).
    """
    rows: list[dict[str, Any]] = []
    drawn = other = 0
    for row, record in _records(table):
        instruction = str(_field(record, "instruction", row, where))
        generators = [str(_field(record, f"generator_{k}", row, where)) for k in (1, 2)]
        preference = _number(record, "preference", row, where)
        if preference is not None and preference != 0 and not 1 <= preference <= 2:
            text = f"expected a number from 1 to 2, or 0 for equal outputs, found {preference:g}"
            raise InputError(f"{where}: row {row}: field 'preference': {text}")
        if generators[0] == generators[1] or preference == 0:  # outputs that are equal are not read
            continue
        switched = random.Random(f"is_switched_outputs{instruction}0").choices([False, True], k=1)[0]  # noqa: S311
        best = _named_best(record.get("raw_completion"))
        if best is None or preference is None or preference == 1.5:
            drawn += 1
        else:
            inferred = (best == 2) != (preference > 1.5)
            other += inferred != switched
            switched = inferred
        choice = None if preference is None else TIE if preference == 1.5 else generators[int(preference > 1.5)]
        order = generators[::-1] if switched else generators
        judge = str(record.get("annotator") or "judge")
        rows.append({"item": instruction, "judge": judge, "ordering": order, "choice": choice})
    notes = [f"{drawn:,} of {len(rows):,} orders are those that AlpacaEval draws from the instruction with seed 0."]
    if other:
        notes.append(f"{other:,} answers say another order than that draw; theirs is taken.")
    return rows, tuple(notes[0 if drawn else 1 :])


def _named_best(raw: object) -> int | None:
    """Position of the output that an answer of AlpacaEval names as the better one; None if it cannot be read."""
    if isinstance(raw, Mapping):
        message = raw.get("message")
        raw = raw.get("text") or (message.get("content") if isinstance(message, Mapping) else None)
    if not isinstance(raw, str):
        return None
    places = {"m": 1, "M": 2}
    if raw.strip() in places:
        return places[raw.strip()]
    try:
        models = json.loads(raw)["ordered_models"]
        best = [model["model"] for model in models if model["rank"] == 1]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return places.get(best[0]) if len(best) == 1 and isinstance(best[0], str) else None


def _recorded(table: pd.DataFrame, where: str | Path) -> Rows:
    """Recorded comparisons of any benchmark, as `importers` reads them, with an answer, a winner or both.

    Two candidates are in the order shown, unless a column names the one that was shown first.
    """
    rows: list[dict[str, Any]] = []
    differ = 0
    first, sides = column_names.shown_first(table), column_names.sides(table) or ()
    if not any(name in table for name in ("question_id", "item")):
        needed = () if first else ("first", "second")
        raise column_names.missing(["item", *needed, "choice"], table, where, USEFUL)
    for row, record in _records(table):
        order = record.get("answers")
        lengths = record.get("lengths") or [_number(record, name, row, where) for name in LENGTHS]
        if order is None and first:
            order = [str(_field(record, side, row, where)) for side in sides]
            shown_sides = dict(zip(sides, order, strict=True)) | {"first": _field(record, first, row, where)}
            shown_sides |= (
                {"lengths": record["lengths"]} if record.get("lengths") else dict(zip(LENGTHS, lengths, strict=True))
            )
        elif order is None:
            kind = "answer" if "answer_a" in record else "model"
            order = [str(_field(record, f"{kind}_{letter}", row, where)) for letter in "ab"]
            shown_sides = {"ordering": order, "lengths": lengths}
        else:
            order = _listed(order, "answers", row, where)
            shown_sides = {"ordering": order, "lengths": lengths}
        winner, response = record.get("winner"), record.get("response")
        if winner is None and response is None and "winner" not in table and "response" not in table:
            raise InputError(f"{where}: row {row}: expected field 'response' or 'winner', found neither")
        parts = [record.get(name) for name in ("benchmark", "task", "question_id")]
        item = " ".join(str(part) for part in parts if part is not None)
        item = item if record.get("question_id") is not None else f"{item} {_field(record, 'item', row, where)}".strip()
        judge = record.get("judge") or "judge"
        common = {"item": item, "group": record.get("group") or item, "judge": judge} | shown_sides
        options = record.get("options")
        choice = _mapped(response if winner is None else winner, options)
        tie = not isinstance(options, list | tuple | Mapping) or len(options) > len(order)
        rows.append(common | {"choice": choice, "gold": record.get("gold"), "tie": tie})
        differ += winner is not None and response is not None
    if not any(row["gold"] is not None for row in rows):
        rows = [{name: value for name, value in row.items() if name != "gold"} for row in rows]
    return rows, (f"{differ:,} rows have a winner beside the answer; the winner is taken.",) if differ else ()


def _mapped(choice: object, options: object) -> object:
    option = choices.option_of(str(choice), options) if isinstance(options, Mapping) and choice is not None else None
    return choice if option is None else option


def _summeval(table: pd.DataFrame, where: str | Path) -> Rows:
    """Recorded comparisons of summaries, see `recorded.importers.SummEvalPairwise`; `gold` is from people's scores."""
    rows: list[dict[str, Any]] = []
    for row, record in _records(table):
        pair = _listed(_field(record, "pair", row, where), "pair", row, where)
        if len(pair) != 2 or pair[0] == pair[1]:
            raise InputError(f"{where}: row {row}: field 'pair': expected two names, found {pair!r:.60}")
        toggled = str(_field(record, "toggled", row, where)).strip().lower()
        if toggled not in ("true", "false", "1", "0"):
            raise InputError(f"{where}: row {row}: field 'toggled': expected true or false, found {toggled!r:.60}")
        order = pair[::-1] if toggled in ("true", "1") else pair
        item = f"{_field(record, 'article_id', row, where)} {record.get('criterion') or ''}".strip()
        common = {"item": item, "group": str(record["article_id"]), "judge": record.get("judge") or "judge"}
        one, other = (_number(record, f"human_score_{k}", row, where) for k in (1, 2))
        gold = None
        if one is not None and other is not None:
            gold = TIE if one == other else pair[int(other > one)]
        rows.append(common | {"ordering": order, "choice": record.get("response"), "gold": gold})
    return rows, ()


FORMS = (
    Form("FastChat's judgments of single answers", ("question_id", "model", "score", "judgment")),
    Form("results of the OpenAI batch API", ("custom_id", "response")),
    Form("requests of the OpenAI batch API", ("custom_id", "body")),
    Form("answers to Prometheus prompts", ("orig_instruction", "orig_response")),
    Form("recorded scores of SummEval", ("article_id", "system", "response")),
    Form("recorded answers", ("item_id", "response")),
    Form("FastChat's judgments of pairs", ("question_id", "model_1", "model_2", "g1_winner", "g2_winner"), _fastchat),
    Form("AlpacaEval's annotations", ("instruction", "generator_1", "generator_2", "preference"), _alpaca),
    Form("recorded comparisons", ("answer_a", "answer_b"), _recorded),
    Form("recorded comparisons", ("model_a", "model_b", "winner"), _recorded),
    Form("recorded comparisons of lists", ("answers", "question_id"), _recorded),
    Form("recorded comparisons of SummEval", ("article_id", "pair", "toggled"), _summeval),
)
