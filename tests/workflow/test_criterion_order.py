"""The order of criteria through the whole workflow, by simulated judges: beside Setting 1, and what comes out."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
import yaml

CRITERIA = ["wit", "plot", "style", "depth"]
FIRST = [0.8, 0, 0, 0]
CONFIG = {
    "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": 60, "criteria": CRITERIA}}},
    "judges": {
        name: {
            "engine": "simulated",
            "model": name,
            "answer_format": "score",
            "sampling": {"temperature": 1},
            "simulation": simulation,
        }
        for name, simulation in (("first", {"criterion_position": FIRST}), ("carrying", {"carry_over": 0.4}))
    },
    "studies": {"alone": {"datasets": ["sim"], "judges": ["first", "carrying"], "strategies": ["balanced", "fixed"]}},
    "statistics": {"bootstrap": {"resamples": 200}},
    "tables": {"human_agreement": {"study": "alone"}},
}
SEVERAL = {
    "probe": "criterion_order",
    "datasets": ["sim"],
    "judges": ["first", "carrying"],
    "strategies": ["balanced", "random", "fixed", "balanced_williams"],
}
CROSSED = SEVERAL | {"crossed": True, "strategies": ["balanced"], "judges": ["first"]}
SHOWN = {"tables": {}, "figures": {"criterion_order": {"study": "several"}}}
for each in ("criterion_order", "criteria_agreement", "carry_over", "halo", "parse_failures"):
    SHOWN["tables"][each] = {"study": "several"}
SHOWN["tables"]["crossed_orders"] = {"study": "crossed"}


@pytest.fixture
def run(fresh):
    """Run the project with a config of its own."""

    def snakemake(config, *arguments):
        fresh.file("mine.yaml").write_text(yaml.safe_dump(config))
        done = fresh.snakemake(*arguments, "--configfile", "mine.yaml")
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return snakemake


@pytest.mark.slow
def test_a_study_of_several_criteria_beside_setting_1(fresh, run):
    run(CONFIG)
    asked = {
        judge: set(pd.read_parquet(fresh.file(f"results/responses/{judge}/1.parquet"))["request_id"])
        for judge in CONFIG["judges"]
    }

    both = copy.deepcopy(CONFIG) | {"statistics": CONFIG["statistics"] | {"halo": {"alone": ["alone"]}}}
    both["studies"] |= {"several": SEVERAL, "crossed": CROSSED}
    both["tables"] |= SHOWN["tables"]
    both["figures"] = SHOWN["figures"]
    planned = run(both, "--dry-run")
    shards = re.findall(r"output: (results/responses/\S+\.parquet)", planned.stdout + planned.stderr)
    # One job asks a judge for all studies.
    assert sorted(shards) == [f"results/responses/{judge}/1.parquet" for judge in sorted(both["judges"])]
    # No statistic of one probe reads the scores of the other.
    jobs = re.findall(r"    input: (.*)\n    output: results/statistics/(\w+)", planned.stdout)
    inputs = {statistic: files for files, statistic in jobs}
    assert fresh.file("results/statistics/human_agreement.parquet").exists()
    assert "human_agreement" not in inputs
    assert "results/scores/several" in inputs["carry_over"]
    assert "results/scores/alone" not in inputs["carry_over"]

    run(both)
    for judge, before in asked.items():
        paths = fresh.file("results/requests").glob(f"*/{judge}.parquet")
        requests = {path.parent.name: set(pd.read_parquet(path)["request_id"]) for path in paths}
        assert not requests["several"] & before
        number = sum(map(len, requests.values()))
        log = fresh.file(f"results/logs/judge_shard/{judge}/1.log").read_text()
        assert f"{number} requests: {len(before)} answered before, {number - len(before)} to judge" in log
    # Strategies share requests: every ordering of a text is asked once for each repeat.
    plan = pd.read_parquet(fresh.file("results/plan/several/sim/first.parquet"))
    assert plan["request_id"].nunique() == len(
        set(zip(plan["unit_id"], plan["ordering"].map(tuple), plan["repeat"], strict=True))
    )
    check_statistics(fresh)
    # A second run has nothing to do.
    assert "Nothing to be done" in run(both).stderr


def check_statistics(fresh):
    """A planted effect comes back, and in no other judge."""
    order = pd.read_parquet(fresh.file("results/statistics/criterion_order.parquet")).query("readout == 'soft'")
    shifts = order.query("quantity == 'shift' and judge == 'first' and study == 'several'")
    for _, of_strategy in shifts.groupby("strategy"):
        by_position = of_strategy.groupby("position")["estimate"].mean()
        assert by_position.to_numpy() == pytest.approx(np.array(FIRST) - np.mean(FIRST), abs=0.1)
    assert shifts["strategy"].nunique() == 3
    tests = order.query("quantity == 'position_test' and strategy == 'balanced' and study == 'several'")
    assert (tests.query("judge == 'first'")["p_cluster_holm"] < 1e-6).all()
    assert (tests.query("judge == 'carrying'")["p_cluster_holm"] > 0.001).all()

    carried = pd.read_parquet(fresh.file("results/statistics/carry_over.parquet")).query("study == 'several'")
    slopes = carried.query("quantity == 'carry_over' and readout == 'soft'").set_index(["judge", "strategy"])
    for strategy in ("balanced", "balanced_williams"):
        assert slopes.loc[("carrying", strategy), "estimate"] == pytest.approx(0.35, abs=0.07)  # rounding loses some
        assert slopes.loc[("first", strategy), "ci_low"] < 0.02
        assert abs(slopes.loc[("first", strategy), "estimate"]) < 0.03

    halo = pd.read_parquet(fresh.file("results/statistics/halo.parquet")).query("study == 'several'")
    differences = halo.query("quantity == 'inside_minus_alone' and basis == 'mean' and strategy == 'balanced'")
    differences = differences.set_index(["judge", "readout"])
    assert differences.loc[("carrying", "soft"), "ci_low"] > 0  # carry-over makes neighbours alike
    assert abs(differences.loc[("first", "soft"), "estimate"]) < 0.1

    crossed = pd.read_parquet(fresh.file("results/statistics/crossed_orders.parquet"))
    p = crossed[crossed["p"].notna()].set_index("quantity")["p"]
    assert p["criterion_order"] < 1e-6
    assert p["interaction"] > 0.001
    assert set(crossed["study"]) == {"crossed"}
    for name in SHOWN["tables"]:
        assert len(pd.read_csv(fresh.file(f"results/tables/{name}.csv"))) > 0
    assert fresh.file("results/figures/criterion_order.png").stat().st_size > 10_000
