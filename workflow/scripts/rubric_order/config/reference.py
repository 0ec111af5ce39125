"""The reference of all keys of a config, made from the schema: `docs/config.md`.

python -m rubric_order.config.reference workflow/schemas/config.schema.yaml > docs/config.md
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from rubric_order.config import schema

# How an id that a user chooses is written in the path of a key, by the block that it stands in.
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
NONSENSE = 10**7  # a bound as wide keeps out nonsense alone, and is not told
HEAD = """# All keys of a config

This page is made from [the schema](../workflow/schemas/config.schema.yaml) by `make config-reference`; change it there.
What the blocks are for, and how a study is written: [config/README.md](../config/README.md).

What runs again is named by its rule or its statistic; "and below" is all that is made from its output. Answers
of judges are kept by what was asked: a question that was asked before is not asked again.
"""


class Row(NamedTuple):
    """One key: its path, the values that it takes, its default, its meaning, and what runs again when it changes."""

    key: str
    type: str
    default: str
    meaning: str
    reruns: str


def rows(shape: Mapping) -> Iterator[Row]:
    """Every key of a schema that is described, in the order of the schema.

    Args:
        shape: see `schema.load`.
    """
    yield from _rows(shape, (), {})


def _rows(part: Mapping, path: tuple[str, ...], inherited: Mapping) -> Iterator[Row]:
    required = part.get("required", ())
    for key, entry in part.get("properties", {}).items():
        here = {**inherited, **{word: entry[word] for word in INHERITED if word in entry}}
        if "description" in entry:
            yield Row(
                "/".join((*path, key)),
                values(entry),
                "required" if key in required else default(entry, here.get("x-default", "")),
                entry["description"],
                here.get("x-reruns", ""),
            )
        yield from _rows(entry, (*path, key), here)
        blocks = schema.part_of(entry, "")
        if "properties" in blocks:
            yield from _rows(blocks, (*path, key, IDS[key]), here)


def default(part: Mapping, otherwise: str) -> str:
    """Value of a key that is left out, as YAML; `otherwise` where the schema has no default."""
    if "default" not in part:
        return otherwise
    written = yaml.safe_dump(part["default"], default_flow_style=True, width=1000).removesuffix("\n")
    return f"`{written.removesuffix('...').strip()}`"


def values(part: Mapping) -> str:
    """The values that a key takes, in words."""
    if "enum" in part:
        return _alternatives([f"`{value}`" for value in part["enum"]])
    kinds = part.get("type", [])
    return _alternatives([_values_of(kind, part) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _values_of(kind: str, part: Mapping) -> str:
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


def _range(part: Mapping) -> str:
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    bounds = [f"{word} {part[key]}" for key, word in words.items() if key in part and abs(part[key]) < NONSENSE]
    return f" {' '.join(bounds)}" if bounds else ""


def _alternatives(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def page(shape: Mapping) -> str:
    """The reference as Markdown: one table for what stands alone, and one for each block of the config."""
    parts, block = [HEAD.rstrip()], None
    for row in rows(shape):
        name = _block_of(row.key)
        if name != block:
            block = name
            parts.append(f"\n## {block}\n" if block else "")
            parts.append(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
        cells = (f"`{row.key}`", row.type, row.default, _linked(row.meaning), row.reruns)
        parts.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(parts) + "\n"


def _block_of(key: str) -> str:
    """The part of a config that a key is listed under: a figure or table has one of its own."""
    parts = key.split("/")
    return "" if len(parts) == 1 else "/".join(parts[: 2 if parts[0] in ("figures", "tables") else 1])


def _linked(text: str) -> str:
    """Text with links to the pages of `docs/` that it names, for a page of that folder."""
    return re.sub(r"\bdocs/(\w+\.md)\b", r"[docs/\1](\1)", text)


if __name__ == "__main__":
    sys.stdout.write(page(schema.load(Path(sys.argv[1]))))
