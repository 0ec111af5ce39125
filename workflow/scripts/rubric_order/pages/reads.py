"""Single reads of one judge about one dataset: the items that the order moves most, how they were chosen, what is left
out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base import randomness
from rubric_order.base.keys import KEYS
from rubric_order.base.rows import Row
from rubric_order.pages import page

SETTING = [name for name in KEYS if name not in ("study", "judge", "dataset")]  # columns that divide reads into blocks
ABOUT = ("study", "dataset", "judge")  # names that identify a file of reads
NAMES = ("unit_id", "question")  # columns that identify an item in all probes
COLUMNS = [
    *(*SETTING, *NAMES, "item_id", "group_id", "candidate", "criterion", "human_score", "read_index", "ordering"),
    *("request_id", "score", "position", "pattern", "failure", "expected_score"),
]
OPTIONAL = ["levels", "position_probabilities", "criterion_position", "candidates", "human_scores", "tie", "ranking"]
OPTIONAL += ["lowest"]
MOVED, FAILED, DRAWN = WHY = ("moved most", "no score most often", "drawn at random")


class Caps(NamedTuple):
    """Limits a block: items that the order moves most, that fail most, drawn with `seed`; reads of an item;
    characters.
    """

    moved: int
    failed: int
    drawn: int
    reads: int
    characters: int
    seed: int


def columns(known: Sequence[str]) -> list[str]:
    """The columns that are read from a file of scores with the columns `known`."""
    return [*COLUMNS, *(name for name in OPTIONAL if name in known)]


def measured(scores: pd.DataFrame) -> pd.DataFrame:
    """Size of the order's effect on each item of a block: `SETTING`, `NAMES`, counts, `mean`, `moved`, `moved_soft`.

    `moved`: greatest difference between mean (`moved_soft`: expected) scores of two orders, NaN below two; of
    comparisons the share of verdicts other than the commonest.
    """
    keys = [*SETTING, *NAMES]
    table = scores[[*keys, "failure", "expected_score"]].assign(
        score=scores["score"].astype(float),
        order=_numbered(*(scores[name] for name in ("ordering", "levels") if name in scores)),
    )
    by_item = table.groupby(keys, sort=False)
    rows = pd.DataFrame(
        {
            "n_reads": by_item.size(),
            "n_failed": by_item["failure"].count(),
            "n_orders": by_item["order"].nunique(),
            "mean": by_item["score"].mean(),
        }
    )
    if "candidates" in scores:
        scored = table.dropna(subset="score")
        commonest = scored.groupby([*keys, "score"], sort=False).size().groupby(keys, sort=False).max()
        by_item = scored.groupby(keys, sort=False)
        rows["moved"] = (1 - commonest / by_item.size()).where(by_item["order"].nunique() > 1)
        rows["moved_soft"], rows["mean"] = np.nan, np.nan
    else:
        means = table.groupby([*keys, "order"], sort=False)[["score", "expected_score"]].mean()
        of_items = means.groupby(keys, sort=False)
        spread = (of_items.max() - of_items.min()).where(of_items.count() > 1)
        rows["moved"], rows["moved_soft"] = spread["score"], spread["expected_score"]
    return rows.reset_index()


def _numbered(*orderings: pd.Series) -> np.ndarray:
    rows = [tuple(tuple(ordering) for ordering in row) for row in zip(*orderings, strict=True)]
    return pd.factorize(pd.Series(rows, dtype=object))[0]


def chosen(items: pd.DataFrame, caps: Caps, *, about: Sequence[object]) -> pd.DataFrame:
    """Items of each block that are shown, with `why`, one of `WHY`; `about` and the block name the random draw."""
    parts = []
    for block, part in items.groupby(SETTING, sort=False):
        order = part.sort_values(["moved", "moved_soft"], ascending=False, kind="stable", na_position="last")
        moved = order[order[["moved", "moved_soft"]].max(axis=1) > 0].head(caps.moved)
        left = part.drop(moved.index)
        failed = left[left["n_failed"] > 0].sort_values("n_failed", ascending=False, kind="stable").head(caps.failed)
        left = left.drop(failed.index)
        rng = randomness.generator(caps.seed, "reads", *about, *block)
        drawn = left.iloc[np.sort(rng.permutation(len(left))[: caps.drawn])]
        parts += [rows.assign(why=why) for rows, why in zip((moved, failed, drawn), WHY, strict=True)]
    return pd.concat(parts) if parts else items.assign(why="")


class Choice(NamedTuple):
    """All items, see `measured`, those `shown`, their reads, and the criteria of each unit in canonical order, if
    several.
    """

    items: pd.DataFrame
    shown: pd.DataFrame
    reads: pd.DataFrame
    criteria: dict[str, list[str]]


def choose(scores: pd.DataFrame, caps: Caps, about: Mapping[str, str]) -> Choice:
    """Choose the items that are shown."""
    scores = _as_written(scores.assign(question=scores["question"].fillna("")))
    items = measured(scores)
    selection = chosen(items, caps, about=[about[name] for name in ABOUT])
    reads = scores.merge(selection[[*SETTING, *NAMES]], on=[*SETTING, *NAMES], how="inner", sort=False)
    criteria = {}
    if "criterion_position" in scores:
        of_shown = scores[scores["unit_id"].isin(selection["unit_id"])]
        criteria = {unit: list(rows.unique()) for unit, rows in of_shown.groupby("unit_id", sort=False)["question"]}
    return Choice(items, selection, reads, criteria)


def _as_written(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores with levels as the rubric numbers them. Files of scores count levels from 1, even on a scale from 0."""
    if "lowest" not in scores:
        return scores
    shift = scores["lowest"].astype(int) - 1
    shifted = {name: scores[name] + shift for name in ("score", "expected_score")}
    lists = ["levels"] if "criterion_position" in scores else ["ordering"]
    for name in (name for name in lists if name in scores):
        moved = zip(scores[name], shift, strict=True)
        shifted[name] = pd.Series([[int(level) + by for level in levels] for levels, by in moved], scores.index, object)
    return scores.assign(**shifted)


