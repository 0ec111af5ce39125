"""Agreement of judges that make choices about the same prompts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.intervals import Interval
from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row
from rubric_order.methods.comparisons import comparison_reads, series
from rubric_order.methods.uncertainty import resampling

NEEDED: tuple[str, ...] = ("unit_id", "group_id", "benchmark", "task", "candidate", "candidates", "ordering", "repeat")
NEEDED += ("score", "position", "pattern")
SHARED = [key for key in KEYS if key != "judge"]


class Panel(NamedTuple):
    """Choices of several judges in the same prompts, (prompts, judges), from 1, or `series.TIE`, `series.NONE`."""

    about: Row
    judges: list[str]
    reads: pd.DataFrame
    winners: np.ndarray
    is_read: np.ndarray

    @property
    def p(self) -> int:
        return int(self.about["n"])

    def common(self) -> "Panel":
        """The prompts that every judge has read."""
        all_read = self.is_read.all(axis=1)
        reads = self.reads[all_read].reset_index(drop=True)
        return self._replace(reads=reads, winners=self.winners[all_read], is_read=self.is_read[all_read])

    def series(self) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """Comparisons that are read in all orders; their rows in `reads` (n, n_orders), and the candidate at each
        position (n, n_orders, p).
        """
        reads = self.reads.assign(row=np.arange(len(self.reads)))
        size = reads.groupby("unit_id")["order"].transform("size")
        reads = reads[(size == size.max()) & (size > 1)]
        if reads.empty:
            return reads, np.empty((0, 0), dtype=int), np.empty((0, self.p), dtype=int)
        rows = reads["row"].to_numpy().reshape(-1, int(size.max()))
        orders = np.array([[int(digit) for digit in order] for order in reads["order"]]).reshape(*rows.shape, self.p)
        return reads.drop_duplicates("unit_id"), rows, orders


def panels(tables: Iterable[pd.DataFrame], forms: Mapping[str, Sequence[str]]) -> Iterator[Panel]:
    """Panels of two or more judges with the same `SHARED` and benchmark, each judge by one run
    (`comparison_reads.first_run`). `forms`: those that count, by benchmark.
    """
    keys = [*SHARED, "benchmark"]
    settings: dict[tuple[Any, ...], dict[str, pd.DataFrame]] = {}
    for table in tables:
        for key, block in table.groupby([*keys, "judge"], sort=True):
            details = dict(zip(keys, key[:-1], strict=True))
            reads = comparison_reads.first_run(comparison_reads.prepared(block, forms.get(details["benchmark"])))
            choices = reads[["unit_id", "order", "group_id", "task", "candidate", "candidates", "winner"]]
            settings.setdefault(key[:-1], {})[key[-1]] = choices.set_index(["unit_id", "order"])
    for key in sorted(settings):
        judges = dict(sorted(settings[key].items()))
        if len(judges) > 1:
            winners = pd.concat({name: part["winner"] for name, part in judges.items()}, axis=1).sort_index()
            details = pd.concat([part.drop(columns="winner") for part in judges.values()])
            details = details[~details.index.duplicated()].loc[winners.index].reset_index()
            numbers = winners.fillna(series.NONE).to_numpy(dtype=int)
            yield Panel(dict(zip(keys, key, strict=True)), list(winners), details, numbers, winners.notna().to_numpy())


def counts(winners: np.ndarray, p: int) -> np.ndarray:
    """Number of judges that make each choice, a tie first, shape (prompts, judges) -> (prompts, p + 1)."""
    return (winners[:, :, None] == np.arange(p + 1)).sum(axis=1)


def off_the_mode(winners: np.ndarray, p: int) -> np.ndarray:
    """Number of judges with another than the commonest choice. Source: Shi et al., Judging the Judges, Appendix C.2."""
    votes = counts(winners, p)
    return votes.sum(axis=1) - votes.max(axis=1)


def majority(winners: np.ndarray, p: int) -> np.ndarray:
    """Commonest choice of each prompt, shape (prompts, judges) -> (prompts,); `series.TIE` if several are commonest."""
    votes = counts(winners, p)
    most = votes.max(axis=1)
    several = (votes == most[:, None]).sum(axis=1) > 1
    return np.where(most == 0, series.NONE, np.where(several, series.TIE, votes.argmax(axis=1)))


def kappa(one: np.ndarray, other: np.ndarray, cluster: np.ndarray, p: int, confidence: float) -> Interval:
    """Cohen's kappa of two judges' choices, 0 (tie) to p, with the jackknife's interval over clusters."""
    eye = np.eye(p + 1)
    table = np.column_stack([np.ones(len(one)), one == other, eye[one], eye[other]])
    sums = resampling.left_out_sums(table, cluster)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = sums[:, 1:] / sums[:, :1]
        chance = (shares[:, 1 : p + 2] * shares[:, p + 2 :]).sum(axis=1)
        values = np.where(chance < 1, (shares[:, 0] - chance) / (1 - chance), np.nan)
    return resampling.jackknife_t(values, confidence, sizes=resampling.part_sizes(cluster)).interval
