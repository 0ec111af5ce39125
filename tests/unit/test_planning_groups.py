"""The number of groups that a card needs: errors by hand, and what makes it larger."""

import math

import numpy as np
import pytest
from scipy import optimize, special, stats
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.library import planning
from rubric_order.methods.position import planning_groups
from rubric_order.methods.uncertainty import additive

MARGINS = {"margin_points": 0.1, "margin_log_odds": 0.2, "margin_spread": 0.1}
SOUGHT = {"effect": 0.2, "effect_points": 0.1, "power": 0.8}


def test_errors_of_two_levels_follow_by_hand():
    """Half of the pairs of reads differ: each score has probability 1/2 in each read."""
    found = planning_groups.expected(2, 0.4999999, orderings=2, repeats=1, prompt_noise=1e-9, groups=100)
    # A read tells 1/4 of the log-odds of one score, which a position moves by twice its worth: 1 / (4 * 2 reads / 4).
    assert found.log_odds == pytest.approx([math.sqrt(1 / 2 / 100)] * 2, rel=1e-3)
    # Its variance is 1/4, and one of two orderings less their mean has half of it.
    assert found.points == pytest.approx([math.sqrt(1 / 4 / 2 / 100)] * 2, rel=1e-3)
    repeated = planning_groups.expected(2, 0.4999999, orderings=2, repeats=4, prompt_noise=1e-9, groups=100)
    assert repeated.log_odds == pytest.approx(found.log_odds / 2, rel=1e-3)


def test_information_about_positions_is_the_share_that_differs_by_hand():
    """K d / (n - 1) in the mean over contrasts, whatever the items and orderings."""
    for n, differ in ((3, 0.4), (5, 0.3), (5, 0.7), (9, 0.6)):
        shares = planning_groups._shares(n, differ)
        information = planning_groups._information(shares, planning_groups._orderings(n, 2 * n))[:n, :n]
        assert np.trace(information) == pytest.approx(differ, rel=1e-6)
        assert information.sum() == pytest.approx(0, abs=1e-9)


def of_alike_items(differ, mean):
    """Shares of items that change for the better and for the worse: equal items, pass rates moved by equal log-odds."""
    logit = special.logit((1 + math.sqrt(1 - 2 * differ)) / 2)

    def passes(log_odds):
        return special.expit(logit + log_odds), special.expit(logit - log_odds)

    up, down = passes(optimize.brentq(lambda log_odds: np.subtract(*passes(log_odds)) - mean, 0, 20))
    return up * (1 - down), down * (1 - up)


def test_groups_for_a_bias_are_those_of_the_normal_power_formula():
    """One two-sided test at 3%, of two levels: (2.17 + .84) squared times variance over effect squared.

    Student's t needs 2.17 squared / 2 groups more.
    """
    critical = stats.norm.ppf(1 - 0.03 / 2)
    z = critical + stats.norm.ppf(0.8)
    for differ, repeats in ((0.3, 4), (0.3, 1), (0.18, 1)):
        errors = planning_groups.expected(2, differ, orderings=2, repeats=repeats, prompt_noise=1e-9)
        more, less = of_alike_items(differ, 0.1)
        by_hand = (z / 0.1) ** 2 * (more + less - 0.1**2) / repeats + critical**2 / 2
        found = planning_groups.bias_groups(errors, points=0.05).groups
        assert found == pytest.approx(by_hand, rel=0.02 if repeats > 1 else 0.08)  # a sign test needs more


@pytest.mark.parametrize(("groups", "share", "mean"), [(39, 0.25, 0.2), (30, 0.1, 0.05), (20, 1.0, 0.6)])
def test_the_power_of_the_sign_test_is_that_of_all_outcomes(groups, share, mean):
    power = 0.0
    for changed in range(1, groups + 1):
        up = np.arange(changed + 1)
        finds = [stats.binomtest(int(count), changed).pvalue <= 0.03 for count in up]
        of_up = stats.binom.pmf(up, changed, (1 + mean / share) / 2)
        power += stats.binom.pmf(changed, groups, share) * of_up[finds].sum()
    assert planning_groups._sign_power(groups, share, mean) == pytest.approx(power)


@pytest.mark.parametrize("spread", [0.0, 1.5])
@pytest.mark.parametrize(("centre", "log_odds"), [(2.3, 0.0), (2.3, 0.5), (0.0, 0.4)])
def test_the_test_of_a_card_has_the_planned_power_also_where_most_answers_pass(spread, centre, log_odds):
    """Judges with one read in each ordering; the chances of their answers are those of the simulator."""
    rng = np.random.default_rng(20261128)
    logit = centre + spread * stats.norm.ppf((np.arange(2000) + 0.5) / 2000)

    def passes(effect):  # of two positions the first adds `effect`, the second takes it away
        return special.expit(logit + 2 * effect), special.expit(logit - 2 * effect)

    chance = passes(0)[0]
    differ, points = 2 * (chance * (1 - chance)).mean(), 0.0 if log_odds else 0.1
    effect = log_odds or optimize.brentq(lambda e: np.subtract(*passes(e)).mean() / 2 - points, 0, 9)
    errors = planning_groups.expected(2, differ, orderings=2)
    groups = int(planning_groups.bias_groups(errors, log_odds=log_odds, points=points).groups)
    item = rng.integers(len(logit), size=(300, groups))
    one, other = (rng.random(item.shape) < side[item] for side in passes(effect))
    away = (one.astype(float) - other)[..., None] / 2 * [1, -1]
    p = [additive.no_shift(study, draws=999, seed=number) for number, study in enumerate(away)]
    share = np.mean(np.array(p) <= 0.03)
    assert 0.8 - 2.6 * math.sqrt(0.16 / len(p)) <= share <= 0.93


