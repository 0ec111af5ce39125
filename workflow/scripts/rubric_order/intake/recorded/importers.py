"""Importers of the formats in which recorded answers are published, and of the general format."""

import re
from collections.abc import Mapping
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.intake import choices
from rubric_order.intake.aliases import SHOWN_FIRST
from rubric_order.intake.recorded import fields
from rubric_order.intake.recorded.formats import Check, Importer

SUMMEVAL = "SummEval"  # name of the benchmark in comparisons of its summaries
BENCHMARKS = {"MTBench": "mtbench_pairs", "DevBench": "devbench_pairs"}  # from the benchmark in records to the adapter
RECORDED = "recorded"  # adapter of any other benchmark
BENCHMARK, OVERALL = "recorded", "overall"
DOCUMENT = re.compile(r"(?:uml_class|uml_sequence|architecture_design)-.+", re.IGNORECASE)


class General(Importer):
    marks = ("item_id",)
    required: Mapping[str, Check] = {"item_id": fields.name, "response": fields.text}
    optional: Mapping[str, Check] = {
        "ordering": fields.ordering,
        "ordering_index": fields.count,
        "repeat": fields.count,
        "judge": fields.name,
        "prompt_style": fields.name,
    }

    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        return record


class SummEval(Importer):
    marks = ("article_id", "system")
    required: Mapping[str, Check] = {
        "judge": fields.name,
        "prompt_style": fields.name,
        "system": fields.name,
        "criterion": fields.name,
        "article_id": fields.name,
        "response": fields.text,
    }

    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        return _article(record) | {"prompt_style": record["prompt_style"], "candidate": record["system"]}

    def adapter(self, record: Mapping[str, Any]) -> str | None:
        return "summeval"


class SummEvalPairwise(SummEval):
    marks = ("article_id", "pair")
    required: Mapping[str, Check] = {
        "judge": fields.name,
        "criterion": fields.name,
        "article_id": fields.name,
        "pair": fields.two_names,
        "toggled": fields.boolean,
        "options": fields.options,
        "human_score_1": fields.number,
        "human_score_2": fields.number,
        "response": fields.text,
    }
    compares = True

    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        names = [(record["pair"][k], record[f"human_score_{k + 1}"]) for k in ((1, 0) if record["toggled"] else (0, 1))]
        (first, second), human_scores = zip(*names, strict=True)
        values = {"shown_first": first, "shown_second": second, "human_scores": list(human_scores)}
        source = {"benchmark": SUMMEVAL, "task": record["criterion"], "source_id": record["article_id"]}
        return _article(record) | values | source | {"options": record["options"]}


class Comparisons(Importer):
    """Comparisons of two answers or more, of any benchmark, with the judge's text or with a parsed winner."""

    marks = ("question_id",)
    required: Mapping[str, Check] = {"question_id": fields.key}
    optional: Mapping[str, Check] = {
        **dict.fromkeys(("answer_a", "answer_b"), fields.name),
        **dict.fromkeys(SHOWN_FIRST, fields.key),
        "answers": fields.names,
        **dict.fromkeys(("benchmark", "judge", "task", "prompt_style"), fields.name),
        "group": fields.key,
        "options": fields.labels,
        "repetition": fields.count,
        "response": fields.text,
        "winner": fields.text,
        "lengths": fields.lengths,
    }
    compares = True
    takes_labels = True

    def fits(self, record: Mapping[str, Any]) -> bool:
        return super().fits(record) and any(name in record for name in ("answers", "answer_a", "answer_b"))

    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        names = _shown(record)
        options = record.get("options")
        tie = (
            choices.TIE in map(str.casefold, options.values())
            if isinstance(options, dict)
            else options is None or len(options) > len(names)
        )
        letters = options if isinstance(options, list) else [*choices.LETTERS[: len(names) + tie]]
        for name, many in (("options", len(names) + tie), ("lengths", len(names))):
            value = letters if name == "options" else record.get(name, names)
            if len(value) != many:
                raise InputError(f"field {name!r}: expected {many} for {len(names)} answers, found {len(value)}")
        answer = self._answer(record, names, letters)
        benchmark, task = record.get("benchmark", BENCHMARK), record.get("task", "")
        group = record.get("group", record["question_id"])
        values = {name: record[name] for name in ("judge", "prompt_style", "lengths") if name in record}
        values |= {"benchmark": benchmark, "criterion": task or OVERALL, "task": task, "options": letters}
        values |= {"shown_first": names[0], "shown_second": names[1], "repeat": record.get("repetition", 0)}
        values |= {"shown": names} if len(names) > 2 else {}
        return values | answer | {"group_id": record["question_id"], "source_id": group}

    def _answer(self, record: Mapping[str, Any], names: list[str], letters: list[str]) -> dict[str, Any]:
        """The answer to parse as `response`, and the recorded text as `written` if it is another text."""
        options, response, winner = record.get("options"), record.get("response"), record.get("winner")
        if winner is None and response is None:
            raise InputError("expected field 'response' or 'winner', found neither")
        labels = options if isinstance(options, dict) else {}
        for label, option in labels.items():
            if choices.letter(option, names, letters) is None:
                expected = f"A, B, first, second, tie, none, {', '.join(names):.120}"
                raise InputError(f"label {label!r:.60}: expected one of {expected:.200}, found {option!r:.60}")
        text = str(response) if winner is None else winner
        option = choices.option_of(text, labels) if labels else None
        chosen = None if option is None and winner is None else choices.letter(option or text, names, letters)
        if winner is not None and chosen is None:
            expected = f"A, B, tie, none, {', '.join(names):.120}, or a label of 'options'"
            raise InputError(f"field 'winner': expected {expected}, found {winner!r:.60}")
        if chosen is None:
            return {"response": response}
        return {"response": chosen, "written": winner if response is None else response}

    def adapter(self, record: Mapping[str, Any]) -> str | None:
        return BENCHMARKS.get(record["benchmark"], RECORDED)


