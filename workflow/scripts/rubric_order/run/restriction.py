"""Restriction of a run to some of a config's judges: `only_judges`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from rubric_order import registry
from rubric_order.base.errors import InputError, nearest
from rubric_order.settings.base import Settings

if TYPE_CHECKING:
    from rubric_order.settings.config import Config

Block = TypeVar("Block", bound=Settings)
OF_STUDIES = ("halo", "golden_scores", "scales", "replication")  # statistics whose settings name studies
NEEDED = ("scales", "replication")  # statistics whose figures and tables are left out if no study remains
NAMING = ("studies", "also", "alone")  # keys that name studies, in blocks of these statistics, of figures and of tables


def apply(config: Config) -> Config:
    """Restrict studies to the judges of `only_judges`; studies without any of these go, with the figures and tables of
    these studies alone. Judges under `references` still write.
    """
    only = config.only_judges or []
    used = dict.fromkeys(judge for study in config.studies.values() for judge in study.judges)
    if unknown := [name for name in only if name not in used]:
        expected = f"expected judges of studies: {', '.join(used)}{nearest(unknown[0], used)}"
        raise InputError(f"config: only_judges: no study has judge {unknown[0]!r:.60}; {expected}")
    studies = {
        name: study.changed(judges=[judge for judge in study.judges if judge in only])
        for name, study in config.studies.items()
        if not {*study.judges}.isdisjoint(only)
    }
    statistics = {name: _restricted(getattr(config.statistics, name), studies) for name in OF_STUDIES}
    gone = {name for name in NEEDED if not getattr(statistics[name], "studies", None)}
    return config.changed(
        studies=studies,
        statistics=config.statistics.changed(**statistics),
        figures=_shown("figures", config.figures, studies, gone),
        tables=_shown("tables", config.tables, studies, gone),
    )


def _shown(
    kind: registry.Kind, blocks: Mapping[str, Settings], studies: Collection[str], gone: Collection[str]
) -> dict[str, Settings]:
    """Figures, or tables, that show one of `studies` or name none, and no statistic of `gone`."""
    changed = {name: _without(block, studies) for name, block in blocks.items()}
    return {
        name: block
        for name, block in changed.items()
        if block is not None and not {*registry.behind(registry.shown(kind, name).statistics)}.intersection(gone)
    }


def _restricted(block: Block, studies: Collection[str]) -> Block:
    named = {key: getattr(block, key) for key in NAMING if getattr(block, key, None)}
    return block.changed(**{key: [name for name in listed if name in studies] for key, listed in named.items()})


def _without(block: Block, studies: Collection[str]) -> Block | None:
    """A block without the studies that are gone; None if none remains. The first that remains of `also` replaces
    `study`.
    """
    if getattr(block, "study", None) not in (None, *studies):
        also = [name for name in getattr(block, "also", None) or [] if name in studies]
        return block.changed(study=also[0], also=also[1:]) if also else None
    rest = _restricted(block, studies)
    return None if getattr(block, "studies", None) and not getattr(rest, "studies", None) else rest
