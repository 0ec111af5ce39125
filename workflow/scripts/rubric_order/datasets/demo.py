"""The embedded demo: a YAML list of tasks, each with its own rubric, a reference answer and its responses.

Nobody rated them: the level for which a response was written stands for a human score (``gold: intended``).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, clean
from rubric_order.datasets.rubrics import Rubric, check_levels


class Demo(Adapter):
    files = ("tasks",)

    def read(self, tasks: Path, responses: int | None = None) -> Iterator[Item]:
        """Read the tasks; of each only the first `responses`. The first responses of the 20 tasks have each level four
        times.
        """
        if responses is not None and (type(responses) is not int or responses < 1):
            raise InputError(f"option 'responses': expected a whole number from 1, found {responses!r:.60}")
        entries = files.read_yaml(tasks)
        if not isinstance(entries, list):
            raise InputError(f"{tasks}: expected a list of tasks, found {type(entries).__name__}")
        for number, task in enumerate(entries, start=1):
            where = f"{tasks}: task {number}"
            _require(task, ("id", "category", "instruction", "reference", "responses"), where)
            where = f"{where} ({files.listed([str(task['id'])])})"
            rubric = _rubric(task, where)
            if not isinstance(task["responses"], list) or not task["responses"]:
                raise InputError(f"{where}: field 'responses': expected a list, found {task['responses']!r:.60}")
            for place, response in enumerate(task["responses"][:responses], start=1):
                where_response = f"{where}: response {place}"
                _require(response, ("candidate", "level", "text"), where_response)
                level = response["level"]
                if rubric is not None and (type(level) is not int or not 1 <= level <= len(rubric.levels)):
                    raise InputError(
                        f"{where_response}: field 'level': expected 1 to {len(rubric.levels)}, found {level!r:.60}"
                    )
                yield Item(
                    where=where_response,
                    item_id=f"{task['id']}-{response['candidate']}",
                    group_id=task["id"],
                    candidate=response["candidate"],
                    instruction=task["instruction"],
                    response=response["text"],
                    reference=task["reference"],
                    rubric=rubric,
                    human_scores=[response["level"]],
                    category=task["category"],
                )


def _rubric(task: dict[str, Any], where: str) -> Rubric | None:
    if task.get("rubric") is None:
        return None
    _require(task["rubric"], ("criterion", "levels"), f"{where}: rubric")
    levels = check_levels(task["rubric"]["levels"], f"{where}: rubric: levels")
    return Rubric(task["id"], "quality", clean(task["rubric"]["criterion"], f"{where}: rubric: criterion"), levels)


def _require(entry: object, fields: tuple[str, ...], where: str) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"{where}: expected a mapping, found {type(entry).__name__}")
    for field in fields:
        if field not in entry:
            raise InputError(f"{where}: field {field!r} is missing")
