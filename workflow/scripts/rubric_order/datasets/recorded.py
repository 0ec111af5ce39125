"""Recorded comparisons of any benchmark. They have no texts, so no items are made of them.

Option `benchmark` of a dataset's block of config is the name of the benchmark in the records, see ``docs/recorded.md``.
"""

from collections.abc import Iterator

from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair


class Recorded(Adapter):
    files = ()

    def read(self, benchmark: str | None = None) -> Iterator[Item | Pair]:
        """Refuse to make items: studies of recorded comparisons need none."""
        raise InputError(
            "adapter 'recorded': recorded comparisons have no texts; expected a study of probe pair_order with "
            "strategies: [recorded], and no table or figure of the texts"
        )
