"""Tails, quantiles and ranks against those of scipy.stats, which the library does without."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from rubric_order.methods.uncertainty import distributions

VALUES = np.array([-30.0, -2.5, -1e-17, 0.0, 0.7, 3.1, 40.0, np.nan])


@pytest.mark.parametrize("df", [1, 2.5, 30, 4000])
def test_tails_are_those_of_scipy(df):
    np.testing.assert_array_equal(distributions.normal_tail(VALUES), stats.norm.sf(VALUES))
    np.testing.assert_array_equal(distributions.t_tail(VALUES, df), stats.t.sf(VALUES, df))
    np.testing.assert_array_equal(distributions.chi_square_tail(VALUES, df), stats.chi2.sf(VALUES, df))


@pytest.mark.parametrize("df", [1, 2.5, 30])
@pytest.mark.parametrize("probability", [0.001, 0.05, 0.5, 0.975])
def test_quantiles_are_those_of_scipy(df, probability):
    assert distributions.t_quantile(probability, df) == stats.t.ppf(probability, df)
    assert distributions.chi_square_critical(probability, df) == stats.chi2.isf(probability, df)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("ties", ["average", "dense"])
def test_ranks_are_those_of_scipy(axis, ties):
    values = np.random.default_rng(1).integers(0, 5, (30, 8)).astype(float)
    values[values == 4] = np.inf
    expected = stats.rankdata(values, axis=axis, method=ties)
    np.testing.assert_array_equal(distributions.ranks(values, axis=axis, ties=ties), expected)


def test_no_statistic_loads_scipy_stats(root):
    """It takes as long to load as a short job takes to run."""
    program = (
        "import importlib, pkgutil, sys\n"
        "from rubric_order import analyses, tables\n"
        "from rubric_order.extras import papers\n"
        "from rubric_order.extras.one_read import agreement\n"
        "for package in (analyses, tables, agreement, papers):\n"
        "    for module in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):\n"
        "        if not module.name.endswith('.figure'):\n"
        "            importlib.import_module(module.name)\n"
        "print(len(sys.modules), [name for name in ('scipy.stats', 'matplotlib') if name in sys.modules])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=root / "workflow/scripts", capture_output=True, text=True, check=True
    )
    assert run.stdout.endswith(" []\n"), run.stdout
