"""Texts and rubrics of a study: the user's table, or the sample that the package brings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from rubric_order import datasets
from rubric_order.base import files, gold
from rubric_order.base.errors import InputError
from rubric_order.datasets.custom import FORMATS

SAMPLE, OWN = "sample", "items"  # ids of datasets
SAMPLE_NOTE = (
    "Nobody rated the sample: in the place of human scores stand intended levels, which the texts were written for."
)


@dataclass(frozen=True)
class Inputs:
    """Items of a study: tables of the first `limit` groups (None for all), and the adapter's `sources`, of user or
    package.
    """

    dataset: str
    adapter: str
    sources: dict[str, Path]
    tables: datasets.Tables
    limit: int | None

    @property
    def n(self) -> int:
        """Number of score levels, the same for all rubrics."""
        counts = sorted({len(levels) for levels in self.tables.rubrics["levels"]})
        if len(counts) > 1:
            numbers = ", ".join(map(str, counts))
            raise InputError(f"{self.named}: rubrics with {numbers} levels; expected one number of levels in a study")
        return counts[0]

    @property
    def named(self) -> str:
        return ", ".join(map(str, self.sources.values()))

    @property
    def settings(self) -> dict[str, Any]:
        """Adapter, limit and options, as `prepare_items` takes them."""
        return {"adapter": self.adapter, "limit": self.limit, "options": {}}

    def copied_as(self) -> dict[str, str]:
        """Dictionary from the name that the adapter has for each file to the file's name in the study's folder."""
        return {name: f"{name}{path.suffix.lower()}" for name, path in self.sources.items()}

    def copy_to(self, folder: Path) -> None:
        for name, copied in self.copied_as().items():
            files.copy(self.sources[name], folder / copied)

    def block(self, folder: Path = Path()) -> dict[str, Any]:
        """The block of config, with paths in the study's folder, which is relative to where the config lies."""
        paths = {name: {"path": str(folder / copied)} for name, copied in self.copied_as().items()}
        label = "Sample of rubric-order" if self.dataset == SAMPLE else self.sources["items"].stem
        block: dict[str, Any] = {"adapter": self.adapter, "label": label, "files": paths}
        block |= {} if self.limit is None else {"limit": self.limit}
        block |= {"gold": gold.INTENDED} if self.dataset == SAMPLE else {}
        return block | ({} if self.n == 5 else {"human_scale": [1, self.n]})


def read(items: Path | None, rubric: Path | None, *, groups: int | None = None) -> Inputs:
    """Items of a study, checked: the user's table, or the sample (None); `rubric` is a YAML file where the table has
    none.
    """
    if items is None:
        if rubric is not None:
            raise InputError("--rubric: it is for texts of your own; expected --items FILE with it")
        sample = Path(str(resources.files("rubric_order.datasets"))) / "sample/tasks.yaml"
        return _read(SAMPLE, "demo", {"tasks": sample}, groups)
    if items.suffix.lower() not in FORMATS:
        raise InputError(f"{items}: expected a file that ends in {', '.join(FORMATS)}")
    return _read(OWN, "custom", {"items": items} | ({} if rubric is None else {"rubrics": rubric}), groups)


def _read(dataset: str, adapter: str, sources: dict[str, Path], groups: int | None) -> Inputs:
    entries = datasets.read(adapter, sources, {}, dataset=dataset)
    inputs = Inputs(dataset, adapter, sources, datasets.prepare(dataset, entries, limit=groups), groups)
    _ = inputs.n  # refuses several scales
    return inputs
