"""`rubric-order certify`: from a judge to its card, over a server that answers on this machine."""

import collections
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import yaml
from decision_model import LEVELS, DecisionModel
from endpoint import Call, Endpoint, Reply, completion, running
from processes import SCRIPTS
from rich.console import Console
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands import watching
from rubric_order.commands.app import app
from rubric_order.judging.engines import Response
from rubric_order.library import results
from rubric_order.library.certify import inputs, judges, study
from rubric_order.run import loading
from rubric_order.settings.judges import read

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


@pytest.mark.slow
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


def test_the_page_is_one_file_that_names_no_path_and_says_what_nobody_rated(server: Endpoint, tmp_path):
    (tmp_path / "own.jinja").write_text("{{ response }}\n{% for option in options %}\n{{ option }}\n{% endfor %}\n")
    words = [server.base_url, "--model", "m", "--groups", 1, "--template", tmp_path / "own.jinja"]
    assert run(*words, "--set", "label=Our <judge>", "--folder", tmp_path / "study").exit_code == 0
    page = (tmp_path / "study/card.html").read_text()
    assert inputs.SAMPLE_NOTE in page
    assert "Our &lt;judge&gt;" in page
    assert page.count("data:image/svg+xml;base64,") == 2
    for text in (str(tmp_path), server.base_url, "<script src", 'src="http', 'href="http'):
        assert text not in page, text
    assert "own.jinja" in page


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


def test_paths_of_a_block_do_not_depend_on_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("f.yaml").write_text(yaml.safe_dump({"engine": "python", "function": "m:f"}))
    Path("t.yaml").write_text(
        yaml.safe_dump({"engine": "openai", "model": "m", "base_url": URL, "template": "t.jinja"})
    )
    assert judges.block("f.yaml", judges.Options())["folder"] == str(tmp_path)
    assert judges.block("t.yaml", judges.Options())["template"] == str(tmp_path / "t.jinja")
    assert judges.block("openai:m", judges.Options(template=Path("o.jinja")))["template"] == str(tmp_path / "o.jinja")


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
    assert run(server.base_url, "--model", "m", *texts, "--folder", folder, "--pilot").exit_code == 0
    asked = len(server.calls)
    message = failed(server.base_url, "--model", "n", *texts, "--folder", folder)
    assert message == f"{folder}: it has another study (judge 'judge_m', not 'judge_n'); expected another --folder"
    assert "(texts 'items', not 'sample')" in failed(server.base_url, "--model", "m", "--folder", folder)
    assert "(engine 'openai', not 'python')" in failed("json:dumps", "--set", "label=m", *texts, "--folder", folder)
    assert "found other files" in failed(server.base_url, "--model", "m", *texts, "--folder", tmp_path)
    (folder / "certify.yaml").write_text("judges: {a: {}, b: {}}")
    assert "judges: expected one, as certify wrote it" in failed(server.base_url, "--model", "m", "--folder", folder)
    assert len(server.calls) == asked


LEVELS_SHOWN = "{% for option in options %}\n{{ option }}\n{% endfor %}\n"
OTHER = {"question": "Is it kind?", "levels": RUBRIC["levels"]}


def planned(folder, words, **paths):
    """Begin a study in a folder, and ask nothing. The words are options of the command."""
    options = judges.Options(model="m", template=paths.get("template"), changes=tuple(words))
    texts = inputs.read(paths.get("items"), paths.get("rubric"), groups=paths.get("groups"))
    with study.prepare(folder, judges.block(URL, options), texts) as made:
        made.plan()
        return made.cost()["requests"]


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"words": ["sampling/temperature=0.7"]}, "sampling/temperature 0, not 0.7"),
        ({"words": ["answer_format=score"]}, "answer_format 'feedback', not 'score'"),
        ({"words": ["system_prompt=Be fair."]}, "system_prompt None, not 'Be fair.'"),
        ({"template": "b.jinja"}, "template: its text differs from prompts/a.jinja"),
        ({"template": "blank.jinja"}, "template: blank lines at its end alone differ from prompts/a.jinja"),
        ({"template": None}, "template: its text differs from prompts/a.jinja"),
        ({"rubric": "other.yaml"}, "rubric 'overall': its wording differs"),
        ({"rubric": "five.yaml"}, "levels 3, not 5"),
        ({"items": "others.csv"}, "texts: most of its texts are not among these"),
    ],
)
def test_a_folder_refuses_another_study_and_names_what_differs(change, difference, texts, tmp_path):
    (tmp_path / "a.jinja").write_text("{{ response }}\n" + LEVELS_SHOWN)
    (tmp_path / "b.jinja").write_text("Text: {{ response }}\n" + LEVELS_SHOWN)
    (tmp_path / "blank.jinja").write_text("{{ response }}\n" + LEVELS_SHOWN + "\n\n")
    (tmp_path / "others.csv").write_text(TEXTS.replace("a,letter", "d,letter").replace("b,letter", "e,letter"))
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(OTHER))
    (tmp_path / "five.yaml").write_text(yaml.safe_dump({**OTHER, "levels": dict(enumerate("ABCDE", start=1))}))
    usual = {"words": ["concurrency=2"], "items": texts[1], "rubric": texts[3], "template": tmp_path / "a.jinja"}
    assert planned(tmp_path / "study", **usual) == 18
    before = {path: path.read_bytes() for path in (tmp_path / "study").rglob("*") if path.is_file()}
    other = {key: tmp_path / value if isinstance(value, str) else value for key, value in change.items()}
    with pytest.raises(InputError) as refused:
        planned(tmp_path / "study", **usual | other)
    expected = f"it has another study ({difference}); expected another --folder"
    assert str(refused.value) == f"{tmp_path / 'study'}: {expected}"
    assert {path: path.read_bytes() for path in (tmp_path / "study").rglob("*") if path.is_file()} == before


