"""Items of several groups with the very same reads: one item under several names."""

import numpy as np
import pandas as pd
import pytest
from factories import of_positions_alone, simulated_reads

from rubric_order.cards import card
from rubric_order.library import estimates
from rubric_order.methods.position import blocks, copies
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation


def found_in(reads):
    (block,) = blocks.blocks(reads)
    return copies.copies(block)


def renamed(reads, groups):
    """The reads, and those of some groups again under other names."""
    again = reads[reads["group_id"].isin(groups)]
    return pd.concat([reads, again.assign(item_id="x" + again["item_id"], group_id="x" + again["group_id"])])


def judged(judge, *, temperature=1.0, groups=60, seed=1, soft=True):
    reads = studies.read_items(
        judge, n=5, strategies=["balanced"], temperature=temperature, groups=groups, candidates=1, seed=seed
    )
    scores = studies.as_scores(reads, candidates=1)
    return scores if soft else scores.assign(position_probabilities=None, expected_score=np.nan)


@pytest.mark.parametrize("soft", [True, False])
def test_copies_under_other_names_are_counted_and_named(soft):
    reads = judged(Simulation(tolerance=1.0), soft=soft)
    assert found_in(reads) == copies.Copies(0, ())
    groups = sorted(reads["group_id"].unique())[:7]
    found = found_in(renamed(reads, groups))
    assert found.count == 7
    originals = reads[reads["group_id"].isin(groups)]["item_id"]
    assert set(found.names) <= {f"{name} = x{name}" for name in originals}
    assert len(found.names) == 3


def test_equal_items_of_one_group_are_no_copies():
    reads = judged(Simulation(tolerance=1.0))
    again = reads.assign(item_id="x" + reads["item_id"])
    assert found_in(pd.concat([reads, again])).count == 0


@pytest.mark.parametrize("groups", [60, 200, 800])
@pytest.mark.parametrize("preference", ["none", "first", "u_shaped"])
def test_option_probabilities_of_different_items_are_never_copies(preference, groups):
    judge = Simulation(preference=preference, preference_strength=2.0)
    assert found_in(judged(judge, temperature=0.0, groups=groups)).count == 0


def test_whole_scores_of_a_judge_that_answers_items_alike_are_seldom_copies():
    for groups in (60, 200, 800):
        assert found_in(judged(Simulation(), temperature=0.0, groups=groups, soft=False)).count == 0
        assert found_in(judged(Simulation(), temperature=1.0, groups=groups, soft=False)).count == 0


def test_a_judge_with_one_score_has_no_copies():
    reads = simulated_reads(groups=20, candidates=1, strategies=["balanced"], failing=0.0)
    assert found_in(reads.assign(score=3, position_probabilities=None)).count == 0


def test_the_card_names_copies_and_says_what_to_do():
    reads = judged(Simulation(tolerance=1.0), groups=40)
    reads = reads.assign(human_score=np.nan)
    for table, count in ((reads, 0), (renamed(reads, sorted(reads["group_id"].unique())[:5]), 5)):
        (made,) = card.cards(estimates.card_statistics(table))
        assert made.to_dict()["n_copies"] == count
        facts = dict(card.facts(made.evidence))
        assert ("Copies" in facts) == (count > 0)
    assert facts["Copies"].startswith(
        "5 items whose option probabilities equal those of an item of another group, such as "
    )
    assert facts["Copies"].endswith("which belongs in one group")


def test_the_card_of_a_judge_that_looks_at_no_text_says_that_it_answers_alike():
    rows = pd.DataFrame(of_positions_alone("j", (4, 3, 1, 1, 1)))
    (made,) = card.cards(estimates.card_statistics(estimates.scores_of(rows)))
    facts = dict(card.facts(made.evidence))
    assert facts["Copies"].startswith(
        "39 items whose option probabilities equal those of an item of another group, such as "
    )
    assert facts["Copies"].endswith("; or a judge that answers many items alike")


@pytest.mark.parametrize("most", [2**62, 5])
def test_rows_are_numbered_in_their_order(monkeypatch, most):
    monkeypatch.setattr(copies, "MOST_CODES", most)
    table = np.random.default_rng(5).integers(0, 3, (60, 4)).astype(float)
    table[7, 2] = np.nan
    number = copies._numbered(table)
    others = np.arange(60) != 7
    assert number[7] == -1
    assert number[others].tolist() == np.unique(table[others], axis=0, return_inverse=True)[1].ravel().tolist()
