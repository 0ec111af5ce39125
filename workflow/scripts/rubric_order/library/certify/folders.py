"""The folder of a study: its name, and the one study to which it belongs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from rubric_order.base.errors import InputError
from rubric_order.contracts.contract import Contract
from rubric_order.contracts.items import ITEMS, RUBRICS
from rubric_order.library.certify.inputs import OWN, Inputs
from rubric_order.library.certify.judges import judge_id
from rubric_order.prompts import messages
from rubric_order.settings import judges, reading
from rubric_order.settings.base import Role, fields, plain, whole

STUDY = "certify"
# `balanced` shows each score equally often in every position. `single` is the usual ordering, which `balanced` has too.
STRATEGIES = ["balanced", "single"]
CONFIG, PAGE, SUMMARY, READS, ADAPTIVE = "certify.yaml", "card.html", "summary.json", "reads.csv", "adaptive.csv"
RESULTS = {"results", "data", PAGE, SUMMARY, READS, ADAPTIVE}  # what a run writes after the config
TEXT = ["item_id", "instruction", "response"]  # columns that make a text
DIGEST_BYTES = 3

Block = Mapping[str, Any]


def default(block: Block, usual: Block, inputs: Inputs) -> Path:
    """Default folder: named by judge, table of texts and the digest of unusual settings on which answers depend.

    Earlier versions named folders by less: one with the same study is used again. `usual` is the block without options.
    """
    names = [judge_id(str(block.get("label", "")))]
    if inputs.dataset == OWN:
        names.append(re.sub("[^a-z0-9]+", "_", inputs.sources["items"].stem.lower()).strip("_") or OWN)
    earlier = [Path(STUDY, "_".join(names[:length])) for length in range(1, len(names) + 1)]
    makes, usually = (_settings(one) | {"template": (_prompt(one) or "").rstrip("\n")} for one in (block, usual))
    # Settings that a later version adds do not rename a folder: they are usual.
    if unusual := {key: value for key, value in makes.items() if value != usually.get(key)}:
        text = json.dumps(unusual, sort_keys=True, default=str)
        names.append(hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest())
    folder = Path(STUDY, "_".join(names))
    for path in earlier if not folder.exists() else ():
        with contextlib.suppress(InputError):
            if (path / CONFIG).is_file() and not any(_differences(path, block, inputs)):
                return path
    return folder


def check(folder: Path, block: Block, inputs: Inputs) -> None:
    """Refuse a folder that has another study, or other files."""
    if (folder / CONFIG).exists():
        if difference := next(_differences(folder, block, inputs), None):
            raise InputError(f"{folder}: it has another study ({difference}); expected another --folder")
    elif folder.is_dir():
        # Not the lock, nor what is left of a config that a killed process was writing.
        names = {path.name for path in folder.iterdir() if not path.name.startswith(f".{STUDY}")}
        # Answers may have come after the rest of the folder was removed.
        paid = (folder / "results/store" / judge_id(str(block.get("label", "")))).is_dir()
        if names and not (paid and names <= RESULTS):
            raise InputError(f"{folder}: expected a new folder, or one of an earlier certify; found other files")


def prompt_copy(template: str) -> Path:
    """Path of the copy of a template in the folder of a study."""
    return Path("prompts", Path(template).name)


def _differences(folder: Path, block: Block, inputs: Inputs) -> Iterator[str]:
    """Words on what distinguishes the study in a folder from another. A table that shares half of the texts is the
    same.
    """
    path = folder / CONFIG
    config = reading.read(path)
    (judge, there), (texts, dataset) = (_only(config.get(key), key, path) for key in ("judges", "datasets"))
    values: list[tuple[str, Any, Any]] = [("judge", judge, judge_id(str(block.get("label", ""))))]
    values.append(("texts", texts, inputs.dataset))
    before, now = _settings(there), _settings(block)
    if before:  # settings that another version wrote may be unreadable here
        keys = dict.fromkeys(["engine", "model", "function", *before, *now])
        values += [(key, before.get(key), now.get(key)) for key in keys]
    values += [("levels", dataset.get("human_scale", [1, 5])[-1], inputs.n)]
    yield from (f"{key} {one!r:.60}, not {other!r:.60}" for key, one, other in values if one != other)
    one, other = _prompt(there, folder), _prompt(block)
    if one is not None and other is not None and one != other:
        what = "blank lines at its end alone differ" if one.rstrip("\n") == other.rstrip("\n") else "its text differs"
        yield f"template: {what} from {there.get('template') or 'the usual one'!s:.60}"
    tables = inputs.tables
    if (rubrics := _table(RUBRICS, folder, texts)) is not None:
        both = rubrics.merge(tables.rubrics, on="rubric_id")
        for row in both.itertuples():
            if row.question_x != row.question_y or [*row.levels_x] != [*row.levels_y]:
                yield f"rubric {row.rubric_id!r:.60}: its wording differs"
    if (items := _table(ITEMS, folder, texts)) is not None:
        stored, current = ({*table[TEXT].itertuples(index=False)} for table in (items, tables.items))
        if 2 * len(stored & current) < min(len(stored), len(current)):
            yield "texts: most of its texts are not among these"


def _settings(block: Block) -> dict[str, Any]:
    """Settings of a judge on which answers depend, besides the template; empty if they cannot be read."""
    try:
        judge = judges.read(block)
    except ValidationError:
        return {}
    names = fields(type(judge), {Role.IDENTITY, Role.FORMAT})
    values = {name: whole(plain(getattr(judge, name))) for name in names}
    return pd.json_normalize(values, sep="/").iloc[0].to_dict()


def _prompt(block: Block, folder: Path = Path()) -> str | None:
    """Text of a judge's own template, as far as prompts depend on it; empty without one, None if it cannot be read."""
    template = block.get("template")
    if not isinstance(template, str):
        return "" if template is None else json.dumps(template, sort_keys=True)
    with contextlib.suppress(InputError):
        return messages.source(folder / template).removesuffix("\n")
    return None


def _table(contract: Contract, folder: Path, dataset: str) -> pd.DataFrame | None:
    """Table of a dataset; None if it is absent or another version wrote it."""
    with contextlib.suppress(InputError):
        return contract.read(folder / "data" / contract.name / f"{dataset}.parquet")
    return None


def _only(blocks: object, key: str, path: Path) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(blocks, Mapping) or len(blocks) != 1:
        raise InputError(f"{path}: {key}: expected one, as certify wrote it; give another --folder, or run Snakemake")
    ((name, settings),) = blocks.items()
    return name, settings if isinstance(settings, Mapping) else {}