def test_a_study_goes_on_with_more_or_fewer_texts_other_limits_and_a_moved_template(texts, tmp_path):
    (tmp_path / "a.jinja").write_text("{{ response }}\n" + LEVELS_SHOWN)
    shutil.copy(tmp_path / "a.jinja", tmp_path / "moved.jinja")
    usual = {"items": texts[1], "rubric": texts[3]}
    (tmp_path / "study").mkdir()
    (tmp_path / "study/.certify-k3j4h5g6.yaml").touch()  # of a process that was killed as it began
    assert planned(tmp_path / "study", [], template=tmp_path / "a.jinja", groups=1, **usual) == 12
    (tmp_path / "a.jinja").unlink()
    assert planned(tmp_path / "study", ["budget/calls=9"], template=tmp_path / "moved.jinja", **usual) == 18
    texts[1].write_text(TEXTS.replace("Sorry.", "So sorry.") + "d,note,Apologise.,I regret it.,2\n")
    assert planned(tmp_path / "study", [], template=tmp_path / "moved.jinja", **usual) == 24
    assert (
        planned(tmp_path / "study", [], template=tmp_path / "moved.jinja", groups=1, **usual) == 12
    )  # as after a pilot


def test_one_process_works_in_a_folder_at_a_time(server: Endpoint, texts, tmp_path, caplog):
    """A second run of a study waits until the first has its reads; another study is refused, and not asked."""
    (tmp_path / "b.jinja").write_text("Text: {{ response }}\n" + LEVELS_SHOWN)
    block = judges.block(server.base_url, judges.Options(model="m"))
    blocks = block, block | {"template": str(tmp_path / "b.jinja")}

    def certified(block):
        with study.prepare(tmp_path / "study", block, inputs.read(texts[1], texts[3])) as made:
            made.plan()
            made.ask()
            return pd.read_csv(tmp_path / "study/reads.csv")["request_id"].tolist()

    with ThreadPoolExecutor() as pool:
        with study.prepare(tmp_path / "study", block, inputs.read(texts[1], texts[3])) as first:
            first.plan()
            assert first.cost()["requests"] == 18
            others = [pool.submit(certified, block) for block in blocks]
            while not any("waiting for process" in message for message in caplog.messages):
                time.sleep(0.01)
            with pytest.raises(InputError, match="its text differs from the usual one"):
                others[1].result()
            first.ask()
            reads = pd.read_csv(tmp_path / "study/reads.csv")
            assert not others[0].done()
        assert others[0].result() == reads["request_id"].tolist()
    assert len(server.calls) == 18


