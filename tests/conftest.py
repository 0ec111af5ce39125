"""Fixtures of all tests: the project's files, a judge with all defaults, and a small dataset."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import forks
import hypothesis
import pandas as pd
import pytest
from factories import ROOT, complete_judge

from rubric_order import datasets
from rubric_order.datasets.rubrics import Rubric
from rubric_order.prompts import frames
from rubric_order.settings.judges import Judge

hypothesis.settings.register_profile("project", deadline=None)  # how fast a shared machine is says nothing about us
hypothesis.settings.load_profile("project")


def pytest_collection_finish() -> None:
    """Spare the modules and tests that were collected: Python looked for garbage in them again and again."""
    forks.spare_garbage()


@pytest.fixture(autouse=True)
def _level_of_the_log() -> Iterator[None]:
    """Give the log its level back: a command that runs in this process sets it, and later tests read messages."""
    log = logging.getLogger("rubric_order")
    level = log.level
    yield
    log.setLevel(level)


@pytest.fixture
def root() -> Path:
    """The project."""
    return ROOT


@pytest.fixture
def house_style() -> Iterator[None]:
    """Figures in the style of the workflow, for a page; what a test sets otherwise is gone after it."""
    from matplotlib import pyplot, rc_context

    from rubric_order.figures import output

    with rc_context():
        output.use_style(ROOT / "resources/rubric_order.mplstyle")
        yield
    pyplot.close("all")


@pytest.fixture
def mirror() -> Path:
    """A folder with the datasets as published; tests that need it are skipped where there is none."""
    folder = os.environ.get("RUBRIC_ORDER_MIRROR")
    if not folder:
        pytest.skip("RUBRIC_ORDER_MIRROR names no folder with the published datasets")
    return Path(folder)


@pytest.fixture
def judge() -> Judge:
    return complete_judge()


@pytest.fixture
def template():
    return frames.load_template(ROOT / "resources/templates/score.jinja")


@pytest.fixture
def small_dataset() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two groups of two candidates, five levels; one item has no reference answer."""
    items = []
    for group in ("ebb", "flow"):
        rubric = Rubric(group, "quality", f"Is {group} explained?", tuple(f"{group} level {k}" for k in range(1, 6)))
        for candidate, level in (("a", 2), ("b", 5)):
            items.append(
                datasets.Item(
                    where=f"{group}, {candidate}",
                    item_id=f"{group}-{candidate}",
                    group_id=group,
                    candidate=candidate,
                    instruction=f"Explain {group}.",
                    response=f"{candidate} explains {group}.",
                    rubric=rubric,
                    reference=None if group == "ebb" else f"The best explanation of {group}.",
                    human_scores=[level],
                )
            )
    return datasets.prepare("small", items)
