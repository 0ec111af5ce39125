"""Means from labels and a judge, by hand, by loops, and against another implementation; pass rates by errors."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from factories import ROOT
from installed import installed
from scipy import optimize, stats

from rubric_order.extras.one_read.methods import corrected, pass_rates

NONE = np.nan
ALONE = np.arange(6)


def study(seed, *, labelled=20, others=60, sizes=(1, 2, 5), exposed=1.0, skill=0.7):
    """Scores of people, hidden where there is no label, and of a judge; groups have effects."""
    rng = np.random.default_rng(seed)
    size = rng.choice(sizes, size=labelled + others)
    group = np.repeat(np.arange(len(size)), size)
    worth = rng.normal(3, 0.7, len(size))[group] + rng.normal(0, 0.7, len(group))
    human = worth + rng.normal(0, 0.4, len(group))
    judge = 2 + skill * worth + rng.normal(0, 0.5, len(group)) + rng.normal(0, 0.3, len(size))[group]
    first = np.r_[True, group[1:] != group[:-1]]
    shown = (group < labelled) & ((rng.random(len(group)) < exposed) | first)
    return np.where(shown, human, NONE), judge, group


def test_a_mean_by_hand():
    human, judge = np.array([1, 2, 3, 4, NONE, NONE]), np.array([1.0, 2, 3, 5, 2, 4])
    sums = corrected.sums(human, judge, ALONE)
    estimate = corrected.corrected(sums, 0.95, weight=1.0)
    assert estimate.interval.estimate == pytest.approx(2.5 - (11 / 4 - 17 / 6))
    # The weight is cov(y, f) / var(f): 11/4 - ... by hand over the labelled, 13/6 over all.
    covariance = (np.array([-1.5, -0.5, 0.5, 1.5]) @ [1, 2, 3, 5]) / 4
    assert corrected.corrected(sums, 0.95).weight == pytest.approx(covariance / judge.var(ddof=1))
    labels = corrected.corrected(sums, 0.95, weight=0.0)
    expected = stats.t.interval(0.95, 3, 2.5, stats.sem([1, 2, 3, 4]))
    assert (labels.interval.low, labels.interval.high) == pytest.approx(expected)


def test_labelled_items_stand_for_all_items_of_their_group():
    human = np.array([4, NONE, NONE, 2, NONE])
    sums = corrected.sums(human, np.ones(5), np.array([0, 0, 0, 1, 2]))
    assert corrected.corrected(sums, 0.95).interval.estimate == pytest.approx((3 * 4 + 2) / 4)


def test_an_item_of_which_the_judge_says_nothing_stays_with_the_mean_of_the_others():
    human, judge, group = study(1)
    judge[[0, 5, 70]] = NONE
    filled = np.where(np.isnan(judge), np.nanmean(judge), judge)
    both = [corrected.corrected(corrected.sums(human, own, group), 0.95) for own in (judge, filled)]
    assert both[0].interval == pytest.approx(both[1].interval)


def loop(human, judge, group, kind, contrast, left=None, weight=None):
    """Estimate by loops over groups; a labelled group that is left out is stood for by the other labelled ones."""
    labelled = sorted({g for g, y in zip(group, human, strict=True) if not np.isnan(y)})
    count, m = len(set(group)), len(labelled)
    used = [g for g in labelled if g != left]
    counts = {g: (0.0 if g == left else m / len(used) if g in labelled else 1.0) for g in set(group)}
    residuals = {name: dict.fromkeys(set(group), 0.0) for name in ("y", "f", "h")}
    value = correction = 0.0
    for k, c in enumerate(contrast):
        totals = {}
        for g in set(group):
            rows = (group == g) & (kind == k)
            given = rows & ~np.isnan(human)
            w = rows.sum() / max(given.sum(), 1)
            totals[g] = [w * given.sum(), w * human[given].sum(), w * judge[given].sum(), rows.sum(), judge[rows].sum()]
        own = sum(counts[g] * np.array(totals[g]) for g in labelled)
        everything = sum(counts[g] * np.array(totals[g]) for g in totals)
        mean, of_labelled, of_all = own[1] / own[0], own[2] / own[0], everything[4] / everything[3]
        value, correction = value + c * mean, correction + c * (of_labelled - of_all)
        for g, (w, y, f, items, h) in totals.items():
            residuals["y"][g] += c * (y - mean * w) * m / own[0]
            residuals["f"][g] += c * (f - of_all * w) * count / everything[3]
            residuals["h"][g] += c * (h - of_all * items) * count / everything[3]
    y, f, h = (np.array([residuals[name][g] for g in used]) for name in ("y", "f", "h"))
    weights = np.array([counts[g] for g in sorted(counts)])
    everybody = np.array([residuals["h"][g] for g in sorted(counts)])

    def cov(a, b):
        return ((a - a.mean()) * (b - b.mean())).mean()

    shared, of_all = 1 / m - 1 / count, (weights * everybody**2).sum() / (count - 1)
    variance = (of_all + 2 * cov(h, f - h)) * shared + cov(f - h, f - h) / m
    if weight is None:
        weight = (cov(y, f) / m - cov(y, h) / count) / variance
    return value - weight * correction, weight, everybody


@pytest.mark.parametrize(
    ("exposed", "contrast"), [(1.0, (1.0,)), (0.5, (1.0,)), (1.0, (1.0, -1.0)), (0.6, (1.0, -1.0))]
)
def test_estimate_weight_and_error_are_those_of_loops(exposed, contrast):
    human, judge, group = study(3, labelled=8, others=15, sizes=(4, 6, 9), exposed=exposed)
    kind = np.arange(len(group)) % len(contrast)
    if len(contrast) > 1:  # every labelled group has labels of both
        for g in range(8):
            rows = np.flatnonzero(group == g)
            human[rows[:2]] = np.nan_to_num(human[rows[:2]], nan=3.0)
    sums = corrected.sums(human, judge, group, kind, len(contrast))
    estimate = corrected.corrected(sums, 0.95, contrast=contrast)
    value, weight, everybody = loop(human, judge, group, kind, contrast)
    assert estimate.interval.estimate == pytest.approx(value)
    assert estimate.weight == pytest.approx(weight)
    left = np.array([loop(human, judge, group, kind, contrast, left=g, weight=weight)[0] for g in range(8)])
    others = weight * everybody[8:] / 23
    items = [int((group == g).sum()) for g in range(23)]
    unequal = [sum(n**2 for n in own) / len(own) / (sum(own) / len(own)) ** 2 for own in (items, items[:8])]
    more = max(unequal[0] / unequal[1], 1)
    expected = more * 7 / 8 * ((left - value) ** 2).sum() + 15 * others.var(ddof=1)
    assert estimate.se**2 == pytest.approx(expected)


def test_small_groups_alone_do_not_hide_that_there_are_large_ones():
    """Groups of 1 item are labelled, others have 1 or 9."""
    human, group = np.r_[1.0, 2, 3, 4, np.full(40, np.nan)], np.r_[0:4, 4:8, np.repeat(np.arange(8, 12), 9)]
    alike, large = (
        corrected.corrected(corrected.sums(human[:n], np.ones(n), group[:n]), 0.95, weight=0.0) for n in (8, 44)
    )
    sizes = [1.0] * 8 + [9.0] * 4
    assert large.se**2 / alike.se**2 == pytest.approx(np.mean(np.square(sizes)) / np.mean(sizes) ** 2)
    assert large.interval.estimate == alike.interval.estimate == 2.5


def test_labelled_groups_are_compared_with_the_others_by_welchs_test():
    human, judge, group = study(3, labelled=15, others=40)
    found = corrected.selection(corrected.sums(human, judge, group), 0.95)
    means = np.bincount(group, judge) / np.bincount(group)
    test = stats.ttest_ind(means[:15], means[15:], equal_var=False)
    assert found.p == pytest.approx(test.pvalue)
    assert found.interval == pytest.approx((means[:15].mean() - means[15:].mean(), *test.confidence_interval(0.95)))
    for labelled in (1, 54):  # of 55 groups
        few = np.where(group < labelled, judge, NONE)
        assert np.isnan(corrected.selection(corrected.sums(few, judge, group), 0.95).p)


@pytest.mark.parametrize(("contrast", "most"), [((1.0,), 2.0), ((1.0, -1.0), 1.0)])
def test_without_a_scale_an_estimate_stays_within_what_people_gave(contrast, most):
    human = np.array([1, 2, 1.5, 1, 2, 1.2, *[NONE] * 4])
    judge = np.array([1, 2, 1.5, 1, 2, 1.2, 9, 9, 8, 9])
    kind = np.tile([0, 1], 5)[::-1] if len(contrast) > 1 else np.zeros(10, dtype=int)
    sums = corrected.sums(human, judge * (1 - 2 * kind), np.arange(10) // 2, kind, len(contrast))
    found = corrected.corrected(sums, 0.95, contrast=contrast, weight=1.0)
    wide = corrected.corrected(sums, 0.95, contrast=contrast, weight=1.0, bounds=(-99, 99))
    assert abs(wide.interval.estimate) > most
    assert abs(found.interval.estimate) == most
    assert found.interval.low <= found.interval.estimate <= found.interval.high
    assert (found.se, found.df) == (wide.se, wide.df)


def test_one_large_group_among_the_labelled_is_no_sample():
    human, judge = np.r_[np.arange(30.0) % 5, 1, 2, 3], np.r_[np.arange(30.0) % 4, 1, 2, 3]
    group = np.r_[np.zeros(30, dtype=int), 1, 2, 3]
    sums = corrected.sums(human, judge, np.r_[group])
    assert sums.effective == pytest.approx(33**2 / (30**2 + 3))
    assert corrected.corrected(sums, 0.95).weight == 0
    assert not corrected.worth(sums, 0.95).share.known


def test_scales_and_units_do_not_matter():
    human, judge, group = study(5)
    plain, moved = (
        corrected.corrected(corrected.sums(human, own, group), 0.95).interval for own in (judge, 100 - 7 * judge)
    )
    assert plain == pytest.approx(moved)
    order = np.random.default_rng(0).permutation(len(group))
    shuffled = corrected.corrected(corrected.sums(human[order], judge[order], group[order]), 0.95)
    assert shuffled.interval == pytest.approx(plain)


@pytest.mark.parametrize("judge", ["constant", "equal in all groups"])
def test_a_saturated_judge_changes_nothing(judge):
    human, _, group = study(7, sizes=(2,))
    scores = np.full(len(group), 5.0) if judge == "constant" else np.tile([4.1, 4.7], len(group) // 2)
    sums = corrected.sums(human, scores, group)
    estimate, labels = corrected.corrected(sums, 0.95), corrected.corrected(sums, 0.95, weight=0.0)
    assert estimate.weight == 0
    assert estimate == labels
    worth = corrected.worth(sums, 0.95)
    assert not worth.correlation.known
    assert worth.share.estimate == pytest.approx(18 / 17)  # choosing a weight costs a little, and brings nothing


def test_all_groups_labelled_leave_nothing_to_correct():
    human, judge, group = study(8, labelled=30, others=0)
    sums = corrected.sums(human, judge, group)
    labels = corrected.corrected(sums, 0.95, weight=0.0)
    assert corrected.corrected(sums, 0.95).interval.estimate == pytest.approx(labels.interval.estimate)
    worth = corrected.worth(sums, 0.95)
    assert worth.share.estimate >= 1
    assert worth.at_best.estimate < 0.8


@pytest.mark.parametrize("labelled", [0, 1, 2, 3])
def test_few_labelled_groups_are_not_corrected(labelled):
    human, judge, group = study(9, labelled=max(labelled, 1))
    if not labelled:
        human[:] = NONE
    sums = corrected.sums(human, judge, group)
    estimate = corrected.corrected(sums, 0.95)
    assert estimate.weight == 0
    assert estimate.interval.known == (labelled > 0)
    assert estimate.interval.bounded == (labelled > 1)
    assert not corrected.worth(sums, 0.95).share.known


def test_labels_that_are_all_the_same_have_the_interval_of_what_was_not_seen():
    human, judge, group = study(10, labelled=20, sizes=(1,))
    passed = np.where(np.isnan(human), NONE, 1.0)
    estimate = corrected.corrected(corrected.sums(passed, judge, group), 0.95, bounds=(0, 1), share=True)
    assert estimate.interval.estimate == 1
    assert estimate.interval.high == 1
    assert estimate.interval.low == pytest.approx(0.025 ** (1 / 20))
    assert not corrected.corrected(corrected.sums(passed, judge, group), 0.95).interval.bounded


def test_a_share_has_wilsons_interval_where_groups_are_single_items():
    passed = np.r_[np.ones(15), np.zeros(25), np.full(60, NONE)]
    sums = corrected.sums(passed, np.zeros(100), np.arange(100))
    found = corrected.corrected(sums, 0.95, weight=0.0, bounds=(0, 1), share=True)
    width, p = stats.t.ppf(0.975, 39), 15 / 40

    def distance(end, sign):
        return p - end - sign * width * np.sqrt(end * (1 - end) / 39)

    low, high = (optimize.brentq(distance, 1e-6, 1 - 1e-6, args=(sign,)) for sign in (1, -1))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))


def test_groups_needed_reach_the_margin_and_one_fewer_does_not():
    variance, groups, square = 1.3**2, 400, 0.64
    for margin in (0.15, 0.3, 0.5):
        labels = corrected.groups_needed(margin, variance, 0.95, groups=groups)
        both = corrected.groups_needed(margin, variance, 0.95, groups=groups, square=square)
        assert both < labels
        reach = [stats.t.ppf(0.975, m - 1) * np.sqrt(variance / m) for m in (labels - 1, labels)]
        assert reach[0] > margin >= reach[1]
        error = [np.sqrt(variance / m * (1 - square * (1 - m / groups)) * (m - 2) / (m - 3)) for m in (both - 1, both)]
        reach = [stats.t.ppf(0.975, m - 2) * e for m, e in zip((both - 1, both), error, strict=True)]
        assert reach[0] > margin >= reach[1]
    narrow = [corrected.groups_needed(0.05, variance, 0.95, groups=groups, square=s) for s in (None, square)]
    assert narrow[0] == narrow[1] > groups
    assert np.isnan(corrected.groups_needed(0.1, 0.0, 0.95, groups=groups))


def test_the_share_of_labels_is_that_of_the_error_over_many_studies():
    errors, shares = [], []
    for seed in range(150):
        human, judge, group = study(seed, labelled=40, others=160, sizes=(2,))
        sums = corrected.sums(human, judge, group)
        values = [corrected.corrected(sums, 0.95, weight=weight).interval.estimate for weight in (0.0, None)]
        errors.append(np.array(values) - 3)
        shares.append(corrected.worth(sums, 0.95).share.estimate)
    labels, both = np.square(errors).mean(axis=0)
    assert np.mean(shares) == pytest.approx(both / labels, rel=0.15)


PROGRAM = """
import json, sys
import numpy as np, ppi_py
for line in sys.stdin:
    n, y, f, alpha = json.loads(line)
    y, f, rest = np.array(y), np.array(f[:n]), np.array(f[n:])
    point = float(ppi_py.ppi_mean_pointestimate(y, f, rest)[0])
    interval = [float(end[0]) for end in ppi_py.ppi_mean_ci(y, f, rest, alpha=alpha)]
    fixed = [float(end[0]) for end in ppi_py.ppi_mean_ci(y, f, rest, alpha=alpha, lam=0.4)]
    print(json.dumps([point, interval, fixed]))
