"""The order of the score levels in a rubric."""

from collections.abc import Iterator, Sequence

import pandas as pd
from jinja2 import Template

from rubric_order.base.errors import InputError
from rubric_order.datasets import rubrics
from rubric_order.probes import Unit
from rubric_order.prompts import frames

KEYS = ["dataset", "item_id", "group_id", "candidate", "criterion", "human_score"]


def keys(items: pd.DataFrame, rubric_table: pd.DataFrame) -> pd.DataFrame:
    return items[KEYS]


def units(items: pd.DataFrame, rubric_table: pd.DataFrame, *, n: int, template: Template) -> Iterator[Unit]:
    """Each item, its rubric cut to n levels.

    Raises:
        InputError: an item has no rubric, or a rubric has no such scale.
    """
    unscored = items[items["rubric_id"].isna()]
    if len(unscored):
        item = unscored.iloc[0]
        raise InputError(f"item {item['item_id']!r} of dataset {item['dataset']!r} has no rubric: it is for pairs")
    question, levels = {}, {}
    for rubric in rubric_table.itertuples():
        question[rubric.rubric_id] = rubric.question
        try:
            levels[rubric.rubric_id] = rubrics.at_scale(tuple(rubric.levels), n)
        except ValueError as error:
            raise InputError(f"scale {n}: rubric {rubric.rubric_id!r}: {error}") from None
    for item in items.itertuples():
        frame = frames.frame(
            template,
            instruction=item.instruction,
            response=item.response,
            reference=item.reference if isinstance(item.reference, str) else None,
            question=question[item.rubric_id],
            n=n,
        )
        yield Unit(item.item_id, n, _Prompt(frame, levels[item.rubric_id]))


class _Prompt:
    """A prompt but for its options."""

    def __init__(self, frame: frames.Frame, levels: Sequence[str]) -> None:
        self.frame, self.levels = frame, levels

    def __call__(self, ordering: Sequence[int]) -> str:
        return self.frame.fill(frames.option_lines(self.levels, ordering))
