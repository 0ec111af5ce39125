"""From items to reads, and from reads to distinct requests.

A read is one judge answer that a study needs. A request is what is really sent for it; it is named by the hash of all
that determines the answer, so that reads of several strategies and studies share one.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from jinja2 import Template

from rubric_order import orderings, prompts, resampling, rubrics
from rubric_order.errors import InputError
from rubric_order.judges import identity


def request_ids(judge: Mapping, prompts_: Iterable[str], repeats: Iterable[int], n: int) -> list[str]:
    """Names of requests: hashes over the judge's identity, the message, the options and the repeat index."""
    head = hashlib.blake2b(json.dumps([identity(judge), n], sort_keys=True).encode(), digest_size=16)
    names = []
    for prompt, repeat in zip(prompts_, repeats, strict=True):
        name = head.copy()
        name.update(b"%d\x1f" % repeat)
        name.update(prompt.encode())
        names.append(name.hexdigest())
    return names


def plan_reads(
    items: pd.DataFrame,
    rubric_table: pd.DataFrame,
    *,
    study: str,
    judge_id: str,
    judge: Mapping,
    template: Template,
    scales: list[int],
    strategies: list[str],
    budget: int | None,
    seed: int,
) -> pd.DataFrame:
    """Every read of a study's items by one judge.

    Args:
        items, rubric_table: the tables of one dataset.
        scales: numbers of score levels.
        strategies: see `orderings.choose`.
        budget: reads per item of `random` and `fixed`; by default 2n.
        seed: of the random orderings; they also depend on dataset, item and scale, and on nothing else.

    Returns:
        One row a read, in the order of the items: the study's keys, `strategy`, `n`, `read_index` within the item,
        `ordering` (list), `repeat` (how often that ordering came before) and `request_id`.

    Raises:
        InputError: a rubric has no such scale, or a strategy has too many orderings.
    """
    unscored = items[items["rubric_id"].isna()]
    if len(unscored):
        item = unscored.iloc[0]
        raise InputError(
            f"study {study}: item {item['item_id']!r} of dataset {item['dataset']!r} has no rubric: it is for pairs"
        )
    parts = []
    for n in scales:
        levels = {}
        for rubric in rubric_table.itertuples():
            try:
                levels[rubric.rubric_id] = rubrics.at_scale(tuple(rubric.levels), n)
            except ValueError as error:
                raise InputError(f"study {study}: scale {n}: rubric {rubric.rubric_id!r}: {error}") from None
        for strategy in strategies:
            rows = []
            for item in items.itertuples():
                rng = resampling.generator(seed, "random orderings", item.dataset, item.item_id, n)
                try:
                    chosen = orderings.choose(strategy, n, budget=budget, rng=rng)
                except ValueError as error:
                    raise InputError(f"study {study}: {error}") from None
                rows.append(_reads_of_item(item.item_id, chosen))
            parts.append(pd.concat(rows, ignore_index=True).assign(strategy=strategy, n=n))
    reads = pd.concat(parts, ignore_index=True)
    texts = render_reads(reads, items, rubric_table, template)
    reads["request_id"] = ""
    for n, block in reads.groupby("n"):
        reads.loc[block.index, "request_id"] = request_ids(judge, texts[block.index], block["repeat"], n)
    keys = items[["dataset", "item_id", "group_id", "candidate", "criterion", "human_score"]]
    reads = reads.merge(keys, on="item_id", validate="many_to_one")
    reads.insert(0, "study", study)
    reads.insert(1, "judge", judge_id)
    reads["probe"] = "score_order"
    columns = ["study", "judge", "dataset", "item_id", "group_id", "candidate", "criterion", "human_score", "probe"]
    return reads[[*columns, "strategy", "n", "read_index", "ordering", "repeat", "request_id"]]


def _reads_of_item(item_id: str, chosen: np.ndarray) -> pd.DataFrame:
    rows = [tuple(row) for row in chosen.tolist()]
    seen: dict[tuple, int] = {}
    repeats = []
    for row in rows:
        repeats.append(seen.get(row, 0))
        seen[row] = repeats[-1] + 1
    return pd.DataFrame(
        {"item_id": item_id, "read_index": range(len(rows)), "ordering": [list(row) for row in rows], "repeat": repeats}
    )


def render_reads(reads: pd.DataFrame, items: pd.DataFrame, rubric_table: pd.DataFrame, template: Template) -> pd.Series:
    """The prompt of each read; equal (item, scale, ordering) are rendered once."""
    item_of = items.set_index("item_id").to_dict("index")
    rubric_of = rubric_table.set_index("rubric_id").to_dict("index")
    rendered: dict[tuple, str] = {}

    def prompt(item_id: str, n: int, ordering: list[int]) -> str:
        key = (item_id, n, tuple(ordering))
        if key not in rendered:
            item = item_of[item_id]
            rubric = rubric_of[item["rubric_id"]]
            rendered[key] = prompts.render(
                template,
                instruction=item["instruction"],
                response=item["response"],
                reference=item["reference"] if isinstance(item["reference"], str) else None,
                question=rubric["question"],
                levels=rubrics.at_scale(tuple(rubric["levels"]), n),
                ordering=ordering,
            )
        return rendered[key]

    triples = zip(reads["item_id"], reads["n"], reads["ordering"], strict=True)
    return pd.Series([prompt(*triple) for triple in triples], index=reads.index, dtype=object)


def distinct_requests(reads: pd.DataFrame, prompts_: pd.Series, *, owned_elsewhere: set[str]) -> pd.DataFrame:
    """The requests that reads need and no earlier study asks for, each once.

    They are sorted so that what prompts share is computed once: all orderings of an item are neighbours, and among them
    those with the longest common prefix.

    Args:
        reads: plans of one study and judge.
        prompts_: the prompt of each read, on the same index.
        owned_elsewhere: request ids that an earlier study sends.
    """
    table = reads[["request_id", "dataset", "item_id", "n", "ordering", "repeat"]].assign(prompt=prompts_)
    table = table[~table["request_id"].isin(owned_elsewhere)]
    # Groups of an item stay together too: candidates share their instruction, which stands before the response.
    table["ordering_key"] = table["ordering"].map(lambda ordering: "".join(map(str, ordering)))
    table = table.sort_values(["dataset", "item_id", "n", "ordering_key", "repeat"], kind="stable")
    # After sorting: of two items with one prompt the same one is kept, whatever the order of the reads.
    return table.drop_duplicates("request_id").drop(columns="ordering_key").reset_index(drop=True)


def shard_of(requests: pd.DataFrame, shard: int, shards: int) -> pd.DataFrame:
    """The rows of one shard: neighbouring items, about equally many requests a shard, no item split.

    Args:
        shard: from 1 to `shards`.
    """
    item = (requests[["dataset", "item_id"]] != requests[["dataset", "item_id"]].shift()).any(axis=1).cumsum()
    first_row = requests.groupby(item.to_numpy()).cumcount().rsub(np.arange(len(requests)))
    return requests[(first_row * shards // max(len(requests), 1) == shard - 1).to_numpy()].reset_index(drop=True)
