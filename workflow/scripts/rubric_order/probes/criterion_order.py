"""The order of the criteria in a prompt that asks for the score of one text under each of them.

In a crossed design the prompt also lists the score levels of every criterion, and their order, the same for all
criteria, is varied together with that of the criteria.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pandas as pd
from jinja2 import Template

from rubric_order.base.errors import InputError
from rubric_order.datasets import rubrics
from rubric_order.parsing import several_scores
from rubric_order.probes import Unit
from rubric_order.prompts import frames

TEXT = ["dataset", "group_id", "candidate", "instruction", "response"]  # what items about one text share


def texts(items: pd.DataFrame, rubric_table: pd.DataFrame) -> pd.DataFrame:
    """Each text with its criteria.

    Returns:
        One row a text, in the order of the items: `item_id` (id of the text: group and candidate), dataset, group_id,
        candidate, instruction, response, and as lists over its criteria in the order of the items `criterion_ids`,
        `criterion_items` (ids of the items), `criterion_names` (as the prompt writes them), `criterion_rubrics` and
        `criterion_human_scores`.

    Raises:
        InputError: an item has no rubric; a text has fewer than two criteria, one criterion twice, or two criteria that
            are called the same.
    """
    dataset = items["dataset"].iloc[0] if len(items) else ""
    unscored = items[items["rubric_id"].isna()]
    if len(unscored):
        raise InputError(f"item {unscored['item_id'].iloc[0]!r} of dataset {dataset!r} has no rubric: it is for pairs")
    table = items.merge(rubric_table[["rubric_id", "name"]], on="rubric_id", validate="many_to_one")
    rows = []
    for key, block in table.groupby(TEXT, sort=False):
        rows.append(
            dict(zip(TEXT, key, strict=True))
            | {
                "criterion_ids": block["criterion"].tolist(),
                "criterion_items": block["item_id"].tolist(),
                "criterion_names": block["name"].tolist(),
                "criterion_rubrics": block["rubric_id"].tolist(),
                "criterion_human_scores": block["human_score"].tolist(),
            }
        )
    units = pd.DataFrame(rows)
    # Several texts of one candidate about one prompt are counted.
    place = units.groupby(["group_id", "candidate"]).cumcount()
    several = [f"-{number + 1}" if number else "" for number in place]
    units.insert(0, "item_id", units["group_id"] + "-" + units["candidate"] + several)
    for unit in units.itertuples():
        _check(unit, f"dataset {dataset!r}: text {unit.item_id!r:.60}")
    if repeated := units["item_id"][units["item_id"].duplicated()].tolist():
        raise InputError(f"dataset {dataset!r}: two texts would be called {repeated[0]!r:.60}; rename a candidate")
    return units


def _check(unit: tuple, where: str) -> None:
    if len(unit.criterion_ids) < 2:
        found = unit.criterion_ids[0]
        raise InputError(f"{where} has the one criterion {found!r:.60}; probe criterion_order needs two or more")
    for kind, keys in (
        ("criterion", unit.criterion_ids),
        ("criterion called", [" ".join(several_scores.words(name)) for name in unit.criterion_names]),
    ):
        for place, key in enumerate(keys):
            if not key or key in keys[:place]:
                raise InputError(
                    f"{where}: {kind} {key!r:.60} stands {'twice' if key else 'there'}; expected different names"
                )


def keys(items: pd.DataFrame, rubric_table: pd.DataFrame) -> pd.DataFrame:
    """One row a text; `criterion` and `human_score` are left to the lists."""
    table = texts(items, rubric_table).drop(columns=["instruction", "response", "criterion_rubrics"])
    return table.assign(criterion=None, human_score=float("nan"))


def units(items: pd.DataFrame, rubric_table: pd.DataFrame, *, n: int, template: Template) -> Iterator[Unit]:
    """Each text with all its criteria.

    Raises:
        InputError: see `texts`; or, when a crossed prompt is rendered, a rubric has no scale of n levels.
    """
    rubric_of = rubric_table.set_index("rubric_id").to_dict("index")
    for text in texts(items, rubric_table).itertuples():
        count = len(text.criterion_ids)
        frame = frames.frame(template, n=count, scale=n, instruction=text.instruction, response=text.response)
        described = [rubric_of[rubric_id] | {"rubric_id": rubric_id} for rubric_id in text.criterion_rubrics]
        yield Unit(text.item_id, count, partial(_prompt, frame, described, n), tuple(text.criterion_names))


def _prompt(frame: frames.Frame, described: Sequence[Mapping], n: int, ordering: Sequence[int]) -> str:
    """The prompt for an ordering of the criteria, which one of the score levels can follow."""
    count = len(described)
    return frame.fill([_block(described[option - 1], n, ordering[count:]) for option in ordering[:count]])


def _block(rubric: Mapping, n: int, levels: Sequence[int]) -> str:
    """What the prompt says of one criterion."""
    lines = [f"- {rubric['name']}: {rubric['short']}"]
    if len(levels):
        try:
            descriptions = rubrics.at_scale(tuple(rubric["levels"]), n)
        except ValueError as error:
            raise InputError(f"scale {n}: rubric {rubric['rubric_id']!r}: {error}") from None
        lines += frames.option_lines(descriptions, levels)
    return "\n".join(lines)
