"""Rendering the prompt of one read. Texts of datasets are never templates: ``{{ 7*7 }}`` is shown unchanged."""

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
    """Lines that are permuted: score k keeps its ID (`labels`, by default its number) and description."""
    return [Option(str(labels[score - 1] if labels else score), levels[score - 1]) for score in ordering]


def wording(condition: Condition, n: int, lowest: int = 1) -> dict[str, object]:
    """Values by which a condition, or a scale from 0, changes templates: `ids` (None for numbers), `reference_score`
    (an ID), `neutral`, `lowest`, `highest`.
    """
    labels = condition.labels(n, lowest)
    spelled = None if set(labels) == set(Condition(None, None, n, 0).labels(n)) else labels
    words: dict[str, object] = {
        "ids": spelled,
        "reference_score": labels[condition.id_level - 1],
        "neutral": condition.neutral,
    }
    return words | {"lowest": lowest, "highest": lowest + n - 1}


def is_structured(template: Template) -> bool:
    """True for a template for decision models, which has a block for the text and one for the question."""
    return all(name in template.blocks for name in PARTS)


class Frame:
    """A prompt with gaps for its options, rendered once for all orderings.

    `gaps` has each gap's option, from 0, and part (``label``, ``description``, or ``""``); None: one line each.
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
    """Render a template with gaps for its n options, each of which it must write once, in order (else UnfitError).

    `parts`: it may write label and description separately. One with the blocks `structured.PARTS` writes no options.
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
    described = [place for place, part in gaps if part != "label"]
    labelled = {place for place, part in gaps if part != "description"}
    if described != list(range(n)) or labelled != set(described):
        raise UnfitError("the template does not write its options once each and in order")
    return Frame(pieces[::3], None if all(not part for _, part in gaps) else gaps)


def _mark(values: Mapping[str, object]) -> str:
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
    """The prompt of one read. A `reference` deserves the highest score, whatever the condition.

    Source: Xu et al. (2026), Appendix B, Figure 5.
    """
    values = {"instruction": instruction, "response": response, "reference": reference, "question": question}
    chosen, n = conditions.read(condition, len(levels)), len(levels)
    lines = option_lines(levels, ordering, chosen.labels(n, lowest))
    return frame(template, n=n, parts=True, **wording(chosen, n, lowest), **values).fill(lines)
