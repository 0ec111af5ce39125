import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rubric_order.analyses.position.position_selection import estimate as position_selection
from rubric_order.analyses.position.power import estimate as power
from rubric_order.methods.position import uniformity
from rubric_order.simulation import studies as simulated_studies
from rubric_order.simulation.judge import Simulation

GRID = {"n": 5, "items": [50, 320], "budgets": [1, 10], "correlations": [0.0, 0.5, 1.0], "level": 0.05, "power": 0.8}
NOTHING = pd.DataFrame(
    columns=[*position_selection.KEYS, "readout", "cluster", "quantity", "estimate", "saturated", "n_items", "n_reads"]
)


def clustered(shares, *, items, reads, correlation, studies, seed):
    """Counts of positions where all reads of an item are one with this probability, and independent otherwise."""
    rng = np.random.default_rng(seed)
    apart = rng.multinomial(reads, shares, size=(studies, items))
    alike = reads * rng.multinomial(1, shares, size=(studies, items))
    return np.where(rng.random((studies, items, 1)) < correlation, alike, apart)


def test_the_smallest_detectable_v_is_that_of_the_noncentral_chi_square():
    table = power.estimate(NOTHING, **GRID)
    row = table.query("n_items == 320 and budget == 10 and correlation == 0").iloc[0]
    noncentrality = 3200 * 4 * row["detectable_v"] ** 2
    assert stats.ncx2.sf(stats.chi2.isf(0.05, 4), 4, noncentrality) == pytest.approx(0.8, abs=1e-6)
    assert row["n_effective"] == 3200
    assert noncentrality == pytest.approx(11.935, abs=0.001)  # Cohen (1988), Table 7.4.3: 11.94


def test_identical_reads_are_one_read():
    table = power.estimate(NOTHING, **GRID).set_index(["correlation", "budget", "n_items"])["detectable_v"]
    for items in GRID["items"]:
        assert table[1.0, 10, items] == pytest.approx(table[0.0, 1, items])
        assert table[0.0, 10, items] == pytest.approx(table[0.0, 1, items] / np.sqrt(10))
        assert table[0.0, 10, items] < table[0.5, 10, items] < table[1.0, 10, items]
    assert len(table) == 12


@pytest.mark.parametrize("away", [[1, 0, 0, 0, -1], [1, -0.5, -1, -0.5, 1], [4, -1, -1, -1, -1]])
@pytest.mark.parametrize(("items", "reads", "correlation"), [(100, 10, 1.0), (320, 10, 0.5), (320, 10, 0.0)])
def test_the_cluster_test_finds_the_smallest_detectable_v_as_often_as_is_said(away, items, reads, correlation):
    settings = GRID | {"items": [items], "budgets": [reads], "correlations": [correlation]}
    v = power.estimate(NOTHING, **settings)["detectable_v"].item()
    away = np.array(away)
    shares = 0.2 + away * v * np.sqrt(4 / 5) / np.linalg.norm(away)
    assert uniformity.cramers_v(shares) == pytest.approx(v)
    counts = clustered(shares, items=items, reads=reads, correlation=correlation, studies=600, seed=items + reads)
    found = np.mean([uniformity.cluster_test(each) <= 0.05 for each in counts])
    assert found == pytest.approx(0.8, abs=0.06)


def test_a_study_is_placed_by_its_own_design_effect():
    parts = []
    for dataset, judge in {
        "sticky": Simulation(item_positions=5, tolerance=1.5),
        "free": Simulation(tolerance=1.5),
        "keeps": Simulation(item_scores=3),  # not in all reads, or it would be saturated
    }.items():
        temperature = 0.0 if dataset == "sticky" else 1.0
        reads = simulated_studies.read_items(
            judge, n=5, strategies=["balanced", "fixed"], temperature=temperature, groups=150, seed=3
        )
        parts.append(simulated_studies.as_scores(reads, dataset=dataset))
    statistics = position_selection.estimate(pd.concat(parts), resamples=100, confidence=0.95, seed=1)
    table = power.estimate(statistics, **GRID)
    by_group = table[(table["source"] == power.MEASURED) & (table["cluster"] == "group")]
    assert by_group["correlation"].isna().all()
    found = table[(table["source"] == power.MEASURED) & (table["cluster"] == "item")].set_index("dataset")
    assert sorted(found.index) == ["free", "keeps", "sticky"]
    assert found["n_items"].tolist() == [150] * 3
    assert found["budget"].tolist() == [10] * 3
    assert found.loc["sticky", "correlation"] > 0.7
    assert abs(found.loc["free", "correlation"]) < 0.1
    assert found.loc["keeps", "correlation"] < -0.05
    detected = statistics.query("quantity == 'detectable_v' and readout == 'hard' and cluster == 'item'")
    assert found["detectable_v"].tolist() == pytest.approx(
        detected.set_index("dataset")["estimate"][found.index].tolist()
    )
    assert found["cramers_v"].notna().all()