def content(
    choice: Choice,
    *,
    prompts: pd.DataFrame,
    responses: pd.DataFrame,
    raters: Mapping[str, Sequence[float]],
    caps: Caps,
    about: Mapping[str, str],
) -> dict[str, Any]:
    """Everything that the page shows of one judge and dataset, as values for JSON.

    `prompts`: `request_id` and `prompt`, where known; `raters`: scores of an item that several people scored.
    """
    reads, answers = choice.reads, responses.set_index("request_id").to_dict("index")
    texts = _prompts(reads, dict(zip(prompts["request_id"], prompts["prompt"], strict=True)), caps.characters)
    selection = {tuple(row[name] for name in (*SETTING, *NAMES)): row for row in choice.shown.to_dict("records")}
    by_item = {tuple(key): rows for key, rows in reads.groupby([*SETTING, *NAMES], sort=False)}
    numbers: dict[tuple[Any, ...], int] = {}
    blocks: list[Row] = []
    items: list[Row] = []
    for block, part in choice.items.groupby(SETTING, sort=False):
        numbers[block] = len(blocks)
        counts = {name: int(part[name].sum()) for name in ("n_reads", "n_failed")}
        blocks.append(dict(zip(SETTING, _plain(block), strict=True)) | counts | {"n_items": len(part)})
    for key, row in selection.items():
        unit, question = key[len(SETTING) :]
        item = {"block": numbers[key[: len(SETTING)]], "question": question, "options": choice.criteria.get(unit)}
        items.append(item | _item(row, by_item[key], answers, texts, raters, caps))
    kind = "candidates" if "candidates" in reads else "criteria" if "criterion_position" in reads else "levels"
    data = {"kind": kind, "blocks": blocks, "items": items, "frames": texts.frames, "caps": caps._asdict(), "why": WHY}
    return dict(about) | data


def shown_in(text: str) -> dict[str, Any]:
    r"""Content of a script that passes reads to the page.

    >>> shown_in("readsLoaded({});\n".format(page.script({"judge": "<j>"})))
    {'judge': '<j>'}
    """
    return json.loads(text[text.index("(") + 1 : text.rindex(")")])


def page_of(study: str, *, permutes: str, sets: Sequence[Mapping[str, str]], rehearsal: str = "") -> str:
    """The page of a study; `sets` has `dataset` and `judge`, with labels, of each file beside it."""
    data = {"study": study, "sets": list(sets)}
    return page.render("reads.html.jinja", study=study, permutes=permutes, data=data, rehearsal=rehearsal)


class _Prompts(NamedTuple):
    """Packed prompts: `frames` are pairs of a beginning and an end; `parts` has frame and middle of each request;
    `cut`: cut.
    """

    frames: list[tuple[str, str]]
    parts: dict[str, tuple[int, str]]
    cut: set[str]


