"""The reference of all keys of a config and the schema for editors, which are made from the models."""

import json

import pytest

from rubric_order.settings import judges, listings, reference, schema
from rubric_order.settings.judges.server import Serve
from rubric_order.settings.judges.simulated import Simulation

ROWS = [row for _, rows in reference.sections() for row in rows]


def test_the_page_is_up_to_date(root):
    page = (root / "docs/config.md").read_text(encoding="utf-8")
    assert page == reference.page(), "docs/config.md is out of date: make config-reference"


@pytest.mark.parametrize(("name", "n_lists"), [("statistics", 1), ("results", 2)])
def test_the_lists_of_results_are_up_to_date(root, name, n_lists):
    text = (root / f"docs/{name}.md").read_text(encoding="utf-8")
    assert text == listings.page(text), f"docs/{name}.md is out of date: make config-reference"
    assert text.count(", from records -->") == n_lists


def test_the_schema_is_up_to_date(root):
    text = (root / "workflow/schemas/config.schema.json").read_text(encoding="utf-8")
    assert text == schema.written(schema.schema()) + "\n", "config.schema.json is out of date: make config-reference"
    assert json.loads(text) == schema.schema()


def test_every_key_says_what_it_means_and_what_runs_again():
    for row in ROWS:
        assert all((row.key, row.type, row.meaning, row.reruns)), row


def leaves(part, path=()):
    """Paths of all keys that hold a value, with an asterisk for each id."""
    for key, entry in part.get("properties", {}).items():
        blocks = entry.get("additionalProperties")
        kinds = blocks.get("anyOf", [blocks]) if isinstance(blocks, dict) else []
        if any("properties" in kind for kind in kinds):
            for kind in kinds:
                yield from leaves(kind, (*path, key, "*"))
        elif "properties" in entry:
            yield from leaves(entry, (*path, key))
        else:
            yield "/".join((*path, key))


def test_every_key_that_holds_a_value_has_a_row():
    listed = {"/".join("*" if name.startswith("{") else name for name in row.key.split("/")) for row in ROWS}
    found = set(leaves(schema.schema()))
    assert len(found) > 250
    assert found <= listed


BLOCK = {
    "x-reruns": "the block",
    "properties": {
        "n": {"type": "integer", "minimum": 2, "maximum": 9, "default": 5, "description": "A scale."},
        "own": {"type": "string", "description": "A text.", "x-reruns": "only this", "x-default": "as `n`"},
        "rest": {"type": ["array", "null"], "items": {"type": "number"}, "default": None, "description": "Numbers."},
    },
    "required": ["own"],
}


def test_a_row_has_the_range_the_default_and_what_runs_again():
    shape = {"properties": {"block": {**BLOCK, "required": []}}}
    assert list(reference.rows(shape)) == [
        ("block/n", "integer from 2 to 9", "`5`", "A scale.", "the block"),
        ("block/own", "text", "as `n`", "A text.", "only this"),
        ("block/rest", "list of numbers or `null`", "`null`", "Numbers.", "the block"),
    ]


def test_a_key_that_must_be_given_says_so_and_ids_are_named_after_their_block():
    shape = {"properties": {"judges": {"additionalProperties": BLOCK}}}
    (_, own, _) = reference.rows(shape)
    assert own[:3] == ("judges/{judge}/own", "text", "required")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"enum": ["group", "item"]}, "`group` or `item`"),
        ({"type": "boolean"}, "`true` or `false`"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "number above 0 below 1"),
        ({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}, "list of 2 numbers"),
        ({"type": "array", "items": {"enum": ["hard", "soft"]}}, "list of `hard` or `soft`"),
        ({"type": ["object", "null"]}, "mapping or `null`"),
        (
            {"type": ["string", "array"], "pattern": "^(a|b)$", "items": {"type": "number"}},
            "`a` or `b` or list of numbers",
        ),
    ],
)
def test_values_are_told_in_words(part, words):
    assert reference.values(part) == words


def test_a_bar_does_not_end_a_cell_of_the_table():
    rows = list(reference.rows({"properties": {"x": {"type": "string", "description": "a|b"}}}))
    assert r"| a\|b |" in reference._section("", rows)


def test_what_the_page_says_of_new_requests_is_what_names_a_request():
    blocks = [
        {"engine": "vllm", "model": "m", "answer_format": "score"},
        {"engine": "openai", "model": "m", "answer_format": "score", "base_url": "https://e.org/v1"},
        {"engine": "openai", "model": "m", "answer_format": "score", "serve": {}},
        {"engine": "decisions", "model": "m", "base_url": "https://e.org/v1"},
        {"engine": "python", "function": "m:f", "version": "1", "answer_format": "score"},
        {"engine": "simulated", "model": "m", "answer_format": "score", "simulation": {}},
    ]
    named = set()
    for judge in map(judges.read, blocks):
        before = judge.identity(judges.FORMATS)
        for key in type(judge).model_fields:
            value = OTHERS.get(key, {"arguments": {"a": 1}})
            if judge.changed(**{key: value}).identity(judges.FORMATS) != before:
                named.add(key)
    told = {
        row.key.split("/")[2]
        for row in ROWS
        if row.key.startswith("judges/") and "every prompt is a new request" in row.reruns
    }
    assert named == told


# Another value of keys that are more than plain values.
OTHERS = {"model": "another", "serve": Serve(arguments={"a": 1}), "simulation": Simulation(seed=1)}
OTHERS |= {"function": "m:g", "version": "2"}


# Another value of keys that are more than plain values.
OTHERS = {"model": "another", "serve": Serve(arguments={"a": 1}), "simulation": Simulation(seed=1)}
OTHERS |= {"function": "m:g", "version": "2"}
