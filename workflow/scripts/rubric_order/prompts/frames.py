"""Rendering the prompt of one read.

Templates are files. Texts of datasets are only values, never templates. The sandboxed engine does not look for template
syntax in values, so an item that contains ``{{ 7*7 }}`` or ``###Score Rubrics:`` is shown unchanged.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from jinja2 import StrictUndefined, Template, nodes

from rubric_order.base.errors import UnfitError
from rubric_order.base.keys import BASELINE
from rubric_order.prompts import conditions, messages, sandbox
from rubric_order.prompts.conditions import Condition
from rubric_order.prompts.structured import PARTS, StructuredFrame

_ENVIRONMENT = sandbox.Sandbox(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False, trim_blocks=True, lstrip_blocks=True
)


def parsed(source: str) -> nodes.Template:
    """The syntax tree of a template."""
    return _ENVIRONMENT.parse(source)


@cache
def compile_template(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


def load_template(path: str | Path) -> Template:
    """A template from its file. A file with an ending of `messages.FILES` holds messages, any other file one text."""
    if messages.is_file(path):
        return compile_template(messages.source(path))
    return compile_template(Path(path).read_text(encoding="utf-8"))


class Option(str):
    """The line of an option, ``Score 4: Good.``, with its two parts, for templates that write their own lines."""

    __slots__ = ("description", "label")

    label: str
    description: str

    def __new__(cls, label: str, description: str) -> "Option":
        line = super().__new__(cls, f"Score {label}: {description}")
        line.label, line.description = label, description
        return line


def option_lines(levels: Sequence[str], ordering: Sequence[int], labels: Sequence[str] | None = None) -> list[Option]:
    """Lines that are permuted. Score k keeps its ID and its description; only its position changes.

    Args:
        levels: descriptions of scores 1 to n.
        ordering: the score at each position.
        labels: IDs of scores 1 to n; by default these numbers.
    """
    return [Option(str(labels[score - 1] if labels else score), levels[score - 1]) for score in ordering]


def wording(condition: Condition, n: int, lowest: int = 1) -> dict[str, object]:
    """Values with which a condition of probe `score_order`, or a scale from 0, changes the text of templates.

    Returns:
        `ids` (IDs of the levels, lowest first; None if they are the numbers 1 to n, in any order), `reference_score`
        (ID of the reference answer's score), `neutral` (index of an edit without meaning), and the `lowest` and
        `highest` score.
    """
    labels = condition.labels(n, lowest)
    spelled = None if set(labels) == set(Condition(None, None, n, 0).labels(n)) else labels
    words: dict[str, object] = {
        "ids": spelled,
        "reference_score": labels[condition.shown - 1],
        "neutral": condition.neutral,
    }
    return words | {"lowest": lowest, "highest": lowest + n - 1}


def is_structured(template: Template) -> bool:
    """True for a template for decision models, which has a block for the text and one for the question."""
    return all(name in template.blocks for name in PARTS)


class Frame:
    """A prompt with gaps for its options, rendered once for all orderings of the options.

    Args:
        pieces: the text before, between and after the gaps.
        gaps: for each gap, the index of its option, from 0, and the part of the option that is shown: ``label``,
            ``description``, or an empty text for the whole line. None if each option has one gap, for its line.
    """

    def __init__(self, pieces: Sequence[str], gaps: Sequence[tuple[int, str]] | None = None) -> None:
        self.pieces = pieces
        self.gaps = gaps

    def fill(self, options: Sequence[str]) -> str:
        """The prompt with these options."""
        if self.gaps is not None:
            options = [getattr(options[place], part) if part else options[place] for place, part in self.gaps]
        between = zip(options, self.pieces[1:], strict=True)
        return self.pieces[0] + "".join(option + piece for option, piece in between)


class _Gap(str):
    """Placeholder for an option while a template is rendered."""

    __slots__ = ("description", "label")

    label: str
    description: str


def frame(template: Template, *, n: int, parts: bool = False, **values: object) -> Frame | StructuredFrame:
    """Render a template with gaps for its n options. The template has to write each of `options` once, in order.

    A template with the blocks `structured.PARTS` writes no options: a decision model gets text, question and options
    separately.

    Args:
        template: a compiled file of ``resources/templates/``, or a template of the user.
        n: number of options.
        parts: True if the template may write an option's `label` and `description` separately, not only its whole line.
        values: everything else that the template shows. Texts of datasets are never run as templates.

    Raises:
        UnfitError: the template leaves out an option, writes an option twice or out of order, or writes a description
            without its label.
    """
    if is_structured(template):
        text, question = (
            cast("sandbox.Limited", template).render_block(name, n=n, **values).strip("\n") for name in PARTS
        )
        return StructuredFrame(text, question)
    mark = _mark(values)
    marks = []
    for place in range(n):
        gap = _Gap(f"{mark}{place}{mark}")
        if parts:
            gap.label, gap.description = f"{mark}{place}label{mark}", f"{mark}{place}description{mark}"
        marks.append(gap)
    text = template.render(options=marks, n=n, **values)
    pieces = re.split(f"{mark}([0-9]+)([a-z]*){mark}", text)
    gaps = [(int(place), part) for place, part in zip(pieces[1::3], pieces[2::3], strict=True)]
    shown = [place for place, part in gaps if part != "label"]
    labelled = {place for place, part in gaps if part != "description"}
    if shown != list(range(n)) or labelled != set(shown):
        raise UnfitError("the template does not write its options once each and in order")
    return Frame(pieces[::3], None if all(not part for _, part in gaps) else gaps)


def _mark(values: Mapping[str, object]) -> str:
    """A character that occurs in no value."""
    texts = [value for value in values.values() if isinstance(value, str)]
    return next(mark for mark in map(chr, range(0xE000, 0xF8FF)) if not any(mark in text for text in texts))


def render(
    template: Template,
    *,
    instruction: str,
    response: str,
    reference: str | None,
    question: str,
    levels: Sequence[str],
    ordering: Sequence[int],
    condition: str = BASELINE,
    lowest: int = 1,
) -> str:
    """The prompt of one read.

    Args:
        template: a compiled file of ``resources/templates/``.
        instruction: the instruction that the response answers.
        response: the text that is judged.
        reference: an answer that deserves the highest score. None leaves out its section.
        question: the criterion.
        levels: descriptions of scores 1 to n.
        ordering: the score at each position, shape (n,).
        condition: condition of the wording and the IDs. The reference answer is always `reference`.
        lowest: score of the lowest level, 0 or 1.

    Source: Xu et al. (2026), Appendix B, Figure 5.
    """
    values = {"instruction": instruction, "response": response, "reference": reference, "question": question}
    chosen, n = conditions.read(condition, len(levels)), len(levels)
    lines = option_lines(levels, ordering, chosen.labels(n, lowest))
    return frame(template, n=n, parts=True, **wording(chosen, n, lowest), **values).fill(lines)
