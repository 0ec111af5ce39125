"""The reference of all keys of a config, which is made from the models: ``docs/config.md``.

python -m rubric_order.settings.reference > docs/config.md
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from rubric_order.settings import judges, schema
from rubric_order.settings.config import Config

Part = Mapping[str, Any]

# Block of config to the placeholder for the ids in it, which users choose. It stands in the path of a key.
IDS = {
    "datasets": "{dataset}",
    "files": "{file}",
    "judges": "{judge}",
    "profiles": "{profile}",
    "references": "{dataset}",
    "studies": "{study}",
}
INHERITED = ("x-reruns", "x-default")
COLUMNS = ("key", "type", "default", "meaning", "what runs again when it changes")
NONSENSE = 10**7  # bounds as large as this only exclude nonsense, and are not shown
HEAD = """# All keys of a config

`make config-reference` makes this page from the models of
[`rubric_order/settings/`](../workflow/scripts/rubric_order/settings); change the models, not the page.
[config/README.md](../config/README.md) says what the blocks are for, and how a study is written. An editor that reads
the first line of a config (`# yaml-language-server: $schema=...`) completes keys and marks mistakes by
[the schema](../workflow/schemas/config.schema.json).

The last column says what runs again when a key changes, by the name of the rule or of the statistic. "And below" stands
for everything that is made from its output. Answers of judges are stored by the question that was asked, so no question
is asked twice.
"""
# Headings of the keys of each kind of judge.
KINDS: Mapping[type[judges.Judge], str] = {
    judges.Judge: "judges: every judge",
    judges.Loaded: "judges: a model that a job loads (engine vllm, or openai with serve)",
    judges.Vllm: "judges: engine vllm",
    judges.Metered: "judges: engines whose calls are counted (openai, decisions and python)",
    judges.OverHttp: "judges: asked over HTTP (engines openai and decisions)",
    judges.Addressed: "judges: an endpoint that others run (engine openai with base_url, or decisions)",
    judges.Chat: "judges: engine openai",
    judges.Endpoint: "judges: engine openai with base_url, an endpoint",
    judges.Server: "judges: engine openai with serve, a server of its own",
    judges.Decisions: "judges: engine decisions",
    judges.PythonCallable: "judges: engine python",
    judges.Simulated: "judges: engine simulated",
    judges.Recorded: "judges: engine recorded",
}


class Row(NamedTuple):
    """One key: its path, the values that it takes, its default, its meaning, and what runs again when it changes."""

    key: str
    type: str
    default: str
    meaning: str
    reruns: str


def sections() -> Iterator[tuple[str, list[Row]]]:
    """Headings of the page, each with its rows, in the order of the models."""
    whole = schema.model_schema(Config)
    alone = {key: part for key, part in whole["properties"].items() if "description" in part and not _holds_keys(part)}
    yield "", list(rows({**whole, "properties": alone}))
    for key, part in whole["properties"].items():
        if key == "judges":
            yield from _sections_of_judges(part["x-reruns"])
        elif key in ("figures", "tables"):
            for name, block in part["properties"].items():
                yield f"{key}/{name}", list(rows(block, (key, name), part))
        elif key not in alone:
            yield key, list(rows({"properties": {key: part}}))


def _holds_keys(part: Part) -> bool:
    return "properties" in part or "properties" in _values(part)


def _values(part: Part) -> Part:
    """The schema of a mapping's values; empty if it has none."""
    values = part.get("additionalProperties")
    return values if isinstance(values, Mapping) else {}


def _sections_of_judges(reruns: str) -> Iterator[tuple[str, list[Row]]]:
    for kind, heading in KINDS.items():
        names = [name for name in kind.model_fields if _is_own(kind, name)]
        part: dict[str, Any] = {"properties": {name: _part(kind, name) for name in names}}
        part["required"] = [name for name in names if kind.model_fields[name].is_required()]
        lines = list(rows(part, ("judges", IDS["judges"]), {"x-reruns": reruns}))
        if lines:
            yield heading, lines


