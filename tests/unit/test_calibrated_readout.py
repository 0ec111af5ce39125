"""Calibrated scores as a readout: cross-fitted by groups, beside the others, and nowhere unless config asks for it."""

import numpy as np
import pandas as pd
import pytest
from factories import ROOT, demo_config

from rubric_order import registry
from rubric_order.base.errors import InputError
from rubric_order.base.keys import CALIBRATED_SCORE
from rubric_order.extras.one_read.methods.calibration import evidence, learning
from rubric_order.extras.one_read.methods.calibration import scores as calibration
from rubric_order.library import estimates
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import resampling
from rubric_order.run.core import Run
from rubric_order.run.results import Statistics
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

OPTIONS = {"folds": 4, "interactions": True, "seed": 3}
FIRST = Simulation(preference="first", preference_strength=1.2, prompts=0.3)
SHOWN = [
    "human_agreement",
    "strategy_comparison",
    "budget_curve",
    "generalisability",
    "rank_reversal",
    "canonical_rank",
]


def made(*, count=12, candidates=2, strategies=("balanced", "single"), seed=1, soft=True):
    reads = studies.read_items(FIRST, n=5, strategies=strategies, groups=count, candidates=candidates, seed=seed)
    table = studies.as_scores(reads, candidates=candidates, study="s", dataset="d")
    return table if soft else table.drop(columns=["expected_score", "position_probabilities"])


def calibrated(table, **changed):
    (found,) = calibration.calibrated(table, **OPTIONS | changed)
    return found


def test_other_columns_stay_as_they_are_and_the_calibration_has_a_name():
    table = made()
    found = calibrated(table)
    pd.testing.assert_frame_equal(found[table.columns], table)
    assert set(found["calibration"]) == {"balanced, soft, 4 folds"}
    assert found[CALIBRATED_SCORE].between(1, 5).all()
    assert set(calibrated(made(soft=False))["calibration"]) == {"balanced, hard, 4 folds"}


@pytest.mark.parametrize("soft", [True, False])
def test_each_group_is_corrected_by_what_is_learnt_from_a_table_without_its_fold(soft):
    table = made(soft=soft)
    found = calibrated(table)
    names = sorted(table["group_id"].unique())
    fold = resampling.folds(len(names), 4, seed=3, name="s/simulated/default/baseline/d/5")
    for one in range(4):
        inside = {name for name, own in zip(names, fold, strict=True) if own == one}
        others = table[(table["strategy"] == "balanced") & ~table["group_id"].isin(inside)]
        (block,) = blocks.blocks(others)
        laid = evidence.lay_out(block, "soft" if soft else "hard")
        model = learning.learn(laid.evidence(), np.arange(len(names) - len(inside)))
        for row in found[found["group_id"].isin(inside)].to_dict("records"):
            order = np.asarray(row["ordering"])
            if soft:
                expected = model.calibrate_probabilities(np.asarray(row["position_probabilities"]), order)
            else:
                expected = model.calibrate_scores(np.array(float(row["score"])), order)
            assert row[CALIBRATED_SCORE] == pytest.approx(float(expected))


@pytest.mark.parametrize("soft", [True, False])
def test_a_group_has_no_part_in_what_it_is_corrected_by(soft):
    """No leak: other reads of a group change the corrections of other folds, and none of its own fold."""
    table = made(soft=soft)
    names = sorted(table["group_id"].unique())
    fold = resampling.folds(len(names), 4, seed=3, name="s/simulated/default/baseline/d/5")
    own = {name for name, one in zip(names, fold, strict=True) if one == fold[0]}
    changed = table.copy()
    rows = (changed["group_id"] == names[0]).to_numpy()
    worst = [[*order].index(1) + 1 for order in changed.loc[rows, "ordering"]]
    changed.loc[rows, "score"], changed.loc[rows, "position"] = 1, worst
    if soft:
        sure = [np.where(np.arange(5) == place - 1, 0.96, 0.01) for place in worst]
        changed.loc[rows, "position_probabilities"] = pd.Series(sure, index=changed.index[rows])
        changed.loc[rows, "expected_score"] = 1.1
    before, after = calibrated(table), calibrated(changed)
    same = table["group_id"].isin(own - {names[0]}).to_numpy()
    np.testing.assert_array_equal(before.loc[same, CALIBRATED_SCORE], after.loc[same, CALIBRATED_SCORE])
    others = ~table["group_id"].isin(own).to_numpy()
    assert (before.loc[others, CALIBRATED_SCORE] != after.loc[others, CALIBRATED_SCORE]).mean() > 0.5


