"""`rubric-order relog`: the study of a log, what is asked of the judge, and the card."""

import json
import re
import shutil

import pandas as pd
import pytest
import yaml
from endpoint import Reply, completion, running
from factories import ROOT
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.extras.logs import promptfoo, relog
from rubric_order.extras.logs.commands import relog as command
from rubric_order.extras.logs.intake import reading
from rubric_order.intake.recorded import formats
from rubric_order.judging.store import Store

LOGS = ROOT / "tests/data/logs"
NOBODY = "http://127.0.0.1:9/v1"
RUBRIC = "Score 1: Bad.\nScore 2: Fair.\nScore 3: Good."


def first_level(call):
    """The level that stands first, as the judge of Inspect's log writes it."""
    shown = re.search(r'^(?:Score )?(\d): |"([CPI])" for', call.body["messages"][-1]["content"], re.MULTILINE)
    return Reply(completion(f"So be it.\n\nGRADE: {shown[1] or shown[2]}", model=call.body["model"]))


def written(path, folder, **others):
    log = relog.look([path])
    order = relog.order_of(log.rubrics[0], None)
    settings = {"base_url": NOBODY} | others.pop("settings", {})
    return relog.write(log, folder, rubric=log.rubrics[0], order=order, settings=settings, **others)


def test_what_is_asked_is_the_recorded_prompt_in_the_other_orders_and_the_recorded_one_is_not_asked(tmp_path):
    recorded = [call.messages[-1].text for call in reading.read([LOGS / "rubric.eval"])]
    with running(first_level) as endpoint:
        study = written(LOGS / "rubric.eval", tmp_path, settings={"base_url": endpoint.base_url})
        reads = relog.ask(study)
    assert (len(study.answered), study.agreeing, study.scored) == (4, 4, 4)
    prompts = [call.prompt for call in endpoint.calls]
    assert len(prompts) == len(set(prompts)) == 36
    assert not set(prompts) & set(recorded)
    line = re.compile(r"^([1-5]): (The answer is .*)\n", re.MULTILINE)
    for prompt in prompts:  # the same lines in another order, and all else as it was
        assert any(
            line.sub("", prompt) == line.sub("", other) and sorted(line.findall(prompt)) == line.findall(other)
            for other in recorded
        )
    assert [call.body | {"messages": None} for call in endpoint.calls] == 36 * [
        {"model": "judge", "temperature": 0.0, "max_tokens": 100, "messages": None}
    ]
    usual = reads[[ordering == [1, 2, 3, 4, 5] for ordering in reads["ordering"]]]
    assert dict(zip(usual["item"], usual["score"], strict=True)) == {"q0": 5, "q1": 4, "q2": 1, "q3": 3}
    others = reads.drop(usual.index)
    assert (others["score"] == others["ordering"].str[0]).all()


def test_a_second_call_asks_nothing_and_changes_nothing(tmp_path):
    with running(first_level) as endpoint:
        settings = {"base_url": endpoint.base_url}
        first = relog.ask(written(LOGS / "rubric.eval", tmp_path, settings=settings))
        before = {path: path.read_bytes() for path in tmp_path.glob("*") if path.is_file()}
        second = relog.ask(written(LOGS / "rubric.eval", tmp_path, settings=settings))
    assert len(endpoint.calls) == 36
    pd.testing.assert_frame_equal(first, second)
    assert {path: path.read_bytes() for path in before} == before
    assert len(Store(tmp_path / "results/store/judge").column("request_id")) == 40


def test_grades_of_inspect_are_levels_and_epochs_share_a_group(tmp_path):
    with running(first_level) as endpoint:
        study = written(LOGS / "grades.eval", tmp_path, settings={"base_url": endpoint.base_url})
        reads = relog.ask(study)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert config["studies"]["position_bias"]["conditions"] == ["ids(I,P,C)"]
    assert reads.groupby("group")["item"].nunique().to_dict() == {"q0": 2, "q1": 2, "q2": 2, "q3": 2}
    assert len(endpoint.calls) == 40
    recorded = reads[[ordering == [3, 2, 1] for ordering in reads["ordering"]]]
    assert dict(zip(recorded["item"], recorded["score"], strict=True)) == {
        f"q{k} {epoch}": score
        for epoch in (1, 2)
        for k, score in enumerate([3, 2, 1, 3])  # C, P, I, C
    }
    assert "temperature" not in endpoint.calls[0].body


