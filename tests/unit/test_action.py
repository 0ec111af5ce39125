"""The composite Action: its steps are run by the shell as a runner does, with a server in the place of GitHub's API."""

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml
from factories import ROOT
from test_gate import reads

import rubric_order as ro

FOLDER = ROOT / ".github/actions/gate"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))


RUNNER = "github-actions[bot]"
MARK = "<!-- rubric-order gate: Judge gate -->"


class Comments(http.server.BaseHTTPRequestHandler):
    """Comments of a pull request, as the API of GitHub lists, makes and edits them."""

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

    def body(self):
        assert self.headers["Authorization"] == "Bearer t0ken"
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]

    def do_GET(self):
        if self.path == "/user":
            status = 200 if self.server.login != RUNNER else 403  # the runner's own token is no user's
            self.answer(status, {"login": self.server.login})
            return
        match = re.fullmatch(r"/repos/o/r/issues/7/comments\?per_page=(\d+)&page=(\d+)", self.path)
        size, page = map(int, match.groups())
        self.answer(200, self.server.comments[size * (page - 1) : size * page])

    def do_POST(self):
        assert self.path == "/repos/o/r/issues/7/comments"
        if self.server.read_only:
            self.answer(403, {"message": "Resource not accessible by integration"})
            return
        user = {"login": self.server.login}
        self.server.comments.append({"id": len(self.server.comments), "user": user, "body": self.body()})
        self.answer(201, self.server.comments[-1])

    def do_PATCH(self):
        comment = self.server.comments[int(self.path.removeprefix("/repos/o/r/issues/comments/"))]
        comment["body"] = self.body()
        self.answer(200, comment)


