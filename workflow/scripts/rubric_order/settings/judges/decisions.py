"""Settings of decision models, which write no text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal

from rubric_order.settings.base import Role, setting
from rubric_order.settings.judges.judge import Capabilities
from rubric_order.settings.judges.over_http import ENDPOINT_BLOCKS, Addressed

# Fields of a request to a decision model that settings write.
DECISION_BODY = {
    "model": "model",
    "input": "the dataset",
    "state": "the dataset",
    "questions": "question, and the rubrics of the dataset",
}
# Settings that only judges that write text use. Some have been part of every request's name since the first version.
OF_WRITERS = ("system_prompt", "chat_template_kwargs", "dtype", "quantization", "max_model_len", "revision")


class Decisions(Addressed):
    """A decision model behind an endpoint: it takes a text and a question, and returns probabilities."""

    KIND = "decisions"
    UNCONSTRAINED = "a decision model writes nothing that could be held to a form"
    IN_BODY = DECISION_BODY

    engine: Literal["decisions"] = setting(..., role=Role.IDENTITY)
    dialect: Literal["decisions", "systemone"] = setting(
        "decisions",
        "Form of the requests: `/decisions`, as OpenAI has it, or `/systemone`.",
        role=Role.IDENTITY,
    )
    question: Literal["score", "choice", "predicate"] = setting(
        "score",
        "How levels are asked for: as an ordered rubric (`score`), as options that have names (`choice`), or with a"
        " yes-or-no question for each level (`predicate`). docs/decisions.md says what each form can show.",
        role=Role.IDENTITY,
    )
    answer_format: Literal["decision"] = setting(  # type: ignore[assignment]
        "decision", "Form of the answer: a decision model writes no text (engine decisions).", role=Role.FORMAT
    )

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            constrained=False,
            writes=False,
            labels=self.question != "score",
            prefix_cache=ENDPOINT_BLOCKS if self.dialect == "decisions" else None,
            prices=self.prices,
        )

    @property
    def draws_at(self) -> float | None:
        """0, since the judge's score is the most probable score."""
        return 0.0

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        return super()._identity_of_kind(formats) | dict.fromkeys(("sampling", *OF_WRITERS))

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        for name in ("sampling", *OF_WRITERS, "template"):
            if getattr(self, name) != type(self).model_fields[name].get_default(call_default_factory=True):
                yield f"{name}: a decision model writes no text, and takes a text and a question alone; leave it out"
