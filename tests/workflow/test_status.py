"""Reports on judging, and what a judge job asks again: with a simulated judge, through the whole workflow."""

import contextlib
import json
import os
import signal
import time

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.judging.engines import Response
from rubric_order.judging.store import Store

from .conftest import Project

JUDGE = {
    "engine": "simulated",
    "model": "j",
    "answer_format": "score",
    "sampling": {"temperature": 1, "max_tokens": 8},
    "simulation": {"preference": "first"},
}
CONFIG = {
    "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": 5, "n_candidates": 2}}},
    "judges": {"j": JUDGE},
    "studies": {
        "position_bias": {"datasets": ["sim"], "judges": ["j"], "strategies": ["balanced", "fixed"]},
        "scales": {"datasets": ["sim"], "judges": ["j"], "strategies": ["balanced"], "scales": [3, 5]},
    },
}
REQUESTS = "results/requests/position_bias/j.parquet"
RESPONSES = "results/responses/j/1.parquet"


@pytest.fixture
def run(fresh: Project):
    """Run targets of the study, with some of the judge's settings changed, which must succeed unless said otherwise."""

    def snakemake(*targets: str, fails: bool = False, **settings: object):
        config = CONFIG | {"judges": {"j": JUDGE | settings}}
        done = fresh.snakemake(*targets, "--quiet", "all", config=config, alone=True)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done

    return snakemake


def status_of(project: Project) -> pd.DataFrame:
    return pd.read_csv(project.file("results/status/judge_status.csv")).set_index("study")


@pytest.mark.slow
def test_costs_and_status_follow_what_happens_and_are_told_whenever_they_are_asked_for(fresh: Project, run):
    assert "not planned" in run("judge_status").stdout
    assert not fresh.file("results/items").exists()  # the status starts nothing
    assert not fresh.file("results/store").exists()
    before = run("plan_cost").stdout
    # 10 items: 10 balanced reads and 9 more of fixed; then 6 at another scale
    assert "| j       | 360     | 250        | 0          | 250      |" in before
    assert "360 reads need 250 distinct requests: sharing them saves 110 (31 %)." in before
    assert not fresh.file("results/responses").exists()
    run(RESPONSES)
    after = run("plan_cost", "judge_status").stdout
    assert "| 250        | 0        |" in after
    assert run("judge_status").stdout in after
    table = status_of(fresh)
    assert table["requests"].tolist() == [190, 60, 250]
    assert table["done"].tolist() == [190, 60, 250]
    assert table["missing"].tolist() == [0, 0, 0]
    for name in ("plan_cost", "judge_status"):
        for suffix in ("csv", "md", "tex", "html"):
            assert fresh.file(f"results/status/{name}.{suffix}").stat().st_size > 100


@pytest.mark.slow
def test_a_pilot_asks_some_of_the_requests_says_what_the_rest_takes_and_nothing_is_asked_again(fresh: Project, run):
    slow = {"simulation": JUDGE["simulation"] | {"seconds_per_request": 0.01}}
    run("pilot", **slow)
    asked = json.loads(fresh.file("results/pilot/j.json").read_text())["requests"]
    assert 190 <= asked <= 210
    run("plan_cost", **slow)
    costs = pd.read_csv(fresh.file("results/status/plan_cost.csv")).set_index("study").loc["all"]
    assert (costs["answered"], costs["to_ask"]) == (asked, 250 - asked)
    assert 0 < costs["hours_low"] <= costs["hours"] <= costs["hours_high"]
    run(RESPONSES, **slow)
    notes = [json.loads(path.read_text()) for path in fresh.file("results/store/j/runs").glob("*.json")]
    assert sorted(note["requests"] for note in notes) == [250 - asked, asked]


@pytest.mark.slow
def test_the_status_can_be_asked_for_while_judging_goes_on(fresh: Project, run):
    slow = {"simulation": JUDGE["simulation"] | {"seconds_per_request": 0.2}}
    run(REQUESTS)
    config = CONFIG | {"judges": {"j": JUDGE | slow}}
    with fresh.start(RESPONSES, config=config, alone=True) as judging:
        log = fresh.file("results/logs/judge_shard/j/1.log")
        while not (log.exists() and "engine ready" in log.read_text()):
            assert judging.poll() is None, judging.stderr.read()
            time.sleep(0.05)
        done = run("--nolock", "judge_status")
        assert judging.poll() is None
        judging.kill()
        for lock in fresh.file("results/responses").rglob(".*.lock"):  # its job goes on
            with contextlib.suppress(ProcessLookupError):
                os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
    assert "| 190" in done.stdout


def seed_failures(project: Project, error: str, number: int) -> list[str]:
    """Put failures of some requests into the store, as an earlier run leaves them."""
    names = pd.read_parquet(project.file(REQUESTS))["request_id"].tolist()[:number]
    Store(project.file("results/store/j")).append([Response(name, error=error) for name in names])
    return names


