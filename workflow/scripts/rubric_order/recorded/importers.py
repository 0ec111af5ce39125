"""Importers of the formats in which recorded answers are published, and of the general one."""

import re
from collections.abc import Mapping
from typing import Any

from rubric_order.base.errors import InputError
from rubric_order.recorded import fields
from rubric_order.recorded.formats import Check, Importer

SUMMEVAL = "SummEval"  # how the comparisons of its summaries call it
BENCHMARKS = {"MTBench": "mtbench_pairs", "DevBench": "devbench_pairs"}  # adapters by the benchmark that records name
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


class SummEvalPairwise(Importer):
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
        shown = [(record["pair"][k], record[f"human_score_{k + 1}"]) for k in ((1, 0) if record["toggled"] else (0, 1))]
        (first, second), human_scores = zip(*shown, strict=True)
        kept = {"shown_first": first, "shown_second": second, "human_scores": list(human_scores)}
        source = {"benchmark": SUMMEVAL, "task": record["criterion"], "source_id": record["article_id"]}
        return _article(record) | kept | source | {"options": record["options"]}

    def adapter(self, record: Mapping[str, Any]) -> str | None:
        return "summeval"


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
    compares = True

    def common(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        if record["answer_a"] == record["answer_b"]:
            raise InputError(
                f"field 'answer_b': expected another one than answer_a, found {record['answer_b']!r:.60} twice"
            )
        kept = {name: record[name] for name in ("benchmark", "judge", "options", "response")}
        shown = {"shown_first": record["answer_a"], "shown_second": record["answer_b"], "repeat": record["repetition"]}
        task, group = record["task"], record["question_id"]
        # DevBench: in a question's id the task follows the project, of which the recorded task keeps a part.
        document = DOCUMENT.search(task) if record["benchmark"] == "DevBench" else None
        task = document[0] if document else task
        source = group.removesuffix(f"_{task}") or group
        return kept | shown | {"group_id": group, "criterion": task, "task": task, "source_id": source}

    def adapter(self, record: Mapping[str, Any]) -> str | None:
        if record["benchmark"] not in BENCHMARKS:
            expected = ", ".join(BENCHMARKS)
            raise InputError(f"field 'benchmark': expected {expected}, found {record['benchmark']!r:.60}")
        return BENCHMARKS[record["benchmark"]]


def _article(record: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: record[name] for name in ("judge", "criterion", "response")}
    return kept | {"group_id": record["article_id"]}
