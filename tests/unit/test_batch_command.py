"""``rubric-order batch export`` and ``import``: requests as a file, and results from one."""

import json

import pytest
import yaml
from batch_server import as_lines
from endpoint import completion
from factories import complete_judge, request_table
from typer.testing import CliRunner

from rubric_order.base import parquet
from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.judging import shard, starting
from rubric_order.judging.engines import Resources, Response
from rubric_order.judging.store import Store

JUDGE = {"engine": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "a-model", "answer_format": "feedback"}
IDS = [f"r{k}" for k in range(5)]


class Project:
    """A folder with a config, and with the requests of its judge."""

    def __init__(self, folder):
        self.folder = folder
        self.requests = folder / "results/requests/s/mine.parquet"
        self.store = Store(folder / "results/store/mine")
        self.table = request_table(*IDS, repeat=0).assign(prompt=[f"prompt {k}" for k in range(5)])
        parquet.write(self.table, self.requests)
        judges = {"mine": JUDGE, "simulated": {"engine": "simulated", "model": "m"}}
        config = {"datasets": {"demo": {"adapter": "demo"}}, "judges": judges, "studies": {}}
        (folder / "c.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")

    def run(self, *words):
        words = [*words, "--config", self.folder / "c.yaml", "--project", self.folder]
        return CliRunner().invoke(app, ["batch", *map(str, words)])

    def export(self):
        done = self.run("export", self.requests, "-o", self.folder / "open.jsonl")
        assert done.exit_code == 0, done.exception
        return [json.loads(line) for line in (self.folder / "open.jsonl").read_text().splitlines()]

    def read_in(self, lines):
        (self.folder / "done.jsonl").write_bytes(as_lines(lines))
        return self.run("import", self.requests, self.folder / "done.jsonl")


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def result(name, text="Fine. [RESULT] 4", status=200, **body):
    """A line as ``vllm run-batch`` writes it."""
    body = body or completion(text)
    response = {"status_code": status, "request_id": "vllm-batch-1", "body": body}
    return {"id": "vllm-1", "custom_id": name, "response": response, "error": None}


def test_what_is_exported_and_imported_needs_no_call_any_more(project):
    lines = project.export()
    assert [line["custom_id"] for line in lines] == IDS
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert lines[2]["body"]["messages"] == [{"role": "user", "content": "prompt 2"}]
    done = project.read_in([result(line["custom_id"], f"{line['custom_id']} [RESULT] 4") for line in lines])
    assert done.output.strip() == "5 answered"
    with starting.Starter(complete_judge(**JUDGE, answer_prefix=""), project.store, Resources()) as start:
        responses = shard.judge(project.table, project.store, start)  # nobody listens at the address
    assert responses["text"].tolist() == [f"{name} [RESULT] 4" for name in IDS]
    assert project.export() == []
    assert project.store.spent()["calls"] == 5


def test_only_open_requests_are_exported_and_those_that_failed_come_last(project):
    project.store.append([Response("r1", text="4"), Response("r3", error="server_error: 500")])
    assert [line["custom_id"] for line in project.export()] == ["r0", "r2", "r4", "r3"]


def test_lines_are_counted_by_what_became_of_them(project):
    project.store.append([Response("r4", text="kept")])
    refused = result("r2", status=400, error={"message": "no such field"})
    lines = [result("r1"), result("r0"), result("r0", "again"), result("stranger"), b"{", refused, result("r4", "new")]
    done = project.read_in(lines)
    assert done.output.strip() == (
        "1 a second result of a request, 2 answered, 1 failed, 1 no result in JSON, 1 of an unknown request,"
        " 1 stored before"
    )
    rows = project.store.read(IDS, ["text"])
    assert rows["request_id"].tolist() == ["r0", "r1", "r2", "r4"]
    assert rows["text"].tolist()[0] == "Fine. [RESULT] 4"
    assert rows["text"].tolist()[3] == "kept"
    assert rows["error"].tolist()[2].startswith("bad_request: 400 no such field")


def test_a_file_that_is_imported_twice_counts_once(project):
    lines = [result("r0"), result("r1", status=500, error={"message": "no"})]
    project.read_in(lines)
    spent = project.store.spent()
    assert "1 stored before" in project.read_in(lines).output
    assert project.store.spent() == spent


@pytest.mark.parametrize(
    "error", ["too long", {"message": "too long", "code": 400}, {"error": {"message": "too long"}}]
)
def test_an_error_of_vllm_that_stands_beside_the_response_is_read(project, error):
    """Source: `make_error_request_output` of ``vllm run-batch``, of several versions."""
    line = result("r0") | {"response": {"status_code": 400, "request_id": "x", "body": None}, "error": error}
    assert project.read_in([line]).output.strip() == "1 failed"
    assert project.store.read(["r0"])["error"].tolist() == ["bad_request: 400 too long"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export", "nothing.parquet", "-o", "x"], "nothing.parquet: no such file; expected requests, as results/"),
        (["export", "{requests}", "-o", "x", "--judge", "other"], "no judge 'other'; found mine, simulated"),
        (["export", "{requests}", "-o", "x", "--judge", "simulated"], "judge simulated: expected engine openai with"),
        (["import", "{requests}", "{folder}/none.jsonl"], "none.jsonl: cannot be read: No such file"),
        (["import", "{requests}", "{folder}/c.yaml"], "c.yaml: no line is the result of a request of"),
    ],
)
def test_a_mistake_is_one_error(project, words, message):
    done = project.run(*(word.format(requests=project.requests, folder=project.folder) for word in words))
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)
