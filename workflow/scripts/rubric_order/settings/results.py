"""Models of the blocks of figures and tables, made from their records. Other packages add models of their own."""

from __future__ import annotations

import functools
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import create_model

from rubric_order import registry
from rubric_order.base.errors import InputError
from rubric_order.settings import base
from rubric_order.settings.base import Settings, setting
from rubric_order.vocabulary import PRESET, Key


def block_model(name: str, block: Mapping[str, Key], parent: type[Settings] = Settings) -> type[Settings]:
    """The model of a block of plain keys, whose types are read with the names of ``settings/base.py``."""
    keys = type("Keys", (), {"__annotations__": {key: entry.type for key, entry in block.items()}})
    types = typing.get_type_hints(keys, vars(base), include_extras=True)
    fields: dict[str, Any] = {
        key: (types[key], setting(entry.default, entry.description, reruns=entry.reruns, otherwise=entry.otherwise))
        for key, entry in block.items()
    }
    return create_model(name, __base__=parent, **fields)


def plain_block(kind: registry.Kind, name: str) -> Mapping[str, Key]:
    """Keys of the block of one of our figures or tables."""
    block = registry.shown(kind, name).block or {}
    assert isinstance(block, Mapping)
    return block


@functools.cache
def model(kind: registry.Kind, name: str) -> type[Settings]:
    """The model of one result's block, made when a config names the result.

    Args:
        kind: ``figures`` or ``tables``.
        name: the result.

    Raises:
        InputError: the result comes from another package, and that package is faulty, see `registry.load`.
    """
    preset = {"preset": PRESET} if kind == "figures" else {}
    entry = registry.shown(kind, name)
    if registry.is_other(name):
        return block_model(f"{kind}_{name}", preset, package_block(name, entry.block) or Settings)
    block = block_model(f"{kind}_{name}", {**plain_block(kind, name), **preset})
    block.GONE = entry.gone
    return block


def defaults(kind: registry.Kind, name: str) -> dict[str, Any]:
    """Keys of a result's block with their defaults.

    Args:
        kind: ``figures`` or ``tables``.
        name: the result.

    Raises:
        InputError: the result comes from another package, and that package is faulty, see `registry.load`.
    """
    if not registry.is_other(name):
        return {key: entry.default for key, entry in plain_block(kind, name).items()}
    fields = model(kind, name).model_fields
    return {key: field.default for key, field in fields.items() if not field.is_required()}


def package_block(name: str, block: object) -> type[Settings] | None:
    """The model of a result's block that another package registers; None if it registers no model.

    Raises:
        InputError: the object is no model of settings; the message names the package.
    """
    if block is None or (isinstance(block, type) and issubclass(block, Settings)):
        return block
    where = registry.load(name).where
    raise InputError(f"{where}: block: expected a subclass of {Settings.__module__}.Settings, found {block!r:.80}")