def _part(kind: type[judges.Judge], name: str) -> dict[str, Any]:
    """The schema of a key of judges. Keys `profiles` and `engine` have the values of all kinds of judges."""
    if name == "profiles":
        kind = judges.OverHttp
    part = schema.field_schema(kind.model_fields[name])
    return part | {"enum": list(judges.ENGINES)} if name == "engine" else part


def _is_own(kind: type[judges.Judge], name: str) -> bool:
    """True if a key is listed under a kind of judges: no base class of the kind has the key."""
    return not any(name in base.model_fields for base in kind.__mro__[1:] if issubclass(base, judges.Judge))


def rows(part: Part, path: tuple[str, ...] = (), inherited: Part | None = None) -> Iterator[Row]:
    """A row for every key with a description, in the order of the schema.

    Args:
        part: schema of a block, see `schema.model_schema`.
        path: path of the block.
        inherited: words of the enclosing blocks that hold for the keys of this block too.
    """
    required = part.get("required", ())
    for key, entry in part.get("properties", {}).items():
        here = {word: (inherited or {})[word] for word in INHERITED if word in (inherited or {})}
        here |= {word: entry[word] for word in INHERITED if word in entry}
        if "description" in entry:
            yield Row(
                "/".join((*path, key)),
                values(entry),
                "required" if key in required else default(entry, here.get("x-default", "")),
                entry["description"],
                here.get("x-reruns", ""),
            )
        yield from rows(entry, (*path, key), here)
        if "properties" in _values(entry):
            yield from rows(_values(entry), (*path, key, IDS[key]), here)


def default(part: Part, otherwise: str) -> str:
    """Value of a key that is left out, as YAML; `otherwise` if the schema has no default."""
    if "default" not in part:
        return otherwise
    if "properties" in part and isinstance(part["default"], Mapping):  # its keys have defaults of their own
        return "`{}`"
    written = yaml.safe_dump(part["default"], default_flow_style=True, width=1000).removesuffix("\n")
    return f"`{written.removesuffix('...').strip()}`"


def values(part: Part) -> str:
    """The values that a key takes, in words."""
    if "enum" in part:
        return _alternatives([f"`{value}`" for value in part["enum"]])
    kinds = part.get("type", [])
    return _alternatives([_values_of(kind, part) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _values_of(kind: str, part: Part) -> str:
    match kind:
        case "integer" | "number":
            return kind + _range(part)
        case "array":
            several = f"{part['minItems']} " if "minItems" in part and part["minItems"] == part.get("maxItems") else ""
            return f"list of {several}{re.sub('^[a-z]+', lambda word: word[0] + 's', values(part['items']))}"
        case "boolean":
            return "`true` or `false`"
        case "object":
            return "mapping"
        case "null":
            return "`null`"
        case "string" if named := re.fullmatch(r"\^\(([\w|]+)\)\$", part.get("pattern", "")):
            return _alternatives([f"`{value}`" for value in named[1].split("|")])
    return "text"


def _range(part: Part) -> str:
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    bounds = [f"{word} {part[key]}" for key, word in words.items() if key in part and abs(part[key]) < NONSENSE]
    return f" {' '.join(bounds)}" if bounds else ""


def _alternatives(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def page() -> str:
    """The reference as Markdown: one table for keys outside of blocks, and one for each block of the config."""
    return "\n".join([HEAD.rstrip(), *(_section(heading, lines) for heading, lines in sections() if lines)]) + "\n"


def _section(heading: str, made: list[Row]) -> str:
    lines = [f"\n## {heading}\n"] if heading else [""]
    lines.append(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for row in made:
        cells = (f"`{row.key}`", row.type, row.default, _linked(row.meaning), row.reruns)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def _linked(text: str) -> str:
    """A text with links to the pages of `docs/` that it names, for a page in `docs/`."""
    return re.sub(r"\bdocs/(\w+\.md)\b", r"[docs/\1](\1)", text)


if __name__ == "__main__":
    sys.stdout.write(page())
