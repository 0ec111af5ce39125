"""Cost of a judge job over an endpoint beside the bare client: wall time, CPU, and memory with many calls under way.

    python tests/benchmarks/call_speed.py

A server in a process of its own answers each call after 50 ms. A judge job (`judge_shard.py`, with journal and store)
and the bare OpenAI client ask it the same prompts, with as many calls under way, and take turns. Each is a process
whose time and CPU count from its start to its end, the server's not. The first table has a line a turn, and the ratios
are medians over the turns. The second has the largest memory of the job with 2,000 calls under way, for studies of
several sizes, and the most calls that the server saw at once. There the server answers after 10 s: it sees so many only
if they wait longer than it takes to send them.
"""

import argparse
import asyncio
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
from shard_memory import write_requests

ROOT = Path(__file__).resolve().parents[2]
SECONDS, SLOW_SECONDS = 0.05, 10.0  # until the server answers
TEXT = "The response follows the instruction and gives reasons, but it leaves one question open. " * 4 + "[RESULT] 4"
MODEL = "a-model"
ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "created": 0,
    "model": MODEL,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}],
    "usage": {"prompt_tokens": 400, "completion_tokens": 80, "total_tokens": 480},
}
SAMPLING = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 1024}
JUDGE = {"engine": "openai", "model": MODEL, "answer_format": "feedback", "sampling": SAMPLING}
MOST_WALL, MOST_CPU = 1.1, 0.5  # asked: times the bare client's wall time, and ms of CPU a request beside its own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=8000, help="of a turn")
    parser.add_argument("--at-once", type=int, default=64, help="calls under way")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--many", type=int, default=2000, help="calls under way where memory is measured")
    parser.add_argument("--sizes", type=int, nargs="*", default=[8000, 24000], help="requests of these studies")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--bare", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(serve(options.serve))
    elif options.bare:
        address, prompts = options.bare
        asyncio.run(ask(address, json.loads(Path(prompts).read_text()), options.at_once))
    else:
        allow_many_files()
        with tempfile.TemporaryDirectory() as folder:
            if options.turns:
                with server(SECONDS) as address:
                    compare(address, Path(folder), options.requests, options.at_once, options.turns)
                print()
            if options.sizes:
                with server(SLOW_SECONDS) as address:
                    measure_memory(address, Path(folder), options.sizes, options.many)


def compare(address: str, folder: Path, requests: int, at_once: int, turns: int) -> None:
    """Time of a job and of the bare client in turns."""
    write_requests(folder / "s/all.parquet", requests)
    prompts = pq.read_table(folder / "s/all.parquet", columns=["prompt"])["prompt"].to_pylist()
    (folder / "prompts.json").write_text(json.dumps(prompts))
    runs = {"job": lambda: job(folder, address, at_once), "client": lambda: client(folder, address, at_once)}
    print(f"{requests:,} requests, {at_once} under way, {os.cpu_count()} cores")
    print(
        f"{'turn':>4} {'job: s':>8} {'CPU s':>7} {'client: s':>10} {'CPU s':>7} {'wall':>6} {'ms CPU':>7} {'load':>6}"
    )
    walls, beside, times = [], [], []
    for turn in range(turns):
        used = {name: timed(runs[name]) for name in ([*runs] if turn % 2 == 0 else [*runs][::-1])}
        (wall, cpu), (bare_wall, bare_cpu) = used["job"], used["client"]
        walls.append(wall / bare_wall)
        beside.append(1e3 * (cpu - bare_cpu) / requests)
        times.append(cpu / bare_cpu)
        row = (
            f"{turn + 1:4} {wall:8.1f} {cpu:7.1f} {bare_wall:10.1f} {bare_cpu:7.1f} {walls[-1]:6.2f} {beside[-1]:7.2f}"
        )
        print(row, f"{os.getloadavg()[0]:6.1f}", flush=True)
    print(f"wall time, job / client: {statistics.median(walls):.2f} (at most {MOST_WALL} asked)")
    print(f"CPU, job / client: {statistics.median(times):.2f};", end=" ")
    print(f"{statistics.median(beside):.2f} ms a request beside the client's (at most {MOST_CPU} asked)")


def measure_memory(address: str, folder: Path, sizes: list[int], at_once: int) -> None:
    """Largest memory of jobs of several sizes with many calls under way."""
    print(f"{'requests':>8} {'at once':>8} {'seconds':>8} {'CPU s':>7} {'ms CPU':>7} {'MB':>8}")
    for number, requests in enumerate(sizes):
        of_size = folder / f"size-{number}"
        write_requests(of_size / "s/all.parquet", requests)
        count(address)
        megabytes: list[float] = []
        seconds, cpu = timed(lambda of_size=of_size, sizes=megabytes: job(of_size, address, at_once, sizes))
        asked, most = count(address)
        if asked != requests:
            sys.exit(f"{asked} calls were made for {requests} requests")
        row = f"{requests:8,} {most:8,} {seconds:8.1f} {cpu:7.1f} {1e3 * cpu / requests:7.2f}"
        print(f"{row} {max(megabytes):8.0f}", flush=True)


