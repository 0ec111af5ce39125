"""Settings of judges whose answers exist already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Len

from rubric_order.settings.base import Levels, Role, setting
from rubric_order.settings.judges.judge import Judge
from rubric_order.settings.judges.simulated import Simulation

if TYPE_CHECKING:
    from rubric_order.settings.studies import Dataset

LETTERS = "ABCDEFGHIJK"
LETTERED_STYLES = ("mcq",)  # prompt styles of recorded answers whose options are A, B, ..., lowest score first
READ: dict[str, Any] = {"role": Role.IDENTITY, "reruns": "recorded answers and below"}


class Recorded(Judge):
    """A judge whose answers exist already, in files."""

    KIND = "recorded"
    ASKED = False

    engine: Literal["recorded"] = setting(..., role=Role.IDENTITY)
    files: Annotated[list[str], Len(1)] = setting(
        ..., "Files with the judge's answers: JSON Lines, compressed by gzip or not, or Parquet.", **READ
    )
    prompt_style: str | None = setting(
        None,
        "Prompt style whose answers are read, if the files contain several; null: answers without a prompt style.",
        **READ,
    )
    adapters: list[str] | None = setting(
        None, "Adapters of the datasets that the answers are about; null: any adapter.", **READ
    )
    compares: bool = setting(
        False, "Whether each answer chooses between two texts. If false, each answer scores one text.", **READ
    )
    labels: dict[str, str] | None = setting(
        None,
        "Meaning of each written label in comparisons of any benchmark: `A`, `B`, `tie`, `none` or the name of a"
        " candidate, such as {'1': A, '2': B, '0': tie}. A map in a record takes precedence.",
        **READ,
    )
    n: Levels = setting(5, "Number of score levels.", **READ)
    duplicates: Literal["keep_and_report", "keep", "refuse"] = setting(
        "keep_and_report",
        "What is done about several answers to one prompt: they are kept as repeats, with a warning"
        " (`keep_and_report`) or without one (`keep`), or they are an error (`refuse`).",
        **READ,
    )
    unknown: Literal["refuse", "skip"] = setting(
        "refuse",
        "What is done about answers on items that the dataset does not have: they are an error (`refuse`), or they are"
        " left out (`skip`).",
        **READ,
    )

    @property
    def reading(self) -> dict[str, Any]:
        """Arguments by which the judge's records are read, see `recorded.plans.read`."""
        return {"prompt_style": self.prompt_style, "duplicates": self.duplicates, "labels": self.labels}

    def is_about(self, dataset: Dataset) -> bool:
        return self.adapters is None or dataset.adapter in self.adapters

    @property
    def option_letters(self) -> str | None:
        return LETTERS[: self.n] if self.prompt_style in LETTERED_STYLES else None

    @property
    def draws_at(self) -> float | None:
        """None, since it is not known how recorded answers were drawn."""
        return None

    def _problems_of_profile(self) -> Iterator[str]:
        return iter(())


class Rehearsed(Recorded):
    """A recorded judge in a rehearsal. A simulated judge gives the answers in place of its records."""

    simulation: Simulation = setting(..., role=Role.IDENTITY)
