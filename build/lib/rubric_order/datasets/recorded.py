"""Comparisons of any benchmark that are recorded: texts are not there, and no items are made of them.

A block of config names the benchmark as the records name it (option `benchmark`); see ``docs/recorded.md``.
"""

from collections.abc import Iterator

from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair


class Recorded(Adapter):
    files = ()

    def read(self, benchmark: str | None = None) -> Iterator[Item | Pair]:
        """Refuse to make items.

        Args:
            benchmark: as the records name it; None for any that no other adapter reads.

        Raises:
            InputError: always; studies of recorded comparisons need no items.
        """
        raise InputError(
            "adapter 'recorded': recorded comparisons have no texts; expected a study of probe pair_order with "
            "strategies: [recorded], and no table or figure of the texts"
        )