@pytest.mark.slow
@pytest.mark.parametrize("commands", [("same", "same"), ("same", "b"), ("b", "same", "b")])
def test_several_commands_at_once_print_their_own_card_or_what_differs(commands, texts, tmp_path):
    (tmp_path / "b.jinja").write_text("Text: {{ response }}\n" + LEVELS_SHOWN)
    logs = []

    def held(call: Call) -> Reply:
        """No answer comes before all commands but one wait, or have ended."""
        reply = first_shown(call)
        reply.after = lambda: (
            sum(bool(re.search("waiting for process|error:", path.read_text())) for path in logs) == (len(commands) - 1)
        )
        return reply

    with running(held) as endpoint:
        words = [sys.executable, "-m", "rubric_order.commands.app", "certify", endpoint.base_url, "--model", "m"]
        words += [*texts, "--folder", tmp_path / "study", "--json"]
        processes, environment = [], os.environ | {"PYTHONPATH": str(SCRIPTS)}
        for place, command in enumerate(commands):
            more = ["--template", tmp_path / "b.jinja"] if command == "b" else []
            log = tmp_path / f"log{place}"
            with log.open("w") as file:
                streams = {"stdout": subprocess.PIPE, "stderr": file, "text": True}
                process = subprocess.Popen([*map(str, [*words, *more])], **streams, env=environment)
            processes.append(process)
            logs.append(log)
        printed = [process.communicate()[0] for process in processes]
        asked = collections.Counter(call.prompt for call in endpoint.calls)
    assert set(asked.values()) == {1}
    assert len(asked) == 18
    of_template = next(iter(asked)).startswith("Text: ")
    for command, process, text, log in zip(commands, processes, printed, logs, strict=True):
        if (command == "b") == of_template:
            assert process.returncode == 0
            assert json.loads(text)[0]["n_reads"] == 18
        else:
            assert process.returncode == 1
            assert "it has another study (template: its text differs from" in log.read_text().splitlines()[-1]


def test_answers_that_come_after_a_folder_was_removed_are_found_by_the_next_run(texts, tmp_path):
    folder = tmp_path / "study"

    def remove(call: Call) -> Reply:
        if len(endpoint.calls) == 5:
            while folder.exists():
                shutil.rmtree(folder, ignore_errors=True)
        return first_shown(call)

    with running(remove) as endpoint:
        words = [endpoint.base_url, "--model", "m", *texts, "--set", "concurrency=1", "--folder", folder, "--pilot"]
        assert "no call is sent" in failed(*words)
        asked = [call.prompt for call in endpoint.calls]
        assert len(asked) < 18
        done = run(*words)
        assert done.exit_code == 0, done.exception
        again = {call.prompt for call in endpoint.calls[len(asked) :]}
        assert asked[-1] not in again


def test_ids_of_a_study_are_none_that_come_with_a_clone(root):
    """Snakemake puts ready-made blocks under those of a config."""
    ready = loading.add_ready_made({"studies": {study.STUDY: {}}}, root / "config")
    assert not {inputs.SAMPLE, inputs.OWN} & set(ready["datasets"])
    assert not [name for name in loading.ready_judges(root / "config") if name.startswith("judge")]


def test_a_judge_is_read_from_a_file(tmp_path, texts):
    block = {"engine": "simulated", "model": "planted", "answer_format": "score"}
    (tmp_path / "planted.yaml").write_text(yaml.safe_dump({**block, "simulation": {"preference": "first"}}))
    done = run(tmp_path / "planted.yaml", *texts, "--folder", tmp_path / "study", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)[0]["judge"] == "judge_planted"
    (tmp_path / "vllm.yaml").write_text(yaml.safe_dump({"engine": "vllm", "model": "org/m"}))
    assert failed(tmp_path / "vllm.yaml", *texts).startswith("engine 'vllm': expected an endpoint")
    shutil.copy(tmp_path / "rubric.yaml", tmp_path / "wrong.yaml")
    assert "expected the block of one judge, with its engine; found levels, question" in failed(tmp_path / "wrong.yaml")