def judged(project: Project) -> str:
    return project.file("results/logs/judge_shard/j/1.log").read_text()


@pytest.mark.slow
def test_what_failed_for_good_is_asked_again_only_where_config_says_so(fresh: Project, run):
    run(REQUESTS)
    names = seed_failures(fresh, "prompt_too_long: 9 tokens, the model takes 8", 7)
    run(RESPONSES)
    assert "250 requests: 7 answered before, 243 to judge" in judged(fresh)
    responses = pd.read_parquet(fresh.file(RESPONSES)).set_index("request_id")
    assert responses["error"].notna().sum() == responses.loc[names, "error"].notna().sum() == 7
    run("judge_status")
    assert status_of(fresh).loc["position_bias", ["done", "failed_for_good", "missing"]].tolist() == [183, 7, 0]
    run(RESPONSES, retry_failed=True)
    assert "250 requests: 243 answered before, 7 to judge" in judged(fresh)
    assert pd.read_parquet(fresh.file(RESPONSES))["error"].isna().all()


@pytest.fixture
def busy(fresh: Project):
    """A simulated engine that answers some requests with a failure that may pass, until it is told to stop."""
    source = fresh.file("workflow/scripts/rubric_order/judging/engines/simulated.py")
    sound = source.read_text()
    line = "                    yield response\n"
    assert line in sound
    failing = 'Response(response.request_id, error="rate_limited: 429", attempts=6)'
    source.write_text(
        sound.replace(line, f'                    yield {failing} if response.request_id[0] in "01" else response\n')
    )
    return lambda: source.write_text(sound)


@pytest.mark.slow
def test_failures_that_may_pass_end_the_job_with_one_line_and_the_next_run_asks_only_those(fresh: Project, run, busy):
    done = run(RESPONSES, fails=True)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    by_study = [pd.read_parquet(path)["request_id"] for path in fresh.file("results/requests").glob("*/j.parquet")]
    names = pd.concat(by_study)
    own = pd.read_parquet(fresh.file(REQUESTS))["request_id"].str[0].isin(["0", "1"]).sum()
    number = names.str[0].isin(["0", "1"]).sum()
    assert 0 < number < 100
    assert errors == [
        f"error: {number} of 250 requests failed for reasons that may pass ({number} rate_limited); the others are"
        " kept. Run again to ask only these, or set accept_failures: true to take them as final"
    ]
    assert not fresh.file(RESPONSES).exists()
    run("judge_status")
    row = status_of(fresh).loc["position_bias"]
    assert row[["done", "failed_passing", "missing"]].tolist() == [190 - own, own, 0]
    busy()
    run(RESPONSES)
    assert f"250 requests: {250 - number} answered before, {number} to judge" in judged(fresh)
    assert pd.read_parquet(fresh.file(RESPONSES))["error"].isna().all()
    run("judge_status")
    assert status_of(fresh).loc["position_bias", ["done", "failed_passing"]].tolist() == [190, 0]


@pytest.mark.slow
def test_failures_that_may_pass_are_final_where_config_says_so(fresh: Project, run, busy):
    run(RESPONSES, accept_failures=True)
    responses = pd.read_parquet(fresh.file(RESPONSES))
    assert set(responses["error"].dropna()) == {"rate_limited: 429"}
    assert len(responses) == 250


@pytest.mark.slow
def test_repeats_at_temperature_0_are_reads_of_one_answer_where_config_says_so(fresh: Project, run):
    greedy = {"sampling": {"temperature": 0, "max_tokens": 8}}
    scores = "results/scores/position_bias/sim/j.parquet"
    run(scores, **greedy, greedy_repeats="reuse")
    assert len(pd.read_parquet(fresh.file(REQUESTS))) == 100
    fixed = pd.read_parquet(fresh.file(scores)).query("strategy == 'fixed'")
    assert len(fixed) == 100
    assert (fixed.groupby("item_id")["request_id"].nunique() == 1).all()
    run(REQUESTS, **greedy)
    assert len(pd.read_parquet(fresh.file(REQUESTS))) == 190


@pytest.mark.slow
def test_the_program_tells_the_status_as_the_rule_does(fresh: Project):
    fresh.file("mine.yaml").write_text(yaml.safe_dump(CONFIG))
    words = ["status", str(fresh.file("mine.yaml")), "--project", str(fresh.folder)]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["study"] for row in rows] == status_of(fresh).index.tolist()
    assert {row["done"] for row in rows} == {None}  # nothing is planned yet
    fresh.file("mine.yaml").write_text(yaml.safe_dump(CONFIG | {"studies": {"s": {"judges": ["j"]}}}))
    with pytest.raises(InputError, match=r"^config: studies/s: key 'datasets' is missing"):
        raise CliRunner().invoke(app, words).exception
