"""Ready-made judges in the workflow."""

import re

from .conftest import Project

TARGET = "results/items/demo.parquet"


def study(*judges: str, **other: object) -> dict:
    return {"studies": {"position_bias": {"judges": [*judges], **other}}}


def test_every_ready_made_judge_is_planned_where_a_study_names_it(fresh: Project):
    names = sorted(path.stem for path in fresh.file("config/judges").glob("*.yaml"))
    run = fresh.snakemake("--dry-run", config=study(*names))
    assert run.returncode == 0, run.stdout + run.stderr
    asked = re.findall(
        r"results/responses/position_bias/(\w+)/1\.parquet$", run.stdout + run.stderr, flags=re.MULTILINE
    )
    assert set(asked) == set(names)


def test_a_ready_made_judge_that_nobody_names_is_not_even_read(fresh: Project):
    fresh.file("config/judges/broken.yaml").write_text("judges: [")
    assert fresh.snakemake("--dry-run", TARGET).returncode == 0


def test_a_judge_that_is_not_there_is_answered_with_those_that_are(fresh: Project):
    said = fresh.snakemake("--dry-run", TARGET, config=study("gpt_9")).stderr
    assert (
        "error: config: studies/position_bias/judges: 'gpt_9' is not defined under judges; defined: smollm2_135m"
        in said
    )
    assert "; ready-made in config/judges: deepseek_v3, gemma_3_12b, " in said
    assert "Traceback" not in said


def test_judges_of_the_command_line_are_found_too(fresh: Project):
    setting = 'studies={"position_bias": {"judges": "[qwen3_8b]"}}'
    planned = fresh.planned("--config", setting)
    assert planned.count("judge_shard") == 1
