"""HANNA (Chhun et al. 2022, 2024, github.com/dig-team/hanna-benchmark-asg): 96 human stories, three raters, six
criteria.

Stories are the distinct (prompt, human story) pairs; row `Human` of the ratings lists the scores in their order.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, instructions
from rubric_order.datasets.rubrics import read_rubrics

N_STORIES = 96
RATERS = (1, 2, 3)
COLUMNS = {
    "relevance": "RE",
    "coherence": "CH",
    "empathy": "EM",
    "surprise": "SU",
    "engagement": "EG",
    "complexity": "CX",
}
TASK = "Write a short story for the following prompt.\n\n{}"


class Hanna(Adapter):
    files = ("stories", "ratings", "rubrics")

    def read(self, stories: Path, ratings: Path, rubrics: Path, task: str = TASK) -> Iterator[Item]:
        """Items of all stories and criteria; in `task`, a sentence about the task of the writer, the prompt replaces
        ``{}``.
        """
        asked = instructions(task, "hanna")
        scale = read_rubrics(rubrics, "hanna")
        absent = [criterion for criterion in COLUMNS if criterion not in scale]
        if absent:
            raise InputError(f"{rubrics}: no rubric for criterion {absent[0]!r}; found {files.listed(scale)}")
        scores = read_ratings(ratings)
        for number, (prompt, story) in enumerate(read_stories(stories)):
            for criterion in COLUMNS:
                yield Item(
                    where=f"{stories}: story {number + 1}",
                    item_id=f"{number:03d}-{criterion}",
                    group_id=f"{number:03d}",
                    candidate="human",
                    instruction=asked(prompt),
                    response=story,
                    rubric=scale[criterion],
                    human_scores=[scores[criterion, rater][number] for rater in RATERS],
                )


def read_stories(path: Path) -> list[tuple[str, str]]:
    """Pairs of a prompt and a story that a person wrote for it, in the order of the file."""
    rows = files.read_csv(path, ("Prompt", "Human"))
    pairs = list(dict.fromkeys((row["Prompt"], row["Human"]) for _, row in rows))
    if len(pairs) != N_STORIES:  # with another number, the ratings may belong to other stories
        raise InputError(f"{path}: expected {N_STORIES} distinct human stories, found {len(pairs)}")
    return pairs


def read_ratings(path: Path) -> dict[tuple[str, int], list[int]]:
    """Dictionary from each (criterion, rater) to the scores from 1 to 5, in the order of the stories."""
    columns = [f"Human {rater} {code}" for code in COLUMNS.values() for rater in RATERS]
    humans = [row for _, row in files.read_csv(path, ("Model", *columns)) if row["Model"] == "Human"]
    if len(humans) != 1:
        raise InputError(f"{path}: expected one row with Model 'Human', found {len(humans)}")
    ratings = {}
    for criterion, code in COLUMNS.items():
        for rater in RATERS:
            column = f"Human {rater} {code}"
            where = f"{path}: row 'Human', column {column!r}"
            try:
                values = ast.literal_eval(humans[0][column])
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                raise InputError(f"{where}: expected a list of scores, found {humans[0][column]!r:.60}") from None
            if not isinstance(values, list) or len(values) != N_STORIES:
                raise InputError(f"{where}: expected a list of {N_STORIES} scores, found {humans[0][column]!r:.60}")
            for story, value in enumerate(values, start=1):
                if type(value) is not int or not 1 <= value <= 5:
                    raise InputError(f"{where}: story {story}: expected a score from 1 to 5, found {value!r:.60}")
            ratings[criterion, rater] = values
    return ratings
