"""Judges as ``rubric-order certify`` takes them: as a word that stands for a block of config."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.settings.base import parse
from rubric_order.settings.judges.python_functions import MODULE_AND_NAME

OPENAI, OPENAI_KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
ADDRESS = re.compile("https?://")
PATHS = ("template", "folder")  # settings that are paths
SUFFIXES = (".yaml", ".yml", ".json")
FORMS = (
    "an address with --model, openai:MODEL, decisions:MODEL, a function as module:name, or a YAML file with a judge's"
    " block"
)
LIMIT = re.compile(r"([0-9]+(?:\.[0-9]+)?) *(calls|tokens)?")


@dataclass(frozen=True)
class Options:
    """Settings of a judge that have an option of their own, as commands write them; None for the default."""

    model: str | None = None
    api_key_env: str | None = None
    key_over_http: bool = False
    answer_format: str | None = None
    template: Path | None = None
    prices: str | None = None
    budget: str | None = None
    changes: tuple[str, ...] = ()


def block(word: str, options: Options) -> dict[str, Any]:
    """Block of config of a judge, from a word of `FORMS`.

    >>> block("http://localhost:8000/v1", Options(model="m"))["base_url"]
    'http://localhost:8000/v1'
    >>> block("my_judges:score", Options())["engine"]
    'python'
    """
    settings = _word_block(word, options.model)
    settings |= {"api_key_env": options.api_key_env} if options.api_key_env is not None else {}
    settings |= {"key_over_http": True} if options.key_over_http else {}
    settings |= {"answer_format": options.answer_format} if options.answer_format is not None else {}
    settings |= {"template": os.path.abspath(options.template)} if options.template is not None else {}
    settings |= {"prices": _prices(options.prices)} if options.prices is not None else {}
    for change in options.changes:
        _change(settings, change)
    if options.budget is not None:
        settings["budget"] = _budget(options.budget, settings)
    return settings


def _word_block(word: str, model: str | None) -> dict[str, Any]:
    kind, colon, rest = word.partition(":")
    if ADDRESS.match(word):
        return _endpoint("openai", word, model)
    if colon and kind in ("openai", "decisions"):
        if not rest:
            raise InputError(f"{word!r:.80}: the model is missing; expected {kind}:MODEL, or {kind}:URL with --model")
        if ADDRESS.match(rest):
            return _endpoint(kind, rest, model)
        if model is not None:
            raise InputError(f"--model: {word!r:.80} names the model already; found {model!r:.80}")
        named = {"max_tokens_name": "max_completion_tokens"} if kind == "openai" else {}
        where = {"base_url": OPENAI, "api_key_env": OPENAI_KEY}
        return {"engine": kind, "model": rest, "label": rest, **where, **named}
    if word.endswith(SUFFIXES):
        return _file_block(word, model)
    if MODULE_AND_NAME.fullmatch(word):
        named = {} if model is None else {"model": model}
        return {"engine": "python", "function": word, "folder": os.getcwd(), "label": word, **named}
    raise InputError(f"{word!r:.80}: no such judge; expected {FORMS}")


def _endpoint(kind: str, address: str, model: str | None) -> dict[str, Any]:
    if model is None:
        raise InputError(f"--model is missing; expected what {address!r:.80} calls its model")
    return {"engine": kind, "model": model, "label": model, "base_url": address.rstrip("/")}


def _file_block(path: str, model: str | None) -> dict[str, Any]:
    content = files.read_yaml(path)
    if not isinstance(content, Mapping) or "engine" not in content:
        text = files.listed(map(str, content)) if isinstance(content, Mapping) else f"{content!r:.60}"
        raise InputError(f"{path}: expected the block of one judge, with its engine; found {text}")
    block = dict(content)
    if model is not None:
        block["model"] = model
    if block["engine"] == "python":
        block.setdefault("folder", ".")
    # The study is in another folder, from which Snakemake may run it.
    block |= {key: os.path.abspath(block[key]) for key in PATHS if isinstance(block.get(key), str)}
    return {"label": block.get("model") or Path(path).stem} | block


def _prices(text: str) -> dict[str, float]:
    parts = text.split(",")
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = []
    if len(values) != 2 or not all(0 <= value < float("inf") for value in values):
        raise InputError(f"--prices: expected those of a million tokens of prompts and of answers, found {text!r:.60}")
    return dict(zip(("prompt", "completion"), values, strict=True))


def _budget(text: str, made: Mapping[str, Any]) -> dict[str, float | int]:
    limit = LIMIT.fullmatch(text.strip())
    if limit is None or (limit[2] and not limit[1].isdigit()):
        raise InputError(f"--budget: expected money, or a number such as 500calls or 1000000tokens, found {text!r:.60}")
    if limit[2]:
        return {limit[2]: int(limit[1])}
    if not made.get("prices"):
        raise InputError(
            "--budget: money needs --prices PROMPT,ANSWER, of a million tokens; or limit calls, as 500calls"
        )
    return {"cost": float(limit[1])}


def _change(block: dict[str, Any], change: str) -> None:
    """Set one key of a block, from ``KEY=VALUE`` with a value in YAML, in place."""
    path, equals, text = change.partition("=")
    if not equals or not path:
        raise InputError(f"--set: expected KEY=VALUE, such as sampling/temperature=0.7, found {change!r:.60}")
    *parents, key = path.split("/")
    for parent in parents:
        inner = block.get(parent)
        block[parent] = dict(inner) if isinstance(inner, Mapping) else {}
        block = block[parent]
    try:
        block[key] = parse(text)
    except yaml.YAMLError:
        raise InputError(f"--set: {path}: expected a value in YAML, found {text!r:.60}") from None


def judge_id(label: str) -> str:
    """Id of a judge, made from its label; no judge that comes with a clone has such an id.

    >>> judge_id("org/Model-7B")
    'judge_model_7b'
    """
    name = re.sub("[^a-z0-9]+", "_", label.rpartition("/")[2].lower()).strip("_")
    return f"judge_{name}" if name else "judge"
