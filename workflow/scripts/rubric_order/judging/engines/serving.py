"""A vLLM server on this machine, for the time of one job."""

import contextlib
import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from typing import Any

import httpx

from rubric_order.base.errors import InputError
from rubric_order.judging.engines import Resources, vllm_offline
from rubric_order.settings import judges

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
READY_SECONDS = 1800.0  # longest time that loading a model may take
PORT_TRIES = 3  # another process can take the port after it was found and before it is used
STOP_SECONDS = 30.0  # time for the server to end before it is killed

# Starts the server so that it gets SIGTERM when this process ends in any way (prctl(2), PR_SET_PDEATHSIG).
STARTER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def start(judge: judges.Server, resources: Resources) -> "Server":
    """Start a server and wait until it answers."""
    for _ in range(PORT_TRIES):
        server = Server(judge, resources)
        try:
            server.wait_until_ready(judge.serve.ready_timeout or READY_SECONDS)
            return server
        except BaseException as error:
            server.stop()
            if not (isinstance(error, InputError) and server.port_was_taken()):
                raise
    raise InputError(f"judge: serve: {PORT_TRIES} ports of {HOST} in a row were taken by others")


class Server:
    """A running server, with a key that only this job knows. It ends with this process."""

    def __init__(self, judge: judges.Server, resources: Resources) -> None:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port = probe.getsockname()[1]
        self.judge = judge
        self.base_url = f"http://{HOST}:{port}/v1"
        self.key = secrets.token_urlsafe(32)
        self.arguments = server_arguments(judge, resources)
        self._ready = False
        self._output: deque[str] = deque(maxlen=500)
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter
            [
                *(sys.executable, "-c", STARTER, "-m", "vllm.entrypoints.openai.api_server"),
                *as_options({**self.arguments, "host": HOST, "port": port}),
            ],
            env={**server_environment(judge), "VLLM_API_KEY": self.key},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # so that it can be ended with all of its child processes
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def describe(self) -> dict[str, Any]:
        return {
            "server": "vllm",
            "server_version": _vllm_version(),
            **vllm_offline.describe_model(self.judge, self.arguments),
        }

    def wait_until_ready(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        headers = {"Authorization": f"Bearer {self.key}"}
        with httpx.Client(trust_env=False, timeout=5.0) as client:
            while time.monotonic() < deadline:
                self.check()
                with contextlib.suppress(httpx.TransportError):
                    if client.get(f"{self.base_url}/models", headers=headers).status_code == httpx.codes.OK:
                        self._ready = True
                        return
                time.sleep(0.25)
        raise InputError(f"judge: serve: vLLM's server did not answer within {seconds:g} s (serve/ready_timeout)")

    def check(self) -> None:
        """Raise the last error that the server printed if it has ended; if it never was ready, print its output."""
        status = self.process.poll()
        if status is not None:
            self._reader.join(5.0)
            if not self._ready:
                sys.stderr.write("".join(self._output))
            errors = (
                [line for line in self._output if "error" in line.lower()] or list(self._output)[-1:] or ["no output"]
            )
            raise InputError(f"judge: serve: vLLM's server ended with status {status}: {' '.join(errors[-1].split())}")

    def port_was_taken(self) -> bool:
        return any("address already in use" in line.lower() for line in self._output)

    def stop(self) -> None:
        """End the server and all processes that it started. Its output meanwhile is dropped."""
        self._ready = False
        self._signal(signal.SIGTERM)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            self.process.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._output.append(line)
            if self._ready:
                sys.stderr.write(line)


def server_arguments(judge: judges.Server, resources: Resources) -> dict[str, Any]:
    """Arguments of the server: arguments of the engine, like in `vllm_offline`, and of the server's interface."""
    return {
        "served_model_name": judge.shown_name,
        "generation_config": "vllm",  # the judge's sampling settings, not the model's recommendations
        "enable_prompt_tokens_details": True,
        "disable_uvicorn_access_log": True,
        "uvicorn_log_level": "warning",
        **({"chat_template": judge.chat_template} if judge.chat_template else {}),
        **vllm_offline.engine_arguments(judge, resources),
        **(judge.serve.arguments or {}),
    }


def server_environment(judge: judges.Server) -> dict[str, str]:
    # by default the CPU build reserves a core, too much on a small machine
    ours = {"VLLM_CPU_NUM_OF_RESERVED_CPU": "0"} if vllm_offline.is_cpu_build() else {}
    return {**ours, **os.environ, **vllm_offline.environment(judge)}


def as_options(arguments: dict[str, Any]) -> list[str]:
    options = []
    for name, value in arguments.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            options.append(f"--{option}" if value else f"--no-{option}")
        else:
            options.append(f"--{option}={value if isinstance(value, str) else json.dumps(value)}")
    return options


def _vllm_version() -> str:
    if (installed := vllm_offline.installed()) is None:
        raise InputError("judge: serve: vLLM is not installed")
    return installed.split()[1]
