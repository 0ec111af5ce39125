"""Keys of config that most figures share: estimates to show (`View`) and sizes (`Layout`)."""

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
    """Values of the estimates that a figure shows; it uses those fields that its block of config has.

    `dataset` can be `EVERY`; `readouts` that a judge lacks are left out; `cluster` is the unit that is sampled.
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
        """Rows of a table of estimates with the view's values in the columns `keys`, and `values` in others.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"study": ["s", "s", "t"], "quantity": ["share", "cramers_v", "share"]})
        >>> View(study="s").rows(table, "study", quantity="share").index.tolist()
        [0]
        """
        return rows_with(table, **{key: getattr(self, key) for key in keys}, **values)


@dataclass(frozen=True)
class Layout:
    """Inches of a figure's width and of a panel's height, or of one row in a panel (NaN without one); most panels
    abreast.
    """

    width_in: float = PRESETS["page"].width_in
    height_in: float = math.nan
    columns: int = 1


def draw(module: ModuleType, *tables: pd.DataFrame, **keywords: Any) -> Figure:
    """Draw a figure by the module's `draw` from `tables`, and from keywords: labels, tables and the keys of its
    block.
    """
    keywords = {"height_in" if key in LENGTHS else key: value for key, value in keywords.items()}
    view, layout = View(**_taken(keywords, View.__annotations__)), Layout(**_taken(keywords, Layout.__annotations__))
    figure: Figure = module.draw(*tables, view=view, layout=layout, **keywords)
    return figure


def _taken(keywords: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: keywords.pop(name) for name in names if name in keywords}
