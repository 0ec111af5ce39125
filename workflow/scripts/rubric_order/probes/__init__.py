"""Probes, which say what a study permutes or varies in a prompt. Each probe is a subclass of `Probe`.

Plan, requests, engines, parser, scores and pages work from a probe's descriptions. Beside these, only the catalogue,
`recorded`, and the modules `conditions` of prompts, `references` of planning and `studies` of simulation name probes.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rubric_order.base.errors import UnfitError
from rubric_order.base.keys import BASELINE
from rubric_order.base.levels import LOWEST
from rubric_order.base.plugins import Plugins
from rubric_order.parsing.choices import UNREADABLE, Choice

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from jinja2 import Template

    from rubric_order.settings.judges.judge import Judge
    from rubric_order.settings.studies import Study


Kind = Literal["option", "position", "position_or_tie", "ranking", "level", "verdict", "text"]  # see `Question`


class Question(NamedTuple):
    """One thing that an answer must say: a label for each option, position or level, in canonical order.

    `names`: an ``option`` is permuted and its label moves with it; a ``position`` of the prompt keeps its label; in
    ``position_or_tie``, the last label is a tie; a ``ranking`` joins the positions' labels by ``>``, best first; a
    ``level`` need not be listed; a ``verdict``; a ``text`` has no labels. `name` is empty if an answer says one thing.
    """

    name: str
    labels: tuple[str, ...]
    names: Kind


class Shown(NamedTuple):
    """Form in which one read shows a unit: the option at each position, and the condition beside the order.

    `levels` has the score level at each position in a crossed design, or all orderings where one request asks about
    them (`Probe.asks_together`); else it is empty.
    """

    ordering: tuple[int, ...]
    levels: tuple[int, ...] = ()
    condition: str = BASELINE


@dataclass(frozen=True)
class Unit:
    """Subject of one prompt.

    Attributes:
        unit_id: unique in the dataset.
        options: ids of what is permuted, in canonical order.
        about: columns of plan and scores: ``dataset`` (always), ``group_id``, ``candidate``, ``criterion``,
            ``human_score``, and what the probe needs for its scores.
        questions: returns the questions in the prompt's order.
        prompt: returns the user's message.
        offers: True for a condition in which the unit can be shown; it has no reads in others.
    """

    unit_id: str
    options: tuple[str, ...]
    about: Mapping[str, object]
    questions: Callable[[Shown], tuple[Question, ...]]
    prompt: Callable[[Shown], str]
    offers: Callable[[str], bool] = lambda condition: True


def lowest_scores(reads: pd.DataFrame) -> list[int]:
    """Lowest score, 0 or 1, of the rubric of each read of a plan."""
    return [1] * len(reads) if LOWEST not in reads else [int(lowest) for lowest in reads[LOWEST]]


class Probe(ABC):
    """Base class of probes: what a study permutes, how a prompt shows it and asks for it, and how answers are scored.

    What this module imports counts in `code_version` of all scripts that use probes, also the one that asks judges: so
    parsing and scores are imported where used. Many probes use `one_score.parse_score` and `readouts.score`.

    Attributes:
        PERMUTES: the things that are permuted, such as ``the answers in a list``.
        STRATEGIES: names of the ways to choose orderings, see `choose`.
        SOURCE: key, in ``cards/references.bib``, of the paper that the probe follows; None without one.
        CONDITIONS: variations beside the order that a study can use; `BASELINE` first.
        IDENTITY: settings of a judge by which the answer is asked for, and so part of a request's name.
        PROMPTS: from the names of prompts that a study can choose to the `answer_format` that each asks for, or None.
        COMPARES: True if units are pairs or lists of texts, which a study's `comparisons` choose.
        DECIDES: True if decision models can be asked: prompts then keep text, question and options apart.
        CROSSED: True if a study can vary the order of the score levels together with the options.
        FIELDS: names that a user's template may write, with their meanings; empty if users bring none.
        COLUMNS: columns of the scores beside the plan's, with those of `contracts.scores.SCORES`.
    """

    PERMUTES: str
    STRATEGIES: tuple[str, ...]
    SOURCE: str | None = None
    CONDITIONS: Sequence[str] = (BASELINE,)
    IDENTITY: tuple[str, ...] = ("answer_format", "answer_prefix")
    PROMPTS: Mapping[str, str | None] = MappingProxyType({})
    COMPARES: bool = False
    DECIDES: bool = False
    CROSSED: bool = False
    FIELDS: Mapping[str, str] = MappingProxyType({})
    COLUMNS: tuple[str, ...] = (
        *("question", "score", "position", "pattern", "failure"),
        *("expected_score", "option_mass", "position_probabilities"),
    )

    @abstractmethod
    def template(self, judge: Judge, prompt: str | None = None) -> str:
        """Name of the prompt's template for a judge (of `PROMPTS`, None for the default), a file of
        ``resources/templates/`` or an absolute path, without ``.jinja``.
        """

    def try_template(self, template: Template, n: int) -> None:
        """Render a user's template at scale n; UnfitError says what is wrong, such as an option not written."""
        raise UnfitError("the probe has a prompt of its own; expected no template")

    @abstractmethod
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
        """The units of one dataset at scale n, in the order of reading; InputError if an item or rubric does not fit.

        `comparisons` says which pairs or lists are read: ``pairs`` (`given` or `all`), ``sample`` (units, None for
        all), ``lists`` (in a group), ``seed``, and ``prompt``, the template's name.
        """

    @abstractmethod
    def choose(self, strategy: str, options: int, *, budget: int | None, rng: np.random.Generator | None) -> np.ndarray:
        """Orderings in which a unit is read, shape (reads, options); UnfitError if the strategy has too many."""

    def asks_together(self, condition: str, n: int) -> bool:
        """True for a condition in which one request, which the unit's reads share, asks about all orderings, one after
        the other in `Shown.levels`.
        """
        return False

    def problems(self, study: Study) -> Iterator[str]:
        """Settings of a study that do not fit the probe, each as key and message: ``/strategies: ...``."""
        return iter(())

    @abstractmethod
    def questions(self, reads: pd.DataFrame) -> list[tuple[Question, ...]]:
        """Questions of each read of a plan, equal to those of `Unit.questions`."""

    @abstractmethod
    def parse(self, text: str, questions: Sequence[Question], *, truncated: bool) -> tuple[Choice, ...]:
        """Choices of an answer, one for each question. It should raise no error for any text, see `read`."""

    def read(self, text: str, questions: Sequence[Question], *, truncated: bool) -> tuple[Choice, ...]:
        """Choices of an answer, see `parse`. An answer at which the parser fails is a failure, and ends no job."""
        try:
            return self.parse(text, questions, truncated=truncated)
        except Exception:
            return (Choice(None, reason=UNREADABLE),) * len(questions)

    @abstractmethod
    def score(
        self, reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
    ) -> pd.DataFrame:
        """One row per read and question, with `COLUMNS`, from questions and choices of each read in the prompt's order.

        `option_logprobs` of `reads` has the log-probabilities of all labels of a read's questions, one question after
        the other; null if not known.
        """


REGISTRY: Plugins[Probe] = Plugins("rubric_order.probes", Probe)
names = REGISTRY.names


@functools.cache
def load(probe: str) -> Probe:
    """Load a probe by its name.

    Raises:
        InputError: see `Plugins.load`.
    """
    return REGISTRY.load(probe)()
