"""The order of the criteria in a prompt that asks for the score of one text under each criterion.

A crossed design also varies the order of the levels, the same for all criteria.
"""

# Checks of a config read the constants of this module, so slow imports are inside the functions that use them.
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rubric_order import strategies
from rubric_order.base.errors import InputError, UnfitError
from rubric_order.base.levels import LOWEST
from rubric_order.parsing.choices import Choice, numbers
from rubric_order.probes import Probe, Question, Shown, Unit, lowest_scores

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from jinja2 import Template

    from rubric_order.prompts.frames import Frame
    from rubric_order.prompts.structured import StructuredFrame
    from rubric_order.settings.judges.judge import Judge

TEXT = ["dataset", "group_id", "candidate", "instruction", "response"]  # columns that items about one text share
# From columns of the plan, which hold lists over a text's criteria in canonical order, to their columns in the scores.
LISTS = {
    "criterion_names": "question",
    "criterion_ids": "criterion",
    "criterion_items": "item_id",
    "criterion_human_scores": "human_score",
}


class CriterionOrder(Probe):
    PERMUTES = "the criteria in a prompt that asks for several scores"
    SOURCE = "xu2026"
    STRATEGIES = strategies.offered("criterion_order")
    IDENTITY = ("criteria_format",)
    PROMPTS = MappingProxyType({"papers/xu2026": None})
    CROSSED = True
    FIELDS: Mapping[str, str] = {
        "options": "the criteria in the order of the read, each once: `{{ option }}` is the line `- Plot: Is it "
        "coherent?`, in crossed designs followed by the lines of its levels",
        "response": "the text that is judged",
        "instruction": "what the response answers",
        "n": "the number of criteria",
        "scale": "the number of score levels of each criterion",
        "lowest": "the lowest score, 0 or 1",
        "highest": "the highest score",
    }
    COLUMNS = (
        *("question", "item_id", "criterion", "human_score", "criterion_position", "predecessor"),
        *("score", "position", "pattern", "failure", "expected_score", "option_mass"),
    )

    def template(self, judge: Judge, prompt: str | None = None) -> str:
        return prompt or "criteria"

    def try_template(self, template: Template, n: int) -> None:
        """Render a user's template for three criteria of n levels: it must write each once, and the response."""
        from rubric_order.prompts import frames

        response = "\x02response\x03"
        frame = frames.frame(
            template, n=3, scale=n, lowest=1, highest=n, instruction="an instruction", response=response
        )
        if response not in frame.fill(["- a: b"] * 3):
            raise UnfitError("the template does not write the response")

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
        """Each text with all its criteria, which must share the lowest score; see `texts`."""
        from rubric_order.prompts import frames

        rubric_of = rubrics.set_index("rubric_id").to_dict("index")
        table = texts(items, rubrics)
        shared = ["dataset", "group_id", "candidate", *LISTS]
        for text, fields in zip(table.itertuples(), table[shared].to_dict("records"), strict=True):
            criterion_names = tuple(text.criterion_names)
            described = [rubric_of[rubric_id] | {"rubric_id": rubric_id} for rubric_id in text.criterion_rubrics]
            lowest = _lowest(text, described)
            frame = frames.frame(
                template,
                n=len(criterion_names),
                scale=n,
                lowest=lowest,
                highest=lowest + n - 1,
                instruction=text.instruction,
                response=text.response,
            )
            fields |= {"criterion": None, "human_score": float("nan")}  # each criterion has its own, in the lists
            fields |= {LOWEST: lowest} if (rubrics["lowest"] == 0).any() else {}
            yield Unit(
                text.unit_id,
                tuple(text.criterion_ids),
                fields,
                partial(_questions_of, criterion_names, n, lowest),
                partial(_prompt, frame, described, n),
            )

    def choose(self, strategy: str, options: int, *, budget: int | None, rng: np.random.Generator | None) -> np.ndarray:
        from rubric_order.prompts import orderings

        return orderings.choose(strategy, options, budget=budget, rng=rng)

    def questions(self, reads: pd.DataFrame) -> list[tuple[Question, ...]]:
        columns = (reads["criterion_names"], reads["ordering"], reads["n"].tolist(), lowest_scores(reads))
        return [
            _questions(tuple(criteria[option - 1] for option in ordering), n, lowest)
            for criteria, ordering, n, lowest in zip(*columns, strict=True)
        ]

    def parse(self, text: str, questions: Sequence[Question], *, truncated: bool) -> tuple[Choice, ...]:
        from rubric_order.parsing import several_scores

        criteria = [question.name for question in questions]
        return tuple(several_scores.parse_scores(text, criteria, questions[0].labels, truncated=truncated))

    def score(
        self, reads: pd.DataFrame, questions: Sequence[tuple[Question, ...]], choices: Sequence[tuple[Choice, ...]]
    ) -> pd.DataFrame:
        """One row per read and criterion, in canonical order, with the criterion's item.

        `predecessor` is the criterion right before it in the prompt; `position` that of the score among the levels,
        null if none are listed.
        """
        import pandas as pd

        from rubric_order.probes import readouts

        places = [_places(ordering) for ordering in reads["ordering"]]
        canonical = [
            (asked[place], said[place])
            for asked, said, at in zip(questions, choices, places, strict=True)
            for place in at
        ]
        logprobs = [
            row
            for options, asked, at in zip(reads["option_logprobs"], questions, places, strict=True)
            for row in _criterion_logprobs(options, asked, at)
        ]
        lists = list(LISTS.values())
        table = reads.drop(columns=["option_logprobs", "criterion", "human_score"]).rename(columns=LISTS)
        table["criterion_position"] = [[place + 1 for place in at] for at in places]
        table["predecessor"] = [
            [ids[ordering[place - 1] - 1] if place else None for place in at]
            for ordering, ids, at in zip(table["ordering"], table["criterion"], places, strict=True)
        ]
        table = table.explode([*lists, "criterion_position", "predecessor"], ignore_index=True)
        table = table.astype({"criterion_position": "int8", "human_score": float})
        chosen = readouts.chosen(*zip(*canonical, strict=True)) if canonical else readouts.chosen((), ())
        # If an answer gives no score, its log-probabilities are not those of a score: `Plot: 1 sentence`.
        scored = chosen["score"].notna()
        logprobs = [row if has_score else None for row, has_score in zip(logprobs, scored, strict=True)]
        positions = readouts.readouts(chosen["score"], logprobs, table["levels"].tolist())
        table = pd.concat([table, chosen, positions], axis=1)
        return table[[*[name for name in reads if name in table and name not in self.COLUMNS], *self.COLUMNS]]


