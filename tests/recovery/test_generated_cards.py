"""Cards of generated studies: verdict, first line, reasons and advice agree with the table of estimands."""

import math
import re

import causes_recovery
import choice_recovery
import numpy as np
import pandas as pd
import pytest

from rubric_order.cards import card as cards
from rubric_order.cards import estimands, verdict
from rubric_order.library import estimates
from rubric_order.library.choice_cards import choice_cards
from rubric_order.methods.uncertainty import enough

EFFECTS = [
    causes_recovery.same,
    *(causes_recovery.first(size) for size in (0.05, 0.4, 1.5, 50.0)),
    *(causes_recovery.shifted(size) for size in (0.3, 2.0)),
    causes_recovery.groups_apart(0.7),
    causes_recovery.sharper(2.0),
    causes_recovery.usual_scores_higher(0.3, 1),
    causes_recovery.heavy_tailed,
]
LOSSES = [
    *[causes_recovery.all_scored] * 4,
    causes_recovery.low_lost(0.6),
    causes_recovery.first_lost(0.3),
    lambda score, of: np.where(of.rng.random(score.shape) < 0.3, np.nan, score),
    lambda score, of: np.where(of.rng.random(score.shape) < 0.02, np.nan, score),
]
SIZES = r"([-+]?[\d.]+)(%?) \[([-+]?[\d.]+)%?, ([-+]?[\d.]+)%?\]"
# No two of a pair stand on one card.
CONTRADICTIONS = [
    ("No test finds an effect of the order over all items", "Detectable, but smaller"),
    ("No test finds an effect of the order over all items", "shifts the mean score by"),
    ("All effects are smaller than their margins", "Not excluded"),
    ("As far as the order goes, one ordering is enough", "verage"),
    ("read each one twice", "the repeats are"),
    ("no test finds a preference for a position", "to the log-odds of the score"),
    ("hardly a score changes", "jumps where probabilities move little"),
    ("No read has a score", "shifts the mean score by"),
    ("no order changed a score", "Not every score was shown often enough"),
]


def pick(rng, *values):
    return values[rng.integers(len(values))]


