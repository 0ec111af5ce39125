"""Tests of promptfoo that ask a judge in several orders, and the reads in their results; a test is one read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.extras.logs.intake import promptfoo
from rubric_order.extras.logs.intake.calls import mapping, parsed
from rubric_order.extras.logs.relog import Written
from rubric_order.intake.score_tables import permutation
from rubric_order.parsing import one_score
from rubric_order.prompts import messages
from rubric_order.settings.judges import Endpoint

VARS = ("item", "group", "ordering", "labels")
CUT_SHORT = "length"


def tests(study: Written) -> dict[str, Any]:
    """Config of promptfoo with one test per prompt of a study (see `relog.write`); each prompt is asked once.

    In ``vars``, ``ordering`` is the level at each position, ``labels`` are the lowest first, ``prompt`` is the last
    message.
    """
    judge = study.judge
    groups = dict(zip(study.reads["item_id"], study.reads["group_id"], strict=True))
    rows, chat = [], []
    for row in study.requests[study.requests["repeat"] == 0].itertuples():
        parts = messages.chat(row.prompt, judge.system_prompt)
        fields = [*(f"message_{number}" for number in range(1, len(parts))), "prompt"]
        chat = [{"role": part["role"], "content": f"{{{{{name}}}}}"} for part, name in zip(parts, fields, strict=True)]
        ordering = " ".join(map(str, row.ordering))
        values = {
            "item": row.unit_id,
            "group": groups[row.unit_id],
            "ordering": ordering,
            "labels": " ".join(study.labels),
            **{name: _as_variable(part["content"]) for part, name in zip(parts, fields, strict=True)},
        }
        rows.append({"description": f"{row.unit_id}: {ordering}", "vars": values})
    return {
        "description": f"{study.judge_id} in {len(rows)} orders of its rubric, by rubric-order",
        "prompts": [{"label": study.judge_id, "raw": json.dumps(chat)}],
        "providers": [{"id": f"openai:chat:{judge.model}", "label": study.judge_id, "config": _settings(judge)}],
        "tests": rows,
    }


def _as_variable(text: str) -> str:
    """A text as a variable. Promptfoo removes a line break from the end of a text, so one is added."""
    return f"{text}\n" if text.endswith("\n") else text


def write(study: Written, path: str | Path) -> None:
    """Write the config of `tests` as YAML."""
    files.write_text(yaml.safe_dump(tests(study), sort_keys=False, allow_unicode=True, width=1000), path)


def _settings(judge: Endpoint) -> dict[str, Any]:
    sampling = {name: value for name, value in judge.sampling.model_dump().items() if value not in (None, [])}
    if "max_tokens" in sampling:
        sampling[judge.max_tokens_name] = sampling.pop("max_tokens")
    key = {"apiKeyEnvar": judge.api_key_env} if judge.api_key_env else {}
    body = {"passthrough": dict(judge.extra_body)} if judge.extra_body else {}
    return {"apiBaseUrl": judge.base_url, "omitDefaults": True, **key, **sampling, **body}


def has_reads(path: str | Path) -> bool:
    """True for results of tests that have an ordering in their ``vars``."""
    files.check_regular(path)
    if Path(path).suffix.lower() != ".json":
        return False
    content = parsed(files.read_text(path), str(path))
    return promptfoo.is_log(content) and any(
        isinstance(row, dict) and isinstance(row.get("vars"), dict) and "ordering" in row["vars"]
        for row in content["results"]["results"]
    )


def reads(path: str | Path) -> pd.DataFrame:
    """Reads in the results of `tests`, one row per read, as `bias_card` takes it, with ``failure`` and ``answer``."""
    content = mapping(parsed(files.read_text(path), str(path)), str(path), "/")
    return pd.DataFrame([_read(result, where) for where, result in promptfoo.results(content, path)])


def _read(result: Mapping[str, Any], where: str) -> dict[str, Any]:
    values = mapping(result.get("vars"), where, "vars")
    for name in VARS:
        if not isinstance(values.get(name), str):
            raise InputError(f"{where}: field 'vars/{name}': expected text, found {values.get(name)!r:.60}")
    ordering, labels = permutation(values["ordering"]), values["labels"].split()
    if ordering is None or len(ordering) != len(labels):
        expected = f"each level from 1 to {len(labels)} once"
        raise InputError(f"{where}: field 'vars/ordering': expected {expected}, found {values['ordering']!r:.60}")
    response = mapping(result.get("response"), where, "response")
    provider = mapping(result.get("provider"), where, "provider")
    answer = response.get("output")
    text = answer if isinstance(answer, str) or answer is None else json.dumps(answer)
    choice = one_score.parse_score(text, labels, truncated=response.get("finishReason") == CUT_SHORT)
    return {
        "item": values["item"],
        "group": values["group"],
        "judge": provider.get("label") or provider.get("id"),
        "ordering": ordering,
        "score": None if choice.label is None else labels.index(choice.label) + 1,
        "failure": choice.reason,
        "answer": text,
    }
