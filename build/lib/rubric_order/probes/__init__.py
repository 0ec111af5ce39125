"""Probes: what a study permutes or varies in a prompt. One class a probe, all of them subclasses of `Probe`.

Plan, requests, engines, parser, scores and pages work from what a probe says of itself, of its units, of their
questions and of the labels of these. Few places name probes: the catalogue says of which probes a statistic reads
scores; `recorded` says which probes recorded answers are of; module `conditions` of `prompts` has the conditions of
`score_order`; `references` of `planning` has reference answers scored as `score_order` scores; and `studies` of
`simulation` has studies of planted judges.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rubric_order.base.keys import BASELINE
from rubric_order.base.levels import LOWEST
from rubric_order.base.plugins import Plugins
from rubric_order.parsing.choices import Choice

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from jinja2 import Template

    from rubric_order.settings.judges import Judge
    from rubric_order.settings.studies import Study


Kind = Literal["option", "position", "position_or_tie", "ranking", "level", "verdict", "text"]  # see `Question`


class Question(NamedTuple):
    """One thing that an answer must say.

    Attributes:
        name: what the prompt calls it, such as a criterion; empty where an answer says one thing.
        labels: what may be written, one for each option, position or level, in canonical order.
        names: what a label stands for: an ``option`` that is permuted, with which the label travels; a ``position`` of
            the prompt, at which the label stays; a ``position_or_tie``, where the last label says that none is better;
            the positions in a ``ranking``, of which an answer joins all labels by ``>``, the best first; a ``level``
            that the prompt need not list; a ``verdict``; or nothing where the answer is a ``text``, without labels.
    """

    name: str
    labels: tuple[str, ...]
    names: Kind


class Shown(NamedTuple):
    """Form in which one read shows a unit.

    Attributes:
        ordering: the option at each position.
        levels: in a crossed design, the score level at each position of the second axis; else empty.
        condition: what is varied beside the order.
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
        about: what plan and scores say of the unit: ``group_id``, ``candidate``, ``criterion``, ``human_score``, and
            whatever else the probe needs for its scores.
        questions: what an answer must say, in the order in which the prompt asks it.
        prompt: the user's message.
        offers: whether the unit can be shown in a condition; where not, it has no reads in it.
    """

    unit_id: str
    options: tuple[str, ...]
    about: Mapping[str, object]
    questions: Callable[[Shown], tuple[Question, ...]]
    prompt: Callable[[Shown], str]
    offers: Callable[[str], bool] = lambda condition: True


def lowest_scores(reads: pd.DataFrame) -> list[int]:
    """The lowest score of the rubric of each read of a plan, 0 or 1."""
    return [1] * len(reads) if LOWEST not in reads else [int(lowest) for lowest in reads[LOWEST]]


class Probe(ABC):
    """Something that a study permutes: how it is shown and asked for, and what becomes of the answers.

    Each import of this module counts in `code_version` of all scripts that use probes, such as the one that asks
    judges. So parsing and scores stay out of it: `one_score.parse_score` and `readouts.score` are common ways.

    Attributes:
        PERMUTES: what its orderings permute, in words: ``the answers in a list``.
        STRATEGIES: names of the ways to choose orderings, see `choose`.
        SOURCE: key of the paper that it follows, in ``cards/references.bib``; None where it follows nothing published.
        CONDITIONS: what a study can vary beside the order; `BASELINE` comes first.
        IDENTITY: settings of a judge that say how the answer is asked for, and so are part of a request's name.
        PROMPTS: names of the prompts among which a study can choose, each with the `answer_format` that it asks for, or
            None where it fits any; empty where a probe has one.
        COMPARES: whether its units are pairs or lists of texts, which `comparisons` of a study choose.
        DECIDES: whether decision models can be asked: its prompts then have a text, a question and the options apart.
        CROSSED: whether a second axis, the order of the score levels, can be varied together with the options.
        FIELDS: what a template of the user may write, with what it stands for; empty where users bring no template.
        COLUMNS: what its scores hold beside the plan's columns; those of `contracts.scores.SCORES` are among them.
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
        """Name of the prompt's template for a judge: a file of ``resources/templates/``, or an absolute path.

        Neither has its ending ``.jinja``.

        Args:
            judge: its settings.
            prompt: the one of `PROMPTS` that a study names; None for the probe's own.
        """

    def try_template(self, template: Template, n: int) -> None:
        """Render a template of the user at scale n.

        Raises:
            ValueError: what is wrong with it, such as an option that it does not write.
        """
        raise ValueError("the probe has a prompt of its own; expected no template")

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
        """The units of one dataset at scale n, in the order in which they are read.

        `comparisons` says which pairs or lists a probe reads that compares texts: ``pairs`` (`given` or `all`),
        ``sample`` (how many of them, None for all), ``lists`` (how many of a group), ``seed``, and ``prompt``, the name
        of the template.

        Raises:
            InputError: an item or a rubric does not fit the probe.
        """

    @abstractmethod
    def choose(self, strategy: str, options: int, *, budget: int | None, rng: np.random.Generator | None) -> np.ndarray:
        """The orderings that a unit with so many options is read in, shape (reads, options).

        Raises:
            ValueError: the strategy has too many orderings.
        """

    def asks_together(self, condition: str, n: int) -> bool:
        """True of a condition in which all orderings of a strategy are asked in one request.

        Then `Shown.levels` holds these orderings one after the other, and the reads of a unit share a request.
        """
        return False

    def problems(self, study: Study) -> Iterator[str]:
        """Settings of a study that do not fit the probe, as key and message: ``/strategies: ...``."""
        return iter(())

    @abstractmethod
    def questions(self, reads: pd.DataFrame) -> list[tuple[Question, ...]]:
        """The questions of each read of a plan, as `Unit.questions` has them."""

    @abstractmethod
    def parse(self, text: str, questions: Sequence[Question], *, truncated: bool) -> tuple[Choice, ...]:
        """Choices of an answer, one under each question. Never raises on any text."""

    @abstractmethod
    def score(
        self, reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
    ) -> pd.DataFrame:
        """One row a read and question, with `COLUMNS`.

        Args:
            reads: a plan with the column `option_logprobs`: of each read, the log-probabilities of all labels of its
                questions, one question after the other; null where they are not known.
            questions, choices: of each read, in the order in which the prompt asks.
        """


REGISTRY: Plugins[Probe] = Plugins("rubric_order.probes", Probe)
names = REGISTRY.names


@functools.cache
def load(probe: str) -> Probe:
    """A probe by its name.

    Raises:
        InputError: see `Plugins.load`.
    """
    return REGISTRY.load(probe)()
