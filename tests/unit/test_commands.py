"""The commands probe, plan and status, and what each command's help shows."""

import collections
import json
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
import typer
from endpoint import Reply, completion, running
from factories import ROOT, complete_judge
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.commands.probe import sentences
from rubric_order.library import probe
from rubric_order.settings import judges, schema
from rubric_order.settings.judges import over_http

RUBRIC = "question: Is it polite?\nlevels:\n  1: bad\n  2: fair\n  3: good\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "reply.txt").write_text("Hello {{ 7*7 }}.", encoding="utf-8")
    (tmp_path / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    return tmp_path


def first_option(call):
    return Reply(completion("[RESULT] " + re.search(r"^Score (\d):", call.prompt, re.MULTILINE)[1], model="m"))


def run(files, url, *words):
    words = ["probe", str(files / "reply.txt"), "--base-url", url, "--model", "m", *map(str, words)]
    return CliRunner().invoke(app, words)


def test_probe_prints_every_order_of_a_text_and_what_was_chosen_where(files):
    with running(first_option) as endpoint:
        done = run(files, endpoint.base_url, "--rubric", files / "rubric.yaml", "--strategy", "all")
    assert done.exit_code == 0, done.output
    assert "6 of 6 orderings give a score: from 1 to 3, 2.00 on average." in done.output
    assert "What was chosen stood 6 at position 1, 0 at position 2, 0 at position 3." in done.output
    assert len(endpoint.calls) == 6
    assert all("Hello {{ 7*7 }}." in call.prompt and "[Is it polite?]" in call.prompt for call in endpoint.calls)


def test_probe_as_json_has_each_order_once_and_failures_have_reasons(files):
    replies = iter(["[RESULT] 2", "I would rather not."] * 3)
    with running(lambda call: Reply(completion(next(replies), model="m"))) as endpoint:
        done = run(files, endpoint.base_url, "--level", "bad", "--level", "fair", "--level", "good", "--json")
    found = json.loads(done.stdout)
    assert sorted(tuple(read["ordering"]) for read in found) == sorted(
        [(1, 2, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1), (2, 1, 3), (1, 3, 2)]
    )
    assert sorted((read["score"] or 0, read["reason"] or "") for read in found) == [(0, "no_score")] * 3 + [(2, "")] * 3
    assert all(read["position"] == read["ordering"].index(2) + 1 for read in found if read["score"])


def test_probe_ends_with_status_1_where_no_answer_gives_a_score(files):
    with running(lambda call: Reply(completion("no", model="m"))) as endpoint:
        done = run(files, endpoint.base_url, "--rubric", files / "rubric.yaml")
    assert done.exit_code == 1
    assert "None of 6 answers gives a score." in done.output


def test_a_rubric_for_probe_is_given_once_and_checked(files):
    for words in ([], ["--rubric", files / "rubric.yaml", "--level", "bad"]):
        with pytest.raises(InputError, match="expected --rubric FILE, or --level once a score"):
            raise run(files, "http://127.0.0.1:9/v1", *words).exception
    assert probe.read_rubric(files / "rubric.yaml") == ("Is it polite?", ["bad", "fair", "good"], 1)
    named = files / "named.yaml"
    named.write_text("politeness:\n" + re.sub("^", "  ", RUBRIC, flags=re.MULTILINE))
    assert probe.read_rubric(named)[1] == ["bad", "fair", "good"]
    named.write_text("question: x\nlevels: {0: a, 1: b, 2: c}")
    assert probe.read_rubric(named) == ("x", ["a", "b", "c"], 0)
    for text in ("levels: {1: a, 3: b}", "levels: {0: a, 2: b}", "levels: [a]", "question: x", "levels: {1: a, 2: 3}"):
        named.write_text(text)
        with pytest.raises(InputError, match=r"named\.yaml: expected one rubric"):
            probe.read_rubric(named)
    for text, message in (("[", "malformed YAML"), ("levels: {1: a, 2: b, 2: c}", "duplicate key 2")):
        named.write_text(text)
        with pytest.raises(InputError, match=rf"named\.yaml: line [12], column \d+: .*{message}"):
            probe.read_rubric(named)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://localhost:99999/v1", "Port out of range 0-65535"),
        ("http://localhost:0/v1", "no server has port 0"),
        ("http://[::1/v1", "Invalid IPv6 URL"),
        ("localhost:8000/v1", "expected http:// or https:// and a host"),
        ("https://user:key@host/v1", "without a user"),
    ],
)
def test_an_address_that_is_none_is_named_and_nothing_is_asked(files, url, message):
    with pytest.raises(InputError, match=f"^--base-url: '{re.escape(url)}': .*{message}"):
        raise run(files, url, "--rubric", files / "rubric.yaml").exception


def test_an_address_is_what_the_schema_says():
    assert schema.model_schema(judges.Endpoint)["properties"]["base_url"]["pattern"] == over_http.ADDRESS