def test_an_answer_that_the_log_does_not_keep_is_asked(tmp_path):
    study = written(LOGS / "promptfoo.json", tmp_path)
    assert (len(study.answered), study.not_kept) == (0, {"the log keeps no answer": 3})
    assert len(study.requests) == 30
    assert study.judge.system_prompt == "You rate replies of a support team."
    assert (tmp_path / "recorded.jsonl").read_text() == ""


def test_scores_without_an_answer_are_compared_with_those_of_the_same_order(tmp_path):
    """The log has a 4 for each of three replies."""
    with running(first_level) as endpoint:
        study = written(LOGS / "promptfoo.json", tmp_path, settings={"base_url": endpoint.base_url})
        reads = relog.ask(study)
    assert relog.same_again(study, reads) == (0, 3)
    reads.loc[[ordering == [1, 2, 3, 4, 5] for ordering in reads["ordering"]], "score"] = 4
    assert relog.same_again(study, reads) == (3, 3)
    kept = written(LOGS / "rubric.eval", tmp_path / "kept")
    usual = kept.reads.assign(item=kept.reads["item_id"], score=1)
    assert relog.same_again(kept, usual) == (0, 0)


def test_recorded_answers_are_a_file_that_a_recorded_judge_reads(tmp_path):
    written(LOGS / "rubric.eval", tmp_path)
    records = list(formats.read(tmp_path / "recorded.jsonl"))
    assert [record["item_id"] for record in records] == ["q0", "q1", "q2", "q3"]
    assert {record["format"] for record in records} == {"general"}
    assert [record["ordering"] for record in records] == 4 * [[1, 2, 3, 4, 5]]


def test_a_prompt_that_cleaning_changes_is_asked_again_and_counted(tmp_path):
    lines = []
    for name, text in (("a", "as it is"), ("b", "with\r\nline ends")):
        messages = [{"role": "user", "content": f"{RUBRIC}\n\nReply: {text}"}, {"role": "assistant", "content": "2"}]
        lines.append({"id": name, "model": "m", "messages": messages})
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    study = written(tmp_path / "log.jsonl", tmp_path / "study")
    assert (len(study.answered), dict(study.not_kept)) == (1, {"its prompt is none of the study's, byte for byte": 1})
    assert not study.text_is_named


def test_a_limit_takes_samples_whole(tmp_path):
    study = written(LOGS / "grades.eval", tmp_path, limit=2)
    assert set(study.reads["item_id"]) == {"q0 1", "q0 2", "q1 1", "q1 2"}


def test_a_config_that_was_edited_is_not_written_over(tmp_path):
    written(LOGS / "rubric.eval", tmp_path)
    written(LOGS / "rubric.eval", tmp_path, limit=2)  # the same study of fewer samples
    path = tmp_path / "config.yaml"
    path.write_text(path.read_text().replace("max_tokens: 100", "max_tokens: 200"))
    with pytest.raises(InputError, match=re.escape(f"{path}: it was edited, and would be written over")):
        written(LOGS / "rubric.eval", tmp_path)
    assert "max_tokens: 200" in path.read_text()


def test_settings_of_a_judge_that_cannot_be_used_are_one_line(tmp_path):
    log = relog.look([LOGS / "rubric.eval"])
    with pytest.raises(InputError, match="--base-url: the log does not say where mockllm/judge is served"):
        relog.write(log, tmp_path, rubric=log.rubrics[0], order=("1", "2", "3", "4", "5"))
    with pytest.raises(InputError, match="judge: base_url: "):
        written(LOGS / "rubric.eval", tmp_path, settings={"base_url": "nowhere"})


