"""Figures and tables that a config makes."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from .conftest import Project, of_tasks


def config_without(project: Project, *blocks: str) -> None:
    path = project.file("config/demo.yaml")
    config = yaml.safe_load(path.read_text())
    for block in blocks:
        del config[block]
    path.write_text(yaml.safe_dump(config, sort_keys=False))


def ends(jobs: list[str]) -> list[str]:
    return [job for job in jobs if job.startswith(("figures/", "tables/"))]


@pytest.mark.slow
def test_a_config_makes_the_figures_and_tables_that_it_names_and_no_others(fresh: Project):
    config_without(fresh, "figures", "tables")
    named = {"figures": {"human_scores": {}}, "tables": {"parse_failures": {"study": "position_bias"}}}
    assert ends(fresh.planned(config=named)) == ["figures/human_scores", "tables/parse_failures"]
    assert fresh.planned() == []


def test_a_figure_that_is_asked_for_but_not_named_is_one_clear_error(fresh: Project):
    config_without(fresh, "figures")
    run = fresh.snakemake("--dry-run", "results/figures/human_scores.svg")
    assert run.returncode != 0
    assert "config: figures/human_scores: not there" in run.stdout + run.stderr


@pytest.mark.slow
def test_the_summary_takes_the_statistics_of_cards_and_all_that_config_names(fresh: Project):
    planned = fresh.planned("all", "results/summary.html", "results/methods.md")
    assert {"render_summary", "describe_methods"} <= set(planned)
    cards = ("decisiveness", "position_selection", "position_preference", "score_effects", "equivalence")
    assert {f"statistics/{name}" for name in cards} <= set(planned)
    assert "render_summary" not in fresh.planned()


def test_the_demo_is_run_where_no_config_is_named_and_is_no_part_of_one_that_is(fresh: Project):
    demo = [fresh.snakemake("--dry-run", *words, alone=True) for words in ((), ("--configfile", "config/demo.yaml"))]
    tables = [[line for line in run.stdout.splitlines() if re.fullmatch(r"\w+ +\d+", line)] for run in demo]
    assert tables[0] == tables[1]
    assert "judge_shard" in demo[0].stdout
    run = fresh.snakemake("--dry-run", "--configfile", "config/config.yaml", alone=True)
    assert run.returncode != 0
    assert "error: config: no study is named; expected studies, figures or tables" in run.stderr
    assert "Traceback" not in run.stdout + run.stderr


def test_the_workflow_is_a_module_of_another_one(fresh: Project, tmp_path: Path):
    here = tmp_path / "here"
    here.mkdir()
    (here / "Snakefile").write_text(
        f'configfile: "mine.yaml"\n\n\nmodule bias:\n    snakefile: "{fresh.file("Snakefile")}"\n    config: config\n'
        "\n\nuse rule * from bias as bias_*\n\n\n"
        "rule everything:\n    default_target: True\n    input:\n        rules.bias_all.input\n"
    )
    judge = {"engine": "simulated", "model": "m", "answer_format": "score", "simulation": {"preference": "first"}}
    config = {
        "datasets": {"demo": {"limit": 1}},
        "judges": {"planted": judge},
        "studies": {"position_bias": {"datasets": ["demo"], "judges": ["planted"], "strategies": ["balanced"]}},
        "tables": {"parse_failures": {}},
    }
    (here / "mine.yaml").write_text(yaml.safe_dump(config))
    run = Project(here).snakemake("--dry-run", alone=True)
    assert run.returncode == 0, run.stdout + run.stderr
    rules = set(re.findall(r"^(?:local)?rule (\w+):", run.stdout, re.MULTILINE))
    assert {"bias_prepare_items", "bias_judge_shard", "bias_render_table", "everything"} <= rules


@pytest.mark.slow
def test_the_snakefile_of_the_workflow_catalogue_makes_the_same(fresh: Project):
    named = fresh.planned("--snakefile", "workflow/Snakefile")
    assert [job for job in named if job != "everything"] == [job for job in fresh.planned() if job != "all"]


def with_references(project: Project) -> dict:
    """A config of a study whose reference answers two judges make."""
    config_without(project, "figures", "tables")
    judges = {name: {"engine": "simulated", "model": name, "answer_format": "score"} for name in ("a", "b")}
    study = {"judges": ["a"], "conditions": ["baseline", "reference_2"], "strategies": ["single"]}
    config = {"datasets": of_tasks(6), "judges": judges, "studies": {"position_bias": study}}
    return config | {"references": {"demo": {"judges": ["a", "b"], "rounds": 2}}}


def test_reference_answers_are_made_step_by_step_before_reads_are_planned_with_what_judge_jobs_get(fresh: Project):
    config = with_references(fresh)
    config["judges"]["b"] |= {"gpu": 2, "mem": "48GB", "runtime": "3h"}
    run = fresh.snakemake("--dry-run", "results/plan/position_bias/demo/a.parquet", config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "results/references/demo.parquet" in re.search(r"rule plan_reads:\n    input: (.*)", run.stdout)[1]
    steps = re.findall(r"output: results/references/demo/(\w+)/responses/(\w+)\.parquet", run.stdout)
    assert steps == [("1_write", "a"), ("1_review", "b"), ("2_write", "b"), ("2_review", "a")]
    asked = re.findall(r"rule ask_references:(.*?)\n\n?\[", run.stdout, re.DOTALL)
    needed = [re.search(r"resources: (.*)", job)[1] for job in asked if "judge=b" in job]
    assert len(needed) == 2
    assert all("gpu=2" in job and "runtime=180" in job and "mem_mb=48000" in job for job in needed)


@pytest.mark.slow
def test_costs_are_told_without_asking_for_reference_answers(fresh: Project):
    config = with_references(fresh)
    run = fresh.snakemake("plan_cost", "--quiet", "all", config=config)
    assert run.returncode == 0, run.stdout + run.stderr
    # Six tasks with four responses: 24 reads without a reference answer of 2, 24 with one; 24 texts to write.
    assert re.search(r"\| a +\| 24 +\| 24 to 48 ", run.stdout)
    assert re.search(r"\| a/references of demo +\| +\| 24 to 72 ", run.stdout)
    assert re.search(r"\| b/references of demo +\| +\| 48 to 72 ", run.stdout)
    assert "`snakemake results/references/demo.parquet` makes them" in run.stdout
    rows = pd.read_csv(fresh.file("results/status/plan_cost.csv")).set_index(["judge", "study"])
    assert rows.loc[("a", "position_bias"), ["to_ask", "to_ask_most"]].tolist() == [24, 48]
    assert not fresh.file("results/references").exists()
    assert not fresh.file("results/store").exists()
    assert "ask_references" in fresh.planned("results/plan/position_bias/demo/a.parquet", config=config)
    # Those that are there are taken, though all of Snakemake's reasons say that their steps would run.
    made = fresh.file("results/references/demo.parquet")
    made.parent.mkdir(parents=True)
    made.touch()
    planned = fresh.planned("plan_cost", config=config)
    assert {"plan_reads", "collect_requests", "plan_cost"} <= set(planned)
    assert not {"plan_references", "ask_references", "collect_references", "judge_shard"} & set(planned)


@pytest.mark.slow
def test_costs_are_told_without_a_hub_and_a_branch_is_told_to_be_unpinned(fresh: Project):
    judges = {name: {"engine": "vllm", "model": "org/there-is-none", "revision": name} for name in ("main", "0" * 40)}
    judges = {name.replace("0" * 40, "pinned"): judge for name, judge in judges.items()}
    config = {"judges": judges, "studies": {"position_bias": {"datasets": ["demo"], "judges": [*judges]}}}
    told = fresh.snakemake("plan_cost", "--quiet", "all", config=config, alone=True)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "main is not pinned: revision 'main' is no commit of 40 digits" in told.stdout
    assert "pinned is not pinned" not in told.stdout
    assert not fresh.file("results/weights").exists()
    refused = fresh.snakemake("plan_cost", "results/responses/main/1.parquet", "-n", config=config, alone=True)
    assert "'main' under a revision that the hub has not been asked for" in refused.stdout + refused.stderr
    planned = fresh.snakemake("results/responses/main/1.parquet", "-n", config=config, alone=True)
    assert "describe_weights" in planned.stdout
    assert "plan_reads" in planned.stdout  # anew: requests are named by the commit


def test_costs_are_told_of_reference_answers_that_a_user_brings(fresh: Project):
    config = with_references(fresh)
    config["references"] = {"demo": {"file": "own.csv"}}
    fresh.file("own.csv").write_text("group_id,score,text\n", encoding="utf-8")
    planned = fresh.planned("plan_cost", config=config)
    assert {"collect_references", "plan_cost"} <= set(planned)
    assert "ask_references" not in planned
