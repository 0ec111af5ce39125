"""Scorers for Inspect (package ``inspect-ai``) that ask a judge in several orders of its rubric's levels: in a task
`rubric_in_orders`, for a stored log `regrade`; `reads` has the reads of their logs.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

try:
    import inspect_ai
    from inspect_ai.log import EvalLog
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        Model,
        get_model,
    )
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import TaskState
    from inspect_ai.util import collect
except ModuleNotFoundError as missing:
    raise ImportError(
        f"rubric_order.extras.logs.scorers: expected the package inspect-ai, found no module {missing.name}"
    ) from None

from rubric_order import strategies
from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import MAX_LEVELS
from rubric_order.extras.logs.intake import levels as rubric_levels
from rubric_order.library import prompts
from rubric_order.parsing import one_score
from rubric_order.parsing.choices import numbers

Strategy: TypeAlias = Literal["balanced", "rotated"]
Prompt: TypeAlias = str | list[dict[str, str]]
KEY = "rubric_order"  # key of the reads in the metadata of a score
CUT_SHORT = ("max_tokens", "model_length")
GRADES: Mapping[str, float] = {"I": 0.0, "P": 0.5, "C": 1.0}


class _Scale(NamedTuple):
    """Labels of a rubric, the lowest level first, and the value of each label in the metrics."""

    labels: tuple[str, ...]

    @property
    def values(self) -> list[float]:
        """Value of each label: its number if all are numbers, `GRADES` if all are grades, else its level from 1."""
        if all(label.isdecimal() for label in self.labels):
            return [float(label) for label in self.labels]
        return [
            GRADES.get(label, level) if set(self.labels) <= set(GRADES) else level
            for level, label in enumerate(self.labels, start=1)
        ]


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]  # the package need not be there
def rubric_in_orders(
    levels: Sequence[str],
    question: str = "",
    *,
    strategy: Strategy = "balanced",
    template: str = "feedback",
    model: str | Model | None = None,
    model_role: str = "grader",
) -> Scorer:
    """Scorer that shows the judge each answer with the rubric's levels in several orders.

    The score is the mean over the orders. The single reads are in the metadata of the score, see `reads`.

    Args:
        levels: descriptions of scores 1 to n.
        question: the criterion.
        strategy: ``balanced`` reads each answer in all 2n rotations. ``rotated`` reads each answer in one rotation, so
            it costs as much as an ordinary scorer. The rotation changes between samples and between epochs.
        template: see `render`.
        model: the judge; by default the model that has the role `model_role`.
        model_role: role of the judge. If no model has this role, the evaluated model judges.

    Raises:
        InputError: levels or template cannot be used.
    """
    scale = _Scale(numbers(len(levels)))
    _orders(strategy, len(levels))
    render = partial(prompts.render, levels=list(levels), question=question, template=template)
    render("text", ordering=range(1, len(levels) + 1))

    async def score(state: TaskState, target: Target) -> Score:
        asked = [
            (
                order,
                render(
                    state.output.completion, ordering=order, instruction=state.input_text, reference=target.text or None
                ),
            )
            for order in _chosen(strategy, len(levels), state)
        ]
        return await _score(_judge(model, model_role), asked, scale, state.output.completion, {})

    return score


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]  # the package need not be there
def regraded(
    labels: Sequence[str],
    *,
    of: str | None = None,
    strategy: Strategy = "balanced",
    model: str | Model | None = None,
    model_role: str = "grader",
) -> Scorer:
    """Scorer that asks the judge of another scorer again, with the levels of its own prompt in other orders.

    The prompt is the prompt that the other scorer recorded (``grading`` in the metadata of its score), and only the
    order of the levels changes. The recorded answer is the read of the recorded order, which is not asked again.

    Args:
        labels: labels of the levels as the prompt writes them, the lowest first, such as ``["I", "P", "C"]``. A sample
            has no score if its prompt does not list these levels exactly once.
        of: name of the other scorer; by default the scorer that recorded a prompt.
        strategy: see `rubric_in_orders`; ``rotated`` asks at most once per sample.
        model: the judge; by default the model that has the role `model_role`.
        model_role: role of the judge. If no model has this role, the evaluated model judges.

    Raises:
        InputError: there are too few labels.
    """
    scale = _Scale(tuple(labels))
    _orders(strategy, len(labels))

    async def score(state: TaskState, target: Target) -> Score:
        grading = _grading(state, of)
        if isinstance(grading, str):
            return Score.unscored(reason="scoring_failed", explanation=grading)
        *before, prompt, answer = grading
        blocks = [block for block in rubric_levels.find(prompt) if sorted(block.labels) == sorted(labels)]
        if before or len(blocks) != 1:
            said = "messages before the prompt" if before else f"such levels {len(blocks)} times in the prompt"
            explanation = f"expected one prompt with the levels {', '.join(labels)} once, found {said}"
            return Score.unscored(reason="scoring_failed", explanation=explanation)
        (block,) = blocks
        recorded = tuple(scale.labels.index(label) + 1 for label in block.labels)
        asked = [
            (order, rubric_levels.reordered(prompt, block, [scale.labels[level - 1] for level in order]))
            for order in _chosen(strategy, len(labels), state)
        ]
        return await _score(_judge(model, model_role), asked, scale, state.output.completion, {recorded: answer})

    return score


def regrade(
    log: EvalLog,
    labels: Sequence[str],
    *,
    of: str | None = None,
    strategy: Strategy = "balanced",
    model: str | Model | None = None,
    **options: Any,
) -> EvalLog:
    """Add a further score to each sample of a stored log, for which the same judge reads the levels in other orders.

    Args:
        log: a log with its samples, such as ``inspect_ai.log.read_eval_log`` returns.
        labels, of, strategy: see `regraded`.
        model: the judge; by default the judge that the log names.
        options: further arguments of ``inspect_ai.score``.

    Raises:
        InputError: there are too few labels, or the log records no call of a judge.
    """
    judge = model if model is not None else _logged_judge(log, of)
    return inspect_ai.score(log, regraded(labels, of=of, strategy=strategy, model=judge), action="append", **options)


def reads(log: EvalLog, name: str | None = None, *, partial: bool = False) -> pd.DataFrame:
    """Reads that a scorer of this module recorded in a log.

    Args:
        log: a log with its samples.
        name: name of the scorer; by default the scorer that has reads.
        partial: whether the log of a task that failed or was cancelled is read, as far as it goes.

    Returns:
        One row per read, as `bias_card` takes it: ``item`` (sample and epoch), ``group`` (sample), ``judge``,
        ``ordering`` (a list), ``score`` (1 to n), and also ``failure`` and ``answer``.

    Raises:
        InputError: there are no reads, or reads of several scorers; or the log is incomplete.

    Examples:
        >>> card = ro.bias_card(rubric_order.extras.logs.scorers.reads(log))[0]  # doctest: +SKIP
    """
    if log.status != "success" and not partial:
        scored = sum(bool(sample.scores) for sample in log.samples or [])
        raise InputError(
            f"log: its status is {log.status!r}, and {scored} samples have scores; expected 'success', or partial=True"
        )
    rows, scorers = [], set()
    for sample in log.samples or []:
        for scorer_name, score in (sample.scores or {}).items():
            record = (score.metadata or {}).get(KEY)
            if record is None or name not in (None, scorer_name):
                continue
            scorers.add(scorer_name)
            keys = {"item": f"{sample.id} {sample.epoch}", "group": str(sample.id), "judge": record["judge"]}
            rows += [keys | entry for entry in record["reads"]]
    if len(scorers) != 1:
        listed = ", ".join(sorted(scorers)) or "nothing"
        raise InputError(f"log: expected reads of one scorer of rubric_order.extras.logs.scorers, found {listed}")
    return pd.DataFrame(rows)


def _orders(strategy: str, n: int) -> np.ndarray:
    """Shape (2n, n)."""
    if strategy not in ("balanced", "rotated"):
        raise InputError(f"strategy: expected balanced or rotated, found {strategy!r:.60}")
    if not 2 <= n <= MAX_LEVELS:
        raise InputError(f"levels: expected 2 to {MAX_LEVELS}, found {n}")
    return strategies.balanced(n)


def _chosen(strategy: str, n: int, state: TaskState) -> list[tuple[int, ...]]:
    orders = [tuple(map(int, order)) for order in _orders(strategy, n)]
    if strategy == "rotated":
        digest = hashlib.blake2b(str(state.sample_id).encode(), digest_size=8).digest()
        return [orders[(int.from_bytes(digest, "big") + state.epoch - 1) % len(orders)]]
    return list(dict.fromkeys(orders))


def _judge(model: str | Model | None, role: str) -> Model:
    return get_model(model) if model is not None else get_model(role=role)


def _message(role: str, content: str) -> "ChatMessage":
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return kinds[role](content=content)


async def _score(
    judge: Model,
    asked: Sequence[tuple[tuple[int, ...], Prompt]],
    scale: _Scale,
    text: str,
    recorded: Mapping[tuple[int, ...], str],
) -> Score:
    """Score of a text from its reads. Recorded answers are not asked again."""

    async def read(order: tuple[int, ...], prompt: Prompt) -> dict[str, Any]:
        cut = False
        answer = recorded.get(order)
        if answer is None:
            output = await judge.generate(prompt if isinstance(prompt, str) else [_message(**part) for part in prompt])
            answer, cut = output.completion, output.stop_reason in CUT_SHORT
        choice = one_score.parse_score(answer, scale.labels, truncated=cut)
        level = None if choice.label is None else scale.labels.index(choice.label) + 1
        return {"ordering": list(order), "score": level, "failure": choice.reason, "answer": answer}

    done = await collect(*(read(order, prompt) for order, prompt in asked))
    metadata = {KEY: {"judge": str(judge), "labels": list(scale.labels), "reads": done}}
    values = [scale.values[one["score"] - 1] for one in done if one["score"] is not None]
    if not values:
        return Score.unscored(reason="grader_failed", answer=text, metadata=metadata)
    explanation = "; ".join(f"{' '.join(map(str, one['ordering']))}: {one['score']}" for one in done)
    return Score(value=sum(values) / len(values), answer=text, explanation=explanation, metadata=metadata)


def _grading(state: TaskState, of: str | None) -> list[str] | str:
    """Texts of the conversation with a judge that another scorer recorded; or the reason why there is none."""
    recorded = _recorded(state.scores, of)
    if len(recorded) != 1:
        return f"expected one scorer with a recorded prompt, found {', '.join(recorded) or 'nothing'}"
    return [_content(message) for message in next(iter(recorded.values()))]


def _recorded(scores: Mapping[str, Score] | None, of: str | None) -> dict[str, list[Any]]:
    conversations = {name: (score.metadata or {}).get("grading") for name, score in (scores or {}).items()}
    return {name: messages for name, messages in conversations.items() if messages and of in (None, name)}


def _content(message: Any) -> str:
    content = message["content"] if isinstance(message, Mapping) else message.text
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _logged_judge(log: EvalLog, of: str | None) -> Model:
    for sample in log.samples or []:
        for messages in _recorded(sample.scores, of).values():
            for event in sample.events or []:
                if event.event == "model" and event.output.completion == _content(messages[-1]):
                    return get_model(event.model, config=event.config or GenerateConfig())
    raise InputError("log: no call of a judge is recorded; expected model=...")