def test_without_the_client_of_endpoints_the_study_is_written_and_not_asked(tmp_path, monkeypatch):
    study = written(LOGS / "rubric.eval", tmp_path)
    monkeypatch.setattr(relog.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"package 'openai' is missing; expected pip install 'rubric-order\[endpoint\]'"
    ):
        relog.ask(study)


def test_a_log_without_levels_is_one_line(tmp_path):
    (tmp_path / "log.jsonl").write_text(
        json.dumps({"model": "m", "messages": [{"role": "user", "content": "Good or bad?"}]})
    )
    with pytest.raises(InputError, match=r"log.jsonl: line 1: no levels of a rubric in 1 prompts; expected lines"):
        relog.look([tmp_path / "log.jsonl"])


def test_letters_need_an_order():
    rubric = relog.look([LOGS / "rubric.eval"]).rubrics[0]
    lettered = rubric.__class__(rubric.form._replace(labels=("A", "B")), rubric.blocks, rubric.wordings)
    with pytest.raises(InputError, match="--order: the labels A, B do not say which level is the lowest"):
        relog.order_of(lettered, None)
    assert relog.order_of(lettered, "B, A") == ("B", "A")


def run(*words):
    return CliRunner().invoke(app, ["relog", *map(str, words)])


def test_nothing_is_written_or_asked_before_the_levels_are_confirmed(tmp_path):
    done = run(LOGS / "rubric.eval", "--write", tmp_path / "study", "--base-url", NOBODY)
    assert done.exit_code == 1
    assert "1  5 levels, in 4 of 4 prompts" in done.output
    assert "     2: The answer is mostly wrong." in done.output
    assert str(done.exception) == "--yes: expected, since the levels are not confirmed at a terminal"
    assert not (tmp_path / "study").exists()


def test_at_a_terminal_the_levels_are_confirmed_by_hand(tmp_path, monkeypatch):
    log = relog.look([LOGS / "rubric.eval"])
    monkeypatch.setattr(command, "_is_terminal", lambda: True)
    answers = iter([True, False])
    monkeypatch.setattr(command.typer, "confirm", lambda text: next(answers))
    assert command._confirmed(log, yes=False, number=None) is log.rubrics[0]
    with pytest.raises(InputError, match="--rubric: the levels were not confirmed"):
        command._confirmed(log, yes=False, number=None)


def test_the_address_in_a_log_is_shown_and_asked_only_once_it_is_confirmed(tmp_path, monkeypatch):
    with running(first_level) as endpoint:
        content = (LOGS / "promptfoo.json").read_text().replace("http://127.0.0.1:8799/v1", endpoint.base_url)
        (tmp_path / "log.json").write_text(content)
        words = [tmp_path / "log.json", "--yes", "--folder", tmp_path / "study"]
        done = run(*words)
        assert f"--base-url: the log names {endpoint.base_url}, which is not confirmed" in str(done.exception)
        assert not endpoint.calls
        done = run(tmp_path / "log.json", "--yes", "--write", tmp_path / "written")
        assert f"Judge: judge-1 at {endpoint.base_url}" in done.output
        monkeypatch.setattr(command, "_is_terminal", lambda: True)
        monkeypatch.setattr(command.typer, "confirm", lambda text: endpoint.base_url in text)
        assert run(*words).exit_code == 0
        assert len(endpoint.calls) == 30


