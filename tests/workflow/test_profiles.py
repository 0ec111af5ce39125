"""Profiles say where jobs run: they are understood, with what stands in them as a comment too."""

import base64
import re
import shutil

from .conftest import Project


def test_what_a_killed_run_left_half_done_is_made_again_without_an_option(fresh: Project):
    page = "results/summary.html"
    fresh.file(page).parent.mkdir(exist_ok=True)
    fresh.file(page).touch()
    marks = fresh.file(".snakemake/incomplete")  # where Snakemake notes the files of a job until it ends
    marks.mkdir(parents=True)
    (marks / base64.b64encode(page.encode()).decode()).touch()
    strict = fresh.snakemake("--dry-run", "--workflow-profile", "none", page)
    assert "IncompleteFilesException" in strict.stdout + strict.stderr
    run = fresh.snakemake("--dry-run", page)
    assert run.returncode == 0, run.stderr
    assert "rule render_summary:" in run.stdout


def test_the_profile_of_a_workstation_is_understood(fresh: Project):
    run = fresh.snakemake("--dry-run", "--profile", "workflow/profiles/workstation")
    assert run.returncode == 0, run.stderr
    assert "judge_shard" in run.stdout


def test_the_profile_of_slurm_is_understood_with_what_stands_in_it_as_a_comment(fresh: Project):
    site = fresh.file("my_site")
    shutil.copytree(fresh.file("workflow/profiles/slurm"), site)
    text = (site / "config.yaml").read_text()
    text, found = re.subn(r"^( *)# ( *[a-z_-]+:( .*)?)$", r"\1\2", text, flags=re.MULTILINE)
    assert found >= 10
    (site / "config.yaml").write_text(text)
    run = fresh.snakemake("--dry-run", "--profile", "my_site")
    assert run.returncode == 0, run.stderr
    judge = re.search(r"^rule judge_shard:\n(.*\n)+?\n", run.stdout, re.MULTILINE)[0]
    for resource in ("slurm_partition=gpu", "gpu_model=a100", "runtime=240", "slurm_extra=--exclude=node13"):
        assert resource in judge
    other = re.search(r"^rule parse_scores:\n(.*\n)+?\n", run.stdout, re.MULTILINE)[0]
    assert "slurm_partition=cpu" in other
    assert "slurm_account=my_account" in other