class Pairwise(Importer):
    marks = ("answer_a", "answer_b")
    required: Mapping[str, Check] = {
        "benchmark": fields.name,
        "judge": fields.name,
        "task": fields.name,
        "question_id": fields.name,
        "answer_a": fields.name,
        "answer_b": fields.name,
        "options": fields.options,
        "repetition": fields.count,
        "response": fields.text,
    }
    optional: Mapping[str, Check] = dict.fromkeys(SHOWN_FIRST, fields.key)
    compares = True

    def fits(self, record: Mapping[str, Any]) -> bool:
        return super().fits(record) and record.get("benchmark") in BENCHMARKS and "winner" not in record

    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        _two(record)
        values = {name: record[name] for name in ("benchmark", "judge", "options", "response")}
        names = {"shown_first": record["answer_a"], "shown_second": record["answer_b"], "repeat": record["repetition"]}
        task, group = record["task"], record["question_id"]
        # DevBench: a question's id has the project, then the task. The recorded task still has a part of the project.
        document = DOCUMENT.search(task) if record["benchmark"] == "DevBench" else None
        task = document[0] if document else task
        source = group.removesuffix(f"_{task}") or group
        return values | names | {"group_id": group, "criterion": task, "task": task, "source_id": source}

    def adapter(self, record: Mapping[str, Any]) -> str | None:
        if record["benchmark"] not in BENCHMARKS:
            expected = ", ".join(BENCHMARKS)
            raise InputError(f"field 'benchmark': expected {expected}, found {record['benchmark']!r:.60}")
        return BENCHMARKS[record["benchmark"]]


def _two(record: Mapping[str, Any]) -> list[str]:
    """Names of the two candidates, in the order in which they were shown."""
    pair = [record["answer_a"], record["answer_b"]]
    if pair[0] == pair[1]:
        raise InputError(f"field 'answer_b': expected another one than answer_a, found {pair[1]!r:.60} twice")
    for name in SHOWN_FIRST:
        if record.get(name) in (pair[1], "answer_b"):
            raise InputError(
                f"field {name!r}: found {record[name]!r:.60}, expected {pair[0]!r:.60}: answer_a is taken for the"
                " answer that was shown first"
            )
    return pair


def _shown(record: Mapping[str, Any]) -> list[str]:
    """Names of all candidates, in the order in which they were shown."""
    if "answers" not in record:
        for name in ("answer_a", "answer_b"):
            if name not in record:
                raise InputError(f"field {name!r} is missing; expected answer_a and answer_b, or a list 'answers'")
        return _two(record)
    names: list[str] = record["answers"]
    if len({*names}) < len(names):
        raise InputError(f"field 'answers': expected different names, found {names!r:.80}")
    return names


def _article(record: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: record[name] for name in ("judge", "criterion", "response")}
    return values | {"group_id": record["article_id"]}
