"""The schema of a config: reading it, walking along it, and the defaults that it gives."""

import copy
from collections.abc import Mapping
from pathlib import Path

import yaml

LOCAL = "#/$defs/"
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C reads ten times as fast


def parse(text: str) -> object:
    """Content of a text in YAML."""
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader


def load(path: Path) -> dict:
    """A schema with every reference to its ``$defs`` put in place, so that who reads it need not follow any.

    What stands beside a ``$ref`` goes over what the definition says.

    Raises:
        KeyError: a reference names no definition.
        ValueError: a reference leads out of the file, or into itself.
    """
    written = parse(path.read_text(encoding="utf-8"))
    definitions = written.pop("$defs", {})
    return _expanded(written, definitions, ())


def _expanded(part: object, definitions: Mapping, within: tuple[str, ...]) -> object:
    if isinstance(part, list):
        return [_expanded(entry, definitions, within) for entry in part]
    if not isinstance(part, Mapping):
        return part
    if "$ref" in part:
        reference = part["$ref"]
        name = reference.removeprefix(LOCAL)
        if name == reference or name in within:
            raise ValueError(f"schema: reference {reference!r}: expected another definition under {LOCAL}")
        expanded = _expanded(definitions[name], definitions, (*within, name))
        return expanded | _expanded({key: part[key] for key in part if key != "$ref"}, definitions, within)
    return {key: _expanded(entry, definitions, within) for key, entry in part.items()}


def part_of(schema: Mapping, key: object) -> Mapping:
    """Part of a schema for the value of one key, or of one id that a user chose; empty where the schema has none."""
    properties = schema.get("properties", {})
    if key in properties:
        return properties[key]
    others = schema.get("additionalProperties")
    return others if isinstance(others, Mapping) else {}


def fill_defaults(config: object, schema: Mapping) -> None:
    """Give every key that a config leaves out its default, in place.

    Args:
        config: of the right shape.
        schema: see `load`. Only what stands in mappings has defaults, not what stands in lists.
    """
    if not isinstance(config, dict):
        return
    for key, part in schema.get("properties", {}).items():
        if "default" in part and key not in config:
            config[key] = copy.deepcopy(part["default"])
    for key, value in config.items():
        fill_defaults(value, part_of(schema, key))
