"""Recorded comparisons, from a folder to the table of the paper; and folders that cannot be read."""

import json

import pandas as pd
import pytest
from factories import ROOT

from rubric_order.base.errors import InputError
from rubric_order.run import loading
from rubric_order.settings.base import parse

from .conftest import Project

CONFIG = "config/papers/judging_the_judges.yaml"


def record(**changes):
    known = {"benchmark": "MTBench", "judge": "gpt-4-0613", "task": "writing", "question_id": "81", "repetition": 0}
    shown = {"answer_a": "vicuna-13b-v1.3", "answer_b": "koala-13b", "options": ["A", "B", "C"]}
    return known | shown | {"response": "Both are fine. [[A]]"} | changes


def swapped(**changes):
    return record(answer_a="koala-13b", answer_b="vicuna-13b-v1.3", **changes)


def completed(folder):
    """The config of the paper over the default one, as Snakemake merges them, completed."""
    config = parse((ROOT / CONFIG).read_text(encoding="utf-8"))
    config["recorded_dir"] = str(folder)
    return loading.complete(config, folder=ROOT).block()


@pytest.mark.slow
def test_a_folder_of_comparisons_becomes_the_table_of_the_paper(fresh: Project):
    folder = fresh.file("answers")
    folder.mkdir()
    # Of four questions the judge is consistent in two, in one of them by its first verdict, as the paper's rules read
    # it; in two it prefers the first place.
    said = [("[[A]]", "[[B]]"), ("[[A]]", "[[A]]"), ("[[C]]", "[[A]]"), ("[[B]]", "[[A]] or rather [[B]]")]
    rows = [
        make(question_id=str(81 + number), response=text)
        for number, texts in enumerate(said)
        for make, text in zip((record, swapped), texts, strict=True)
    ]
    rows += [record(repetition=repeat, response=text) for repeat, text in ((1, "[[A]]"), (2, "[[A]]"), (3, "[[B]]"))]
    (folder / "judgments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = fresh.snakemake("--configfile", CONFIG, "--config", "recorded_dir=answers")
    assert run.returncode == 0, run.stdout + run.stderr
    (row,) = pd.read_csv(fresh.file("results/tables/pairwise_position_bias.csv")).to_dict("records")
    assert (row["judge"], row["benchmark"], row["n_pairs"]) == ("gpt-4-0613", "MTBench", 4)
    assert row["position_consistency"] == pytest.approx(1 / 2)
    assert row["preference_fairness"] == pytest.approx(-1 / 2)
    assert row["error_rate"] == 0
    assert row["repetition_stability"] == pytest.approx(2 / 3)
    assert row["repetition_stability_sd"] == pytest.approx((1 / 3) ** 0.5)
    assert row["position_consistency_low"] < 1 / 2 < row["position_consistency_high"]
    compared = pd.read_csv(fresh.file("results/tables/replication.csv")).query("status == 'compared'")
    assert compared["judge"].unique().tolist() == ["gpt_4"]
    assert compared.set_index("quantity").loc["position_consistency", ["published", "ours"]].tolist() == [0.82, 0.5]
    assert not fresh.file("results/data").exists()  # nothing was downloaded
    assert not fresh.file("results/store").exists()  # no model was asked


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no recorded answers; expected files named"),
        (["{"], "a.jsonl: line 1, column 2: malformed JSON"),
        ([record(), record(options=["A", "B", "C", "D"])], "a.jsonl: line 2: field 'options': expected two or three"),
        ([record(answer_b="vicuna-13b-v1.3")], "a.jsonl: line 1: field 'answer_b': expected another one"),
        ([{"item_id": "x", "response": "4"}], "the recorded answers score one text each"),
    ],
)
def test_a_folder_that_cannot_be_read_is_one_clear_error(tmp_path, rows, message):
    if rows:
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError) as error:
        completed(tmp_path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_without_a_folder_there_is_nothing_to_read():
    with pytest.raises(InputError, match=r"studies/judging_the_judges/judges: .*recorded_dir"):
        completed("")
