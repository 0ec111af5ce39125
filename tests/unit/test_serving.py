"""Starting and stopping a server, with a stand-in for vLLM's that does what vLLM's cannot be made to do here."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from factories import changed

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import NOTHING, Resources, serving

SERVER = """
import http.server, json, os, signal, subprocess, sys
options = dict(argument.removeprefix("--").partition("=")[::2] for argument in sys.argv[1:])
print("starting")
if "fails" in options:
    print("ValueError: no such model")
    print("something else")
    sys.exit(3)
if "taken" in options and not os.path.exists(options["taken"]):
    open(options["taken"], "w").close()
    sys.exit("OSError: [Errno 98] Address already in use")
if "stubborn" in options:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(options["started"], "w") as file:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    file.write(f"{os.getpid()} {child.pid}")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        right = self.headers["Authorization"] == "Bearer " + os.environ["VLLM_API_KEY"]
        self.send_response(200 if right and "silent" not in options else 503)
        self.end_headers()

    def log_message(self, *_):
        print("WARNING a request", flush=True)


http.server.HTTPServer((options["host"], int(options["port"])), Handler).serve_forever()
"""


@pytest.fixture
def served(judge, tmp_path, monkeypatch):
    """A judge whose server is the stand-in; `arguments` are passed on to it."""
    package = tmp_path / "vllm/entrypoints/openai"
    package.mkdir(parents=True)
    for folder in (package, *package.parents[:2]):
        (folder / "__init__.py").touch()
    (package / "api_server.py").write_text(SERVER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(serving, "STOP_SECONDS", 1.0)

    def make(ready_timeout=30, **arguments):
        arguments |= {"started": str(tmp_path / "started")}
        serve = {"arguments": arguments, "ready_timeout": ready_timeout}
        return changed(judge, engine="openai", serve=serve, model="/models/llama")

    return make


def processes(tmp_path):
    """The server and its child, if they still run."""
    path = tmp_path / "started"
    ids = path.read_text().split() if path.exists() else []
    return [pid for pid in ids if Path(f"/proc/{pid}").exists() and not _is_zombie(pid)]


def _is_zombie(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def test_a_server_runs_until_it_is_stopped(served, tmp_path, capfd):
    server = serving.start(served(), NOTHING)
    assert len(processes(tmp_path)) == 2
    assert server.base_url.startswith("http://127.0.0.1:")
    commands = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes(tmp_path))
    assert b"--served-model-name=llama" in commands
    assert server.key.encode() not in commands
    server.stop()
    assert wait_until(lambda: processes(tmp_path) == [])
    assert "starting" not in capfd.readouterr().err


def test_a_server_that_does_not_want_to_end_is_ended(served, tmp_path):
    server = serving.start(served(stubborn="yes"), NOTHING)
    server.stop()
    assert wait_until(lambda: processes(tmp_path) == [])


def test_a_server_that_ends_by_itself_is_one_error_and_its_output_is_kept(served, capfd):
    message = "^judge: serve: vLLM's server ended with status 3: ValueError: no such model$"
    with pytest.raises(InputError, match=message):
        serving.start(served(fails="yes"), NOTHING)
    assert capfd.readouterr().err == "starting\nValueError: no such model\nsomething else\n"


def test_a_server_that_never_answers_is_stopped(served, tmp_path):
    with pytest.raises(InputError, match="did not answer within 2 s"):
        serving.start(served(ready_timeout=2, silent="yes"), NOTHING)
    assert wait_until(lambda: processes(tmp_path) == [])


def test_a_port_that_another_has_taken_is_not_the_end(served, tmp_path):
    server = serving.start(served(taken=str(tmp_path / "taken")), NOTHING)
    assert (tmp_path / "taken").exists()
    server.stop()


def test_a_server_that_dies_later_is_noticed(served, tmp_path, capfd):
    server = serving.start(served(), NOTHING)
    server.check()
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    with pytest.raises(InputError, match="vLLM's server ended with status -9: "):
        server.check()
    server.stop()
    assert wait_until(lambda: processes(tmp_path) == [])


def test_a_job_that_is_killed_takes_its_server_along(served, root, tmp_path):
    script = (
        "import json, sys, time\n"
        "from rubric_order.judging.engines import NOTHING, serving\n"
        "from rubric_order.settings import judges\n"
        "serving.start(judges.read(json.loads(sys.argv[1])), NOTHING)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{root / 'workflow/scripts'}"}
    command = [sys.executable, "-c", script, json.dumps(served().block())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as job:
        assert job.stdout.readline() == "ready\n"
        server, child = processes(tmp_path)
        job.kill()
    assert wait_until(lambda: server not in processes(tmp_path))
    os.kill(int(child), signal.SIGKILL)  # vLLM's server ends what it started when it is asked to end; this one does not


def test_arguments_become_options():
    arguments = {"model": "a b", "enforce_eager": True, "enable_prefix_caching": False, "max_num_seqs": 4}
    assert serving.as_options(arguments | {"hf_overrides": {"a": [1]}}) == [
        "--model=a b",
        "--enforce-eager",
        "--no-enable-prefix-caching",
        "--max-num-seqs=4",
        '--hf-overrides={"a": [1]}',
    ]


def test_the_server_gets_what_the_engine_would_and_what_config_adds(judge):
    own = {"model": "org/llama", "chat_template": "{{ messages }}", "engine_args": {"max_num_seqs": 4}}
    judge = changed(judge, engine="openai", serve={"arguments": {"reasoning_parser": "qwen3"}}, **own)
    arguments = serving.server_arguments(judge, Resources(gpus=2, model_folder=Path("results/models/llama")))
    assert arguments["model"] == "results/models/llama"
    assert arguments["served_model_name"] == "org/llama"
    assert (arguments["tensor_parallel_size"], arguments["max_num_seqs"]) == (2, 4)
    assert (arguments["reasoning_parser"], arguments["chat_template"]) == ("qwen3", "{{ messages }}")
    assert arguments["generation_config"] == "vllm"
