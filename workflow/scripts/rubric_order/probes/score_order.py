"""The order of the score levels in a rubric: one answer gives one score."""

# Checks of a config read the constants of this module, so slow imports are inside the functions that use them.
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rubric_order import strategies
from rubric_order.base.errors import InputError, UnfitError
from rubric_order.base.keys import BASELINE
from rubric_order.base.levels import LOWEST
from rubric_order.parsing.choices import Choice, numbers
from rubric_order.probes import Probe, Question, Shown, Unit, lowest_scores
from rubric_order.prompts import conditions

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from jinja2 import Template

    from rubric_order.prompts.frames import Frame
    from rubric_order.prompts.structured import StructuredFrame
    from rubric_order.settings.judges.judge import Judge
    from rubric_order.settings.studies import Study

ABOUT = ["dataset", "item_id", "group_id", "candidate", "criterion", "human_score"]


class ScoreOrder(Probe):
    PERMUTES = "the score levels in the rubric"
    SOURCE = "xu2026"
    STRATEGIES = strategies.offered("score_order")
    CONDITIONS = conditions.Offered(conditions.EXAMPLES)
    DECIDES = True
    PROMPTS = MappingProxyType(dict.fromkeys(("papers/li2025", "papers/kim2024", "papers/debiasing"), "feedback"))
    FIELDS: Mapping[str, str] = {
        "options": "the score levels in the order of the read, each once: `{{ option }}` is the line `Score 4: Good.`; "
        "`{{ option.label }}` and `{{ option.description }}` are its parts, for a form of your own",
        "response": "the text that is judged",
        "instruction": "what the response answers",
        "question": "what the rubric asks",
        "reference": "an answer that deserves the highest score; none where the item has none",
        "n": "the number of levels",
        "lowest": "the lowest score, 0 or 1",
        "highest": "the highest score",
        "ids": "the labels of the levels from the lowest on, where they are not the numbers 1 to n; otherwise none",
        "reference_score": "the label of the reference answer's score",
        "neutral": "the number of a change without meaning; 1 to 3 in conditions `neutral_1` to `neutral_3`, otherwise "
        "0",
    }

    def template(self, judge: Judge, prompt: str | None = None) -> str:
        return prompt or judge.answer_format

    def try_template(self, template: Template, n: int) -> None:
        """Render a user's template with and without a reference: it must write each level once, and the response."""
        from rubric_order.prompts import frames

        if frames.is_structured(template):
            raise UnfitError("a template with the blocks text and question is for decision models, which bring it")
        lines = frames.option_lines(["level"] * n, range(1, n + 1))
        for reference in ("a reference", None):
            values = {"instruction": "an instruction", "response": "\x02response\x03", "question": "a question"}
            wording = frames.wording(conditions.read(BASELINE, n), n)
            text = frames.frame(template, n=n, parts=True, reference=reference, **wording, **values).fill(lines)
            if values["response"] not in text:
                raise UnfitError("the template does not write the response")

    def units(
        self,
        items: pd.DataFrame,
        rubrics: pd.DataFrame,
        pairs: pd.DataFrame,
        *,
        n: int,
        template: Template,
        comparisons: Mapping[str, Any] = MappingProxyType({}),
    ) -> Iterator[Unit]:
        """Each item, with its rubric cut to n levels; InputError without a rubric or such a scale."""
        unscored = items[items["rubric_id"].isna()]
        if len(unscored):
            item = unscored.iloc[0]
            raise InputError(f"item {item['item_id']!r} of dataset {item['dataset']!r} has no rubric: it is for pairs")
        question, levels = {}, {}
        lowest = dict(zip(rubrics["rubric_id"], rubrics["lowest"].tolist(), strict=True))
        for rubric in rubrics.itertuples():
            question[rubric.rubric_id] = rubric.question
            levels[rubric.rubric_id] = _levels(rubric, n)
        for item in items.itertuples():
            values = {"instruction": item.instruction, "response": item.response, "question": question[item.rubric_id]}
            references, least = _references(item, n), lowest[item.rubric_id]
            frame = cache(partial(_frame, template, n, least, values, references))
            fields = {name: getattr(item, name) for name in ABOUT}
            fields |= {LOWEST: least} if 0 in lowest.values() else {}
            prompt = partial(_prompt, frame, levels[item.rubric_id], least)
            yield Unit(
                item.item_id,
                numbers(n),
                fields,
                partial(_questions_of, n, least),
                prompt,
                partial(_has, n, frozenset(references)),
            )

    def choose(self, strategy: str, options: int, *, budget: int | None, rng: np.random.Generator | None) -> np.ndarray:
        from rubric_order.prompts import orderings

        return orderings.choose(strategy, options, budget=budget, rng=rng)

    def asks_together(self, condition: str, n: int) -> bool:
        return conditions.read(condition, n).together

    def problems(self, study: Study) -> Iterator[str]:
        for n in study.scales:
            for name in (name for name in study.conditions if name in self.CONDITIONS):
                try:
                    conditions.read(name, n)
                except ValueError as error:
                    yield f"/conditions: scale {n}: {error}"
        for n in study.scales if "all" in study.strategies else ():
            try:
                strategies.check_all(n)
            except ValueError as error:
                yield f"/strategies: {error}"
        budget = study.budget or 0
        for n, name in itertools.product(study.scales, study.strategies) if budget else ():
            rounds = strategies.STRATEGIES[name].rounds if name in self.STRATEGIES else 0
            if rounds and (budget % n or budget < rounds * n):
                wanted = f"at least {rounds * n} reads of {n} levels, in steps of {n}"
                yield f"/budget: strategy {name!r} expects {wanted}, found {budget}"

    def questions(self, reads: pd.DataFrame) -> list[tuple[Question, ...]]:
        criteria = reads["criterion"].tolist() if "criterion" in reads else [""] * len(reads)
        columns = (reads["n"].tolist(), lowest_scores(reads), reads["condition"].tolist(), criteria)
        return [_questions(*row) for row in zip(*columns, strict=True)]

    def parse(self, text: str, questions: Sequence[Question], *, truncated: bool) -> tuple[Choice, ...]:
        from rubric_order.parsing import several_scores

        (question,) = questions
        return (several_scores.parse_answer(text, question.labels, question.name, truncated=truncated),)

    def score(
        self, reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
    ) -> pd.DataFrame:
        from rubric_order.probes import readouts

        return readouts.score(reads, questions, choices)