@pytest.fixture
def api():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Comments)
    server.comments = [{"id": k, "user": None, "body": f"comment {k}"} for k in range(150)]
    server.read_only, server.login = False, RUNNER
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def value(expression, context):
    """Value of a text with expressions, of those kinds that the Action uses."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: context[match[1]], expression)


def wanted(condition, context):
    """Outcome of a condition that joins comparisons with &&."""
    comparisons = [re.fullmatch(r"([\w.]+) == '(\w+)'", part) for part in condition.split(" && ")]
    return all(context[comparison[1]] == comparison[2] for comparison in comparisons)


def act(folder, api, *, event="pull_request", run_id="1", **inputs):
    """Run the steps of the Action until one fails.

    Returns:
        Status of the last step that ran, the outputs of the Action, the step summary, and all that was printed.
    """
    given = {name: value(str(field["default"]), {"github.token": "t0ken"}) for name, field in ACTION["inputs"].items()}
    assert set(inputs) <= set(given)
    context = {f"inputs.{name}": text for name, text in (given | inputs).items()} | {"github.event_name": event}
    event_file, summary = folder / "event.json", folder / "step_summary.md"
    event_file.write_text(json.dumps({"pull_request": {"number": 7}}))
    summary.write_text("")
    (folder / "temp").mkdir(exist_ok=True)
    runner = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_ACTION_PATH": str(FOLDER),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_EVENT_PATH": str(event_file),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": run_id,
        "GITHUB_API_URL": f"http://127.0.0.1:{api.server_port}",
    }
    printed, status = "", 0
    for step in ACTION["runs"]["steps"]:
        if not wanted(step.get("if", "github.event_name == '" + event + "'"), context):
            continue
        outputs = folder / "outputs"
        outputs.write_text("")
        environment = runner | {name: value(text, context) for name, text in step.get("env", {}).items()}
        # As GitHub documents shell bash.
        script = folder / "step.sh"
        script.write_text(step["run"])
        words = [step["shell"], "--noprofile", "--norc", "-eo", "pipefail", script]
        environment["GITHUB_OUTPUT"] = str(outputs)
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        printed, status = printed + done.stdout + done.stderr, done.returncode
        if "id" in step:
            pairs = (line.split("=", 1) for line in outputs.read_text().splitlines())
            context |= {f"steps.{step['id']}.outputs.{name}": text for name, text in pairs}
        if status:
            break
    results = {name: context.get(output["value"][4:-3]) for name, output in ACTION["outputs"].items()}
    return status, results, summary.read_text(), printed


@pytest.fixture
def files(tmp_path):
    """A baseline, and reads of a judge that wavers, twice, and of one that has changed."""
    for name, table in {"same": reads(1), "next": reads(2), "changed": reads(1, shift=0.8)}.items():
        table.assign(ordering=[" ".join(map(str, order)) for order in table["ordering"]]).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    (tmp_path / "base.json").write_text(json.dumps(ro.bias_card(reads(0)).to_dicts()))
    return tmp_path


def test_the_action_is_composite_and_describes_each_input_and_each_step_names_its_shell():
    assert ACTION["runs"]["using"] == "composite"
    assert all(field["description"] for field in (ACTION["inputs"] | ACTION["outputs"]).values())
    assert {step["shell"] for step in ACTION["runs"]["steps"]} == {"bash"}
    assert (FOLDER / "../../../pyproject.toml").is_file()  # the package that it installs


def test_no_step_writes_an_input_into_its_script():
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]


@pytest.mark.slow
def test_a_pull_request_has_one_comment_that_later_runs_replace(files, api):
    status, results, summary, printed = act(files, api, reads="changed.csv", baseline="base.json")
    assert status == 1, printed
    assert results["status"] == "1"
    assert Path(results["junit"]).read_text().startswith("<?xml")
    assert summary.startswith("## ❌ Judge gate: failed")
    (comment,) = api.comments[150:]
    assert comment["body"] == f"<!-- rubric-order gate: Judge gate -->\n{summary}"
    status, _, summary, _ = act(files, api, reads="same.csv", baseline="base.json", once="true", run_id="2")
    assert status == 0
    assert [each["body"] for each in api.comments[150:]] == [f"<!-- rubric-order gate: Judge gate -->\n{summary}"]
    assert "✅ Judge gate: passed" in summary
    act(files, api, reads="same.csv", baseline="base.json", once="true", title="Other <b> gate")
    assert len(api.comments) == 152
    assert api.comments[151]["body"].startswith(
        "<!-- rubric-order gate: Other b gate -->\n## ✅ Other &#60;b&#62; gate"
    )
    lines = (files / "base.history.jsonl").read_text().splitlines()
    assert [json.loads(line)["run"] for line in lines] == ["1"]  # what is compared once is not kept


@pytest.mark.slow
def test_a_daily_run_writes_no_comment_and_keeps_its_history_where_it_is_told(files, api):
    options = {"event": "schedule", "baseline": "base.json", "history": "kept/runs.jsonl", "limits": "--min-groups 30"}
    for number, name in (("5", "same"), ("6", "next"), ("6", "next")):  # the last one is a second attempt
        status, _, summary, printed = act(files, api, reads=f"{name}.csv", run_id=number, **options)
        assert status == 0, printed
    assert "groups at least 30" in summary
    assert len(api.comments) == 150
    lines = (files / "kept/runs.jsonl").read_text().splitlines()
    assert [json.loads(line)["run"] for line in lines] == ["5", "6"]  # the same reads count once


def test_a_gate_that_cannot_tell_fails_unless_it_may_not(files, api):
    options = {"summary": "base.json", "limits": "--min-groups 99"}
    assert act(files, api, **options)[0] == 2
    status, results, _, printed = act(files, api, **options, undecided="pass")
    assert (status, results["status"]) == (0, "2")
    assert "::warning::the gate cannot tell" in printed


def test_a_suite_that_is_another_one_is_said_in_the_comment(files, api):
    (files / "other.json").write_text(json.dumps(ro.bias_card(reads(0, groups=25)).to_dicts()))
    status, _, summary, printed = act(files, api, summary="other.json", baseline="base.json", undecided="pass")
    assert status == 2
    assert "another suite than in base.json" in summary
    assert "another suite than in base.json" in printed
    assert "another suite than in base.json" in api.comments[150]["body"]


def test_what_is_missing_is_said(files, api):
    status, results, _, printed = act(files, api)
    assert status == 2
    assert results["status"] is None
    assert "::error::expected input summary or reads" in printed


def test_reads_that_cannot_be_read_are_no_change_of_the_judge_and_no_pass(files, api):
    status, results, summary, printed = act(files, api, reads="nowhere.csv", undecided="pass")
    assert (status, results["status"]) == (2, "2")
    assert summary.startswith("## ⚠️ Judge gate: cannot tell")
    for text in (summary, printed, api.comments[150]["body"]):
        assert "nowhere.csv: no such file" in text


def test_a_token_that_may_only_read_is_a_warning(files, api):
    api.read_only = True
    status, _, _, printed = act(files, api, summary="base.json", limits="--min-groups 5")
    assert status == 0
    assert "::warning::no comment was written: HTTP Error 403" in printed


def comment(folder, api, text):
    """Write a comment as the Action's step does."""
    (folder / "gate.md").write_text(text)
    environment = os.environ | {
        "GITHUB_TOKEN": "t0ken",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_API_URL": f"http://127.0.0.1:{api.server_port}",
    }
    (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    words = [sys.executable, FOLDER / "comment.py", "--title", "Judge gate", folder / "gate.md"]
    subprocess.run(words, env=environment, check=True)


@pytest.mark.parametrize("login", [RUNNER, "owner-of-a-token"])
def test_a_comment_of_somebody_else_with_the_mark_is_left_alone(files, api, login):
    api.comments[3] |= {"user": {"login": "somebody"}, "body": f"{MARK}\nmine"}
    api.login = login
    for _ in range(2):
        comment(files, api, "x\n")
    assert api.comments[3]["body"] == f"{MARK}\nmine"
    assert [(each["user"]["login"], each["body"]) for each in api.comments[150:]] == [(login, f"{MARK}\nx\n")]


def test_a_long_table_is_cut_at_a_line(files, api):
    comment(files, api, "a line of the table\n" * 5000)
    body = api.comments[150]["body"]
    assert len(body) < 65_536
    assert body.endswith("a line of the table\n\nThe rest is in the step summary.\n")