def test_the_settings_of_probe_are_the_defaults_of_a_judge(monkeypatch):
    asked = []
    monkeypatch.setattr(probe, "_answers", lambda texts, shown, judge, labels: asked.append(judge) or iter(()))
    list(probe.probe("A text.", levels=["bad", "good"], base_url="http://127.0.0.1:9/v1", model="org/model"))
    sampling = {"temperature": 0, "top_p": None, "max_tokens": 1024, "seed": None}
    usual = complete_judge(engine="openai", answer_format="feedback", answer_prefix="", sampling=sampling)
    assert [judge.block() for judge in asked] == [usual.block()]


def test_orders_that_agree_are_said_to_agree():
    reads = [probe.Read((1, 2), 2, None, "2"), probe.Read((2, 1), 2, None, "2")]
    assert sentences(reads)[:2] == [
        "2 of 2 orderings give a score: each gives 2.",
        "What was chosen stood 1 at position 1, 1 at position 2.",
    ]


def test_plan_and_status_name_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="Snakefile: no such file"):
        raise CliRunner().invoke(app, ["plan", "x.yaml", "--project", str(tmp_path)]).exception
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        raise CliRunner().invoke(app, ["status", "nowhere.yaml", "--project", str(ROOT)]).exception


@pytest.mark.parametrize("name", ["plan", "status"])
def test_plan_and_status_show_every_mistake_of_a_config(monkeypatch, name):
    said = "Config file config.yaml is extended by a.yaml\nerror: config: judges/a: one\nconfig: judges/b: two\n"
    done = subprocess.CompletedProcess([], 1, stdout="", stderr=said)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(InputError) as error:
        raise CliRunner().invoke(app, [name, str(ROOT / "config/demo.yaml"), "--project", str(ROOT)]).exception
    assert str(error.value) == "config: judges/a: one\nconfig: judges/b: two"


@pytest.mark.parametrize("name", [command.name for command in app.registered_commands])
def test_the_help_of_each_command_has_an_example(name):
    done = CliRunner().invoke(app, [name, "--help"])
    assert done.exit_code == 0
    assert f"rubric-order {name}" in re.sub(r"\s+", " ", done.output)


# --- options that several commands have

# What an option is about differs from command to command, and so do its words.
OF_THEIR_OWN = {
    "--json": "what each command prints",
    "--page": "what each command writes",
    "--output": "what each command writes",
    "--folder": "what lies in it",
    "--project": "what is used of the project",
    "--budget": "money of certify, orderings of orderings",
    "--model": "relog takes the log's by default",
    "--base-url": "relog takes the log's by default",
    "--rubric": "a file, or the number of one that relog shows",
    "--question": "probe takes it with --level alone",
    "--template": "certify takes a file alone",
    "--strategy": "which orderings each command takes",
    "--judge": "cards of a summary, judges of a log, judges of a config",
}


def commands_of(app: typer.Typer) -> typing.Iterator[typing.Callable]:
    """The functions of all commands, also of those that stand under a group."""
    yield from (command.callback for command in app.registered_commands)
    for group in app.registered_groups:
        yield from commands_of(group.typer_instance)


def definitions() -> dict[str, list]:
    """By option its definitions, each once however many commands take it."""
    found = collections.defaultdict(dict)
    for command in commands_of(app):
        for name, hint in typing.get_type_hints(command, include_extras=True).items():
            for about in getattr(hint, "__metadata__", ()):
                if isinstance(about, typer.models.OptionInfo):
                    declared = (about.default, *(about.param_decls or ()))  # the first one takes the default's place
                    flags = [flag for flag in declared if isinstance(flag, str) and flag.startswith("--")]
                    flags = flags or [f"--{name.replace('_', '-')}"]
                    found[max(flags, key=len)][id(about)] = about
    return {flag: list(by_id.values()) for flag, by_id in found.items()}


def test_an_option_of_several_commands_is_defined_once_or_is_about_something_else_in_each():
    several = {flag: [about.help for about in made] for flag, made in definitions().items() if len(made) > 1}
    assert {*several} == {*OF_THEIR_OWN}, "share a definition in commands/options.py, or say why words differ"
    assert {flag: words for flag, words in several.items() if len({*words}) < len(words) and flag != "--json"} == {}


def test_key_and_address_are_options_of_the_same_words_wherever_a_judge_is_asked():
    made = definitions()
    for flag in ("--api-key-env", "--key-over-http"):
        assert len(made[flag]) == 1
    for command in ("probe", "certify"):
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
        assert "Name of the environment variable with the key." in shown
        assert "Send the key over plain http to another machine." in shown


def test_a_shell_completes_commands_once_it_is_told_to(tmp_path: Path):
    """In a real bash with a home of its own: what is installed there is what completes."""
    script = """
        rubric-order --install-completion > /dev/null || exit 1
        . "$HOME/.bashrc"
        COMP_WORDS=(rubric-order au) COMP_CWORD=1
        _rubric_order_completion rubric-order
        echo "${COMPREPLY[@]}"
    """
    environment = {"HOME": str(tmp_path), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "audit"), done.stderr
