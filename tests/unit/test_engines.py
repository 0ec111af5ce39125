"""Engines: ours are found by their entry points, and so is one of another package, with its judges' settings."""

import json
import sys

import pandas as pd
import pytest
from factories import complete_judge, request, request_table

from rubric_order.base import plugins
from rubric_order.base.errors import InputError
from rubric_order.judging import engines, starting
from rubric_order.settings import judges

ECHO = """
from typing import Literal

from rubric_order.judging.engines import Engine, Response
from rubric_order.settings.base import Role, setting
from rubric_order.settings.judges import Capabilities, Judge


class Echo(Judge):
    KIND = "echo"
    engine: Literal["echo"] = setting(..., role=Role.IDENTITY)
    said: str = setting(..., role=Role.IDENTITY)

    @property
    def capabilities(self):
        return Capabilities(several_questions=False, constrained=False)


class EchoEngine(Engine[Echo]):
    JUDGE = Echo

    def start(self):
        self.said = self.judge.said

    def describe(self):
        return {"engine": "echo"}

    def answer(self, requests):
        for request in requests:
            yield Response(request.request_id, text=self.said, finish_reason="stop")
"""
BLOCK = {"engine": "echo", "model": "m", "said": "4", "answer_format": "score", "sampling": {"temperature": 0.0}}


@pytest.fixture
def echo(tmp_path, monkeypatch):
    """Install a package with an engine; some of its code is replaced."""

    def install(old="", new=""):
        folder = tmp_path / "echoes-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Name: echoes\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("[rubric_order.engines]\necho = plugin_echo:EchoEngine\n")
        (tmp_path / "plugin_echo.py").write_text(ECHO.replace(old, new))
        monkeypatch.delitem(sys.modules, "plugin_echo", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
        plugins.forget()

    yield install
    plugins.forget()


@pytest.mark.parametrize(
    "block",
    [
        *({"engine": "vllm"}, {"engine": "openai"}, {"engine": "openai", "serve": {}}, {"engine": "simulated"}),
        {"engine": "python", "function": "json:loads", "sampling": {"temperature": None}},
    ],
)
def test_each_kind_of_judge_that_is_asked_has_an_engine_of_its_own(block):
    judge = complete_judge(**block)
    engine = engines.REGISTRY.load(judge.ENGINE or judge.KIND)
    assert engine.JUDGE is type(judge)
    assert engine.__module__ == engines.module(judge)


def test_each_model_of_ours_that_is_asked_has_an_engine_and_each_engine_a_model():
    asked = {model.ENGINE or model.KIND for model in judges.KINDS if model.ASKED}
    assert asked == set(engines.REGISTRY.names())
    assert judges.engines() == ("vllm", "openai", "decisions", "python", "simulated", "recorded")


def test_a_judge_of_another_package_is_read_named_and_asked(echo, tmp_path):
    echo()
    assert judges.engines()[-1] == "echo"
    judge = judges.read(BLOCK)
    identity = judge.identity(["answer_format"])
    assert (identity["said"], identity["sampling"]["temperature"]) == ("4", 0)
    assert judge.changed(said="5").identity(["answer_format"]) != identity
    path = tmp_path / "judge.json"
    path.write_text(json.dumps(judge.block()))
    engine = engines.load(judges.Judge.from_file(path))
    assert [response.text for response in engine.answer([request("a"), request("b")])] == ["4", "4"]
    engine.close()
    assert engines.module(judge) == "plugin_echo"


def test_what_an_engine_cannot_do_is_said_of_config_or_before_it_is_asked(echo):
    echo()
    judge = judges.read(BLOCK | {"second_request": True, "criteria_format": "lines"})
    assert list(judge.problems()) == [
        "second_request: its engine holds no answer to a form",
        "criteria_format: its engine holds no answer to a form",
    ]
    one = request_table("a")
    several = one.assign(questions=[[*one["questions"][0], *one["questions"][0]]])
    starting.check(judge, one)
    with pytest.raises(InputError, match=r"^judge: its engine answers one question per prompt"):
        starting.check(judge, pd.concat([one, several]))
    starting.check(complete_judge(), several)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (BLOCK | {"said": 4}, "Input should be a valid string"),
        (BLOCK | {"gguf": {"package": "p", "file": "f", "sha256": "0" * 64}}, "it is for engine 'vllm', found engine"),
        (BLOCK | {"saying": "x"}, "Extra inputs are not permitted"),
        (BLOCK | {"engine": "ech"}, "unknown engine"),
        (BLOCK | {"engine": "openai_server"}, "unknown engine"),
    ],
)
def test_its_settings_are_checked_as_those_of_ours(echo, block, message):
    echo()
    with pytest.raises(ValueError, match=message):
        judges.read(block)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def answer", "def answers", "package echoes: entry point 'echo' of rubric_order.engines: .* lacks answer$"),
        ("    JUDGE = Echo\n", "", "package echoes: entry point 'echo' of rubric_order.engines: .* lacks JUDGE$"),
        ('KIND = "echo"', 'KIND = "other"', "^engine 'echo': expected as its JUDGE a subclass of Judge whose KIND is"),
        ("JUDGE = Echo", "JUDGE = dict", "^engine 'echo': expected as its JUDGE a subclass of Judge whose KIND is"),
    ],
)
def test_what_is_wrong_with_an_engine_is_one_line(echo, old, new, message):
    echo(old, new)
    with pytest.raises(InputError, match=message):
        judges.read(BLOCK)
