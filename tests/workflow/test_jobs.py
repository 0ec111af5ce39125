"""One job of a run, opened as Python objects."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.run.jobs import open_job

from .conftest import Project

CONFIG = ["config/demo.yaml", "extra.yaml"]  # as `Project.snakemake` names them


def opened(project: Project, rule: str, output: str | None = None):
    return open_job(rule, [project.file(path) for path in CONFIG], output=output, project=project.folder)


def test_a_job_that_is_opened_reads_the_inputs_of_the_run_and_writes_elsewhere(finished: Project, tmp_path):
    job = opened(finished, "estimate_statistic", "decisiveness.parquet")
    path = finished.file("results/statistics/decisiveness.parquet")
    before = path.stat().st_mtime_ns
    (scores,) = job.inputs["inputs"]["scores"]
    pd.testing.assert_frame_equal(
        scores, pd.read_parquet(finished.file("results/scores/position_bias/demo/planted.parquet"))
    )

    written = job.run(tmp_path / "trial")

    assert written == {"output": tmp_path / "trial/decisiveness.parquet"}
    pd.testing.assert_frame_equal(pd.read_parquet(written["output"]), pd.read_parquet(path))
    assert path.stat().st_mtime_ns == before


def test_another_argument_makes_another_result(finished: Project, tmp_path):
    job = opened(finished, "estimate_statistic", "score_effects.parquet")
    wide = job.run(tmp_path / "wide")["output"]
    narrow = job.run(tmp_path / "narrow", settings={**job.arguments["settings"], "confidence": 0.5})["output"]
    assert pd.read_parquet(wide)["ci_low"].sum() < pd.read_parquet(narrow)["ci_low"].sum()


def test_without_a_file_the_first_job_of_the_rule_is_opened_and_names_its_settings(finished: Project):
    job = opened(finished, "plan_reads")
    assert job.arguments["judge"].engine == "simulated"
    assert job.inputs["items"].shape[0] == 8
    assert "template" in job.inputs
    assert "output" not in job.inputs


@pytest.mark.parametrize(
    ("rule", "output", "message"),
    [
        ("plan_readz", None, "'plan_readz': no rule has this name; expected one of .*; did you mean 'plan_reads'?"),
        ("plan_reads", "nowhere", "'nowhere': no job of rule plan_reads writes it; expected one of results/plan/"),
    ],
)
def test_a_job_that_the_run_does_not_have_is_one_clear_error(finished: Project, rule, output, message):
    with pytest.raises(InputError, match=message):
        opened(finished, rule, output)


def test_the_program_shows_what_a_job_takes(finished: Project):
    files = [str(finished.file(path)) for path in CONFIG]
    shown = CliRunner().invoke(
        app, ["dev", "rule", "parse_scores", *files, "--project", str(finished.folder), "--show"]
    )
    assert shown.exit_code == 0, shown.output
    assert "parse_scores -> results/scores/position_bias/demo/planted.parquet" in shown.output
    assert "plan = results/plan/position_bias/demo/planted.parquet  (" in shown.output


def test_the_scheduler_of_a_run_has_one_timer(fresh: Project):
    with fresh.file("Snakefile").open("a") as file:
        file.write("\nfrom snakemake.scheduling.job_scheduler import JobScheduler\n")
        file.write("print('timers by', JobScheduler._schedule_reevalutation.__module__, file=sys.stderr)\n")
    run = fresh.snakemake("--dry-run", "results/items/demo.parquet")
    assert "timers by rubric_order.run.scheduling" in run.stderr, run.stderr
