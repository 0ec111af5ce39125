import itertools

import numpy as np
import pandas as pd
import pytest
from factories import ROOT

from rubric_order.methods.uncertainty import stepwise

PUBLISHED = ROOT / "resources/published"
ROWS = {"both": 5320, "mtbench_pairs": 3360, "devbench_pairs": 1960}  # cells of 14 judges, candidates and tasks


def half_a_digit(printed):
    """Half a unit of the last digit that is printed."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


@pytest.mark.parametrize("number", range(3, 9))
def test_every_printed_aic_follows_from_its_residuals_and_degrees_of_freedom(number):
    table = pd.read_csv(PUBLISHED / f"shi2025_table{number}.csv", dtype=str)
    n, df = ROWS[table["dataset"].iloc[0]], table["df"].fillna("0").astype(int)
    # Task and candidate both tell the benchmark: of both terms together the data tell one coefficient more than is lost
    # without the one and without the other.
    twice = 1 if {"task", "candidate"} <= {*table["removed"]} and table["dataset"].iloc[0] == "both" else 0
    rank = 1 + df.sum() + twice
    for rss, less, printed in zip(table["rss"], df, table["aic"], strict=True):
        rounding = n * half_a_digit(rss) / float(rss) + half_a_digit(printed)
        assert stepwise.aic(float(rss), int(rank - less), n) == pytest.approx(float(printed), abs=rounding)


def cells(seed, judges=14):
    """Cells of judge, candidate and task, with a measure that judge, task and quality gap move."""
    rng = np.random.default_rng(seed)
    names = list(itertools.product(range(judges), range(6), range(4)))
    table = pd.DataFrame(names, columns=["judge", "candidate", "task"]).astype(str)
    table["quality_gap"] = rng.uniform(0, 0.5, len(table))
    table["length"] = rng.normal(size=len(table))
    effect = {name: rng.normal(0, 0.1, table[name].nunique()) for name in ("judge", "task")}
    table["y"] = 0.6 + 0.5 * table["quality_gap"] + rng.normal(0, 0.15, len(table))
    for name, values in effect.items():
        table["y"] += values[table[name].astype(int)]
    return table


def independent(table, names):
    """RSS and AIC of a model by numpy's least squares on pandas' dummy variables."""
    x = pd.get_dummies(table[list(names)], drop_first=True).astype(float) if names else pd.DataFrame(index=table.index)
    x.insert(0, "intercept", 1.0)
    found, _, rank, _ = np.linalg.lstsq(x.to_numpy(), table["y"].to_numpy(), rcond=None)
    rss = ((table["y"] - x.to_numpy() @ found) ** 2).sum()
    return rss, len(table) * np.log(rss / len(table)) + 2 * rank


TERMS = ("judge", "candidate", "task", "quality_gap", "length")


@pytest.mark.parametrize("seed", range(4))
def test_the_search_is_that_of_an_independent_one_term_by_term(seed):
    table = cells(seed)
    terms = {name: stepwise.columns(table[name]) for name in TERMS}
    chosen = stepwise.search(table["y"].to_numpy(), terms)
    known = set(TERMS)
    while True:
        near = [known ^ {name} for name in TERMS]
        best = min(near, key=lambda names: independent(table, sorted(names))[1])
        if independent(table, sorted(best))[1] >= independent(table, sorted(known))[1]:
            break
        known = best
    assert set(chosen) == known
    assert {"judge", "task", "quality_gap"} <= known
    rows = stepwise.removals(table["y"].to_numpy(), {name: terms[name] for name in chosen})
    assert rows[0].term is None  # no removal makes it better
    for row in rows:
        rss, aic = independent(table, sorted(known - {row.term}))
        assert (row.rss, row.aic) == pytest.approx((rss, aic))
    judge = next(row for row in rows if row.term == "judge")
    assert judge.df == 13


def test_terms_that_tell_the_same_twice_are_counted_once():
    rng = np.random.default_rng(20261122)
    benchmark = np.repeat(["m", "d"], 40)
    task = np.char.add(benchmark, rng.integers(0, 3, 80).astype(str))
    candidate = np.char.add(benchmark, rng.integers(0, 4, 80).astype(str))
    terms = {"task": stepwise.columns(task), "candidate": stepwise.columns(candidate)}
    rows = {row.term: row.df for row in stepwise.removals(rng.normal(size=80), terms)}
    assert rows == {None: 0, "task": 4, "candidate": 6}  # 6 and 8 levels, of which both tell the benchmark
    assert stepwise.fit(rng.normal(size=80), terms).rank == 12
