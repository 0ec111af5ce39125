"""A simulated judge through the whole workflow: what comes out is what was planted."""

import shutil

import pandas as pd
import pytest
import yaml

CONFIG = {
    "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": 60, "n_candidates": 2}}},
    "judges": {
        name: {
            "engine": "simulated",
            "model": name,
            "answer_format": "score",
            "sampling": {"temperature": 1},
            "simulation": {"preference": preference, "preference_strength": 1.5},
        }
        for name, preference in (("neutral", "none"), ("first_biased", "first"), ("u_biased", "u_shaped"))
    },
    "studies": {"position_bias": {"datasets": ["sim"], "judges": ["neutral", "first_biased", "u_biased"]}},
    "figures": {"position_selection": {}},
    "tables": {"position_selection": {}, "human_agreement": {}, "parse_failures": {}},
}


@pytest.fixture
def run(fresh):
    """Run the project with a config of its own."""

    def snakemake(config, *arguments):
        fresh.file("simulated.yaml").write_text(yaml.safe_dump(config))
        return fresh.snakemake(*arguments, "--configfile", "simulated.yaml")

    return snakemake


@pytest.mark.slow
def test_a_simulated_study_shows_the_bias_that_was_planted(fresh, run):
    done = run(CONFIG)
    assert done.returncode == 0, done.stdout + done.stderr
    table = pd.read_parquet(fresh.file("results/statistics/position_selection.parquet"))
    table = table.query("strategy == 'balanced' and readout == 'hard' and cluster == 'group'")
    tests = table.query("quantity == 'chi2'").set_index("judge")["p_cluster"]
    assert tests["neutral"] > 0.001
    assert tests.drop("neutral").max() < 1e-6
    shares = table.query("quantity == 'share'").pivot(index="judge", columns="position", values="estimate")
    assert shares.loc["first_biased"].is_monotonic_decreasing
    assert shares.loc["u_biased", [1, 5]].min() > shares.loc["u_biased", [2, 3, 4]].max()
    agreement = pd.read_parquet(fresh.file("results/statistics/human_agreement.parquet"))
    assert agreement.query("quantity == 'pearson'")["estimate"].between(0.4, 0.95).all()


@pytest.mark.slow
def test_a_slow_judge_gives_the_same_answers_and_shards_change_nothing(fresh, run):
    small = CONFIG | {"datasets": {"sim": CONFIG["datasets"]["sim"] | {"limit": 2}}}
    scores = "results/scores/position_bias/sim/u_biased.parquet"
    assert run(small, scores).returncode == 0
    before = fresh.file(scores).read_bytes()
    slow = small["judges"]["u_biased"] | {"shards": 3}
    slow = slow | {"simulation": slow["simulation"] | {"seconds_per_request": 0.001}}
    for path in ("results/scores", "results/responses", "results/store"):
        shutil.rmtree(fresh.file(path))
    done = run(small | {"judges": small["judges"] | {"u_biased": slow}}, scores)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(fresh.file("results/responses/u_biased").iterdir())) == 3
    assert fresh.file(scores).read_bytes() == before
