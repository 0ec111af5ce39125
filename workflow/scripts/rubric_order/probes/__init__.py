"""Probes: what a study permutes in a prompt. One module a probe, behind one small interface."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

PROBES = ("score_order", "criterion_order")


@dataclass(frozen=True)
class Unit:
    """What one prompt is about.

    Attributes:
        item_id: the item that is judged.
        options: how many options are permuted.
        prompt: the user's message for an ordering of the options. In a crossed design an ordering of the score levels
            follows that of the options.
        criteria: names of the criteria in canonical order, where one answer scores several; else empty.
    """

    item_id: str
    options: int
    prompt: Callable[[Sequence[int]], str]
    criteria: tuple[str, ...] = ()


def load(probe: str) -> ModuleType:
    """The module of a probe.

    It has ``units(items, rubric_table, *, n, template)``, the units of one dataset at scale n, in the order in which
    they are read; and ``keys(items, rubric_table)``, a table of what the plan says of each unit beside its ``item_id``.
    """
    return importlib.import_module(f"rubric_order.probes.{probe}")
