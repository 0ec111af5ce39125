"""Jobs that run again after a change. Judging is expensive: nothing may ask a judge twice."""

import copy
import hashlib
import os
import re
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from endpoint import Reply, completion, running

from .conftest import PAGES, SMALL, Project

JUDGE_SIDE = (
    "workflow/scripts/judge_shard.py",
    "workflow/scripts/rubric_order/jobs/judge_shard.py",
    "workflow/scripts/rubric_order/judging/shard.py",
    "workflow/scripts/rubric_order/judging/store.py",
    "workflow/scripts/rubric_order/judging/engines/simulated.py",
)
PLANTED = SMALL["judges"]["planted"]


def changed(**blocks: dict) -> dict:
    return copy.deepcopy(SMALL) | blocks


def test_touching_every_source_file_and_remarks_on_the_judge_side_plan_nothing(project: Project):
    for path in map(project.file, JUDGE_SIDE):
        path.write_text(path.read_text() + "\n\n# A remark.\n")
    for folder in ("Snakefile", "config", "envs", "resources", "workflow"):
        top = project.file(folder)
        for path in [top, *top.rglob("*")]:
            os.utime(path)
    assert project.planned(config=SMALL) == []


@pytest.mark.slow
def test_editing_the_setting_of_a_figure_or_a_table_plans_it_alone(project: Project):
    figures = {"position_selection": {"width_in": 5.0}}
    assert project.planned(config=changed(figures=figures)) == ["figures/position_selection"]
    tables = {"human_agreement": {"cluster": "item"}}
    assert project.planned(config=changed(figures=figures, tables=tables)) == [
        "figures/position_selection",
        "tables/human_agreement",
    ]


@pytest.mark.slow
def test_a_figure_and_the_summary_alone_follow_the_setting_of_the_figure(project: Project):
    assert project.planned("all", *PAGES, config=SMALL) == []
    figures = {"position_selection": {"width_in": 5.0}}
    assert project.planned("all", *PAGES, config=changed(figures=figures)) == [
        "figures/position_selection",
        "render_summary",
    ]
    planned = project.planned("all", *PAGES, config=changed(reads={"moved": 3}))
    assert planned == ["choose_reads", "render_reads", "render_summary"]


def add_code(project: Project, *modules: str) -> None:
    for module in modules:
        source = project.file(f"workflow/scripts/rubric_order/{module}.py")
        source.write_text(source.read_text() + "\n\nADDED = 1\n")


@pytest.mark.slow
def test_editing_a_module_plans_what_it_makes_alone(project: Project):
    add_code(project, "analyses/criteria/halo/table", "analyses/position/power/figure")
    add_code(project, "analyses/criteria/carry_over/estimate", "extras/papers/datasets/hanna", "probes/criterion_order")
    assert project.planned(config=SMALL) == []
    add_code(project, "analyses/position/position_selection/table")
    assert project.planned(config=SMALL) == ["tables/position_selection"]
    add_code(project, "analyses/overview/human_scores/figure")
    assert project.planned(config=SMALL) == ["figures/human_scores", "tables/position_selection"]


def test_editing_a_probe_plans_the_studies_of_that_probe(project: Project):
    add_code(project, "probes/score_order")
    assert {"plan_reads", "collect_requests"} <= set(project.planned(config=SMALL))


def test_editing_the_bootstrap_plans_statistics_and_what_shows_them(project: Project):
    config = changed(statistics={"bootstrap": {"resamples": 200}})
    assert project.planned(config=config) == [
        "figures/human_scores",
        "figures/position_selection",
        "statistics/datasets",
        "statistics/order_tests",
        "statistics/position_selection",
        "tables/datasets",
        "tables/position_preference",
        "tables/position_selection",
        "tables/score_effects",
    ]


@pytest.mark.slow
def test_code_of_the_judge_side_can_change_without_loading_a_model(project: Project):
    source = project.file("workflow/scripts/rubric_order/judging/shard.py")
    changed_code = source.read_text().replace("CHUNK_SECONDS = 20.0", "CHUNK_SECONDS = 10.0")
    assert changed_code != source.read_text()
    source.write_text(changed_code)
    before = project.file("results/responses/planted/1.parquet").read_bytes()
    run = project.snakemake(config=SMALL)
    assert run.returncode == 0, run.stderr
    log = project.file("results/logs/judge_shard/planted/1.log").read_text()
    assert " 0 to judge" in log
    assert "engine ready" not in log
    assert project.file("results/responses/planted/1.parquet").read_bytes() == before


@pytest.mark.slow
def test_changing_the_number_of_shards_loads_no_model_and_changes_no_score(project: Project):
    scores = "results/scores/position_bias/demo/planted.parquet"
    store = project.file("results/store/planted")
    before, kept = project.file(scores).read_bytes(), sorted(store.rglob("*"))
    run = project.snakemake(config=changed(judges={"planted": PLANTED | {"shards": 4}}))
    assert run.returncode == 0, run.stderr
    logs = sorted(project.file("results/logs/judge_shard/planted").glob("*.log"))
    assert len(logs) == 4
    for log in logs:
        assert " 0 to judge" in log.read_text()
        assert "engine ready" not in log.read_text()
    assert project.file(scores).read_bytes() == before
    assert sorted(store.rglob("*")) == kept
    parts = [project.file(f"results/responses/planted/{k}.parquet") for k in range(1, 5)]
    requests = pd.read_parquet(project.file("results/requests/position_bias/planted.parquet"))
    answered = pd.concat(map(pd.read_parquet, parts))["request_id"]
    assert answered.tolist() == requests["request_id"].tolist()
    assert project.planned(config=changed(judges={"planted": PLANTED | {"shards": 4}})) == []


