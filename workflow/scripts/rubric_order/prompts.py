"""Rendering the prompt of one read.

Templates are files; texts of datasets are only ever values. The sandboxed engine does not look for template syntax in
values, so an item that contains ``{{ 7*7 }}`` or ``###Score Rubrics:`` is shown as it stands.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False, trim_blocks=True, lstrip_blocks=True
)


@cache
def compile_template(source: str) -> Template:
    return _ENVIRONMENT.from_string(source)


def load_template(path: str | Path) -> Template:
    return compile_template(Path(path).read_text(encoding="utf-8"))


def option_lines(levels: Sequence[str], ordering: Sequence[int]) -> list[str]:
    """The lines that are permuted: score k keeps its number and its description, only its place changes.

    Args:
        levels: descriptions of scores 1..n.
        ordering: the score at each position.
    """
    return [f"Score {score}: {levels[score - 1]}" for score in ordering]


def render(
    template: Template,
    *,
    instruction: str,
    response: str,
    reference: str | None,
    question: str,
    levels: Sequence[str],
    ordering: Sequence[int],
) -> str:
    """The user's message of one read.

    Args:
        template: a compiled file of ``resources/templates/``.
        reference: an answer that deserves the highest score, or None: its section is then left out.
        question: the criterion.
        levels: descriptions of scores 1..n.
        ordering: the score at each position, shape (n,).

    Source: Xu et al. (2026), Appendix B, Figure 5.
    """
    return template.render(
        instruction=instruction,
        response=response,
        reference=reference,
        question=question,
        options=option_lines(levels, ordering),
        n=len(levels),
    )
