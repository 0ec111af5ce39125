"""Tables keep their level where errors are correlated, groups unequal, places unlike or tails heavy."""

import pytest
import tables_recovery

CELLS = {cell.setting + f", {cell.n_groups}": cell for cell in tables_recovery.cells()}
# Part of the name of a cell, quantity, studies, and limits: of the share before, and of the share now.
WRONG = {
    "3 groups of 40 items": ("shift is small", 400, 0.06, 0.06),
    "8 candidates (SD 0.15)": ("slope", 30, 0.3, 0.05),
    "24 candidates (SD 0.15)": ("slope", 30, 0.2, 0.15),
    "10 judges that share 80%": ("advice", 40, 0.3, 0.15),
    "its family first": ("self-preference", 15, 0.8, 0.1),
    "noise 1 in one prompt, 0.5 alone, 6 reads, 60": ("halo of reads", 30, 0.7, 0.15),
    "0.7 alone, 6 reads, rounded, 2 prompts alone": ("halo of means", 30, 0.3, 0.15),
}
RIGHT = {
    "4 judges, SD between them 0 of": ("mean of few judges", 200, 1.0, 0.95),
    "items: t5, 30": ("heavy coefficient", 100, 0.92, 0.9),
    "items: t3, 30": ("heavy variance", 100, 0.75, 0.82),
}


def shares(part, quantity, studies):
    (cell,) = (cell for name, cell in CELLS.items() if part in name)
    return tables_recovery.run(cell, studies, 3).set_index("quantity").loc[quantity, ["before", "now"]]


@pytest.mark.parametrize("part", WRONG)
def test_nothing_is_found_where_there_is_nothing(part):
    quantity, studies, least_before, most_now = WRONG[part]
    before, now = shares(part, quantity, studies)
    assert before >= least_before
    assert now <= most_now


@pytest.mark.parametrize("part", RIGHT)
def test_intervals_hold_the_truth(part):
    quantity, studies, most_before, least_now = RIGHT[part]
    before, now = shares(part, quantity, studies)
    assert before <= most_before
    assert now >= least_now


def test_few_equal_judges_have_a_narrower_interval():
    before, now = shares("4 judges, SD between them 0 of", "width of equal judges", 200)
    assert now < 0.9 * before


def test_the_interval_of_two_orders_is_as_wide_as_their_variance_makes_it():
    before, now = shares("averaged, groups of 5, 40", "width of two orders", 60)
    assert now < 0.8 * before
    assert shares("averaged, groups of 5, 40", "two orders", 60)["now"] >= 0.88


def test_a_planted_halo_is_found():
    assert shares("halo planted", "halo of means", 10)["now"] == 1
