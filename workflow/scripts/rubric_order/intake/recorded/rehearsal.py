"""Records from a simulated judge, which a rehearsal reads in place of the answers of a recorded judge."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import importers
from rubric_order.intake.recorded.importers import SUMMEVAL
from rubric_order.prompts import orderings
from rubric_order.settings.judges.recorded import Rehearsed
from rubric_order.simulation import judge as simulation

REPEATS = 3  # reads of a pair in each order; only one read in the format of SummEval
TEMPERATURE = 1.0
NO_CHOICE = "I cannot say."
# From a benchmark to the letters of its answers (the last of three is a tie), and to the written form of a letter.
VERDICTS = {"MTBench": ("ABC", "[[{}]]"), "DevBench": ("AB", "Choice: {}"), SUMMEVAL: ("ABC", "[[{}]]")}
# From the adapter of a dataset to its benchmark.
BENCHMARKS = {adapter: name for name, adapter in importers.BENCHMARKS.items()} | {"summeval": SUMMEVAL}


def scores(items: pd.DataFrame, judge: Rehearsed) -> list[dict[str, Any]]:
    """Records of the general format in which each item is scored once under every balanced ordering."""
    simulated = simulation.Simulation.of(judge)
    head = _head(judge, simulated)
    rows = orderings.balanced(judge.n)
    orders = np.tile(rows, (len(items), 1))
    opinion, item, group = _opinions(items, simulated, head)
    ids: np.ndarray = np.repeat(items["item_id"].to_numpy(), len(rows))
    selection = simulation.select(
        simulated,
        orders,
        opinion=np.repeat(opinion, len(rows)),
        item=np.repeat(item, len(rows)),
        group=np.repeat(group, len(rows)),
        read=simulation.keys(f"{head}\x1f{name}\x1f{place}" for place, name in enumerate(ids)),
        temperature=TEMPERATURE,
    )
    chosen = np.take_along_axis(orders, selection.position[:, None] - 1, axis=1)[:, 0]
    labels = judge.option_letters or [str(score) for score in range(1, judge.n + 1)]
    answers = [
        NO_CHOICE if failed else labels[score - 1] for score, failed in zip(chosen, selection.failed, strict=True)
    ]
    style = {} if judge.prompt_style is None else {"prompt_style": judge.prompt_style}
    return [
        {"judge": judge.model, **style, "item_id": name, "ordering": order, "response": answer}
        for name, order, answer in zip(ids, orders.tolist(), answers, strict=True)
    ]


def comparisons(
    items: pd.DataFrame, pairs: pd.DataFrame, judge: Rehearsed, *, adapter: str, benchmark: str | None = None
) -> list[dict[str, Any]]:
    """Records in which pairs of items are compared, each in both orders; without pairs, every two candidates of a
    group.

    Adapter `importers.RECORDED` takes any benchmark, or none, and its answers are the judge's `labels`.
    """
    if adapter not in {*BENCHMARKS, importers.RECORDED}:
        expected = ", ".join([*BENCHMARKS, importers.RECORDED])
        raise InputError(f"judge {judge.model!r}: recorded comparisons are of {expected}; found adapter {adapter!r}")
    if adapter == importers.RECORDED:
        letters: Sequence[str] = _written(judge)
        form = "{}"
    else:
        benchmark = BENCHMARKS[adapter]
        letters, form = VERDICTS[benchmark]
    repeats = 1 if benchmark == SUMMEVAL else REPEATS
    simulated = simulation.Simulation.of(judge)
    head = _head(judge, simulated)
    opinion, _, _ = _opinions(items, simulated, head)
    length = simulation.latent_length(str(items["dataset"].iloc[0]), items["item_id"].tolist())
    merit = pd.Series(simulated.decisiveness * opinion + simulated.length * length, index=items["item_id"])
    compared = _pairs(items, pairs)
    orders = list(itertools.product(compared, ((1, 2), (2, 1)), range(repeats)))
    of_pair = np.array([[merit[one], merit[other]] for (one, other), _, _ in orders])
    pair_keys = ["\x1f".join(pair) for pair, _, _ in orders]
    outcome = simulation.compare(
        simulated,
        np.array([order for _, order, _ in orders]),
        of_pair,
        unit=simulation.keys(f"{head}\x1funit\x1f{name}" for name in pair_keys),
        group=simulation.keys(f"{head}\x1fgroup\x1f{one.partition('-')[0]}" for (one, _), _, _ in orders),
        read=simulation.keys(f"{head}\x1fread\x1f{place}\x1f{name}" for place, name in enumerate(pair_keys)),
        temperature=TEMPERATURE,
        tie=len(letters) > 2,
        ranking=False,
    )
    keyed_items = items.set_index("item_id").to_dict("index")
    answers = [
        NO_CHOICE if failed else form.format(letters[place])
        for place, failed in zip(outcome.places[:, 0], outcome.failed, strict=True)
    ]
    options = {} if judge.labels else {"options": list(letters)}
    return [
        {"judge": judge.model, **options, "response": answer}
        | _about(benchmark, keyed_items[one], keyed_items[other], order, repeat)
        for ((one, other), order, repeat), answer in zip(orders, answers, strict=True)
    ]


def _written(judge: Rehearsed) -> tuple[str, ...]:
    labels = {option: label for label, option in judge.labels.items()} if judge.labels else {}
    return tuple(labels.get(option, option) for option in ("A", "B")) + tuple(
        label for option, label in labels.items() if option not in {"A", "B"}
    )


def _about(
    benchmark: str | None, one: Mapping[str, Any], other: Mapping[str, Any], order: tuple[int, int], repeat: int
) -> dict[str, Any]:
    """Fields of a record about the two items that it compares, in the format of its benchmark."""
    candidates = [one["candidate"], other["candidate"]]
    if benchmark == SUMMEVAL:
        human = {f"human_score_{k}": item["human_score"] for k, item in enumerate((one, other), start=1)}
        fields = {"criterion": one["criterion"], "article_id": one["group_id"]}
        return fields | {"pair": candidates, "toggled": order == (2, 1)} | human
    first, second = (candidates[option - 1] for option in order)
    fields = {"task": one["category"], "question_id": one["group_id"]}
    fields |= {} if benchmark is None else {"benchmark": benchmark}
    return fields | {"answer_a": first, "answer_b": second, "repetition": repeat}


def _pairs(items: pd.DataFrame, pairs: pd.DataFrame) -> list[tuple[str, str]]:
    if len(pairs):
        return list(zip(pairs["item_a"], pairs["item_b"], strict=True))
    groups = items.groupby(["group_id", "criterion"], sort=False)["item_id"]
    return [pair for _, ids in groups for pair in itertools.combinations(ids, 2)]


def _head(judge: Rehearsed, simulated: simulation.Simulation) -> str:
    return f"recorded\x1f{judge.model}\x1f{judge.prompt_style}\x1f{simulated.seed}"


def _opinions(
    items: pd.DataFrame, simulated: simulation.Simulation, head: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Opinion of the judge about each item, and the hash keys of each item and of its group."""
    dataset, ids = str(items["dataset"].iloc[0]), items["item_id"].tolist()
    item = simulation.keys(f"{head}\x1f{dataset}\x1f{name}" for name in ids)
    group = simulation.keys(f"{head}\x1fgroup\x1f{dataset}\x1f{name.partition('-')[0]}" for name in ids)
    quality = simulation.latent_quality(dataset, ids)
    return simulation.opinions(simulated, quality, item=item, group=group), item, group
