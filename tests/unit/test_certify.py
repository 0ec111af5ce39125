"""`rubric-order certify`: from a judge to its card, over a server that answers on this machine."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from endpoint import Call, Endpoint, Reply, completion, running
from typer.testing import CliRunner

from rubric_order.commands.app import app
from rubric_order.library import results
from rubric_order.library.certify import inputs, judges, study
from rubric_order.run import loading

TEXTS = """item_id,group_id,instruction,response,human_score
a,letter,Write a letter.,Dear you.,1
b,letter,Write a letter.,Dear Ms Okafor.,3
c,note,Apologise.,Sorry.,2
"""
RUBRIC = {"question": "Is it polite?", "levels": {1: "Rude.", 2: "Correct.", 3: "Warm."}}


def first_shown(call: Call) -> Reply:
    """The answer of a judge that chooses what stands first."""
    shown = re.findall(r"^Score ([0-9]+):", call.prompt, re.MULTILINE)
    return Reply(completion(f"So be it. [RESULT] {shown[0]}", model=call.body["model"]))


@pytest.fixture
def server():
    with running(first_shown) as endpoint:
        yield endpoint


@pytest.fixture
def texts(tmp_path):
    """Options that name a table and its rubric."""
    (tmp_path / "texts.csv").write_text(TEXTS)
    (tmp_path / "rubric.yaml").write_text(yaml.safe_dump(RUBRIC))
    return ["--items", tmp_path / "texts.csv", "--rubric", tmp_path / "rubric.yaml"]


def run(*words):
    return CliRunner().invoke(app, ["certify", *map(str, words)])


def failed(*words) -> str:
    """The message of a run that ends with the user's mistake."""
    done = run(*words)
    assert done.exit_code == 1
    return str(done.exception)


def test_an_endpoint_gets_its_card_and_a_second_run_asks_nothing(server: Endpoint, texts, tmp_path):
    words = [server.base_url, "--model", "org/a-model", *texts, "--folder", tmp_path / "study"]
    done = run(*words, "--json")
    assert done.exit_code == 0, done.exception
    (card,) = json.loads(done.stdout)
    assert (card["judge"], card["n_levels"]) == ("judge_a_model", 3)
    assert (card["n_items"], card["n_groups"], card["n_reads"], card["n_orderings"]) == (3, 2, 18, 6)
    assert [share["share"] for share in card["readouts"]["hard"]["shares"]] == [1, 0, 0]
    assert len(server.calls) == 18
    assert "18 requests, 0 answered, 18 to ask" in done.stderr

    again = run(*words)
    assert again.exit_code == 0, again.exception
    assert len(server.calls) == 18
    assert "18 answered, 0 to ask" in again.stderr
    assert again.stdout.splitlines()[1].strip("│ ") == f"org/a-model: {card['verdict']}"
    summary = json.loads((tmp_path / "study/summary.json").read_text())
    assert summary["cards"] == [card]


def test_the_sample_comes_with_the_package_and_groups_cut_it(server: Endpoint, tmp_path):
    done = run(server.base_url, "--model", "m", "--groups", 2, "--folder", tmp_path / "study", "--json")
    assert done.exit_code == 0, done.exception
    (card,) = json.loads(done.stdout)
    assert (card["n_groups"], card["n_items"], card["n_reads"]) == (2, 8, 80)
    assert inputs.SAMPLE_NOTE in done.stderr
    more = run(server.base_url, "--model", "m", "--groups", 3, "--folder", tmp_path / "study", "--json")
    assert json.loads(more.stdout)[0]["n_groups"] == 3
    assert len(server.calls) == 120  # those of the third group alone are new


def test_the_sample_is_the_demo_and_its_labels_are_levels_that_were_intended(root):
    sample = inputs.read(None, None)
    assert sample.sources["tasks"].read_bytes() == (root / "resources/demo/tasks.yaml").read_bytes()
    assert sample.tables.items["group_id"].nunique() == 20
    assert sample.tables.items.groupby("group_id").size().min() >= 3


def test_the_reads_are_a_file_for_audit_with_the_same_card(server: Endpoint, texts, tmp_path):
    done = run(server.base_url, "--model", "m", *texts, "--folder", tmp_path / "study", "--json")
    reads = pd.read_csv(tmp_path / "study/reads.csv")
    assert reads["answer"].str.startswith("So be it. [RESULT] ").all()
    (audited,), (card,) = results.bias_card(tmp_path / "study/reads.csv").to_dicts(), json.loads(done.stdout)
    for key in ("usual_minus_balanced", "verdict", "n_reads", "preference", "commonest_score"):
        assert audited[key] == card[key], key


@pytest.mark.parametrize(
    ("word", "model", "expected"),
    [
        ("openai:gpt-x", None, {"engine": "openai", "model": "gpt-x", "api_key_env": "OPENAI_API_KEY"}),
        ("http://h:1/v1/", "m", {"engine": "openai", "model": "m", "base_url": "http://h:1/v1"}),
        ("decisions:d", None, {"engine": "decisions", "model": "d", "base_url": "https://api.openai.com/v1"}),
        ("decisions:http://h:1/v1", "d", {"engine": "decisions", "base_url": "http://h:1/v1"}),
        ("pack.judge:score", None, {"engine": "python", "function": "pack.judge:score"}),
    ],
)
def test_a_word_stands_for_the_block_of_a_judge(word, model, expected):
    block = judges.block(word, judges.Options(model=model))
    assert {key: block[key] for key in expected} == expected


