"""Settings of simulated judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

from annotated_types import Len
from pydantic import StringConstraints

from rubric_order.settings.base import (
    EitherOr,
    From0,
    Number,
    Numeric,
    Positive,
    Probability,
    Role,
    Settings,
    Text,
    setting,
    whole,
)
from rubric_order.settings.judges.judge import FirstSeed, Judge

Real = Annotated[float, Numeric()]
Numbers = Annotated[list[Number], Len(2)]
Shape = Annotated[str, StringConstraints(pattern="^(none|first|last|u_shaped)$")]


def _weight(of: str, owner: str, sharing: str) -> Any:
    return setting(
        0, f"Standard deviation of the random log-weight of each {of} that {owner} has. All {sharing} share it."
    )


class Simulation(Settings):
    """Parameters of a simulated judge."""

    seed: FirstSeed = setting(0, "Seed of the judge's own errors and effects.")
    leniency: Number = setting(
        0, "Number that is added to the judge's opinion of every item, in scores of a five-level scale."
    )
    spread: From0 = setting(
        1, "Scores of a five-level scale by which the judge's opinion rises for each standard deviation of quality."
    )
    item_error: From0 = setting(
        0.5,
        "Standard deviation of the judge's error about an item, in standard deviations of quality. All reads of an"
        " item share the error.",
    )
    group_error: From0 = setting(
        0,
        "Standard deviation of the judge's error about a group, in standard deviations of quality. All items of a"
        " group share the error.",
    )
    tolerance: Positive = setting(
        0.75, "Distance from its opinion over which the judge's probabilities spread, in scores of a five-level scale."
    )
    decisiveness: From0 = setting(
        1, "Factor by which the log-weights of scores are multiplied. The log-weights of positions are not multiplied."
    )
    usual_decisiveness: From0 = setting(
        1, "Further factor, by which all log-weights are multiplied under the usual ordering alone."
    )
    preference: Annotated[str | list[Any], EitherOr(Shape, Numbers)] = setting(
        "none", "Log-weight of each position: the name of a shape, or a list from the first to the last position."
    )
    preference_strength: Number = setting(1, "Factor by which `preference` is multiplied.")
    interaction: Annotated[float | list[Any], EitherOr(Real, Annotated[list[Numbers], Len(2)])] = setting(
        0,
        "Log-weight that depends on score and position together. A number is that of the highest score at the first"
        " position. A matrix has one row for each score and one column for each position.",
    )
    item_scores: From0 = _weight("score", "an item", "reads of the item")
    item_positions: From0 = _weight("position", "an item", "reads of the item")
    group_scores: From0 = _weight("score", "a group", "items of the group")
    group_positions: From0 = _weight("position", "a group", "items of the group")
    prompts: From0 = setting(
        0,
        "Standard deviation of the random log-weight of each option in one prompt. Only repeats of the prompt share"
        " it.",
    )
    criterion_position: Annotated[float | list[Any], EitherOr(Real, Numbers)] = setting(
        0,
        "Effect of a criterion's position in the prompt on the judge's opinion, in scores of a five-level scale: a"
        " list from the first to the last position, or a number for the last position. With a number the effect rises"
        " evenly from 0 at the first position.",
    )
    carry_over: Real = setting(
        0,
        "Share of the preceding criterion's score that is added to the opinion. The score is counted from the middle"
        " of the scale.",
    )
    tie: Number = setting(
        0, "Log-weight of a tie, relative to the mean log-weight of the candidates (probes that compare)."
    )
    length: Number = setting(
        0, "Log-weight that a text gains if it is longer by one standard deviation (probes that compare)."
    )
    padding: From0 = setting(1, "Number of standard deviations by which a padded text seems longer to the judge.")
    own_family: Number = setting(
        0, "Log-weight that the judge adds for candidates of its own family (probes that compare)."
    )
    family: list[Text] = setting([], "Beginnings of the names of candidates that belong to the judge's own family.")
    id_preference: dict[str, Number] = setting(
        {}, "Log-weight that an option gains by the ID that it has in the prompt, for each ID."
    )
    number_attraction: Number = setting(
        0,
        "Log-weight that an option loses for each level between its score and the number of the shown reference"
        " answer.",
    )
    text_attraction: Number = setting(
        0,
        "Log-weight that an option loses for each level between its score and the level for which the text of the"
        " shown reference answer was written.",
    )
    group_attraction: From0 = setting(0, "Standard deviation between groups of `number_attraction`.")
    writing_error: From0 = setting(
        None,
        "Standard deviation of the difference between the level of a reference answer that the judge writes and the"
        " level that was requested, in scores of a five-level scale.",
        otherwise="`0`",
    )
    reviewing_error: From0 = setting(
        None,
        "Standard deviation of the error with which the judge sees the level of a reference answer that it reviews, in"
        " scores of a five-level scale.",
        otherwise="`0`",
    )
    failure_rate: Annotated[float | list[Any], EitherOr(Probability, Annotated[list[Probability], Len(2)])] = setting(
        0,
        "Probability that an answer has no score: a number, or a list by the position of the option that would be"
        " selected.",
    )
    seconds_per_request: From0 = setting(
        0, "Seconds that an answer takes. The answer does not depend on it.", reruns="`judge_shard`, from the store"
    )


class Simulated(Judge):
    """A judge that computes its answers with a known bias."""

    KIND = "simulated"

    engine: Literal["simulated"] = setting(..., role=Role.IDENTITY)
    simulation: Simulation | None = setting(
        None,
        "Parameters of the simulated judge. docs/simulated.md describes the model.",
        role=Role.IDENTITY,
        otherwise="all parameters by default",
    )

    def _identity_of_kind(self, formats: Collection[str]) -> dict[str, Any]:
        if self.simulation is None:
            return {}
        values = whole(self.simulation.block())
        return {"simulation": {name: value for name, value in values.items() if name != "seconds_per_request"}}

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        rows = self.simulation.interaction if self.simulation else 0
        if isinstance(rows, list) and len(lengths := {len(row): None for row in rows}) > 1:
            listed = ", ".join(map(str, lengths))
            yield f"simulation/interaction: expected rows of one length, found lengths {listed}"
