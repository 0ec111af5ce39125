"""Least and greatest number of requests that are still needed to make reference answers."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rubric_order.base.keys import DEFAULT_PROFILE, EVERY, REVIEWING, WRITING
from rubric_order.contracts.items import ITEMS, RUBRICS
from rubric_order.contracts.reads import PLAN
from rubric_order.judging.store import Store, may_pass
from rubric_order.planning import references
from rubric_order.planning.references import REVIEW, STEPS, WRITE, Plan
from rubric_order.prompts import conditions

PROFILES = {WRITE: (WRITING,), REVIEW: (REVIEWING, DEFAULT_PROFILE)}  # profiles of each role's requests about a text
COLUMNS = ["judge", "answered", "to_ask", "to_ask_most", "output_tokens"]


def requests_left(plan: Plan, rounds: int, stores: Mapping[str, Store]) -> pd.DataFrame:
    """Requests until all reference answers are made, one row per judge: `answered`; `to_ask` if every text still to be
    written is accepted at once, `to_ask_most` if none ever is, with their greatest `output_tokens` (NaN without
    `max_tokens`). Texts cut short need no review, so `to_ask` may be too many.
    """
    by_judge = {name: dict.fromkeys(COLUMNS[1:], 0.0) for name in plan.judges}
    responses: dict[str, pd.DataFrame] = {}
    left = references.steps(rounds)
    while left:
        asked = references.requests(plan, left[0], responses)
        store = stores[references.judge_of(left[0], plan.judges)]
        answers = store.read(asked["request_id"], columns=["text", "finish_reason"])
        is_answered = asked["request_id"].isin(answers.loc[~may_pass(answers["error"]), "request_id"])
        by_judge[references.judge_of(left[0], plan.judges)]["answered"] += int(is_answered.sum())
        if not is_answered.all():
            _add(by_judge, plan, left[0], asked.loc[~is_answered, "profile"].value_counts(), least=True)
            break
        responses[left.pop(0)] = answers
    if left:
        open_ = _still_open(plan, left, responses)
        for step in left[1:]:
            turn, role = step.split("_")
            counts = pd.Series(open_, index=list(PROFILES[role]))
            _add(by_judge, plan, step, counts, least=turn == left[0].split("_")[0])
    return pd.DataFrame([{"judge": name} | row for name, row in by_judge.items()], columns=COLUMNS)


def dataset_requests_left(block: Mapping[str, Any], stores: Path) -> pd.DataFrame:
    """`requests_left` for one dataset, from the paths and settings of its block (`References.unmade`)."""
    templates, weights = ([Path(path) for path in block[name]] for name in ("templates", "weights"))
    item_table, rubrics = ITEMS.read(block["items"]), RUBRICS.read(block["rubrics"])
    plan = references.load_plan(item_table, rubrics, templates, weights, block["settings"])
    return requests_left(plan, block["rounds"], {name: Store(stores / name) for name in plan.judges})


def _still_open(plan: Plan, left: list[str], responses: Mapping[str, pd.DataFrame]) -> int:
    """Number of texts about which requests may still be sent after the step that is open now."""
    whole = len(responses) // len(STEPS) * len(STEPS)
    done = references.attempts(plan, dict(list(responses.items())[:whole]))
    accepted = done.loc[done["accepted"].astype(bool), references.KEYS].drop_duplicates()
    return len(plan.slots) - len(accepted)


def _add(found: Mapping[str, dict[str, float]], plan: Plan, step: str, counts: pd.Series, *, least: bool) -> None:
    """Add the requests of a step, by profile, to the row of its judge; `least`: asked even if every text is accepted at
    once.
    """
    name = references.judge_of(step, plan.judges)
    row = found[name]
    for profile, count in counts.items():
        most = plan.settings[name].under(profile).sampling.max_tokens
        row["to_ask"] += int(count) if least else 0
        row["to_ask_most"] += int(count)
        row["output_tokens"] += float("nan") if most is None else float(count * most)


def reads_to_come(reads: pd.DataFrame, conditions_: Sequence[str], *, n: int, levels: Collection[int]) -> float:
    """Greatest number of reads that a study still gets when missing reference answers are made: those of its largest
    condition, for each condition that shows one, less those planned. 0 without such conditions, NaN without reads on
    the scale.
    """
    of_scale = reads[reads["n"] == n]
    showing = [name for name in conditions_ if conditions.read(name, n).reference in levels]
    if not showing:
        return 0
    most = of_scale["condition"].value_counts().max()
    return float(most * len(showing) - of_scale["condition"].isin(showing).sum())


def study_reads_to_come(block: Mapping[str, Any], plans: Path, dataset: str, judge: str) -> dict[str, float]:
    """`reads_to_come` of each study that shows a judge a dataset's answers, and their sum."""
    scale = {"n": block["settings"]["n"], "levels": block["settings"]["levels"]}
    by_study = {}
    for study, shows in block["studies"].items():
        if judge in shows["judges"] and scale["n"] in shows["scales"]:
            reads = PLAN.read(plans / study / dataset / f"{judge}.parquet", columns=["n", "condition"])
            by_study[study] = reads_to_come(reads, shows["conditions"], **scale)
    return by_study | {EVERY: sum(by_study.values())}
