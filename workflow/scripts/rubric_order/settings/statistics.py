"""Settings of statistics, in blocks that their records hold. Those of other packages `registered_statistics` adds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from rubric_order import catalogue, registry
from rubric_order.base.errors import InputError, nearest
from rubric_order.settings import results
from rubric_order.settings.base import Count, Many, Resamples, Seed, Settings, Share, setting


class Bootstrap(Settings):
    """Settings of intervals by resampling."""

    resamples: Resamples = setting(1000, "Number of bootstrap resamples.")
    confidence: Share = setting(
        0.95, "Confidence level of the intervals: the share of intervals that should contain the true value."
    )
    seed: Seed = setting(0, "Seed of the resampling.")


class Paired(Settings):
    """Settings of paired differences between strategies."""

    resamples: Resamples = setting(
        2000, "Number of bootstrap resamples for differences between strategies in probe `criterion_order`."
    )


class Direction(Settings):
    """Settings of the direction of position selection."""

    near_uniform: Share = setting(
        0.2,
        "Largest distance from the uniform share, as a fraction of that share, at which positions count as near"
        " uniform. The intervals of all positions must lie within it.",
    )


class Shared(Settings):
    """Settings of statistics that are no statistic's own."""

    bootstrap: Bootstrap = setting(factory=Bootstrap, reruns="the statistics that have intervals, and what shows them")
    paired: Paired = setting(factory=Paired, reruns="`criteria_agreement` and what shows it")
    direction: Direction = setting(factory=Direction, reruns="`position_selection` and what shows it")


if TYPE_CHECKING:

    class Statistics(Shared):
        """Settings of statistics."""

        def __getattr__(self, name: str) -> Any:
            """The block of a statistic, from its record."""
else:
    _MODELS = {
        name: results.block_model(name, block)
        for name in registry.ours("statistics")
        if (block := catalogue.STATISTICS[name].block)
    }
    Statistics = create_model(
        "Statistics", __base__=Shared, **{name: (model, setting(factory=model)) for name, model in _MODELS.items()}
    )


def registered_statistics(names: Iterable[str]) -> type[Statistics]:
    """The model of `Statistics` with the blocks of some statistics of other packages.

    Args:
        names: names of statistics. Statistics without a block of their own add nothing.

    Raises:
        InputError: a package is faulty, see `registry.load`; it has a block with the name of one of our blocks; or its
            statistic takes settings that do not exist.
    """
    entries = {name: registry.statistic(name) for name in names}
    blocks: dict[str, Any] = {}
    for name, entry in entries.items():
        if (block := results.package_block(name, entry.block)) is not None:
            if name in Statistics.model_fields:
                raise InputError(f"{registry.load(name).where}: a block of ours has this name; expected another one")
            blocks[name] = (block, setting(factory=block, reruns=f"`{name}` and what shows it"))
    model = create_model("Statistics", __base__=Statistics, **blocks) if blocks else Statistics
    for name, entry in entries.items():
        for path in entry.settings:
            if problem := _problem_of_path(model, path):
                raise InputError(f"{registry.load(name).where}: statistic: settings: {path!r:.80} {problem}")
    return model


def _problem_of_path(model: type[Statistics], path: str) -> str:
    """Problem of a path in `catalogue.Statistic.settings`; empty if the path has no problem."""
    block, _, key = path.partition("/")
    field = model.model_fields.get(block)
    if field is None:
        return f"is no block under statistics{nearest(block, [*model.model_fields])}"
    annotation: Any = field.annotation
    keys = annotation.model_fields
    return f"has no such key{nearest(key, [*keys])}" if key and key not in keys else ""


class Reads(Settings):
    """Choice of the single reads that a page shows."""

    moved: Many = setting(
        40,
        "Number of items that the order moves most, for each judge, dataset, strategy, scale, condition and profile.",
    )
    failed: Many = setting(10, "Number of further items, which are those with the most reads without a score.")
    drawn: Many = setting(10, "Number of further items, which are drawn at random from the rest.")
    reads: Count = setting(40, "Largest number of reads of an item to show.")
    characters: Count = setting(20000, "Largest number of characters of a prompt or an answer to show.")
    seed: Seed = setting(0, "Seed of the random draw.")
