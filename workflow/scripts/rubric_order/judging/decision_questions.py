"""Questions to decision models, in the form that their endpoints take."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rubric_order.parsing import decisions
from rubric_order.parsing.decisions import Form
from rubric_order.prompts.structured import Choice, Structured

# The id of a request depends on the prompt and the kind of question, but not on these words: never change them.
STATEMENT = "{question} Is this the level that fits: {description}"


def questions_of(prompt: Structured, form: Form) -> dict[str, dict[str, Any]]:
    """Questions of a prompt by name, in the order in which they are asked."""
    numbers = range(1, len(prompt.orders) + 1) or [0]
    questions: dict[str, dict[str, Any]] = {}
    for number, options in zip(numbers, prompt.shown, strict=True):
        field_names = decisions.names_of(form, [option.label for option in options], number if len(numbers) > 1 else 0)
        questions |= zip(field_names, _asked(prompt.question, options, form), strict=True)
    return questions


def _asked(question: str, options: Sequence[Choice], form: Form) -> Iterator[dict[str, Any]]:
    kind = decisions.TYPES[form.dialect][form.question]
    if form.question == "predicate":
        for option in options:
            yield {"type": kind, "instructions": STATEMENT.format(question=question, description=option.description)}
        return
    yield {"type": kind, "instructions": question, **_levels(options, form)}


def _levels(options: Sequence[Choice], form: Form) -> dict[str, Any]:
    """The field of a question that lists its options in the order shown."""
    if form.question == "score":
        # Levels are sent without labels: a level is known by its description and its position.
        texts = [option.description for option in options]
        systemone = form.dialect == "systemone"
        return {"criteria": texts} if systemone else {"levels": [{"label": text} for text in texts]}
    named = {decisions.value_of(option.label): option.description for option in options}
    if form.dialect == "systemone":
        return {"criteria": named}
    return {"choices": [{"value": value, "description": text} for value, text in named.items()]}


def sent(prompt: str, form: Form) -> str:
    """All that is sent for a prompt, as one text: the text to judge, then the questions."""
    parts = Structured.decode(prompt)
    return f"{parts.text}\n{json.dumps(questions_of(parts, form), ensure_ascii=False)}"