def timed(run: Callable[[], None]) -> tuple[float, float]:
    """Seconds and seconds of CPU that processes take which `run` starts and waits for."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, cpu


def job(folder: Path, address: str, at_once: int, megabytes: list[float] | None = None) -> None:
    """Run a judge job over an empty store; its memory goes into `megabytes`."""
    store = tempfile.mkdtemp(dir=folder)
    (folder / "judge.json").write_text(json.dumps({**JUDGE, "base_url": address, "concurrency": at_once}))
    settings = {"--requests": folder / "s/all.parquet", "--shard": 1, "--shards": 1, "--probes": "score_order"}
    settings |= {"--judge": folder / "judge.json", "--model-folder": "", "--weights": "", "--gpus": 0}
    settings |= {"--store": store, "--output": Path(store, "responses.parquet")}
    command = [sys.executable, str(ROOT / "workflow/scripts/judge_shard.py")]
    log = Path(store, "log")
    with open(log, "w") as errors:
        process = subprocess.Popen(
            [*command, *(str(word) for pair in settings.items() for word in pair)], stderr=errors
        )
        if megabytes is not None:
            watch(process, megabytes)
    if process.wait():
        sys.exit(f"the job ended with status {process.returncode}: {log.read_text()[-2000:]}")


def watch(process: subprocess.Popen, megabytes: list[float]) -> None:
    """Read the largest memory of a job until it ends."""
    while process.poll() is None:
        megabytes.append(largest(process.pid))
        time.sleep(0.2)


def largest(pid: int) -> float:
    """Largest memory so far of a process, in MB; 0 where it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1e3
    return 0.0


def client(folder: Path, address: str, at_once: int) -> None:
    """Run the bare client."""
    command = [sys.executable, __file__, "--bare", address, str(folder / "prompts.json"), "--at-once", str(at_once)]
    subprocess.run(command, check=True)


async def ask(address: str, prompts: list[str], at_once: int) -> None:
    """Ask all prompts through the bare client, as its documentation has it."""
    import openai

    texts = []
    async with openai.AsyncOpenAI(api_key="none", base_url=address, max_retries=0) as client:
        left = iter(prompts)

        async def work() -> None:
            for prompt in left:
                messages = [{"role": "user", "content": prompt}]
                answer = await client.chat.completions.create(model=MODEL, messages=messages, **SAMPLING)
                texts.append(answer.choices[0].message.content)

        await asyncio.gather(*(work() for _ in range(at_once)))
    if texts != [TEXT] * len(prompts):
        sys.exit("the bare client has other answers")


def allow_many_files() -> None:
    """Let this process and those that it starts open as many files as the system lets them: a call takes one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


# --- the server


class Calls(asyncio.Protocol):
    """One connection. A call is a POST; a GET asks how many calls there were, and begins to count anew."""

    made = under_way = most = 0
    seconds: float

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport, self.received = transport, b""
        body = json.dumps(ANSWER).encode()
        self.answer = (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )

    def data_received(self, data: bytes) -> None:
        self.received += data
        head, mark, content = self.received.partition(b"\r\n\r\n")
        if not mark:
            return
        if head.startswith(b"GET"):
            body = json.dumps([Calls.made, Calls.most]).encode()
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            Calls.made = Calls.most = 0
            self.received = b""
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(content) >= int(length):
            self.received = b""
            Calls.made += 1
            Calls.under_way += 1
            Calls.most = max(Calls.most, Calls.under_way)
            asyncio.get_running_loop().call_later(self.seconds, self.reply)

    def reply(self) -> None:
        Calls.under_way -= 1
        self.transport.write(self.answer)


async def serve(seconds: float) -> None:
    """Serve on a free port, which is printed, until this process is ended. An answer takes so many seconds."""
    Calls.seconds = seconds
    started = await asyncio.get_running_loop().create_server(Calls, "127.0.0.1", 0, backlog=4096)
    print(started.sockets[0].getsockname()[1], flush=True)
    await started.serve_forever()


@contextlib.contextmanager
def server(seconds: float) -> Iterator[str]:
    """The server's address, as long as the block runs."""
    command = [sys.executable, __file__, "--serve", str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def count(address: str) -> tuple[int, int]:
    """Number of calls since the last time that it was asked, and the most that were under way at once."""
    with urllib.request.urlopen(address) as answer:  # noqa: S310 - our own server
        made, most = json.load(answer)
    return made, most


if __name__ == "__main__":
    main()
