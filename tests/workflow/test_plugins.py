"""A package with a probe, adapter, importer, engine and result, made of the files that docs/plugins.md shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .conftest import ROOT, Project

# A file of the page: its name in a sentence, and after the sentence the block.
SHOWN = re.compile(r"`([\w./]+\.\w+)`[^`]*:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
TARGETS = ("all", "results/requests/letters/planted.parquet", "results/plan/old_verdicts/replies/old_judge.parquet")
TARGETS += ("results/responses/old_judge/1.parquet", "results/summary.html", "results/methods.md")
METADATA = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel({folder!r})"


@pytest.fixture
def helpdesk(fresh: Project, tmp_path: Path) -> dict[str, str]:
    """The page's package beside a copy of the project, and the environment in which it is installed."""
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    package, metadata = tmp_path / "package", tmp_path / "metadata"
    for name, text in SHOWN.findall(page):
        path = (fresh.folder if re.search(r"\.(jsonl|yaml)$", name) else package) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (package / "helpdesk/__init__.py").touch()
    metadata.mkdir()
    command = [sys.executable, "-c", METADATA.format(folder=str(metadata))]
    subprocess.run(command, cwd=package, check=True, capture_output=True)
    return {"PYTHONPATH": os.pathsep.join([str(package), str(metadata)])}


