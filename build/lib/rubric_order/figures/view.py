"""Keys that most figures share: estimates to show (`View`) and sizes (`Layout`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rubric_order.base.keys import DEFAULT_PROFILE, EVERY
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import rows_with
from rubric_order.figures.presets import LENGTHS, PRESETS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Key: TypeAlias = Literal["study", "profile", "strategy", "n", "dataset", "readout", "cluster"]


@dataclass(frozen=True)
class View:
    """Estimates that a figure shows. It reads those fields that its block of config has.

    Attributes:
        study, profile, strategy, n, readout: reads behind the estimates.
        dataset: one of the study, or `EVERY` for all of them together.
        readouts: of a figure that shows several; what a judge lacks is left out.
        cluster: ``item`` or ``group``, which counts as the sample; some figures know others.
    """

    study: str = ""
    profile: str = DEFAULT_PROFILE
    strategy: str = ""
    n: int = 0
    dataset: str = EVERY
    readout: Readout | None = None
    readouts: Sequence[Readout] = ()
    cluster: str = "group"

    def rows(self, table: pd.DataFrame, *keys: Key, **values: object) -> pd.DataFrame:
        """Rows of a table of estimates that have the values of the view in some columns, and others in further ones.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"study": ["s", "s", "t"], "quantity": ["share", "cramers_v", "share"]})
        >>> View(study="s").rows(table, "study", quantity="share").index.tolist()
        [0]
        """
        return rows_with(table, **{key: getattr(self, key) for key in keys}, **values)


@dataclass(frozen=True)
class Layout:
    """Sizes of a figure.

    Attributes:
        width_in: width of the figure in inches.
        height_in: height in inches of a panel or of one row of it, as config has it; NaN where it follows from others.
        columns: panels side by side, at most.
    """

    width_in: float = PRESETS["page"].width_in
    height_in: float = math.nan
    columns: int = 1


def draw(module: ModuleType, *tables: pd.DataFrame, **keywords: Any) -> Figure:
    """Draw a figure from its block of config.

    Args:
        module: has `draw`, which takes tables, a view, a layout, labels, and each further key of the block by name.
        tables: statistics that the figure shows; they can be given by name too.
        keywords: labels, and the block.
    """
    keywords = {"height_in" if key in LENGTHS else key: value for key, value in keywords.items()}
    view, layout = View(**_taken(keywords, View.__annotations__)), Layout(**_taken(keywords, Layout.__annotations__))
    figure: Figure = module.draw(*tables, view=view, layout=layout, **keywords)
    return figure


def _taken(keywords: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Keywords of some names, which are taken out of the others."""
    return {name: keywords.pop(name) for name in names if name in keywords}
