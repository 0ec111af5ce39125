"""Prompts of decision models: a text, a question about it, and the options that are permuted, in files of requests as
JSON, which names the request.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rubric_order.prompts.frames import Option

PARTS = ("text", "question")  # blocks of a template that makes such prompts


class Choice(NamedTuple):
    """An option of a question: an ID that moves with it, and the text of its score level."""

    label: str
    description: str


class Structured(NamedTuple):
    """A prompt in parts; options as shown or, if there are `orders` (options, from 1, by position), canonical."""

    text: str
    question: str
    options: tuple[Choice, ...]
    orders: tuple[tuple[int, ...], ...] = ()

    @property
    def shown(self) -> list[tuple[Choice, ...]]:
        """The options of each question, in the order in which the question shows them."""
        return [tuple(self.options[option - 1] for option in order) for order in self.orders] or [self.options]

    def encode(self) -> str:
        """The prompt as JSON.

        >>> Structured("A cat.", "Is it short?", (Choice("1", "No."),)).encode()
        '{"text": "A cat.", "question": "Is it short?", "options": [{"label": "1", "description": "No."}]}'
        """
        parts = {**self._asdict(), "options": [option._asdict() for option in self.options]}
        if not self.orders:
            del parts["orders"]
        return json.dumps(parts, ensure_ascii=False)

    @classmethod
    def decode(cls, prompt: str) -> "Structured":
        """A prompt from its JSON.

        Raises:
            ValueError: the text is no such JSON.
        """
        try:
            parts = json.loads(prompt)
            options = tuple(Choice(option["label"], option["description"]) for option in parts["options"])
            orders = tuple(tuple(order) for order in parts.get("orders", ()))
            return cls(parts["text"], parts["question"], options, orders)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise ValueError(f"expected a prompt in parts, found {prompt!r:.80}") from None


class StructuredFrame:
    """A prompt in parts without its options, rendered once for all orderings of the options."""

    def __init__(self, text: str, question: str) -> None:
        self.text, self.question = text, question

    def fill(self, options: "Sequence[Option | Any]") -> str:
        """The prompt with these options."""
        return Structured(self.text, self.question, _choices(options)).encode()

    def fill_all(self, options: Sequence["Option"], orders: Sequence[tuple[int, ...]]) -> str:
        """The prompt that asks the question once for each ordering of options in canonical order (indices from 1)."""
        return Structured(self.text, self.question, _choices(options), tuple(orders)).encode()


def _choices(options: Sequence["Option"]) -> tuple[Choice, ...]:
    return tuple(Choice(option.label, option.description) for option in options)