@pytest.mark.slow
def test_a_study_that_is_added_asks_only_what_no_earlier_study_asked(project: Project):
    study = {"datasets": ["demo"], "judges": ["planted"], "scales": [5, 3], "strategies": ["balanced", "single"]}
    config = changed(studies=SMALL["studies"] | {"scales": study})
    known = len(pd.read_parquet(project.file("results/requests/position_bias/planted.parquet")))
    made = project.snakemake("results/scores/scales/demo/planted.parquet", config=config)
    assert made.returncode == 0, made.stderr
    asked = re.findall("output: (results/responses/.*)", made.stdout + made.stderr)
    assert asked == ["results/responses/planted/1.parquet", "results/responses/planted.json"]
    log = project.file("results/logs/judge_shard/planted/1.log").read_text()
    assert f"{known + 8 * 6} requests: {known} answered before, {8 * 6} to judge" in log
    own = pd.read_parquet(project.file("results/requests/scales/planted.parquet"))
    assert set(own["n"]) == {3}  # the five-level reads are those of the first study
    assert len(own) == 8 * 6
    plan = pd.read_parquet(project.file("results/plan/scales/demo/planted.parquet"))
    assert len(plan) == 8 * (10 + 6 + 1 + 1)
    # The scores of the study before are what they were: nothing makes them again.
    parsed = "results/scores/position_bias/demo/planted.parquet"
    assert f"output: {parsed}" not in made.stdout + made.stderr
    assert f"output: {parsed}" not in project.snakemake("--dry-run", config=config).stdout


@pytest.mark.slow
def test_another_mirror_fetches_nothing_again(project: Project, tmp_path: Path):
    source = tmp_path / "mirror" / "tasks.yaml"
    source.parent.mkdir()
    source.write_bytes(project.file("resources/demo/tasks.yaml").read_bytes())
    checksum = hashlib.sha256(source.read_bytes()).hexdigest()
    files = {"tasks": {"url": "https://example.invalid/tasks.yaml", "sha256": checksum, "mirror": "tasks.yaml"}}
    config = changed(dataset_mirror=str(source.parent))
    config["datasets"] = {"copied": {"adapter": "demo", "limit": 1, "files": files}}
    target = "results/items/copied.parquet"
    run = project.snakemake(target, config=config)
    assert run.returncode == 0, run.stderr
    moved = tmp_path / "elsewhere"
    source.parent.rename(moved)
    config["dataset_mirror"] = str(moved)
    assert project.planned(target, config=config) == []


AT_ONCE = 4


@pytest.mark.slow
@pytest.mark.parametrize("with_jobs", [False, True], ids=["Snakemake alone", "Snakemake and its jobs"])
def test_a_killed_run_and_a_killed_rerun_of_it_lose_no_answer(fresh: Project, with_jobs: bool):
    """Calls are counted at the server. Where Snakemake alone dies, its job goes on, and the next one waits for it."""
    judge = {"engine": "openai", "model": "a-model", "answer_format": "feedback", "concurrency": AT_ONCE}
    target, limit = "results/responses/mine/1.parquet", 0

    def reply(call):
        """Answers as long as no more calls have come than the limit; the others wait for a higher one."""
        number = len(endpoint.calls)
        return Reply(completion("Fine. [RESULT] 4"), after=lambda: number <= limit)

    with running(reply) as endpoint:
        study = {"judges": ["mine"], "strategies": ["balanced"]}
        judges = {"mine": judge | {"base_url": endpoint.base_url}}
        config = changed(judges=judges, studies={"position_bias": study})
        for limit, options in ((10, []), (30, ["--rerun-incomplete"])):
            run = fresh.start(target, *options, config=config, start_new_session=True)
            until = time.monotonic() + 300
            while len(endpoint.calls) < limit + AT_ONCE and run.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            assert (run.poll(), len(endpoint.calls)) == (None, limit + AT_ONCE)
            (os.killpg if with_jobs else os.kill)(run.pid, signal.SIGKILL)
            run.wait()
            unlocked = fresh.snakemake("--unlock", config=config)
            assert unlocked.returncode == 0, unlocked.stderr
        limit = 1000
        last = fresh.snakemake(target, "--rerun-incomplete", config=config)
    assert last.returncode == 0, last.stdout + last.stderr
    answers = pd.read_parquet(fresh.file(target))
    assert len(answers) == 80
    assert answers["error"].isna().all()
    assert len({call.prompt for call in endpoint.calls}) == 80
    assert len(endpoint.calls) <= 80 + 2 * AT_ONCE * with_jobs
