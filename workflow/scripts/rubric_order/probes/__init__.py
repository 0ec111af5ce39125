"""Probes, which say what a study permutes or varies in a prompt. Each probe is a subclass of `Probe`.

A probe describes itself, its units, the units' questions and the questions' labels. Plan, requests, engines, parser,
scores and pages work from these descriptions. Few places name probes:

- The catalogue says which probes' scores a statistic reads.
- `recorded` says to which probes recorded answers belong.
- Module `conditions` of `prompts` has the conditions of `score_order`.
- Module `references` of `planning` has reference answers, which are scored like the texts of `score_order`.
- Module `studies` of `simulation` has studies of planted judges.
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

    from rubric_order.settings.judges import Judge
    from rubric_order.settings.studies import Study


Kind = Literal["option", "position", "position_or_tie", "ranking", "level", "verdict", "text"]  # see `Question`


class Question(NamedTuple):
    """One thing that an answer must say.

    Attributes:
        name: name of the question in the prompt, such as a criterion; empty if an answer says only one thing.
        labels: texts that an answer may write, one for each option, position or level, in canonical order.
        names: kind of thing that a label names. An ``option`` is permuted, and its label moves with it. A ``position``
            of the prompt keeps its label. With ``position_or_tie``, the last label says that no option is better. A
            ``ranking`` joins the labels of all positions by ``>``, the best first. A ``level`` need not be listed in
            the prompt. The remaining kinds are a ``verdict``, and a ``text``, which is an answer without labels.
    """

    name: str
    labels: tuple[str, ...]
    names: Kind


class Shown(NamedTuple):
    """Form in which one read shows a unit.

    Attributes:
        ordering: the option at each position.
        levels: in a crossed design, the score level at each position of the second axis. If one request asks about all
            orderings, see `Probe.asks_together`. In all other cases empty.
        condition: name of the variation beside the order.
    """

    ordering: tuple[int, ...]
    levels: tuple[int, ...] = ()
    condition: str = BASELINE


@dataclass(frozen=True)
class Unit:
    """Subject of one prompt.

    Attributes:
        unit_id: unique in the dataset.
        options: ids of the things that are permuted, in canonical order.
        about: columns of the plan and the scores that describe the unit: ``dataset`` (always), ``group_id``,
            ``candidate``, ``criterion``, ``human_score``, and all further columns that the probe needs for its scores.
        questions: function that returns the questions, in the order in which the prompt asks them.
        prompt: function that returns the user's message.
        offers: function that returns True for a condition in which the unit can be shown. The unit has no reads in
            other conditions.
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

    The modules that this module imports count in `code_version` of all scripts that use probes, such as the script that
    asks judges. So parsing and scores are in modules that this module does not import. Many probes use
    `one_score.parse_score` and `readouts.score`.

    Attributes:
        PERMUTES: description of the things that the orderings permute, such as ``the answers in a list``.
        STRATEGIES: names of the ways to choose orderings, see `choose`.
        SOURCE: key, in ``cards/references.bib``, of the paper that the probe follows; None if it follows nothing
            published.
        CONDITIONS: names of the variations beside the order that a study can use; `BASELINE` comes first.
        IDENTITY: settings of a judge that say how the answer is asked for. So they are part of a request's name.
        PROMPTS: dictionary from the names of the prompts among which a study can choose to the `answer_format` that the
            prompt asks for, or to None if the prompt fits any format. Empty if a probe has only one prompt.
        COMPARES: True if the units are pairs or lists of texts, which `comparisons` of a study choose.
        DECIDES: True if decision models can be asked. The prompts then keep text, question and options apart.
        CROSSED: True if a study can vary a second axis, the order of the score levels, together with the options.
        FIELDS: dictionary from the names that a user's template may write to their meanings; empty if users bring no
            template.
        COLUMNS: columns of the scores beside the plan's columns; they include those of `contracts.scores.SCORES`.
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

        The name lacks the ending ``.jinja``.

        Args:
            judge: settings of the judge.
            prompt: name of the prompt, from `PROMPTS`, that a study chose; None for the probe's default prompt.
        """

    def try_template(self, template: Template, n: int) -> None:
        """Render a template of the user at scale n.

        Raises:
            UnfitError: the template is wrong, for example does not write an option. The message says what is wrong.
        """
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
        """The units of one dataset at scale n, in the order in which they are read.

        `comparisons` is for probes that compare texts. It says which pairs or lists they read: ``pairs`` (`given` or
        `all`), ``sample`` (number of units, None for all), ``lists`` (number of lists in a group), and ``seed``. It
        also has ``prompt``, the name of the template.

        Raises:
            InputError: an item or a rubric does not fit the probe.
        """

    @abstractmethod
    def choose(self, strategy: str, options: int, *, budget: int | None, rng: np.random.Generator | None) -> np.ndarray:
        """Orderings in which a unit with this number of options is read, shape (reads, options).

        Raises:
            UnfitError: the strategy has too many orderings.
        """

    def asks_together(self, condition: str, n: int) -> bool:
        """True for a condition in which one request asks about all orderings of a strategy.

        `Shown.levels` then holds these orderings one after the other, and the reads of a unit share a request.
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
        """One row per read and question, with `COLUMNS`.

        Args:
            reads: a plan with the column `option_logprobs`: for each read, the log-probabilities of all labels of its
                questions, one question after the other; null if they are not known.
            questions: the questions of each read, in the order in which the prompt asks.
            choices: the choices of each read, in the same order.
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