"""


@pytest.mark.slow
def test_single_items_have_the_estimates_of_the_package_of_the_authors(tmp_path_factory):
    """ppi-python, with n for n - 1 and the normal distribution for Student's t; its weight is cut off at 0 and 1."""
    cases = [study(seed, labelled=n, others=3 * n, sizes=(1,)) for seed, n in enumerate((20, 50, 400, 2000))]
    packages = installed(tmp_path_factory, "ppi")
    lines = [
        json.dumps([int((~np.isnan(human)).sum()), human[~np.isnan(human)].tolist(), judge.tolist(), 0.05])
        for human, judge, _ in cases
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(lines),
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(packages), str(ROOT / "workflow/scripts")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for (human, judge, group), line in zip(cases, done.stdout.splitlines(), strict=True):
        point, interval, fixed = json.loads(line)
        sums, m, count = corrected.sums(human, judge, group), int((~np.isnan(human)).sum()), len(human)
        estimate = corrected.corrected(sums, 0.95)
        assert 0 < estimate.weight * (1 - m / count) < 1  # they do not cut it off here
        assert estimate.interval.estimate == pytest.approx(point, abs=1e-10)
        assert np.mean(interval) == pytest.approx(point)
        # With the same weight, from n - 1 and t back to n and the normal distribution, part by part.
        ours = corrected.corrected(sums, 0.95, weight=0.4 / (1 - m / count))
        rest = 0.4**2 * judge[m:].var() / (count - m)
        own = ours.se**2 - rest * (count - m) / (count - m - 1)
        se = np.sqrt(own * (m - 1) / m + rest)
        assert np.ptp(fixed) / 2 == pytest.approx(stats.norm.ppf(0.975) * se)
        if m == 2000:
            assert np.ptp([estimate.interval.low, estimate.interval.high]) == pytest.approx(np.ptp(interval), rel=0.003)


def verdicts(counts, groups=40):
    """Labelled and other items, dealt out to groups.

    Args:
        counts: numbers of items passed by both, by people alone, by the judge alone, by none; then those without labels
            that the judge passes, and fails.
    """
    kinds = [(1, 1), (1, 0), (0, 1), (0, 0), (NONE, 1), (NONE, 0)]
    human, judge = np.repeat(np.array(kinds, dtype=float), counts, axis=0).T
    group = np.arange(len(human)) % groups
    group[np.isnan(human)] += groups
    return human, judge, group


def test_a_pass_rate_by_hand():
    human, judge, group = verdicts([90, 10, 20, 80, 390, 410])
    found = pass_rates.rogan_gladen(human, judge, group, 0.95)
    assert found.sensitivity.estimate == pytest.approx(0.9)
    assert found.specificity.estimate == pytest.approx(0.8)
    assert found.rate.estimate == pytest.approx((0.5 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert (found.n_passed, found.n_failed, found.problem) == (100, 100, "")
    assert 0 < found.rate.low < found.rate.estimate < found.rate.high < 1
    assert pass_rates.rogan_gladen(*verdicts([90, 10, 4, 16, 720, 80]), 0.95).rate.high == 1


def test_the_interval_holds_the_rates_that_a_test_does_not_reject():
    """Fieller's interval by roots; independent labels, so that variances are binomial."""
    counts = [90, 10, 20, 80, 3900, 4100]
    human, judge, _ = verdicts(counts)
    found = pass_rates.rogan_gladen(human, judge, np.arange(len(human)), 0.95)
    rate, right, wrong = 4010 / 8200, 0.9, 0.8
    variances = rate * (1 - rate) / 8199, right * (1 - right) / 99, wrong * (1 - wrong) / 99
    p = (rate + wrong - 1) / (right + wrong - 1)

    def distance(value, sign):
        parts = np.array(variances) * [1, value**2, (1 - value) ** 2]
        return rate + wrong - 1 - value * (right + wrong - 1) - sign * width * np.sqrt(parts.sum())

    at = np.array(variances) * [1, p**2, (1 - p) ** 2]
    width = stats.t.ppf(0.975, at.sum() ** 2 / (at**2 / [8199, 99, 99]).sum())
    low, high = (optimize.brentq(distance, 0, 1, args=(sign,)) for sign in (1, -1))
    assert (found.rate.low, found.rate.high) == pytest.approx((low, high), abs=0.004)
    for ours, n_right in ((found.sensitivity, 90), (found.specificity, 80)):
        wilson = stats.binomtest(n_right, 100).proportion_ci(method="wilson")
        assert (ours.low, ours.high) == pytest.approx(tuple(wilson), abs=0.005)


@pytest.mark.parametrize(
    ("counts", "problem"),
    [
        ([50, 50, 50, 50, 400, 400], pass_rates.NEAR_ONE),  # by chance
        ([20, 80, 80, 20, 400, 400], pass_rates.NEAR_ONE),  # the wrong way round
        ([100, 0, 100, 0, 800, 0], pass_rates.NEAR_ONE),  # passes everything
        ([90, 10, 0, 0, 400, 400], pass_rates.NO_LABELS),
        ([0, 0, 20, 80, 400, 400], pass_rates.NO_LABELS),
        ([0, 0, 0, 0, 400, 400], pass_rates.NO_LABELS),
        ([180, 20, 20, 180, 0, 80_000], pass_rates.NO_FIT),
    ],
)
def test_what_cannot_be_told_has_no_number(counts, problem):
    found = pass_rates.rogan_gladen(*verdicts(counts), 0.95)
    assert found.problem == problem
    assert not found.rate.known
    assert not found.rate.bounded


def test_a_judge_that_is_always_right_in_few_labels_is_not_taken_to_be():
    human, judge, group = verdicts([30, 0, 0, 10, 400, 400], groups=10)
    found = pass_rates.rogan_gladen(human, judge, group, 0.95)
    assert found.rate.estimate == pytest.approx((430 / 840 + 1 - 1) / 1)
    assert found.specificity.low < 0.9
    assert found.rate.high - found.rate.low > 0.1


def test_items_without_a_verdict_do_not_count_and_order_does_not_matter():
    human, judge, group = verdicts([90, 10, 20, 80, 390, 410])
    expected = pass_rates.rogan_gladen(human, judge, group, 0.95)
    more = np.r_[human, 1, 0, NONE], np.r_[judge, NONE, NONE, NONE], np.r_[group, 3, 4, 77]
    order = np.random.default_rng(1).permutation(len(more[0]))
    found = pass_rates.rogan_gladen(*(part[order] for part in more), 0.95)
    assert found.rate == pytest.approx(expected.rate)