@pytest.mark.slow
def test_the_package_of_the_page_is_planned_and_judged_without_a_change_of_the_project(
    fresh: Project, helpdesk: dict[str, str], tmp_path: Path
):
    run = fresh.snakemake(*TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
    assert run.returncode == 0, run.stdout + run.stderr

    items = pd.read_parquet(fresh.file("results/items/replies.parquet"))
    assert items["item_id"].tolist() == ["t1-ann", "t1-bob"]
    requests = pd.read_parquet(fresh.file("results/requests/letters/planted.parquet"))
    shown = requests["prompt"].str.findall(r"^([A-E]): It is (\w+)\.$", re.MULTILINE)
    levels = list(zip("EDCBA", ("rude", "cold", "correct", "friendly", "warm"), strict=True))
    assert sorted(shown) == sorted([levels, levels[::-1]] * 2)
    failures = pd.read_csv(fresh.file("results/tables/parse_failures.csv"))
    assert failures["n_scores"][failures["option"] == "all"].tolist() == [4, 4]
    responses = pd.read_parquet(fresh.file("results/responses/counting/1.parquet"))
    scores = pd.read_parquet(fresh.file("results/scores/letters/replies/counting.parquet"))
    assert scores.groupby("item_id")["score"].agg(list).to_dict() == {"t1-ann": [2, 2], "t1-bob": [1, 1]}
    assert sorted(responses["text"]) == ["D", "D", "E", "E"]

    plan = pd.read_parquet(fresh.file("results/plan/old_verdicts/replies/old_judge.parquet"))
    assert plan["item_id"].tolist() == ["t1-ann", "t1-bob"]
    assert [list(ordering) for ordering in plan["ordering"]] == [[5, 4, 3, 2, 1], [1, 2, 3, 4, 5]]
    answers = pd.read_parquet(fresh.file("results/responses/old_judge/1.parquet"))
    assert sorted(answers["text"]) == ["Score: 1", "Score: 5"]

    expected = {judge: shift(fresh, judge) for judge in ("planted", "counting")}
    assert expected["counting"] == 0 != expected["planted"]
    table = pd.read_csv(fresh.file("results/tables/letter_shift.csv"))
    assert dict(zip(table["judge"], table["estimate"], strict=True)) == pytest.approx(expected)
    printed = fresh.file("results/tables/letter_shift.md").read_text()
    assert "with 95% intervals over tickets. Judges with scores of fewer than 1 replies are left out." in printed
    page = fresh.file("results/summary.html").read_text()
    for text in ("Shift by direction, table", "Shift by direction, figure", "lowest level last, in study letters."):
        assert text in page
    assert fresh.file("results/figures/letter_shift.svg").read_text().startswith("<?xml")
    methods = fresh.file("results/methods.md").read_text()
    assert "was run by engine `polite_words`, temperature" in methods
    assert "endpoint" not in methods
    assert "Mean scores under both directions of the levels were compared within items." in methods
    assert "Statistics of other packages: letter_shift (helpdesk-judging 1.0)." in methods

    def planned() -> set[str]:
        run = fresh.snakemake("--dry-run", *TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
        assert run.returncode == 0, run.stdout + run.stderr
        return set(re.findall(r"^(?:local)?rule (\w+):", run.stdout, re.MULTILINE)) - {"all"}

    package = tmp_path / "package/helpdesk"
    (package / "__init__.py").write_text("# A comment.\n")
    assert planned() == set()
    shown = {"render_summary"}
    for module, rules in (
        ("letter_shift/table.py", {"render_table"} | shown),
        ("letter_shift/figure.py", {"draw_figure"} | shown),
        ("letter_shift/estimate.py", {"estimate_statistic", "render_table", "draw_figure"} | shown),
        ("__init__.py", {"prepare_items", "plan_reads", "plan_recorded", "read_recorded", "estimate_statistic"}),
    ):
        text = (package / module).read_text()
        (package / module).write_text(f"{text}\nADDED = 1\n")
        assert planned() == rules if module != "__init__.py" else rules <= planned()
        (package / module).write_text(text)


def shift(project: Project, judge: str) -> float:
    """Mean score with the lowest level first less that with the lowest level last, from the scores."""
    scores = pd.read_parquet(project.file(f"results/scores/letters/replies/{judge}.parquet"))
    forwards = np.array([ordering[0] == 1 for ordering in scores["ordering"]])
    score = scores["score"].to_numpy(dtype=float)
    return score[forwards].mean() - score[~forwards].mean()


WRONG = "package helpdesk-judging: entry point 'letter_shift' of rubric_order.results"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("letter_shift/table.py", "TABLE = ", "TABEL = ", f"{WRONG}: module 'helpdesk.letter_shift.table' lacks TABLE"),
        (
            "letter_shift/__init__.py",
            "settings.base",
            "absent",
            f"{WRONG}: expected a record of rubric_order.catalogue",
        ),
        ("data.py", "from", "raise SystemExit(0)\nfrom", "cannot be imported: SystemExit: 0"),
        ("", "fewest_items: 1", "fewest_itms: 1", "statistics/letter_shift: unknown key 'fewest_itms'; expected few"),
        (
            "",
            "shift: {}\nfigures",
            "shift: {stdy: a}\nfigures",
            "tables/letter_shift: unknown key 'stdy'; expected study",
        ),
        ("", "shift: {}\nfigures", "shift: {study: a}\nfigures", "tables/letter_shift/study: 'a' is not defined under"),
    ],
)
def test_what_is_wrong_with_a_result_or_its_settings_is_one_line_before_anything_runs(
    fresh: Project, helpdesk: dict[str, str], tmp_path: Path, file: str, old: str, new: str, message: str
):
    path = tmp_path / "package/helpdesk" / file if file else fresh.file("helpdesk.yaml")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    run = fresh.snakemake("--dry-run", *TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
    assert run.returncode == 1
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_a_class_that_lacks_something_is_one_line_before_anything_runs(
    fresh: Project, helpdesk: dict[str, str], tmp_path: Path
):
    module = tmp_path / "package/helpdesk/letters.py"
    module.write_text(module.read_text().replace("def choose", "def chose"))
    run = fresh.snakemake("--dry-run", *TARGETS, "--configfile", "helpdesk.yaml", environment=helpdesk)
    assert run.returncode == 1
    entry = "package helpdesk-judging: entry point 'letter_order' of rubric_order.probes"
    expected = "expected a subclass of rubric_order.probes.Probe"
    assert f"config: studies/letters/probe: {entry}: {expected}" in run.stderr
    assert run.stderr.rstrip().endswith("lacks choose")