def _references(item: Any, n: int) -> dict[int, str]:
    by_level = {level: text for (scale, level), text in getattr(item, "references", {}).items() if scale == n}
    return by_level | ({n: item.reference} if isinstance(item.reference, str) else {})


def _has(n: int, known: frozenset[int], condition: str) -> bool:
    wanted = conditions.read(condition, n).reference
    return not wanted or wanted in known


def _levels(rubric: Any, n: int) -> tuple[str, ...]:
    from rubric_order.datasets.rubrics import at_scale

    try:
        return at_scale(tuple(rubric.levels), n)
    except ValueError as error:
        raise InputError(f"scale {n}: rubric {rubric.rubric_id!r}: {error}") from None


def _frame(
    template: Template, n: int, lowest: int, values: Mapping[str, str], references: Mapping[int, str], condition: str
) -> Frame | StructuredFrame:
    from rubric_order.prompts import frames

    chosen = conditions.read(condition, n)
    reference = references.get(n if chosen.reference is None else chosen.reference)
    return frames.frame(template, n=n, parts=True, reference=reference, **frames.wording(chosen, n, lowest), **values)


def _tuples(values: Sequence[int], n: int) -> Iterator[tuple[int, ...]]:
    return (tuple(values[place : place + n]) for place in range(0, len(values), n))


def _prompt(frame: Callable[[str], Frame | StructuredFrame], levels: Sequence[str], lowest: int, shown: Shown) -> str:
    from rubric_order.prompts import frames

    n = len(levels)
    condition = conditions.read(shown.condition, n)
    prompt, labels = frame(shown.condition), condition.labels(n, lowest)
    if condition.together:
        if isinstance(prompt, frames.Frame):
            raise InputError("condition together: the template writes text; expected one for decision models")
        return prompt.fill_all(frames.option_lines(levels, range(1, n + 1), labels), list(_tuples(shown.levels, n)))
    return prompt.fill(frames.option_lines(levels, shown.ordering, labels))


def _questions_of(n: int, lowest: int, shown: Shown) -> tuple[Question, ...]:
    (question,) = _questions(n, lowest, shown.condition)
    asked = range(1, len(shown.levels) // n + 1)
    return tuple(question._replace(name=str(number)) for number in asked) or (question,)


@cache
def _questions(n: int, lowest: int, condition: str, name: object = "") -> tuple[Question, ...]:
    """The question of a read. A request names no criterion, but an answer in JSON can name it."""
    return (Question(name if isinstance(name, str) else "", conditions.read(condition, n).labels(n, lowest), "option"),)
