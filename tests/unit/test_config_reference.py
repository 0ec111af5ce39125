"""The reference of all keys of a config, which is made from the schema."""

import pytest
import yaml

from rubric_order.config import judges, loading, reference, schema


@pytest.fixture(scope="module")
def shape(pytestconfig):
    return schema.load(pytestconfig.rootpath / loading.SCHEMA)


def test_the_page_is_up_to_date(root, shape):
    page = (root / "docs/config.md").read_text(encoding="utf-8")
    assert page == reference.page(shape), "docs/config.md is out of date: make config-reference"


def test_every_key_says_what_it_means_and_what_runs_again(shape):
    for row in reference.rows(shape):
        assert all((row.key, row.type, row.meaning, row.reruns)), row


def leaves(part, path=()):
    """Paths of all keys that hold a value, with an asterisk for each id."""
    for key, entry in part.get("properties", {}).items():
        blocks = entry.get("additionalProperties")
        if isinstance(blocks, dict) and "properties" in blocks:
            yield from leaves(blocks, (*path, key, "*"))
        elif "properties" in entry:
            yield from leaves(entry, (*path, key))
        else:
            yield "/".join((*path, key))


def test_every_key_that_holds_a_value_has_a_row(shape):
    listed = {
        "/".join("*" if name.startswith("{") else name for name in row.key.split("/")) for row in reference.rows(shape)
    }
    found = list(leaves(shape))
    assert len(found) > 250
    assert set(found) <= listed


def test_beside_a_reference_stand_only_a_default_a_description_and_our_own_words(root):
    """Other tools hold a value to both, the reference and what stands beside it; here the latter wins."""
    written = yaml.safe_load((root / loading.SCHEMA).read_text(encoding="utf-8"))

    def beside(part):
        entries = part if isinstance(part, list) else list(part.values()) if isinstance(part, dict) else []
        if isinstance(part, dict) and "$ref" in part:
            yield from set(part) - {"$ref", "default", "description", "x-reruns", "x-default"}
        for entry in entries:
            yield from beside(entry)

    assert list(beside(written)) == []


def test_every_definition_is_used(root):
    text = (root / loading.SCHEMA).read_text(encoding="utf-8")
    names = [name for name in yaml.safe_load(text)["$defs"] if name != "keys"]
    assert [name for name in names if f'"#/$defs/{name}"' not in text] == []


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
    shape = {"properties": {"x": {"type": "string", "description": "a|b"}}}
    assert r"| a\|b |" in reference.page(shape)


def test_every_setting_that_the_code_sorts_is_a_key(shape):
    known = schema.part_of(shape["properties"]["judges"], "any")["properties"]
    sorted_ = {*judges.IDENTITY, *judges.FORMATS, *judges.WIRE, *judges.RUN_SETTINGS, *judges.ENDPOINT_SETTINGS}
    assert sorted_ <= set(known)


def test_what_the_page_says_of_new_requests_is_what_names_a_request(shape):
    judge = {"engine": "openai", "model": "m", "simulation": {}, "answer_format": "score"}
    schema.fill_defaults(judge, schema.part_of(shape["properties"]["judges"], "any"))

    def identity(**change):
        return judges.identity(judge | change, judges.FORMATS)

    other = {key: "another" if key == "model" else {"arguments": {"a": 1}} for key in judge}
    named = {key for key in judge if identity(**{key: other[key]}) != identity()}
    told = {
        row.key.split("/")[2]
        for row in reference.rows(shape)
        if row.key.startswith("judges/") and "every prompt is a new request" in row.reruns
    }
    assert named == told
