"""Ready-made judges in the workflow."""

import re
import shutil
from pathlib import Path

import pytest
from factories import ROOT, demo_config

from rubric_order.base.errors import InputError
from rubric_order.run import loading

from .conftest import Project


def completed(*judges: str, folder: Path = ROOT, **other: object) -> dict:
    """The demo with other judges in its study, complete."""
    config = demo_config()
    loading.merge(config, {"studies": {"position_bias": {"judges": [*judges]}}} | other)
    return loading.complete(config, folder=folder).block()


def test_every_ready_made_judge_is_planned_where_a_study_names_it(fresh: Project):
    names = sorted(path.stem for path in fresh.file("config/judges").glob("*.yaml"))
    run = fresh.snakemake("--dry-run", config={"studies": {"position_bias": {"judges": names}}})
    assert run.returncode == 0, run.stdout + run.stderr
    asked = re.findall(r"results/responses/(\w+)/1\.parquet$", run.stdout + run.stderr, flags=re.MULTILINE)
    assert set(asked) == set(names)


def test_a_ready_made_judge_that_nobody_names_is_not_even_read(tmp_path: Path):
    for name in ("config", "workflow/schemas"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "config/judges/broken.yaml").write_text("judges: [")
    assert "qwen3_8b" in completed("qwen3_8b", folder=tmp_path)["judges"]


def test_a_judge_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(InputError) as error:
        completed("gpt_9")
    said = str(error.value)
    assert "config: studies/position_bias/judges: 'gpt_9' is not defined under judges; defined: smollm2_135m" in said
    assert "; ready-made in config/judges: " in said
    assert all(name in said for name in ("deepseek_v3", "gemma_3_12b", "gpt_4_1", "qwen3_8b"))


def test_judges_of_the_command_line_are_found_too(fresh: Project):
    """Snakemake hands on what stands in a mapping as text."""
    setting = 'studies={"position_bias": {"judges": "[qwen3_8b]"}}'
    planned = fresh.planned("--config", setting)
    assert planned.count("judge_shard") == 1
