"""What runs again after what change. Judging is expensive: nothing may ask a judge twice."""

import copy
import hashlib
import os
from pathlib import Path

import pandas as pd
import pytest

from .conftest import SMALL, Project

JUDGE_SIDE = (
    "workflow/scripts/judge_shard.py",
    "workflow/scripts/rubric_order/judging.py",
    "workflow/scripts/rubric_order/store.py",
    "workflow/scripts/rubric_order/engines/vllm_offline.py",
)


def changed(**blocks: dict) -> dict:
    return copy.deepcopy(SMALL) | blocks


def test_a_finished_run_plans_nothing(project: Project):
    assert project.planned(config=SMALL) == []


def test_touching_every_source_file_plans_nothing(project: Project):
    for folder in ("Snakefile", "config", "envs", "resources", "workflow"):
        top = project.file(folder)
        for path in [top, *top.rglob("*")]:
            os.utime(path)
    assert project.planned(config=SMALL) == []


def test_editing_a_figure_setting_plans_that_figure_alone(project: Project):
    config = changed(figures={"position_selection": {"width_in": 5.0}})
    assert project.planned(config=config) == ["plot_position_selection"]


def test_editing_the_bootstrap_plans_statistics_and_what_shows_them(project: Project):
    config = changed(statistics={"bootstrap": {"resamples": 200}})
    assert project.planned(config=config) == [
        "describe_datasets",
        "estimate_human_agreement",
        "estimate_position_selection",
        "plot_human_scores",
        "plot_position_selection",
        "render_datasets",
        "render_human_agreement",
        "render_position_selection",
    ]


@pytest.mark.parametrize("path", JUDGE_SIDE)
def test_editing_a_comment_on_the_judge_side_plans_nothing(project: Project, path: str):
    source = project.file(path)
    source.write_text(source.read_text() + "\n\n# A remark.\n")
    assert project.planned(config=SMALL) == []


def test_code_of_the_judge_side_can_change_without_loading_a_model(project: Project):
    source = project.file("workflow/scripts/rubric_order/judging.py")
    source.write_text(source.read_text().replace("CHUNK_REQUESTS = 256", "CHUNK_REQUESTS = 128"))
    assert "judge_shard" in project.planned(config=SMALL)
    before = project.file("results/responses/position_bias/smollm2_135m/1.parquet").read_bytes()
    run = project.snakemake(config=SMALL)
    assert run.returncode == 0, run.stderr
    log = project.file("results/logs/judge_shard/position_bias/smollm2_135m/1.log").read_text()
    assert "0 to judge" in log
    assert "engine ready" not in log
    assert project.file("results/responses/position_bias/smollm2_135m/1.parquet").read_bytes() == before


def test_changing_the_number_of_shards_loads_no_model_and_changes_no_score(project: Project):
    scores = "results/scores/position_bias/demo/smollm2_135m.parquet"
    store = project.file("results/store/smollm2_135m")
    before, kept = project.file(scores).read_bytes(), sorted(store.rglob("*"))
    run = project.snakemake(config=changed(judges={"smollm2_135m": {"shards": 4}}))
    assert run.returncode == 0, run.stderr
    logs = sorted(project.file("results/logs/judge_shard/position_bias/smollm2_135m").glob("*.log"))
    assert len(logs) == 4
    for log in logs:
        assert " 0 to judge" in log.read_text()
        assert "engine ready" not in log.read_text()
    assert project.file(scores).read_bytes() == before
    assert sorted(store.rglob("*")) == kept
    parts = [project.file(f"results/responses/position_bias/smollm2_135m/{k}.parquet") for k in range(1, 5)]
    requests = pd.read_parquet(project.file("results/requests/position_bias/smollm2_135m.parquet"))
    answered = pd.concat(map(pd.read_parquet, parts))["request_id"]
    assert answered.tolist() == requests["request_id"].tolist()
    assert project.planned(config=changed(judges={"smollm2_135m": {"shards": 4}})) == []


def test_a_study_that_is_added_asks_only_what_no_earlier_study_asked(project: Project):
    study = {"datasets": ["demo"], "judges": ["smollm2_135m"], "scales": [5, 3], "strategies": ["balanced", "single"]}
    config = changed(studies={"scales": study})
    run = project.snakemake("--dry-run", config=config)
    assert "results/responses/scales/smollm2_135m/1.parquet" in run.stdout
    assert "output: results/responses/position_bias/smollm2_135m/1.parquet" not in run.stdout
    made = project.snakemake("results/requests/scales/smollm2_135m.parquet", config=config)
    assert made.returncode == 0, made.stderr
    own = pd.read_parquet(project.file("results/requests/scales/smollm2_135m.parquet"))
    assert set(own["n"]) == {3}  # the five-level reads are those of the first study
    assert len(own) == 4 * 6
    plan = pd.read_parquet(project.file("results/plan/scales/demo/smollm2_135m.parquet"))
    assert len(plan) == 4 * (10 + 6 + 1 + 1)


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
