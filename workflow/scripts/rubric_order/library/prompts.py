"""Orderings, prompts and parsing for studies that are run elsewhere."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from jinja2 import Template

from rubric_order.base.errors import InputError, UnfitError
from rubric_order.datasets.rubrics import MAX_LEVELS
from rubric_order.parsing import several_scores
from rubric_order.parsing.choices import Choice, numbers
from rubric_order.prompts import frames, messages
from rubric_order.prompts import orderings as strategies

TEMPLATES = Path(frames.__file__).parent / "templates"
Messages = Sequence[Mapping[str, str]]
MOST_CHARACTERS = 1_000_000  # longest answer that is parsed


def orderings(strategy: str = "balanced", n: int = 5, *, budget: int | None = None, seed: int = 0) -> np.ndarray:
    """The orderings that one item is read in.

    Args:
        strategy: ``balanced`` (the 2n rotations, forward and reversed), ``random``, ``fixed``, ``single``, ``all``,
            ``balanced_williams`` or ``repeated_rotations``.
        n: number of score levels, 2 to 11.
        budget: number of reads of ``random``, ``fixed`` and ``repeated_rotations``; 2n by default.
        seed: seed of ``random``. Give each item its own seed.

    Returns:
        Integers of shape (reads, n): the score at each position.

    Raises:
        InputError: there is no such strategy, or it has no orderings for these arguments.

    Examples:
        >>> import rubric_order as ro
        >>> ro.orderings("balanced", 3).tolist()
        [[1, 2, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1], [2, 1, 3], [1, 3, 2]]
    """
    if strategy not in strategies.STRATEGIES:
        raise InputError(f"strategy: expected one of {', '.join(strategies.STRATEGIES)}, found {strategy!r:.60}")
    if not 2 <= n <= MAX_LEVELS:
        raise InputError(f"n: expected 2 to {MAX_LEVELS} score levels, found {n}")
    if budget is not None and budget < 1:
        raise InputError(f"budget: expected at least 1 read, found {budget}")
    try:
        return strategies.choose(strategy, n, budget=budget, rng=np.random.default_rng(seed))
    except ValueError as error:
        raise InputError(str(error)) from None


def render(
    response: str,
    *,
    levels: Sequence[str],
    ordering: Sequence[int],
    instruction: str = "",
    question: str = "",
    reference: str | None = None,
    template: str | Path | Messages = "feedback",
) -> str | list[dict[str, str]]:
    """The prompt of one read.

    Args:
        response: the text to be judged.
        levels: descriptions of scores 1 to n.
        ordering: the score at each position.
        instruction: instruction that the response answers.
        question: the criterion.
        reference: an answer that deserves the highest score.
        template: ``feedback`` (the prompt of Xu et al.), ``score`` (a score alone), or a prompt as printed in a paper,
            such as ``papers/li2025``. It can also be a template of your own: the path of a Jinja file; a list of
            messages, each with ``role`` and ``content`` (Jinja); or the path of a YAML file with such a list. A
            template must write each of `options` once and in order. It may use `instruction`, `response`, `reference`,
            `question` and `n`.

    Returns:
        A text, or messages with ``role`` and ``content`` if the template has messages.

    Raises:
        InputError: the ordering does not fit the levels, the template cannot be used, or a text holds a control
            character that begins a message.

    Examples:
        >>> import rubric_order as ro
        >>> prompt = ro.render("It is fine.", levels=["Bad.", "Good."], ordering=[2, 1], template="score")
        >>> prompt.splitlines()[-4:-2]
        ['Score 2: Good.', 'Score 1: Bad.']
    """
    prompt = rendered(
        response,
        levels=levels,
        ordering=ordering,
        instruction=instruction,
        question=question,
        reference=reference,
        template=load(template),
    )
    return messages.chat(prompt) if messages.MARKS.search(prompt) else prompt


def rendered(
    response: str,
    *,
    levels: Sequence[str],
    ordering: Sequence[int],
    instruction: str,
    question: str,
    reference: str | None,
    template: Template,
    lowest: int = 1,
) -> str:
    """The prompt of one read, as a file of requests holds it, see `render`; `lowest` is the lowest score, 0 or 1."""
    if sorted(map(int, ordering)) != list(range(1, len(levels) + 1)):
        raise InputError(f"ordering: expected each score from 1 to {len(levels)} once, found {list(ordering)!r:.80}")
    for text in (response, instruction, question, reference or "", *levels):
        if control := messages.MARKS.search(text):
            raise InputError(f"expected text without control character {control[0]!r}, found {text!r:.60}")
    try:
        return frames.render(
            template,
            instruction=instruction,
            response=response,
            reference=reference,
            question=question,
            levels=levels,
            ordering=[int(score) for score in ordering],
            lowest=lowest,
        )
    except UnfitError as error:
        raise InputError(f"template: {error}") from None


def load(template: str | Path | Messages) -> Template:
    """A template from its name, from the path of its file, or from messages."""
    if not isinstance(template, str | Path):
        try:
            return frames.compile_template(messages.compose(messages.of(template)))
        except ValueError as error:
            raise InputError(f"template: {error}") from None
    path = Path(template)
    if not path.suffix:
        templates = {file.relative_to(TEMPLATES).with_suffix("").as_posix() for file in TEMPLATES.glob("**/*.jinja")}
        if path.as_posix() not in templates:
            expected = ", ".join(sorted(templates))
            raise InputError(
                f"template: expected {expected}, or the path of a .jinja file, found {str(template)!r:.60}"
            )
        path = TEMPLATES / f"{template}.jinja"
    return frames.compile_template(messages.source(path).removesuffix("\n"))


def parse(text: str, n: int = 5, *, lowest: int = 1, criterion: str = "") -> Choice:
    """The score that a study reads in an answer, or the reason why there is none; nothing is guessed.

    Args:
        text: the answer.
        n: number of score levels, 2 to 11.
        lowest: the lowest score, 0 or 1.
        criterion: id of the criterion in the study; a field of JSON may have this name.

    Raises:
        InputError: the text is too long, or there is no such scale.

    Examples:
        >>> import rubric_order as ro
        >>> ro.parse("I would give it 4 out of 5.").label
        '4'
        >>> ro.parse("Between 2 and 4.").label is None
        True
        >>> ro.parse('{"score": 10}', 11, lowest=0).label
        '10'
        >>> ro.parse('{"reason": "A 3 for style.", "coherence": 5}', criterion="coherence").label
        '5'
    """
    if not 2 <= n <= MAX_LEVELS:
        raise InputError(f"n: expected 2 to {MAX_LEVELS} score levels, found {n}")
    if lowest not in (0, 1):
        raise InputError(f"lowest: expected 0 or 1, found {lowest!r:.60}")
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"text: expected at most {MOST_CHARACTERS:,} characters, found {len(text):,}")
    return several_scores.parse_answer(text, numbers(n, lowest), criterion)