def test_calibrated_single_reads_are_nearer_to_the_balanced_mean():
    found = calibrated(made(count=60))
    mean = found[found["strategy"] == "balanced"].groupby("item_id")["expected_score"].mean()
    one = found[found["strategy"] == "single"].set_index("item_id")
    errors = {name: np.square(one[name].astype(float) - mean).mean() for name in ("expected_score", CALIBRATED_SCORE)}
    assert errors[CALIBRATED_SCORE] < 0.5 * errors["expected_score"]


def test_what_nothing_can_be_learnt_from_has_no_calibrated_score():
    for table in (made(strategies=["single"]), made(count=2), made().assign(group_id="g")):
        found = calibrated(table)
        assert found[CALIBRATED_SCORE].isna().all()
        assert set(found["calibration"]) == {""}
    lost = made(soft=False)
    lost.loc[[3, 40], ["score", "position"]] = pd.NA
    found = calibrated(lost)
    assert found.loc[[3, 40], CALIBRATED_SCORE].isna().all()
    assert found[CALIBRATED_SCORE].isna().sum() == 2


@pytest.mark.parametrize("name", SHOWN)
def test_statistics_of_agreement_show_it_beside_the_others(name):
    table = made(strategies=["balanced", "single"], candidates=3)
    options = {"halvings": 5} if name == "rank_reversal" else {}
    options |= {"repeats": [1, 2]} if name == "generalisability" else {}
    options |= {"resamples": 20} if name == "canonical_rank" else {}
    settings = {"confidence": 0.95} | options
    settings |= {"seed": 1} if name not in ("human_agreement", "strategy_comparison") else {}
    module = estimates.importlib.import_module(f"rubric_order.analyses.agreement.{name}.estimate")
    plain, found = (module.estimate(scores, **settings) for scores in (table, calibrated(table)))
    assert set(plain["readout"]) == {"hard", "soft"}
    assert set(found["readout"]) == {"hard", "soft", "calibrated"}
    others = found[found["readout"] != "calibrated"].reset_index(drop=True)
    varying = [column for column in plain if not column.startswith(("p_holm", "p_bh", "n_tests"))]
    pd.testing.assert_frame_equal(others[varying], plain[varying], check_dtype=False)
    own = found[found["readout"] == "calibrated"]
    assert own["estimate"].notna().any()


def statistics_of(**calibration_block):
    config = demo_config() | {"statistics": {"calibration": calibration_block}}
    return Statistics(Run.load(config, ROOT, refuse=InputError))


def test_only_statistics_of_agreement_take_it_and_only_where_config_asks():
    usual, asked = statistics_of(), statistics_of(as_readout=True, folds=3)
    for name in registry.names("statistics"):
        before, after = usual.arguments(name), asked.arguments(name)
        assert "calibrated" not in before
        if name in SHOWN:
            options = {"folds": 3, "interactions": True, "seed": before.get("seed", 0)}
            assert after.pop("calibrated")["options"] == options | {"seed": after.get("seed", options["seed"])}
        if name != "calibration":
            assert after == before
        assert usual.module_file(Wildcard(name)) == [registry.code("statistics", name)]
        assert len(asked.module_file(Wildcard(name))) == 1 + (name in SHOWN)


class Wildcard:
    """The wildcard of a rule."""

    def __init__(self, statistic):
        self.statistic = statistic