def test_no_number_makes_an_effect_below_the_margin_biased():
    errors = planning_groups.expected(5, 0.3, orderings=10)
    below = planning_groups.bias_groups(errors, log_odds=0.12, margin=0.2)
    assert math.isinf(below.groups)
    assert "below the margin of 0.2" in below.why
    at = planning_groups.bias_groups(errors, log_odds=0.2, margin=0.2)
    assert at == planning_groups.bias_groups(errors, log_odds=0.2)


def test_more_is_needed_of_less_decisive_judges_for_smaller_effects_and_for_more_power():
    def biased(differ, effect, power=0.8, **settings):
        errors = planning_groups.expected(5, differ, orderings=10, **settings)
        return planning_groups.bias_groups(errors, log_odds=effect, power=power).groups

    assert biased(0.3, 0.2) > biased(0.6, 0.2) > biased(0.6, 0.3) > biased(0.6, 0.5)
    assert biased(0.3, 0.2, 0.9) > biased(0.3, 0.2)
    assert biased(0.3, 0.2) > biased(0.3, 0.2, repeats=2)
    assert biased(0.3, 0.2) > biased(0.3, 0.2, items=4, within=0.5) > biased(0.3, 0.2, items=4)


def test_equivalence_needs_more_groups_of_less_decisive_judges_and_smaller_margins():
    def equivalent(differ, **margins):
        errors = planning_groups.expected(5, differ, orderings=10, repeats=2)
        return planning_groups.equivalence_groups(errors, **MARGINS | margins).groups

    assert equivalent(0.5) > equivalent(0.3)
    assert equivalent(0.3, margin_points=0.05) > equivalent(0.3)
    assert equivalent(0.3, margin_log_odds=0.1) > equivalent(0.3)


def test_the_bound_for_few_carriers_is_part_of_the_number():
    """On five levels no fewer than 107 groups show a shift to be small, however small errors are."""
    errors = planning_groups.expected(5, 0.3, orderings=10, soft=True, prompt_noise=1e-4, one_answer=True)
    assert planning_groups.equivalence_groups(errors, **MARGINS).groups == pytest.approx(107, abs=4)


def test_what_no_number_of_groups_reaches_is_said():
    once = planning.plan_judge({"levels": 5, "pairs_differ": 0.3}, **SOUGHT)
    assert math.isinf(once.needed.equivalent.groups)
    assert "orderings are read once" in " ".join(once.notes)
    assert once.needed.repeated.groups < 1000
    noisy = planning.plan_judge(
        {"levels": 5, "pairs_differ": 0.6, "probabilities": True, "prompt_noise": 0.5}, **SOUGHT
    )
    assert "single items differ by as much as the margin" in " ".join(noisy.notes)
    saturated = planning.plan_judge({"levels": 5, "pairs_differ": 0.01}, **SOUGHT)
    assert len(saturated.notes) == 1
    assert "saturated" in saturated.notes[0]


@pytest.mark.parametrize(
    ("given", "sought", "said"),
    [
        ({"levels": 5}, {}, "expected a file of reads, or --levels and --pairs-differ"),
        ({"levels": 1}, {}, "--levels: expected a number from 2 to 10, found 1"),
        ({"pairs_differ": 0.9}, {}, "--pairs-differ: expected a share above 0 and below 0.8"),
        ({"orderings": 7}, {}, "--orderings: expected 5 or 10"),
        ({"repeats": 0}, {}, "--repeats: expected 1 or more, found 0"),
        ({"items_per_group": 0.5}, {}, "--items-per-group: expected 1 or more, found 0.5"),
        ({"within_group": 1.2}, {}, "--within-group: expected a correlation from 0 to 1, found 1.2"),
        ({"prompt_noise": 0.0}, {}, "--prompt-noise: expected a number above 0, found 0"),
        ({}, {"effect": 0.0}, "--effect: expected a number above 0, found 0"),
        ({}, {"power": 1.0}, "--power: expected a share above 0.05 and below 1, found 1"),
    ],
)
def test_a_bad_option_is_one_clear_error(given, sought, said):
    given = given if said.startswith("expected") else {"levels": 5, "pairs_differ": 0.3} | given
    with pytest.raises(InputError) as error:
        planning.plan_judge(given, **SOUGHT | sought)
    assert said in str(error.value)


def run(*words):
    return CliRunner().invoke(app, ["plan-groups", *map(str, words)])


def test_the_command_prints_findings_groups_and_reads():
    done = run("--levels", 2, "--pairs-differ", 0.3, "--repeats", 4, "--items-per-group", 2)
    assert done.exit_code == 0, done.output
    (row,) = [line for line in done.output.splitlines() if line.startswith("equivalent")]
    *_, n_groups, n_reads = row.split()
    assert int(n_reads.replace(",", "")) == 16 * int(n_groups)


@pytest.mark.parametrize("needed", [20, 21, 700_001, 1_000_000, 1_000_001])
def test_the_smallest_number_that_is_enough_is_found_up_to_a_million(needed):
    least = planning_groups.least(lambda groups: groups >= needed, 20)
    if needed > 1_000_000:
        assert least == (math.inf, "even 1,000,000 groups are too few")
    else:
        assert least == (needed, "")


def test_an_effect_that_is_far_larger_than_its_error_is_found():
    errors = planning_groups.expected(5, 0.3, orderings=10)
    tiny = errors._replace(log_odds=errors.log_odds * 1e-16, one_place=errors.one_place * 1e-16)
    assert planning_groups.share_biased(tiny, 40, log_odds=0.2) == 1
    assert planning_groups.bias_groups(tiny, log_odds=0.2) == (planning_groups.FEWEST_FOR_BIASED, "")