def test_of_several_rubrics_one_is_named(tmp_path):
    lines = [
        {"id": name, "model": "m", "messages": [{"role": "user", "content": f"1. Read.\n2. Rate.\n\n{RUBRIC}\n{name}"}]}
        for name in ("first text", "second text")
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = [tmp_path / "log.jsonl", "--write", tmp_path / "study", "--base-url", NOBODY]
    done = run(*words, "--yes")
    assert "--rubric NUMBER --yes: expected" in str(done.exception)
    assert re.findall(r"^(\d)  (\d) levels", done.output, re.MULTILINE) == [("1", "3"), ("2", "2")]
    assert "--rubric: expected at most 2, found 3" in str(run(*words, "--yes", "--rubric", 3).exception)
    done = run(*words, "--yes", "--rubric", 1)
    assert done.exit_code == 0, done.output
    assert "2 items, 12 reads, 12 requests.\nThe log answers 0 of them; 12 are asked." in done.output
    assert "The judged text is taken to be what differs from prompt to prompt." in done.output
    assert (tmp_path / "study/prompt.jinja").read_text().startswith("1. Read.\n2. Rate.\n\n{% for option in options %}")


def test_of_many_lists_those_of_most_prompts_are_shown(tmp_path):
    lists = [f"{k}: one\n{k + 1}: two\n\nand\n\n" for k in range(10, 90, 2)]
    lines = [
        {"id": name, "model": "m", "messages": [{"role": "user", "content": f"{RUBRIC}\n\n{text}"}]}
        for name, text in (("a", "".join(lists)), ("b", lists[0]))
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run(tmp_path / "log.jsonl", "--write", tmp_path / "study", "--base-url", NOBODY)
    shown = re.findall(r"^(\d)  (\d) levels, in (\d) of 2", done.output, re.MULTILINE)
    assert shown == [("1", "3", "2"), ("2", "2", "2"), ("3", "2", "1"), ("4", "2", "1"), ("5", "2", "1")]
    assert "and 36 other lists, each in at most 1 prompts" in done.output


def test_the_command_ends_with_a_card_and_keeps_the_reads(tmp_path):
    shutil.copy(LOGS / "rubric.eval", tmp_path / "log.eval")
    with running(first_level) as endpoint:
        words = ["--yes", "--base-url", endpoint.base_url, "--folder", tmp_path / "study", "--json"]
        done = run(tmp_path / "log.eval", *words)
    assert done.exit_code == 0, done.output
    (card,) = json.loads(done.stdout)
    assert (card["judge"], card["n_items"]) == ("judge", 4)
    audited = CliRunner().invoke(app, ["audit", str(tmp_path / "study/reads.jsonl"), "--json"])
    assert json.loads(audited.stdout) == [card]


def test_tests_of_promptfoo_have_the_ordering_in_vars_and_the_prompts_of_the_study(tmp_path):
    words = ["--write", tmp_path / "study", "--yes", "--base-url", NOBODY, "--promptfoo", tmp_path / "config.yaml"]
    done = run(LOGS / "grades.eval", *words, "--api-key-env", "A_KEY")
    assert done.exit_code == 0, done.output
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    (provider,) = config["providers"]
    assert (provider["id"], provider["label"]) == ("openai:chat:judge", "judge")
    assert provider["config"] == {"apiBaseUrl": NOBODY, "omitDefaults": True, "apiKeyEnvar": "A_KEY"}
    study = written(LOGS / "grades.eval", tmp_path / "other")
    prompts = [test["vars"]["prompt"] for test in config["tests"]]
    # promptfoo takes one line end away from the end of a variable.
    assert {prompt.removesuffix("\n") for prompt in prompts} == set(study.requests["prompt"])
    first = config["tests"][0]["vars"]
    assert [first[name] for name in ("item", "group", "ordering", "labels")] == ["q0 1", "q0", "1 2 3", "I P C"]
    assert len({(test["vars"]["item"], test["vars"]["ordering"]) for test in config["tests"]}) == len(prompts) == 48


def test_results_of_promptfoo_s_own_run_of_these_tests_are_reads(tmp_path):
    """The file was written by promptfoo, over a server that names the level that stands first."""
    path = LOGS / "promptfoo_orders.json"
    study = written(LOGS / "rubric.eval", tmp_path, limit=1)
    sent = [row["vars"] for row in json.loads(path.read_text())["results"]["results"]]
    assert sent == [test["vars"] for test in promptfoo.tests(study)["tests"]] != []
    reads = promptfoo.reads(path)
    assert sorted(reads["ordering"]) == sorted(list(ordering) for ordering in study.reads["ordering"])
    assert (reads["score"] == reads["ordering"].str[0]).all()
    assert set(reads["judge"]) == {"judge"}
    done = run(path, "--json")
    assert json.loads(done.stdout)[0]["n_reads"] == 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ordering": "1 2 3"}, "field 'vars/ordering': expected each level from 1 to 5 once, found '1 2 3'"),
        ({"item": 5}, "field 'vars/item': expected text, found 5"),
    ],
)
def test_results_that_are_no_reads_are_one_line(tmp_path, changes, message):
    content = json.loads((LOGS / "promptfoo_orders.json").read_text())
    content["results"]["results"][2]["vars"] |= changes
    (tmp_path / "results.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'results.json'}: results/results/2: {message}")):
        promptfoo.reads(tmp_path / "results.json")


