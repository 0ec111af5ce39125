"""Reference answers at every score: one judge writes them, another says whether they match, and scores them blind.

An answer is of a group, criterion and score. One that is not accepted is written anew in the next round, in which the
judges change roles; the answers so far determine `attempts` and the next `requests`.

Source: Li et al. (2025), Figure 4. Ours: the prompts, the last round, the blind score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Template

from rubric_order.base import files
from rubric_order.base.errors import InputError, UnfitError
from rubric_order.base.keys import DEFAULT_PROFILE, REVIEWING, WRITING
from rubric_order.contracts.items import REFERENCES
from rubric_order.contracts.reads import REQUESTS
from rubric_order.contracts.responses import reason_of
from rubric_order.datasets import CONTROL, clean, custom
from rubric_order.datasets.rubrics import at_scale
from rubric_order.parsing.choices import CONFLICTING, EMPTY, NO_SCORE, TRUNCATED, UNFINISHED_THINKING
from rubric_order.parsing.one_score import normalise, strip_thinking
from rubric_order.planning.reads import draw_sample
from rubric_order.planning.requests import namer
from rubric_order.probes import Question, Shown
from rubric_order.probes.score_order import ScoreOrder
from rubric_order.prompts import conditions, frames
from rubric_order.settings import judges
from rubric_order.settings.judges.judge import Judge

PROBE = "score_order"  # a reviewer scores texts with the prompts and the parser of this probe
WRITE, REVIEW = "write", "review"
STEPS = (WRITE, REVIEW)  # steps of each round
BLIND = "reference_none"  # condition under which a text is scored
FILE = "file"  # writer of texts that a user brings
SAME, FIRST = "same", "first"  # rule for the instruction of a group: the same for all items, or that of the first item
VERDICTS = ("no", "yes")
KEYS = ["dataset", "group_id", "criterion", "rubric_id", "level"]
TEXT = Question("", (), "text")
VERDICT = Question("", VERDICTS, "verdict")
# The word has to end the statement: "no doubt" is no verdict, and "yes or no" repeats the question.
_VERDICT = re.compile(
    r"(?:(?:\[result\]|\b(?:verdict|answer)\b)\W{0,10}|\A\W*|\b(?:verdict|answer)\s+is\W{1,4})(yes|no)\b"
    r"(?!\W*or\W*(?:yes|no)\b)(?=\W*\Z|\W*[.,:;!(\n]|\s[-–—]+\s|—)",
    re.IGNORECASE,
)
_LAST_SENTENCE = re.compile(r"[.!?\n]\W*(yes|no)\W*\Z", re.IGNORECASE)


class Slot(NamedTuple):
    """Slot of one reference answer, for score `level`, with its task and the descriptions of scores 1 to n."""

    dataset: str
    group_id: str
    criterion: str
    rubric_id: str
    level: int
    instruction: str
    levels: tuple[str, ...]
    question: str

    @property
    def description(self) -> str:
        return self.levels[self.level - 1]


class Plan(NamedTuple):
    """Plan of reference answers. Of two `judges`, the first writes in the first round and reviews in the second.

    `settings` have the profiles of `Judge.add_roles`; `templates` are by step and, for the blind score, by judge.
    """

    slots: Sequence[Slot]
    n: int
    judges: Sequence[str]
    settings: Mapping[str, Judge]
    templates: Mapping[str, Template]
    shows_rejected: bool = False


def judge_of(step: str, names: Sequence[str]) -> str:
    """Judge that answers a step, such as ``2_review``. The judges change roles in each round."""
    turn, role = step.split("_")
    return names[(int(turn) - 1 + STEPS.index(role)) % len(names)]


def steps(rounds: int) -> list[str]:
    """The steps of all rounds, in their order: ``1_write``, ``1_review``, ``2_write``, ..."""
    return [f"{turn}_{role}" for turn in range(1, rounds + 1) for role in STEPS]


def slots(
    items: pd.DataFrame, rubrics: pd.DataFrame, *, n: int, levels: Sequence[int], instruction: str = SAME
) -> list[Slot]:
    """Slots by group, criterion and level; `SAME` wants one instruction a group, `FIRST` takes the first.

    InputError without a scale of n levels, or with scores from 0.
    """
    wordings = {}
    for rubric in rubrics.itertuples():
        if rubric.lowest != 1:
            raise InputError(
                f"references: rubric {rubric.rubric_id!r}: its scores begin with 0; reference answers are written for"
                " scores from 1"
            )
        try:
            wordings[rubric.rubric_id] = (at_scale(tuple(rubric.levels), n), rubric.question)
        except ValueError as error:
            raise InputError(f"references: scale {n}: rubric {rubric.rubric_id!r}: {error}") from None
    by_key: dict[tuple[Any, ...], Slot] = {}
    for item in items[items["rubric_id"].notna()].itertuples():
        for level in levels:
            key = (item.dataset, item.group_id, item.criterion, item.rubric_id, level)
            slot = by_key.setdefault(key, Slot(*key, item.instruction, *wordings[item.rubric_id]))
            if instruction == SAME and slot.instruction != item.instruction:
                raise InputError(
                    f"references: dataset {item.dataset!r}: the items of group {item.group_id!r} have different"
                    " instructions, and a reference answer is written for all items of a group; expected one, or"
                    f" references/{item.dataset}/instruction: {FIRST}, which takes that of the first item"
                )
    return list(by_key.values())


def attempts(plan: Plan, responses: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every attempt in the responses of the steps so far, by round and slot: `contracts.items.REFERENCES`."""
    rows: list[dict[str, Any]] = []
    for turn in range(1, len(responses) // 2 + 1):
        rows += _round(plan, turn, pd.DataFrame(rows, columns=REFERENCES.names), responses)
    return pd.DataFrame(rows, columns=REFERENCES.names)


def _round(
    plan: Plan, turn: int, before: pd.DataFrame, responses: Mapping[str, pd.DataFrame]
) -> Iterator[dict[str, Any]]:
    """The attempts of one round. Both steps of the round were answered."""
    write, review = (f"{turn}_{role}" for role in STEPS)
    texts = _texts(plan, turn, before, responses[write])
    answers = _rows_by_id(responses[review])
    for slot, (text, failure) in texts.items():
        row: dict[str, Any] = dict(zip(KEYS, slot, strict=False))
        row |= {"n": plan.n, "round": turn, "text": text, "failure": failure}
        row |= {"writer": judge_of(write, plan.judges), "reviewer": judge_of(review, plan.judges)}
        verdict = said = why = score = blind = None
        if text is not None:
            asked, scored = _review(plan, turn, slot, text)
            said, why, cut = _answer(answers[asked["request_id"]])
            if why is None:
                verdict, why = read_verdict(said or "", truncated=cut)
            answered, blind, cut = _answer(answers[scored["request_id"]])
            if blind is None:
                prefix = plan.settings[row["reviewer"]].answer_prefix
                (choice,) = ScoreOrder().parse(prefix + (answered or ""), _blind_questions(plan.n), truncated=cut)
                score, blind = (int(choice.label) if choice.label else None), choice.reason
        row |= {"verdict": verdict, "review": said, "review_failure": why}
        yield row | {"blind_score": score, "blind_failure": blind, "accepted": verdict == "yes"}


def requests(plan: Plan, step: str, responses: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Requests of a step, after earlier answers: a text for each open slot, or review and blind score of each text."""
    turn, role = int(step.partition("_")[0]), step.partition("_")[2]
    earlier = {name: responses[name] for name in steps(turn - 1)}
    before = attempts(plan, earlier)
    try:
        if role == WRITE:
            rows = [_writing(plan, turn, slot, before) for slot in _open(plan, before)]
        else:
            texts = _texts(plan, turn, before, responses[f"{turn}_{WRITE}"])
            rows = [row for slot, (text, _) in texts.items() if text for row in _review(plan, turn, slot, text)]
    except UnfitError as error:
        raise InputError(f"references: step {step}: {error}") from None
    return pd.DataFrame(rows, columns=REQUESTS.names).drop_duplicates("request_id")


def _open(plan: Plan, before: pd.DataFrame) -> list[Slot]:
    done = set(before.loc[before["accepted"].astype(bool), KEYS].itertuples(index=False, name=None))
    return [slot for slot in plan.slots if slot[: len(KEYS)] not in done]


def _texts(
    plan: Plan, turn: int, before: pd.DataFrame, responses: pd.DataFrame
) -> dict[Slot, tuple[str | None, str | None]]:
    """Text that was written for each slot in a round, or None and the reason why there is none."""
    answers = _rows_by_id(responses)
    texts: dict[Slot, tuple[str | None, str | None]] = {}
    for slot in _open(plan, before):
        answer, failure, cut = _answer(answers[_writing(plan, turn, slot, before)["request_id"]])
        text = strip_thinking(answer or "")
        if failure is None and text is None:
            failure = UNFINISHED_THINKING
        elif failure is None:
            text = CONTROL.sub("", (text or "").replace("\r\n", "\n"))  # characters that no prompt may hold
            failure = TRUNCATED if cut else None if text.strip() else EMPTY
        texts[slot] = (None, failure) if failure else (clean(text, "reference answer"), None)
    return texts


def _answer(row: Any) -> tuple[str | None, str | None, bool]:
    failure = reason_of(row.error)
    return (None if failure else row.text or ""), failure, row.finish_reason == "length"


def _rows_by_id(responses: pd.DataFrame) -> dict[str, Any]:
    return {row.request_id: row for row in responses.itertuples()}


def read_verdict(answer: str, *, truncated: bool) -> tuple[str | None, str | None]:
    """The verdict of a review (``yes`` or ``no``), or the reason why there is none; both are none.

    It stands at the beginning, after a word such as "verdict", or alone in the last sentence, unless `truncated`.
    """
    text = strip_thinking(answer)
    if text is None:
        return None, UNFINISHED_THINKING
    text = normalise(text)
    said = {match[1].lower() for match in _VERDICT.finditer(text)}
    if not truncated and (last := _LAST_SENTENCE.search(text)):
        said.add(last[1].lower())
    if len(said) == 1:
        return said.pop(), None
    return None, CONFLICTING if said else TRUNCATED if truncated else EMPTY if not text else NO_SCORE


def _writing(plan: Plan, turn: int, slot: Slot, before: pd.DataFrame) -> dict[str, Any]:
    """The request for one text."""
    writer = judge_of(f"{turn}_{WRITE}", plan.judges)
    rejected = []
    if plan.shows_rejected and len(before):
        same = (before[KEYS] == list(slot[: len(KEYS)])).all(axis=1) & before["text"].notna()
        rejected = before.loc[same, "text"].tolist()
    prompt = _render(plan.templates[WRITE], slot, n=plan.n, rejected=rejected)
    # If a judge already wrote in an earlier round, a further repeat asks it for another draw.
    repeat = sum(judge_of(f"{earlier}_{WRITE}", plan.judges) == writer for earlier in range(1, turn))
    return _request(plan, writer, WRITING, slot, turn, prompt, TEXT, repeat)


def _review(plan: Plan, turn: int, slot: Slot, text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two requests about a text: whether it matches, and its score."""
    reviewer = judge_of(f"{turn}_{REVIEW}", plan.judges)
    prompt = _render(plan.templates[REVIEW], slot, text=text)
    asked = _request(plan, reviewer, REVIEWING, slot, turn, prompt, VERDICT)
    view = Shown(tuple(range(1, plan.n + 1)), (), BLIND)
    prompt = _blind_prompt(plan.templates[reviewer], slot, text, view)
    (question,) = _blind_questions(plan.n)
    scored = _request(plan, reviewer, DEFAULT_PROFILE, slot, turn, prompt, question)
    return asked, scored | {"condition": BLIND, "ordering": list(view.ordering), "options": list(question.labels)}


def _request(
    plan: Plan, judge: str, profile: str, slot: Slot, turn: int, prompt: str, question: Question, repeat: int = 0
) -> dict[str, Any]:
    return {
        "request_id": _namer(plan, judge, profile)(prompt.encode(), repeat),
        "profile": profile,
        "dataset": slot.dataset,
        "unit_id": f"{slot.group_id}-{slot.rubric_id}-{slot.level}-{turn}",
        "n": plan.n,
        "condition": profile,
        "ordering": [],
        "levels": [slot.level],
        "repeat": repeat,
        "prompt": prompt,
        "options": [],
        "questions": [question._asdict()],
    }


def _namer(plan: Plan, judge: str, profile: str) -> Callable[[bytes, int], str]:
    return namer(plan.settings[judge].under(profile), plan.n, ScoreOrder())


def _render(template: Template, slot: Slot, **values: object) -> str:
    fields = {"instruction": slot.instruction, "question": slot.question, "description": slot.description}
    return template.render(score=slot.level, **fields, **values)


def _blind_prompt(template: Template, slot: Slot, text: str, shown: Shown) -> str:
    n = len(slot.levels)
    values = {"instruction": slot.instruction, "response": text, "question": slot.question, "reference": None}
    wording = frames.wording(conditions.read(shown.condition, n), n)
    frame = frames.frame(template, n=n, parts=True, **wording, **values)
    return frame.fill(frames.option_lines(slot.levels, shown.ordering))


@cache
def _blind_questions(n: int) -> tuple[Question, ...]:
    return (Question("", tuple(map(str, range(1, n + 1))), "option"),)


def read_own(path: Path, wanted: Sequence[Slot], *, n: int) -> pd.DataFrame:
    """Reference answers of a user's table (group_id, score, text, criterion), as accepted `attempts` by `FILE`.

    InputError names a wrong column, a score out of 1 to n, a group without an item, or an answer given twice.
    """
    table = custom.read_table(path, None)
    for name in ("group_id", "score", "text"):
        if name not in table.columns:
            raise InputError(f"{path}: column {name!r} is missing; found {', '.join(table.columns):.120}")
    if unknown := [name for name in table.columns if name not in ("group_id", "criterion", "score", "text")]:
        raise InputError(f"{path}: unknown column {unknown[0]!r:.60}; known: group_id, criterion, score, text")
    by_group: dict[tuple[str, str], dict[int, Slot]] = {}
    for slot in wanted:
        by_group.setdefault((slot.group_id, slot.criterion), {})[slot.level] = slot
    criteria = list(dict.fromkeys(slot.criterion for slot in wanted))
    rows: list[dict[str, Any]] = []
    seen: dict[Slot, str] = {}
    for where, row in table.rows:
        named = row.get("group_id")  # a number is a name, too; lines of JSON may lack a key
        group = clean(named if named is None else str(named), f"{where}: field 'group_id'")
        if row.get("criterion") is None and len(criteria) > 1:
            raise InputError(f"{where}: field 'criterion': expected one of {', '.join(criteria):.120}, found nothing")
        criterion = criteria[0] if row.get("criterion") is None else str(row["criterion"])
        if (group, criterion) not in by_group:
            raise InputError(f"{where}: no item of group {group!r:.60} under criterion {criterion!r:.60}")
        score = custom.number(row.get("score"), f"{where}: field 'score'")
        if score not in range(1, n + 1):
            expected = f"expected a whole number from 1 to {n}"
            raise InputError(f"{where}: field 'score': {expected}, found {row['score']!r:.60}")
        slot = by_group[group, criterion][int(score)]
        if slot in seen:
            raise InputError(f"{where}: the reference answer of score {slot.level} is already given by {seen[slot]}")
        seen[slot] = where
        text = clean(row.get("text"), f"{where}: field 'text'")
        fields = dict(zip(KEYS, slot, strict=False)) | {"n": n, "round": 0, "writer": FILE, "text": text}
        rows.append(dict.fromkeys(REFERENCES.names) | fields | {"accepted": True})
    return pd.DataFrame(rows, columns=REFERENCES.names)


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Attempts with one type per column, also if there are no attempts."""
    whole = dict.fromkeys(("level", "n", "round", "blind_score"), "Int64")
    return table.astype(whole | {"accepted": bool})


def load_plan(
    items: pd.DataFrame,
    rubrics: pd.DataFrame,
    templates: Sequence[Path],
    weights: Sequence[Path],
    settings: Mapping[str, Any],
) -> Plan:
    """Load a dataset's plan from its templates, files of judges' weights (named by judge), and settings (`n`, `levels`,
    `judges`, `sample`, `file` and others).
    """
    described: dict[str, Any] = {path.stem: files.read_json(path) for path in weights}
    makers = {
        name: judges.read(block).add_weights(described.get(name, {})) for name, block in settings["settings"].items()
    }
    template_names = [*STEPS, *settings["judges"]]
    prompts = dict(zip(template_names, map(frames.load_template, templates), strict=True))
    n = settings["n"]
    levels = range(1, n + 1) if settings["file"] else settings["levels"]
    drawn = draw_sample(items, sample=settings["sample"], seed=settings["seed"])
    answered = FIRST if settings["file"] else settings.get("instruction", SAME)  # a file's answers need no instruction
    wanted = slots(drawn, rubrics, n=n, levels=levels, instruction=answered)
    return Plan(wanted, n, settings["judges"], makers, prompts, settings["shows_rejected"])


def add_references(items: pd.DataFrame, made: pd.DataFrame | None) -> pd.DataFrame:
    """Items with the column `references` (from scale and level to the accepted text), or as given without attempts."""
    if made is None or not len(made):
        return items
    texts: dict[tuple[str, str], dict[tuple[int, int], str]] = {}
    for row in made[made["accepted"].astype(bool)].itertuples():
        texts.setdefault((row.group_id, row.rubric_id), {})[row.n, row.level] = row.text
    keys = zip(items["group_id"], items["rubric_id"], strict=True)
    return items.assign(references=[texts.get(key, {}) for key in keys])
