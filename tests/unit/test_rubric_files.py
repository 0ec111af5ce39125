"""The rubrics that the project ships: what each file must satisfy for its levels to be told apart by their words."""

import difflib
import itertools
import re
from pathlib import Path

import pytest
import yaml

from rubric_order.datasets.rubrics import read_rubrics

ROOT = Path(__file__).resolve().parents[2]
N_LEVELS = {"flask": 5, "hanna": 9, "summeval": 9}
N_RUBRICS = {"flask": 12, "hanna": 6, "summeval": 4}
SHORT = ("hanna", "summeval")  # several of their criteria can stand in one prompt
MOST_ALIKE = 0.8
WORDS = re.compile(
    r"\b(?:level|score|rating)s?\b"
    r"|\b(?:previous|preceding|following|next|above|below) (?:one|description)\b"
    r"|\b(?:better|worse|higher|lower|stronger|weaker|more|less) than (?:the|an?) (?:one|other|previous|next)\b"
    r"|\bunlike\b",
    re.IGNORECASE,
)

FILES = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(ROOT.glob("resources/rubrics/*.yaml"))}
SHIPPED = {f"{name}-{entry['id']}": entry["levels"] for name, entries in FILES.items() for entry in entries}
TASKS = yaml.safe_load((ROOT / "resources/demo/tasks.yaml").read_text("utf-8"))
DEMO = {f"demo-{task['id']}": task["rubric"]["levels"] for task in TASKS}


def rubrics(*sources):
    return pytest.mark.parametrize("levels", [pytest.param(v, id=k) for source in sources for k, v in source.items()])


def similarity(levels):
    """The largest likeness of two descriptions, from 0 to 1, and their levels."""
    return max(
        (difflib.SequenceMatcher(None, levels[low], levels[high], autojunk=False).ratio(), low, high)
        for low, high in itertools.combinations(sorted(levels), 2)
    )


def test_every_file_of_rubrics_is_known_here():
    assert sorted(FILES) == sorted(N_LEVELS)


@pytest.mark.parametrize("name", N_LEVELS)
def test_a_file_can_be_read_and_has_as_many_rubrics_of_as_many_levels_as_it_should(name):
    read = read_rubrics(ROOT / f"resources/rubrics/{name}.yaml", name)
    assert len(read) == N_RUBRICS[name]
    assert {len(rubric.levels) for rubric in read.values()} == {N_LEVELS[name]}


def test_the_demo_has_twenty_rubrics_of_five_levels():
    assert len(DEMO) == 20
    assert all(sorted(levels) == [1, 2, 3, 4, 5] for levels in DEMO.values())


@rubrics(SHIPPED, DEMO)
def test_no_description_of_a_rubric_stands_twice(levels):
    assert len({" ".join(text.lower().split()) for text in levels.values()}) == len(levels)


@rubrics(SHIPPED, DEMO)
def test_no_two_descriptions_of_a_rubric_are_nearly_the_same(levels):
    largest, low, high = similarity(levels)
    assert largest < MOST_ALIKE, f"levels {low} and {high} are {largest:.2f} alike"


@rubrics(SHIPPED)  # the demo's descriptions hold amounts and times
def test_a_description_holds_no_digit(levels):
    assert not any(character.isdigit() for text in levels.values() for character in text)


@rubrics(SHIPPED, DEMO)
def test_a_description_names_no_level_and_compares_itself_with_none(levels):
    found = {level: match[0] for level, text in levels.items() if (match := WORDS.search(text))}
    assert not found


@rubrics(SHIPPED, DEMO)
def test_the_longest_description_of_a_rubric_is_at_most_twice_as_long_as_the_shortest(levels):
    lengths = [len(" ".join(text.split())) for text in levels.values()]
    assert max(lengths) <= 2 * min(lengths)


@pytest.mark.parametrize("name", SHORT)
def test_a_rubric_has_a_line_that_says_what_its_criterion_means(name):
    for entry in FILES[name]:
        assert isinstance(entry.get("short"), str), entry["id"]
        assert "\n" not in entry["short"].strip()
        assert 5 <= len(entry["short"].split()) <= 20, entry["id"]


@pytest.mark.parametrize(
    "text",
    ["Scores high", "a level of its own", "better than the one below", "unlike others", "the previous one"],
)
def test_a_description_that_gives_its_place_away_is_found(text):
    assert WORDS.search(text)
