"""Diagnosis of a file: its form, the checks that it supports, and the reasons why other checks cannot run."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rubric_order.base.keys import FEW_CLUSTERS
from rubric_order.base.readouts import Readout
from rubric_order.intake import choice_tables, scales, score_tables
from rubric_order.intake.choices import Labels
from rubric_order.intake.forms import SCORES
from rubric_order.library import audits
from rubric_order.methods.position import blocks, selections
from rubric_order.probes._comparisons import TIE


class Check(NamedTuple):
    """A check that a card makes, whether the file supports it, and why it does or does not."""

    name: str
    runs: bool
    why: str


class Diagnosis(NamedTuple):
    """Form and content of one judge's reads, all checks (also those that cannot run), and notes on how the file was
    read.
    """

    form: str
    judge: str
    facts: tuple[tuple[str, str], ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as JSON has it."""
        return {
            "form": self.form,
            "judge": self.judge or None,
            "facts": dict(self.facts),
            "checks": [check._asdict() for check in self.checks],
            "notes": list(self.notes),
        }


def diagnose(
    file: Path,
    *,
    columns: Mapping[str, str] | None = None,
    scale: str | None = None,
    nominal: bool = False,
    labels: Labels | None = None,
) -> list[Diagnosis]:
    """Diagnoses of a file, one per judge; for the arguments see `audits.audit`."""
    log = audits.read_form(file, columns, nominal=nominal, labels=labels)
    if not log.ordered:
        titles = ("Which positions are selected", "What the order does to scores", "Verdict")
        checks = tuple(Check(name, False, score_tables.ONE_ORDER) for name in titles)
        return [Diagnosis(log.form, "", (("Rows", f"{len(log.table):,}"),), checks)]
    if log.form == SCORES:
        levels = None if scale is None else scales.parse(scale)
        scores = score_tables.as_scores(log.table, file, columns=log.columns, scale=levels)
        return [_diagnose_scores(block) for block in blocks.blocks(scores)]
    comparisons = choice_tables.as_comparisons(log.table, file, columns=log.columns, labels=labels)
    by_judge = comparisons.groupby(["judge", "n"], sort=True)
    return [_diagnose_choices(log.form, rows, str(judge), log.notes) for (judge, _), rows in by_judge]


def _groups(count: int, named: bool) -> Iterator[Check]:
    enough = count >= FEW_CLUSTERS
    text = f"{count:,} groups" if enough else f"{count:,} groups; with fewer than {FEW_CLUSTERS} a card cannot tell"
    yield Check("Verdict", enough, text)
    why = "column group" if named else "no column group: each item counts as independent of the others"
    yield Check("Items that belong together", named, why)


def _diagnose_scores(block: blocks.Block) -> Diagnosis:
    table, orderings = block.table, block.orderings[0]
    scale = scales.parse(table["scale"].iloc[0])
    scored = table["score"].notna()
    design = block.design
    times = f"{design.most}" if design.fewest == design.most else f"{design.fewest} to {design.most}"
    n_groups, named = block.items["group_id"].nunique(), bool(table["named_groups"].iloc[0])
    counts = (
        ("Score levels", scale.words),
        ("Reads", f"{int(scored.sum()):,} with a score, {int((~scored).sum()):,} without"),
        ("Items", f"{len(block.items):,} in {n_groups:,} groups"),
        ("Orderings", f"{len(orderings):,}, each read {times} times per item"),
    )
    checks = [*_order_checks(block, scored), *_column_checks(block), *_groups(n_groups, named)]
    unread = str(block.table["unread_judges"].iloc[0])
    return Diagnosis(SCORES, str(block.keys["judge"]), counts, tuple(checks), (unread,) if unread else ())