def test_the_default_folder_is_named_after_the_judge_and_the_texts(server: Endpoint, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judge = [server.base_url, "--model", "org/Big-Model"]
    assert run(*judge, "--groups", 1, "--pilot").exit_code == 0
    assert Path("certify/judge_big_model/certify.yaml").is_file()
    assert run(*judge, *texts).exit_code == 0  # and not an error that the folder has the sample
    assert Path("certify/judge_big_model_texts/card.html").is_file()
    (tmp_path / "Ihre Texte.csv").write_text(TEXTS)
    assert run(*judge, "--items", tmp_path / "Ihre Texte.csv", *texts[2:], "--pilot").exit_code == 0
    assert Path("certify/judge_big_model_ihre_texte/certify.yaml").is_file()
    (tmp_path / "b.jinja").write_text("{{ response }}\n" + LEVELS_SHOWN)
    assert run(*judge, *texts, "--template", "b.jinja", "--pilot").exit_code == 0  # beside the card of the usual prompt
    assert len([*Path("certify").glob("judge_big_model_texts_??????/prompts/b.jinja")]) == 1
    asked = len(server.calls)
    (tmp_path / "b.jinja").write_text("{{ response }}\n" + LEVELS_SHOWN + "\n\n")
    message = failed(*judge, *texts, "--template", "b.jinja", "--pilot")
    assert "blank lines at its end alone differ from prompts/b.jinja" in message
    assert len(server.calls) == asked


def test_a_folder_of_earlier_versions_goes_on(server: Endpoint, texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [server.base_url, "--model", "m", *texts]
    assert run(*words, "--folder", "certify/judge_m", "--pilot").exit_code == 0
    asked = len(server.calls)
    assert run(*words, "--pilot").exit_code == 0
    assert [path.name for path in Path("certify").iterdir()] == ["judge_m"]
    assert len(server.calls) == asked
    # They had no digest in their name, and no copy of the template.
    (tmp_path / "b.jinja").write_text("{{ response }}\n" + LEVELS_SHOWN)
    words = [server.base_url, "--model", "n", *texts, "--template", "b.jinja"]
    assert run(*words, "--folder", "certify/judge_n", "--pilot").exit_code == 0
    shutil.rmtree("certify/judge_n/prompts")
    config = Path("certify/judge_n/certify.yaml")
    config.write_text(config.read_text().replace("template: prompts/", f"template: {tmp_path}/"))
    asked = len(server.calls)
    assert run(*words, "--pilot").exit_code == 0
    assert len(server.calls) == asked


FUNCTION = """
import re


def judge(prompt):
    shown = re.findall(r"^Score ([0-9]+):", prompt, re.MULTILINE)
    with open({calls!r}, "a", encoding="utf-8") as file:
        file.write("called\\n")
    return {{"score": int(shown[0]), "probabilities": {{label: 1 / len(shown) for label in shown}}}}
"""


def test_a_function_is_a_judge_and_its_probabilities_are_on_the_card(texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = tmp_path / "calls"
    (tmp_path / "certified_function.py").write_text(FUNCTION.format(calls=str(calls)))
    words = ["certified_function:judge", *texts, "--answer-format", "score", "--json"]
    done = run(*words)
    assert done.exit_code == 0, done.exception
    (card,) = json.loads(done.stdout)
    assert (card["judge"], card["n_reads"]) == ("judge_certified_function_judge", 18)
    assert [share["share"] for share in card["readouts"]["soft"]["shares"]] == [pytest.approx(1 / 3)] * 3
    (path,) = (tmp_path / "certify").glob("judge_certified_function_judge_texts_??????/reads.csv")
    reads = pd.read_csv(path)
    assert reads[["p_1", "p_2", "p_3"]].eq(1 / 3).all(axis=None)
    assert len(calls.read_text().splitlines()) == 18
    assert run(*words).stdout == done.stdout
    assert len(calls.read_text().splitlines()) == 18


def test_the_message_of_an_exception_is_in_the_terminal_on_the_card_and_in_the_table_of_reads(
    texts, tmp_path, monkeypatch, caplog
):
    (tmp_path / "raising_function.py").write_text(
        "def judge(prompt):\n"
        "    if 'Sorry.' in prompt:\n"
        "        raise ValueError('no <text> to judge')\n"
        "    return 'So be it. [RESULT] 2'\n"
    )
    monkeypatch.chdir(tmp_path)
    done = run("raising_function:judge", *texts, "--folder", tmp_path / "study")
    assert done.exit_code == 0, done.exception
    message = "raised: raising_function:judge raised ValueError: no <text> to judge"
    assert f"6 of 18 requests failed: 6 {message}" in caplog.text
    reads = pd.read_csv(tmp_path / "study/reads.csv")
    assert reads["error"].value_counts().to_dict() == {message: 6}
    note = "the first message: 6 raised: raising_function:judge raised ValueError: no &lt;text&gt; to judge."
    assert note in (tmp_path / "study/card.html").read_text()


@pytest.mark.parametrize("question", ["score", "choice", "predicate"])
def test_a_decision_model_is_a_judge(question, tmp_path):
    levels = dict(enumerate(LEVELS, start=1))
    (tmp_path / "texts.csv").write_text(TEXTS)
    (tmp_path / "rubric.yaml").write_text(yaml.safe_dump({"question": "Is it good?", "levels": levels}))
    with running(DecisionModel(preference=(3.0, 0, 0, 0, 0), opinion=0.5)) as endpoint:
        words = [f"decisions:{endpoint.base_url}", "--model", "a-model", "--set", f"question={question}"]
        words += ["--items", tmp_path / "texts.csv", "--rubric", tmp_path / "rubric.yaml", "--folder", tmp_path / "d"]
        done = run(*words, "--json")
        assert done.exit_code == 0, done.exception
        assert {call.path for call in endpoint.calls} == {"/v1/decisions"}
        assert len(endpoint.calls) == 30
    (card,) = json.loads(done.stdout)
    assert card["readouts"]["soft"]["shares"][0]["share"] > 0.6


@pytest.mark.slow
def test_a_pilot_asks_a_part_and_says_what_the_rest_will_take(server: Endpoint, tmp_path):
    words = [server.base_url, "--model", "m", "--prices", "0.4,1.6", "--folder", tmp_path / "study"]
    done = run(*words, "--pilot")
    assert done.exit_code == 0, done.exception
    asked = len(server.calls)
    assert 150 <= asked <= 250
    said = done.stderr.splitlines()
    assert f"The pilot's {asked} requests are answered, and the answers stay: read {asked} of {asked}." in said
    assert f"80 texts in 20 groups: 800 requests, {asked} answered, {800 - asked} to ask." in said
    money = (800 - asked) * (100 * 0.4 + 5 * 1.6) / 1e6  # each answer counts 100 and 5 tokens
    assert f"{money:.2f} [" in said[-1]
    assert not (tmp_path / "study/summary.json").exists()
    assert run(*words).exit_code == 0
    assert len(server.calls) == 800


@pytest.mark.slow
def test_a_budget_is_kept_and_a_larger_one_goes_on(server: Endpoint, texts, tmp_path):
    words = [server.base_url, "--model", "m", *texts, "--folder", tmp_path / "study"]
    message = failed(*words, "--budget", "7calls")
    assert message.startswith("11 of 18 requests failed for reasons that may pass (11 budget)")
    assert len(server.calls) == 7
    assert run(*words, "--budget", "20calls").exit_code == 0
    assert len(server.calls) == 18


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_asks_again_what_was_under_way_alone(texts, tmp_path):
    def slow(call: Call) -> Reply:
        reply = first_shown(call)
        reply.delay = 0.2
        return reply

    program = Path(sys.executable).with_name("rubric-order")
    with running(slow) as endpoint:
        words = ["certify", endpoint.base_url, "--model", "m", *texts, "--set", "concurrency=2"]
        command = [str(word) for word in (program, *words, "--folder", tmp_path / "study")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while len(endpoint.calls) < 7:
                assert process.poll() is None
                time.sleep(0.01)
            process.kill()
        assert len(endpoint.calls) < 18
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        times = collections.Counter(call.prompt for call in endpoint.calls)
    assert len(times) == 18
    assert sum(times.values()) <= 18 + 2  # calls under way, at most `concurrency`


def test_the_bar_says_rate_money_and_time():
    assert watching.said(None, 0, 10, 0, 0.0, "") == ""
    assert watching.said(2.0, 100, 300, 0, 0.5, "USD") == "2.0/s, 0:01:40 left, 0.50 of about 1.50 USD"
    assert watching.said(0.5, 1, 3, 1, 0.0, "") == "0.5/s, 0:00:04 left, 1 failed"


def test_a_terminal_gets_a_bar_that_passes_every_response_on():
    block = {"engine": "openai", "base_url": URL, "model": "m", "prices": {"prompt": 1.0, "completion": 1.0}}
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    answers = [Response(str(number), text="4", cost=0.25) for number in range(4)]
    assert list(watching.watch(read(block), console)(iter(answers), 4)) == answers
    assert "4/4" in screen.getvalue()
    assert "1.00 of about 1.00 USD" in screen.getvalue()


@pytest.mark.slow
def test_a_template_of_messages_is_asked_as_messages(server: Endpoint, texts, tmp_path):
    levels = "{% for option in options %}\n{{ option }}\n{% endfor %}\n"
    user = {"role": "user", "content": "{{ response }}\n" + levels}
    messages = [{"role": "system", "content": "You rate replies."}, user]
    block = {"engine": "openai", "base_url": server.base_url, "model": "m", "template": messages}
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump(block))
    done = run(tmp_path / "judge.yaml", *texts, "--folder", tmp_path / "study", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)[0]["n_reads"] == 18
    assert {call.body["messages"][0]["content"] for call in server.calls} == {"You rate replies."}
    (tmp_path / "messages.yaml").write_text(yaml.safe_dump(messages))
    words = [server.base_url, "--model", "m", "--template", tmp_path / "messages.yaml", *texts]
    assert run(*words, "--folder", tmp_path / "other").exit_code == 0
    one, other = (pd.read_csv(tmp_path / name / "reads.csv") for name in ("study", "other"))
    assert one["request_id"].tolist() == other["request_id"].tolist()
