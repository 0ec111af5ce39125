"""One text, one rubric, one endpoint: the text is read in several orderings of the rubric's levels."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets.rubrics import MAX_LEVELS
from rubric_order.library import prompts
from rubric_order.parsing.choices import Scale, numbers
from rubric_order.settings.judges.endpoint import Endpoint
from rubric_order.settings.judges.judge import Sampling
from rubric_order.settings.judges.over_http import wrong_address


class Read(NamedTuple):
    """One answer: the score at each position of its prompt, its score or the reason for none, its text if the call
    worked.
    """

    ordering: tuple[int, ...]
    score: int | None
    reason: str | None
    text: str | None

    @property
    def position(self) -> int | None:
        return None if self.score is None else self.ordering.index(self.score) + 1


class Wording(NamedTuple):
    """Question and levels of a rubric, the lowest (score 0 or 1) first."""

    question: str
    levels: list[str]
    lowest: int = 1


def read_rubric(path: str | Path) -> Wording:
    """The one rubric of a YAML file: `levels` and perhaps `question`, at the top or under one name."""
    where = f"{path}: expected one rubric, with question and 2 to {MAX_LEVELS} levels from 0 or 1 on"
    entry: Any = files.read_yaml(path)
    if isinstance(entry, Mapping) and "levels" not in entry and len(entry) == 1:
        (entry,) = entry.values()
    levels = entry.get("levels") if isinstance(entry, Mapping) else None
    lowest = 1
    if isinstance(levels, Mapping):
        scale = Scale.of([str(level) for level in levels])
        if scale is None or len(scale.labels) != len(levels):
            raise InputError(f"{where}, found levels {', '.join(map(str, levels))}")
        levels, lowest = [levels[key] for key in sorted(levels, key=lambda key: int(key))], scale.lowest
    if not isinstance(levels, list) or not 2 <= len(levels) <= MAX_LEVELS:
        raise InputError(where)
    if not all(isinstance(text, str) for text in levels):
        raise InputError(where)
    return Wording(str(entry.get("question") or ""), levels, lowest)


def probe(
    response: str,
    *,
    levels: Sequence[str],
    lowest: int = 1,
    base_url: str,
    model: str,
    question: str = "",
    instruction: str = "",
    reference: str | None = None,
    template: str | Path | prompts.Messages = "feedback",
    strategy: str = "balanced",
    temperature: float = 0,
    max_tokens: int = 1024,
    api_key_env: str | None = None,
    key_over_http: bool = False,
    go_on: bool = False,
) -> Iterator[Read]:
    """Ask an OpenAI-compatible endpoint for the score of one text, once in each ordering; yields reads as they come.

    Words of the prompt are as in `render`; with `go_on`, the others are asked though none of the first 20 gives a
    score.
    """
    if fault := wrong_address(base_url):
        raise InputError(f"--base-url: {base_url!r}: {fault}")
    try:
        sampling = Sampling(temperature=temperature, top_p=None, max_tokens=max_tokens, seed=None)
        judge = Endpoint(
            engine="openai",
            model=model,
            base_url=base_url,
            api_key_env=api_key_env,
            sampling=sampling,
            accept_unread=go_on,
        )
    except ValidationError as misfit:
        wrong = misfit.errors()[0]
        raise InputError(f"{'/'.join(map(str, wrong['loc']))}: {wrong['msg']}, found {wrong['input']!r:.80}") from None
    if judge.sends_secrets_in_the_open and not key_over_http:
        raise InputError(
            f"--base-url: {base_url!r}: the key would cross the network in plain text; expected https, or"
            " --key-over-http"
        )
    if lowest not in (0, 1):
        raise InputError(f"lowest: expected 0 or 1, found {lowest!r:.60}")
    n = len(levels)
    orders = [tuple(map(int, row)) for row in prompts.orderings(strategy, n)]
    fields: dict[str, Any] = {
        "instruction": instruction,
        "question": question,
        "reference": reference,
        "template": prompts.load(template),
    }
    texts = [
        prompts.rendered(response, levels=levels, lowest=lowest, ordering=ordering, **fields) for ordering in orders
    ]
    for place, text, failure in _answers(texts, orders, judge, numbers(n, lowest)):
        scores = tuple(option + lowest - 1 for option in orders[place])
        if failure is not None or text is None:
            yield Read(scores, None, failure or "empty", text)
            continue
        choice = prompts.parse(text, n, lowest=lowest)
        yield Read(scores, None if choice.label is None else int(choice.label), choice.reason, text)


def _answers(
    texts: Sequence[str], shown: Sequence[tuple[int, ...]], judge: Endpoint, labels: tuple[str, ...]
) -> Iterator[tuple[int, str | None, str | None]]:
    """Index (from 0), answer and reason for none of each prompt, as answers come; an ordering that occurs twice is
    asked once.

    With two levels, each of the two orderings occurs twice in `shown`.
    """
    try:
        from rubric_order.judging import engines
        from rubric_order.judging.engines import openai_api  # noqa: F401 - to say what is missing
        from rubric_order.judging.readable import Asked, Readable
    except ImportError as error:
        raise InputError(f"package {error.name!r} is missing; expected pip install 'rubric-order[endpoint]'") from None
    from rubric_order.probes import Question, Shown

    asked = (Question("", labels, "option"),)
    requests = [
        Asked(engines.Request(str(place), text, asked, options=labels, shown=Shown(shown[place])), "score_order")
        for place, text in enumerate(texts)
        if shown.index(shown[place]) == place
    ]
    readable, engine = Readable(judge), engines.load(judge)
    studies = [one.study for one in requests]
    answers = readable.ask(engine, studies, lambda places: [requests[place] for place in places])
    try:
        for answer in readable.counted(answers):
            yield int(answer.request_id), answer.text, answer.error
        readable.check()
    finally:
        engine.close()
