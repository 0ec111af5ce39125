"""The JSON schema of a config for editors, made from the models: ``workflow/schemas/config.schema.json``.

python -m rubric_order.settings.schema > workflow/schemas/config.schema.json

With ``--installed`` the schema has the results of installed packages too, see docs/plugins.md.

The schema has two words beyond JSON Schema. ``x-reruns`` says what runs again when a key changes. ``x-default`` says
what holds if a key without a default is left out.
"""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union

from annotated_types import Ge, Gt, Le, Len, Lt
from pydantic import StringConstraints
from pydantic.fields import FieldInfo

from rubric_order import registry
from rubric_order.base.errors import InputError
from rubric_order.settings import results
from rubric_order.settings.base import Chosen, EitherOr, Numeric, Settings, Unique, extra, plain
from rubric_order.settings.config import Blocks, Config
from rubric_order.settings.judges import KINDS
from rubric_order.settings.statistics import registered_statistics

Part = dict[str, Any]
DEEPEST = 6  # level of nesting from which on a value is written on one line
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def schema(*, installed: bool = False) -> Part:
    """The schema of a whole config.

    Args:
        installed: whether to include the results of other installed packages.

    Raises:
        InputError: one of these packages is faulty, see `registry.load`.
    """
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Config of rubric-order"}
    part: Part = {**head, **model_schema(Config)}
    records = {name: registry.load(name).value for name in registry.RECORDS.names()} if installed else {}
    blocks = part["properties"]
    for name, record in records.items():
        blocks["tables"]["properties"] |= {name: model_schema(results.model("tables", name))} if record.table else {}
        blocks["figures"]["properties"] |= {name: model_schema(results.model("figures", name))} if record.figure else {}
    offered = [name for name, record in records.items() if record.statistic]
    blocks["statistics"] |= model_schema(registered_statistics(offered))
    return part


def model_schema(model: type[Settings]) -> Part:
    """The schema of a block."""
    fields = model.model_fields
    part: Part = {"type": "object", "additionalProperties": False}
    if required := [name for name, field in fields.items() if field.is_required()]:
        part["required"] = required
    return part | {"properties": {name: field_schema(field) for name, field in fields.items()}}


def field_schema(field: FieldInfo) -> Part:
    """The schema of a key."""
    part = type_schema(field.annotation, field.metadata)
    if not field.is_required() and (extra(field, "otherwise") is None or extra(field, "filled")):
        part["default"] = plain(field.get_default(call_default_factory=True))
    if field.description is not None:
        part["description"] = field.description
    for name, word in (("reruns", "x-reruns"), ("otherwise", "x-default")):
        if extra(field, name):
            part[word] = extra(field, name)
    return part


def type_schema(annotation: Any, markers: Any = ()) -> Part:
    """The schema of the values that a type takes."""
    for marker in markers:
        if (part := _chosen(marker)) is not None:
            return part
    part = _plain(annotation)
    for marker in markers:
        part |= _bound(marker, part)
    return part


def _chosen(marker: Any) -> Part | None:
    """The schema of a type that its marker alone describes; None for a marker that only adds to the type's schema."""
    if isinstance(marker, Chosen):
        return {"anyOf": [model_schema(kind) for kind in KINDS]}
    if isinstance(marker, Blocks):
        blocks = {name: model_schema(results.model(marker.kind, name)) for name in registry.ours(marker.kind)}
        return {"type": "object", "additionalProperties": False, "properties": blocks}
    if isinstance(marker, EitherOr):
        single, several = type_schema(marker.single), type_schema(marker.several)
        kinds = [single["type"]] if isinstance(single["type"], str) else single["type"]
        return {**several, **single, "type": [*kinds, several["type"]]}
    return None


def _plain(annotation: Any) -> Part:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return type_schema(arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        (inner,) = (argument for argument in arguments if argument is not types.NoneType)
        part = type_schema(inner)
        return part | {"type": [part["type"], "null"]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": type_schema(arguments[0])}
    if origin is dict:
        ids = {"propertyNames": type_schema(arguments[0])} if arguments[0] is not str else {}
        values = {} if arguments[1] is Any else {"additionalProperties": type_schema(arguments[1])}
        return {"type": "object"} | ids | values
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return model_schema(annotation)
    return {} if annotation is Any else {"type": _TYPES[annotation]}


def _bound(marker: Any, part: Mapping[str, Any]) -> Part:
    """Words that a marker adds to the schema of a type."""
    match marker:
        case Numeric():
            return {_BOUNDS[name]: value for name, value in marker.bounds.items()}
        case Ge() | Gt() | Le() | Lt():
            return {_BOUNDS[name]: getattr(marker, name) for name in _BOUNDS if hasattr(marker, name)}
        case Len():
            words = ("minProperties", "maxProperties") if part["type"] == "object" else ("minItems", "maxItems")
            limits = ((words[0], marker.min_length or None), (words[1], marker.max_length))
            return {word: value for word, value in limits if value is not None}
        case StringConstraints():
            given_texts = (("pattern", marker.pattern), ("minLength", marker.min_length))
            return {word: value for word, value in given_texts if value is not None}
    return {"uniqueItems": True} if marker is Unique else {}


def written(part: Mapping[str, Any], depth: int = 0) -> str:
    """A schema as JSON, with a line for each key of a block of settings."""
    if depth == DEEPEST or not isinstance(part, Mapping):
        return json.dumps(part, ensure_ascii=False)
    lines = (f"{' ' * (depth + 1)}{json.dumps(key)}: {written(value, depth + 1)}" for key, value in part.items())
    return "{\n" + ",\n".join(lines) + f"\n{' ' * depth}}}"


if __name__ == "__main__":
    try:
        sys.stdout.write(written(schema(installed="--installed" in sys.argv[1:])) + "\n")
    except InputError as error:
        sys.exit(f"error: {error}")