def _prompts(reads: pd.DataFrame, prompts: Mapping[str, str], longest: int) -> _Prompts:
    packed = _Prompts([], {}, set())
    for _, block in reads.groupby(["unit_id", "n", "condition"], sort=False):
        prompt_texts = {
            name: prompts[name] for name in block["request_id"].unique() if isinstance(prompts.get(name), str)
        }
        if not prompt_texts:
            continue
        packed.cut.update(name for name, text in prompt_texts.items() if len(text) > longest)
        texts = {name: text[:longest] for name, text in prompt_texts.items()}
        start = _shared(list(texts.values()))
        rest = [text[start:][::-1] for text in texts.values()]
        end = _shared(rest)
        packed.frames.append((next(iter(texts.values()))[:start], rest[0][:end][::-1]))
        for name, text in texts.items():
            packed.parts[name] = (len(packed.frames) - 1, text[start : len(text) - end])
    return packed


def _shared(texts: Sequence[str]) -> int:
    """Number of characters with which all texts begin alike."""
    first, last = min(texts), max(texts)  # all other texts lie between these two
    differ = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return next(differ, min(len(first), len(last)))


def _item(
    row: Mapping[str, Any],
    reads: pd.DataFrame,
    answers: Mapping[str, Mapping[str, Any]],
    prompts: _Prompts,
    raters: Mapping[str, Sequence[float]],
    caps: Caps,
) -> dict[str, Any]:
    first = reads.iloc[0]
    name = first["item_id"] if isinstance(first["item_id"], str) else first["unit_id"]
    item = {"name": name, "why": WHY.index(row["why"])}
    item |= {key: _text(first[key]) for key in ("group_id", "candidate", "criterion")}
    item |= {key: _number(row[key]) for key in ("mean", "moved", "moved_soft")}
    item |= {key: int(row[key]) for key in ("n_reads", "n_failed", "n_orders")}
    item["human"] = _number(first["human_score"])
    item["raters"] = [_number(value) for value in raters.get(name, ())]
    if "candidates" in reads:
        item["candidates"] = [str(candidate) for candidate in first["candidates"]]
        human_scores = first["human_scores"] if "human_scores" in reads else None
        item["raters"] = [] if human_scores is None else [_number(value) for value in human_scores]
    first_reads = reads.sort_values("read_index", kind="stable").head(caps.reads)
    item["reads"] = [_read(each, answers, prompts, caps) for each in first_reads.to_dict("records")]
    return item


def _read(
    read: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]], prompts: _Prompts, caps: Caps
) -> dict[str, Any]:
    name = read["request_id"]
    answer = answers.get(name, {})
    text, constrained = (answer.get(key) for key in ("text", "constrained_text"))
    fields = {
        "order": [int(option) for option in read["ordering"]],
        "score": _whole(read["score"]),
        "position": _whole(read["position"]),
        "expected": _number(read["expected_score"]),
        "probabilities": _probabilities(read, answer.get("option_logprobs")),
        "failure": _text(read["failure"]),
        "pattern": _text(read["pattern"]),
        "request": name,
        "text": text[: caps.characters] if isinstance(text, str) else None,
        "cut": isinstance(text, str) and len(text) > caps.characters,
        "prompt": prompts.parts.get(name),
        "prompt_cut": name in prompts.cut,
    }
    more: Row = {"error": _text(answer.get("error")), "finish": _text(answer.get("finish_reason"))}
    more["constrained"] = _text(constrained)
    levels = read.get("levels")
    more["levels"] = [int(level) for level in levels] if levels is not None and len(levels) else None
    if read.get("tie") is not None and bool(read.get("tie")):
        more["tie"] = True
    if read.get("ranking") is not None:
        more["ranking"] = [int(option) for option in read["ranking"]]
    return fields | {key: value for key, value in more.items() if value is not None}


def _probabilities(read: Mapping[str, Any], logprobs: object) -> list[float] | None:
    """Probability of the option at each position, or of each score of one of several criteria; None if unknown."""
    shares = read.get("position_probabilities")
    if (
        shares is None
        and read.get("criterion_position") is not None
        and not pd.isna(read["score"])
        and isinstance(logprobs, list | np.ndarray)
    ):
        n, place = int(read["n"]), int(read["criterion_position"])
        label_shares = np.exp(np.asarray(logprobs, dtype=float)[(place - 1) * n : place * n])
        shares = label_shares / label_shares.sum() if len(label_shares) == n and label_shares.sum() > 0 else None
    return None if shares is None else [round(float(share), 4) for share in shares]


def _plain(values: Sequence[object]) -> Iterator[object]:
    return (value.item() if isinstance(value, np.generic) else value for value in values)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else round(float(value), 4)


def _whole(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)