def texts(items: pd.DataFrame, rubrics: pd.DataFrame) -> pd.DataFrame:
    """Each text with lists over its criteria in the items' order: ids, items, names in the prompt, rubrics, scores.

    InputError if an item has no rubric, a text fewer than two criteria or one twice, or two texts one id.
    """
    import pandas as pd

    dataset = items["dataset"].iloc[0] if len(items) else ""
    unscored = items[items["rubric_id"].isna()]
    if len(unscored):
        raise InputError(f"item {unscored['item_id'].iloc[0]!r} of dataset {dataset!r} has no rubric: it is for pairs")
    table = items.merge(rubrics[["rubric_id", "name"]], on="rubric_id", validate="many_to_one")
    rows = []
    for key, block in table.groupby(TEXT, sort=False):
        rows.append(
            dict(zip(TEXT, key, strict=True))
            | {
                "criterion_ids": block["criterion"].tolist(),
                "criterion_items": block["item_id"].tolist(),
                "criterion_names": block["name"].tolist(),
                "criterion_rubrics": block["rubric_id"].tolist(),
                "criterion_human_scores": block["human_score"].tolist(),
            }
        )
    units = pd.DataFrame(rows)
    # If a candidate has several texts in a group, the id has a number from the second text on.
    place = units.groupby(["group_id", "candidate"]).cumcount()
    several = [f"-{number + 1}" if number else "" for number in place]
    units.insert(0, "unit_id", units["group_id"] + "-" + units["candidate"] + several)
    for unit in units.itertuples():
        _check(unit, f"dataset {dataset!r}: text {unit.unit_id!r:.60}")
    if repeated := units["unit_id"][units["unit_id"].duplicated()].tolist():
        raise InputError(f"dataset {dataset!r}: two texts would be called {repeated[0]!r:.60}; rename a candidate")
    return units


def _lowest(text: Any, described: Sequence[Mapping[str, Any]]) -> int:
    by_criterion = dict(zip(text.criterion_ids, (int(rubric["lowest"]) for rubric in described), strict=True))
    if len({*by_criterion.values()}) > 1:
        listed = ", ".join(f"{criterion} from {lowest}" for criterion, lowest in by_criterion.items())
        raise InputError(f"text {text.unit_id!r:.60}: criteria of one prompt have one scale, found {listed}")
    return next(iter(by_criterion.values()))


def _check(unit: Any, where: str) -> None:
    from rubric_order.parsing.several_scores import words

    if len(unit.criterion_ids) < 2:
        criterion = unit.criterion_ids[0]
        raise InputError(f"{where} has the one criterion {criterion!r:.60}; probe criterion_order needs two or more")
    for kind, keys in (
        ("criterion", unit.criterion_ids),
        ("criterion called", [" ".join(words(name)) for name in unit.criterion_names]),
    ):
        for place, key in enumerate(keys):
            if not key or key in keys[:place]:
                raise InputError(
                    f"{where}: {kind} {key!r:.60} stands {'twice' if key else 'there'}; expected different names"
                )


def _prompt(frame: Frame | StructuredFrame, described: Sequence[Mapping[str, Any]], n: int, shown: Shown) -> str:
    return frame.fill([_block(described[option - 1], n, shown.levels) for option in shown.ordering])


def _block(rubric: Mapping[str, Any], n: int, levels: Sequence[int]) -> str:
    """Lines of the prompt on one criterion."""
    from rubric_order.datasets.rubrics import at_scale
    from rubric_order.prompts import frames

    lines = [f"- {rubric['name']}: {rubric['short']}"]
    if levels:
        try:
            descriptions = at_scale(tuple(rubric["levels"]), n)
        except ValueError as error:
            raise InputError(f"scale {n}: rubric {rubric['rubric_id']!r}: {error}") from None
        lines += frames.option_lines(descriptions, levels, numbers(n, rubric["lowest"]))
    return "\n".join(lines)


def _questions_of(names: tuple[str, ...], n: int, lowest: int, shown: Shown) -> tuple[Question, ...]:
    return _questions(tuple(names[option - 1] for option in shown.ordering), n, lowest)


@cache
def _questions(names: tuple[str, ...], n: int, lowest: int) -> tuple[Question, ...]:
    return tuple(Question(name, numbers(n, lowest), "level") for name in names)


@cache
def _places_of(ordering: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(ordering.index(option) for option in range(1, len(ordering) + 1))


def _places(ordering: Sequence[int]) -> tuple[int, ...]:
    return _places_of(tuple(ordering))


def _criterion_logprobs(
    logprobs: Sequence[float] | None, questions: Sequence[Question], places: Sequence[int]
) -> list[Sequence[float] | None]:
    if logprobs is None:
        return [None] * len(places)
    size = len(questions[0].labels)
    return [logprobs[place * size : (place + 1) * size] for place in places]