def study(seed):
    """Reads of a study that is drawn at random: its judge, design, effect and losses."""
    rng = np.random.default_rng(seed)
    soft, n = rng.random() < 0.4, int(pick(rng, 2, 3, 5))
    copied = pick(rng, 0.0, 0.0, 1.0, 0.9)
    cell = causes_recovery.Cell(
        "generated",
        0,
        n=n,
        groups=int(pick(rng, 6, 15, 25, 60)),
        per_group=int(pick(rng, 1, 1, 3)),
        heavy=pick(rng, 0.0, 0.0, 0.2),
        tolerance=pick(rng, 0.12, 0.25, 1.0),
        prompts=pick(rng, 0.0, 0.4),
        effect=pick(rng, *EFFECTS),
        lost=pick(rng, *LOSSES),
        soft=soft,
        apart=bool(rng.random() < 0.3),
        one_hot=bool(soft and rng.random() < 0.2),
        greedy=bool(rng.random() < 0.2),
        repeats=int(pick(rng, 1, 1, 2, 3)) if copied < 1 else 2,
        copied=copied,
        stray=int(n == 5 and rng.random() < 0.1),
    )
    table = causes_recovery.reads(cell, rng)
    if rng.random() < 0.15:  # a part of the orderings
        orderings = table["ordering"].unique()
        table = table[table["ordering"].isin(orderings[: int(pick(rng, 1, 2, len(orderings) // 2 or 1))])]
    return table.assign(judge=f"j{seed:05d}")


def problems(made):
    """Contradictions on a card of scores."""
    evidence, decided, record = made.evidence, made.verdict, made.to_dict()
    rows, headline = {row.name: row for row in decided.table}, record["headline"]
    text = " ".join([headline, *decided.reasons, decided.advice])
    word = "biased" if decided.word == verdict.BIASED_IN_PROBABILITIES else decided.word
    if word != estimands.verdict(decided.table):
        yield f"verdict {word}"
    if len(set(decided.reasons)) < len(decided.reasons) or not decided.reasons or not decided.advice:
        yield "a reason stands twice, or is not there"
    for row in rows.values():
        if row.biased and (row.small or row.explained or not row.found):
            yield f"{row.name} is biased"
        if word == estimands.EQUIVALENT and row.required and (row.missing or not row.bounds.bounded):
            yield f"{row.name} is not known to be small"
        if row.value.bounded and not row.value.low - 1e-9 <= row.value.estimate <= row.value.high + 1e-9:
            yield f"{row.name} lies outside its interval"
        if row.small and row.missing:
            yield f"{row.name} is small and not known"
    if ("No test finds an effect" in text) != (not any(row.found for row in rows.values())) and "No test" in text:
        yield "a finding that no test finds"
    few = not enough.FINDING.met(evidence.independent_groups)
    if rows and ("at least 20 are needed" in text) != few:
        yield "number of groups"
    if few and word == estimands.BIASED:
        yield "a finding from few groups"
    if evidence.copied and "eyond chance" in text and evidence.spread.readout == "hard":
        yield "chance that copies do not show"
    for one, other in CONTRADICTIONS:
        if one in text and other in text:
            yield f"{one!r} beside {other!r}"
    yield from numbers(headline, record, [*rows.values()], evidence)


def numbers(headline, record, rows, evidence):
    """Numbers of the first line that are not in the table, or have no interval there."""
    spread = evidence.spread
    known = [row.value for row in rows] + [spread.scores, spread.best, spread.sd]
    known = [tuple(abs(end) for end in (value.estimate, *sorted((value.low, value.high), key=abs))) for value in known]
    known += [tuple(max(end, 0) for end in value) for value in (spread.scores, spread.best)]
    for value, percent, *ends in re.findall(SIZES, headline):
        scale = 100 if percent else 1
        printed = [abs(float(end)) for end in (value, *sorted(ends, key=lambda end: abs(float(end))))]
        if not any(
            all(abs(end - scale * own) < (0.51 if percent else 0.0051) for end, own in zip(printed, given, strict=True))
            for given in known
        ):
            yield f"{value} {ends} is not in the table"
    points = next((row for row in rows if row.name == estimands.POINTS), None)
    for size in re.findall(r"by (?:up to )?([\d.]+) points", headline):
        allowed = [points.margin, max(abs(points.bounds.low), abs(points.bounds.high))] if points else []
        if not any(abs(float(size) - value) < 0.0051 for value in allowed if not math.isnan(value)):
            yield f"{size} points has no bound in the table"


def check(seeds):
    found = {}
    for start in range(0, len(seeds), 20):
        parts = [study(seed) for seed in seeds[start : start + 20]]
        by_scale = {}
        for part in parts:
            by_scale.setdefault(len(part["ordering"].iloc[0].split()), {}).setdefault("p_1" in part, []).append(part)
        for tables in (tables for kinds in by_scale.values() for tables in kinds.values()):
            scores = estimates.scores_of(pd.concat(tables, ignore_index=True))
            for made in cards.cards(estimates.card_statistics(scores)):
                if wrong := [*problems(made)]:
                    found[made.judge] = wrong, made.verdict.word, made.to_dict()["headline"], *made.verdict.reasons
    return found


def test_generated_cards_agree_with_their_tables():
    assert check(range(120)) == {}


@pytest.mark.slow
def test_two_thousand_generated_cards_agree_with_their_tables():
    assert check(range(1000, 3000)) == {}


def choice_study(seed):
    """Reads of a judge of pairs that is drawn at random."""
    rng = np.random.default_rng(seed)
    copied = bool(rng.random() < 0.1)
    cell = choice_recovery.Cell(
        "generated",
        0,
        groups=int(pick(rng, 12, 40, 200)),
        per_group=int(pick(rng, 1, 3)),
        models=int(pick(rng, 2, 4)),
        strength=pick(rng, 0.0, 1.0),
        temperature=float(pick(rng, 0.0, 1.0, 1.0)),
        first=pick(rng, 0.0, 0.1, 1.0, 30.0),
        single=pick(rng, 0.0, 0.0, 2.0),
        orders=str(pick(rng, "both", "both", "one", "better 62%")),
        repeats=2 if copied else int(pick(rng, 1, 1, 2, 4)),
        copied=copied,
        tie=pick(rng, (0.0, 0.0), (0.1, 0.1)),
        lost=pick(rng, 0.0, 0.0, 0.02, 0.3),
        refused=pick(rng, 0.0, 0.0, 0.5),
        flips=pick(rng, 0.0, 0.0, 0.05),
    )
    return choice_recovery.reads(cell, rng)


@pytest.mark.parametrize("seeds", [range(100), pytest.param(range(1000, 2000), marks=pytest.mark.slow)])
def test_generated_cards_of_choices_agree_with_their_tables(seeds):
    for seed in seeds:
        (made,) = choice_cards(choice_study(seed))
        text = " ".join([*made.reasons, made.advice])
        rows = made.evidence.estimands
        assert made.verdict == estimands.verdict(rows), seed
        assert len(set(made.reasons)) == len(made.reasons), (seed, made.reasons)
        assert not any(row.small and row.missing for row in rows), seed
        assert ("One order is enough" in text) == (made.verdict == estimands.EQUIVALENT), (seed, text)
        assert ("count a candidate as the winner where it wins in all" in text) or made.verdict != "biased", (
            seed,
            text,
        )
        assert not ("it may be 0" in text and any(row.found for row in rows if row.name == estimands.LOG_ODDS)), (
            seed,
            text,
        )
        assert not (made.evidence.copied and "more often than two reads of one order" in text), (seed, text)
