"""Functions that stay fast for columns with millions of names."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def is_among(names: Iterable[str], others: Iterable[str]) -> np.ndarray:
    """True for each of `names` that is among `others`, as `Series.isin`, which takes ten times as long for text."""
    wanted = pa.array(names, pa.string(), from_pandas=True)
    return pc.is_in(wanted, pa.array(others, pa.string(), from_pandas=True)).to_numpy(zero_copy_only=False)