def _order_checks(block: blocks.Block, scored: pd.Series) -> Iterator[Check]:
    """Checks that depend on the orderings."""
    orderings = block.orderings[0]
    several = len(orderings) > 1
    one = "all reads are in one ordering: position and score are one thing"
    seldom = "some score stands seldom or never in some position: read items in more orderings, such as the n rotations"
    crossed = several and block.crossed
    yield Check(
        "Which positions are selected",
        crossed,
        f"{len(orderings):,} orderings" if crossed else seldom if several else one,
    )
    differ = selections.variety(block, Readout.HARD).discordant_share if scored.any() else np.nan
    twice = bool((block.design.several > 1).any())
    why = f"scores differ in {differ:.0%} of the pairs of reads of an item"
    if not twice:
        why = "no item is read in two orderings" if several else one
    elif not crossed:
        why = seldom
    elif not differ > 0:
        why = "all reads of an item have one score"
    yield Check("What a position adds, in log-odds", crossed and twice and differ > 0, why)
    usual = bool((np.diff(orderings, axis=1) > 0).all(axis=1).any())
    why = "the usual ordering was read" if usual else "the usual ordering, lowest to highest, was not read"
    compared = crossed or (several and block.design.shared)
    yield Check(
        "Shift of the mean score by the usual ordering",
        compared and usual,
        why if compared else seldom if several else one,
    )
    soft = bool(block.table["position_probabilities"].notna().any())
    repeated = block.design.most > 1
    why = "option probabilities are known" if soft else "orderings were read more than once"
    if not (soft or repeated):
        why = "each ordering was read once, and no option probabilities are known: order and chance are one thing"
    yield Check("Effect on single items, apart from chance", crossed and (soft or repeated), why)


def _column_checks(block: blocks.Block) -> Iterator[Check]:
    """Checks that depend on columns other than the scores."""
    has_probabilities = block.table["position_probabilities"].notna()
    share = has_probabilities.mean()
    why = f"columns of probabilities, in {share:.0%} of the reads" if share else "no columns p_1 to p_n"
    yield Check("Option probabilities", bool(share), why)
    rated = int(block.items["human_score"].notna().sum())
    why = f"{rated:,} items have a human score" if rated else "no column human_score"
    yield Check("Agreement with people", rated > 0, why)
    several = int((block.items.groupby("group_id").size() > 1).sum())
    why = f"{several:,} groups have several items" if several else "no group has several items to choose from"
    yield Check("Change of the best candidate", several > 0, why)


def _diagnose_choices(form: str, own: pd.DataFrame, judge: str, notes: tuple[str, ...]) -> Diagnosis:
    orders = pd.Series(["".join(map(str, ordering)) for ordering in own["ordering"]], index=own.index)
    per_unit = orders.groupby(own["unit_id"]).nunique()
    several = int((per_unit > 1).sum())
    chosen, ties = own["score"].notna(), int((own["score"] == TIE).sum())
    repeats = own.assign(order=orders).groupby(["unit_id", "order"]).size()
    twice = (repeats > 1).groupby("unit_id").all() & (per_unit > 1)
    rated, lengths = int(own["gold"].notna().sum()), int(own["longest"].notna().sum())
    counts = (
        ("Candidates", f"{int(own['n'].iloc[0])} in a comparison"),
        ("Reads", f"{int(chosen.sum()):,} with a choice ({ties:,} ties), {int((~chosen).sum()):,} without"),
        ("Comparisons", f"{own['unit_id'].nunique():,} in {own['group_id'].nunique():,} groups"),
        ("Orders", f"{several:,} comparisons are read in several orders, {len(per_unit) - several:,} in one"),
    )
    alone = "each comparison is read in one order: read it in the other order too"
    checks = [
        Check("Change of the winner with the order", several > 0, f"{several:,} comparisons" if several else alone),
        Check("What a place adds, in log-odds", several > 0, f"{several:,} comparisons" if several else alone),
        Check(
            "Order apart from chance",
            bool(twice.any()),
            f"{int(twice.sum()):,} comparisons are read twice in each order"
            if twice.any()
            else "no order was read twice",
        ),
        Check("Agreement with people", rated > 0, f"{rated:,} reads" if rated else "no column gold"),
        Check("Choice of the longest", lengths > 0, f"{lengths:,} reads" if lengths else "no lengths are recorded"),
        *_groups(own["group_id"].nunique(), bool(own["named_groups"].iloc[0])),
    ]
    return Diagnosis(form, judge, counts, tuple(checks), (*notes, *choice_tables.notes(own)))