def test_options_become_settings_of_the_judge():
    changes = ("sampling/temperature=0.7", "extra_body={reasoning_effort: low}", "sampling/max_tokens=8")
    options = judges.Options(prices="0.4,1.6", budget="2.5", answer_format="score", changes=changes)
    block = judges.block("openai:m", options)
    assert block["prices"] == {"prompt": 0.4, "completion": 1.6}
    assert block["budget"] == {"cost": 2.5}
    assert block["sampling"] == {"temperature": 0.7, "max_tokens": 8}
    assert block["extra_body"] == {"reasoning_effort": "low"}
    assert judges.block("openai:m", judges.Options(budget="500calls"))["budget"] == {"calls": 500}


URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["gpt-4.1"], "'gpt-4.1': no such judge; expected"),
        (["openai:"], "'openai:': the model is missing"),
        ([URL], "--model is missing; expected what 'http://127.0.0.1:9/v1' calls its model"),
        (["openai:m", "--model", "n"], "--model: 'openai:m' names the model already; found 'n'"),
        ([URL, "--model", "m", "--budget", "5"], "--budget: money needs --prices"),
        ([URL, "--model", "m", "--budget", "much"], "--budget: expected money, or a number such as 500calls"),
        ([URL, "--model", "m", "--prices", "1"], "--prices: expected those of a million tokens"),
        ([URL, "--model", "m", "--set", "sampling"], "--set: expected KEY=VALUE"),
        ([URL, "--model", "m", "--set", "temprature=1"], "config: judges/judge_m: unknown key 'temprature'"),
        ([URL, "--model", "m", "--rubric", "r.yaml"], "--rubric: it is for texts of your own"),
        ([URL, "--model", "m", "--items", "no.csv"], "no.csv: no such file"),
        ([URL, "--model", "m", "--items", "texts.doc"], "texts.doc: expected a file that ends in .csv"),
        (["no_such_module_here:judge"], "no module 'no_such_module_here'"),
        (["http://example.org/v1", "--model", "m", "--api-key-env", "K"], "the key or a header with a variable"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in failed(*words)
    assert not any(tmp_path.iterdir())


def test_rubrics_of_several_scales_are_refused(tmp_path):
    rows = [
        {"item_id": "a", "instruction": "i", "response": "r", "rubric_id": "two"},
        {"item_id": "b", "instruction": "i", "response": "s", "rubric_id": "three"},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    levels = {"two": ["bad", "good"], "three": ["bad", "fair", "good"]}
    content = {name: {"question": "q", "levels": dict(enumerate(texts, 1))} for name, texts in levels.items()}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(content))
    message = failed(URL, "--model", "m", "--items", tmp_path / "t.csv", "--rubric", tmp_path / "r.yaml")
    assert message.endswith("rubrics with 2, 3 levels; expected one number of levels in a study")


def test_a_folder_is_of_one_judge_and_of_certify_alone(server: Endpoint, texts, tmp_path):
    folder = tmp_path / "study"
    assert run(server.base_url, "--model", "m", *texts, "--folder", folder).exit_code == 0
    asked = len(server.calls)
    message = failed(server.base_url, "--model", "n", *texts, "--folder", folder)
    assert (
        message
        == f"{folder}: it has the study of another judge (judge 'judge_m', not 'judge_n'); expected another --folder"
    )
    assert "not 'python'" in failed("json:dumps", "--set", "label=m", *texts, "--folder", folder)
    assert "found other files" in failed(server.base_url, "--model", "m", *texts, "--folder", tmp_path)
    assert len(server.calls) == asked


def test_ids_of_a_study_are_none_that_come_with_a_clone(root):
    """Snakemake puts ready-made blocks under those of a config."""
    ready = loading.with_ready_made({"studies": {study.STUDY: {}}}, root / "config")
    assert not {inputs.SAMPLE, inputs.OWN} & set(ready["datasets"])
    assert not [name for name in loading.ready_judges(root / "config") if name.startswith("judge")]


def test_a_judge_is_read_from_a_file(tmp_path, texts):
    block = {"engine": "simulated", "model": "planted", "answer_format": "score"}
    (tmp_path / "planted.yaml").write_text(yaml.safe_dump({**block, "simulation": {"preference": "first"}}))
    done = run(tmp_path / "planted.yaml", *texts, "--folder", tmp_path / "study", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)[0]["judge"] == "judge_planted"
    shutil.copy(tmp_path / "rubric.yaml", tmp_path / "wrong.yaml")
    assert "expected the block of one judge, with its engine; found levels, question" in failed(tmp_path / "wrong.yaml")


def test_the_default_folder_is_named_after_the_judge(server: Endpoint, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(server.base_url, "--model", "org/Big-Model", *texts).exit_code == 0
    assert Path("certify/judge_big_model/certify.yaml").is_file()