def test_tests_of_promptfoo_are_those_of_a_study(tmp_path):
    done = run(LOGS / "rubric.eval", "--yes", "--promptfoo", tmp_path / "config.yaml")
    assert str(done.exception) == "--promptfoo: expected --write FOLDER too, since tests are those of a study"


def test_a_rubric_in_the_system_message_is_asked_there(tmp_path):
    system = f"You rate replies. {{{{ keep }}}}\n{RUBRIC}\n\nAnswer with JSON."
    lines = []
    for name, text in (("a", "one reply"), ("b", "another reply")):
        turns = [("system", system), ("user", "Reply: x"), ("assistant", '{"score": 1}'), ("user", f"Reply: {text}\n")]
        messages = [{"role": role, "content": content} for role, content in turns]
        lines.append({"id": name, "model": "m", "messages": messages, "response": '{"score": 3}', "score": 3})
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def last_level(asked):
        shown = re.findall(r"^Score (\d): ", asked.body["messages"][0]["content"], re.MULTILINE)
        return Reply(completion(f'{{"score": {shown[-1]}}}', model="m"))

    with running(last_level) as endpoint:
        study = written(tmp_path / "log.jsonl", tmp_path / "study", settings={"base_url": endpoint.base_url})
        reads = relog.ask(study)
    assert (len(study.answered), study.agreeing, study.scored) == (2, 2, 2)
    assert (reads["score"] == reads["ordering"].str[-1]).all()
    assert len(endpoint.calls) == 10
    asked = endpoint.calls[0].body["messages"]
    assert [part["role"] for part in asked] == ["system", "user", "assistant", "user"]
    assert asked[0]["content"].startswith("You rate replies. {{ keep }}\nScore ")
    assert asked[3]["content"].startswith("Reply: ")
    assert asked[3]["content"].endswith("reply\n")
    config = yaml.safe_load((tmp_path / "study/config.yaml").read_text())
    assert config["judges"]["m"]["template"] == "prompt.yaml"
    tests = promptfoo.tests(study)
    assert [json.loads(prompt["raw"])[0] for prompt in tests["prompts"]] == [
        {"role": "system", "content": "{{message_1}}"}
    ]
    assert tests["tests"][0]["vars"]["message_3"] == '{"score": 1}'


def test_levels_from_0_are_labels_of_the_rubric_s_own(tmp_path):
    rubric = "0: none\n1: some\n2: much"
    lines = [
        {
            "id": text,
            "model": "m",
            "messages": [{"role": "user", "content": f"{rubric}\n\n{text}"}],
            "response": "Score: 2",
        }
        for text in ("one", "another")
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with running(lambda call: Reply(completion("Score: 0", model="m"))) as endpoint:
        study = written(tmp_path / "log.jsonl", tmp_path / "study", settings={"base_url": endpoint.base_url})
        reads = relog.ask(study)
    assert len(study.answered) == 2
    assert "conditions" not in yaml.safe_load((tmp_path / "study/config.yaml").read_text())["studies"]["position_bias"]
    assert sorted(reads["score"]) == 10 * [1] + 2 * [3]  # levels, counted from 1 as in `rubric_order.study`
