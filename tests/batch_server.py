"""A server of the Batch API, on top of `endpoint`: batches go on when a test says so, and it counts what it bills.

It has the faults of `FAULTS`, one or several at a time.
"""

import collections
import contextlib
import json
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from endpoint import Call, Endpoint, Reply, completion

PAGE = 2  # batches of a page of the list, so that the caller turns pages
LATE = 2  # looks at an ended batch, or downloads of a file, in which a fault shows

FAULTS = {
    "late_name": "a completed batch has no name of its output file at first",
    "late_file": "the output file does not exist at first",
    "cut_file": "the output file is cut in half at first",
    "another_model": "a line of another model stands before each right one",
    "no_metadata": "metadata are not kept",
    "no_list": "batches are not listed (404)",
    "capitals": "statuses are in capital letters",
    "expired": "half of the batches expire when half of their requests are answered",
}


@dataclass
class Batch:
    """A batch, as the server keeps it."""

    id: str
    input_file: str
    metadata: dict
    status: str = "validating"
    output_file: str | None = None
    error_file: str | None = None
    errors: list[dict] = field(default_factory=list)
    asked: list[dict] = field(default_factory=list)
    completed: int = 0
    looks: int = 0

    def as_json(self) -> dict:
        failed = len(self.asked) - self.completed if self.status == "completed" else 0
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "input_file_id": self.input_file,
            "completion_window": "24h",
            "status": self.status,
            "output_file_id": self.output_file,
            "error_file_id": self.error_file,
            "metadata": self.metadata,
            "request_counts": {"total": len(self.asked), "completed": self.completed, "failed": failed},
        }


class BatchServer:
    """Files and batches. `Endpoint` calls it for each request, from a thread.

    Attributes:
        at_each_look: called with a batch before it is described; by default it completes.
        text, model: of all answers, also those to single calls.
        billed: number of answers that were made, by request.
        before, after: called with each request, before and after the server has done it.
        reply: gives the reply instead, where it gives one.
        faults: names in `FAULTS`.
    """

    def __init__(self, faults: Collection[str] = ()) -> None:
        assert set(faults) <= set(FAULTS)
        self.faults = faults
        self.downloads: collections.Counter[str] = collections.Counter()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Batch] = {}
        self.at_each_look: Callable[[Batch], None] = self.complete
        self.text, self.model = "Fine. [RESULT] 4", "a-model"
        self.billed: collections.Counter[str] = collections.Counter()
        self.before: Callable[[Call], None] = lambda call: None
        self.after: Callable[[Call], None] = lambda call: None
        self.reply: Callable[[Call], Reply | None] = lambda call: None
        self._lock = threading.RLock()
        self._files = 0

    def __call__(self, call: Call) -> Reply:
        with self._lock:
            self.before(call)
            reply = self.reply(call) or self._do(call)
            self.after(call)
            return reply

    def add(self, content: bytes) -> str:
        """Keep a file; its id."""
        self._files += 1
        name = f"file-{self._files}"
        self.files[name] = content
        return name

    # --- what a test does with a batch

    def complete(self, batch: Batch, *, status: str = "completed", answered: int | None = None, change=None) -> None:
        """End a batch: its first requests are answered and billed, all by default."""
        if batch.status in ("completed", "expired", "failed", "cancelled"):
            return
        if "expired" in self.faults and int(batch.id.removeprefix("batch_")) % 2 and answered is None:
            status, answered = "expired", len(batch.asked) // 2
        lines = [self.answer(line["custom_id"]) for line in batch.asked[:answered]]
        if "another_model" in self.faults:
            strange = [json.loads(json.dumps(line)) for line in lines]
            for line in strange:
                line["response"]["body"]["model"] = "another"
            lines = [line for pair in zip(strange, lines, strict=True) for line in pair]
        self.end(batch, lines if change is None else change(lines), status=status)

    def answer(self, name: str, text: str | None = None) -> dict:
        """The line of an answer, which is billed."""
        self.billed[name] += 1
        body = completion(text or self.text, model=self.model)
        response = {"status_code": 200, "request_id": "r", "body": body}
        return {"id": "x", "custom_id": name, "response": response, "error": None}

    def end(self, batch: Batch, lines: list, errors: list = (), *, status: str = "completed") -> None:
        """End a batch with lines of results and lines of errors."""
        batch.status = status
        batch.completed = len({line["custom_id"] for line in lines if isinstance(line, dict) and is_answer(line)})
        batch.output_file = self.add(as_lines(lines)) if lines else None
        batch.error_file = self.add(as_lines(errors)) if errors else None

    # --- the protocol

    def _do(self, call: Call) -> Reply:
        url = urlsplit(call.path)
        path, query = url.path.removeprefix("/v1"), parse_qs(url.query)
        if path == "/chat/completions":
            return Reply(self.answer(f"r{call.prompt.removeprefix('prompt ')}")["response"]["body"])
        if path == "/files":
            form = call.body["form"]
            assert form["purpose"] == b"batch"
            return Reply({"id": self.add(form["file"]), "object": "file", "purpose": "batch"})
        if path == "/batches" and call.method == "POST":
            return self._create(call.body)
        if path == "/batches" and "no_list" not in self.faults:
            return self._list(query)
        if (batch := self.batches.get(path.removeprefix("/batches/"))) is not None:
            self.at_each_look(batch)
            return Reply(self._described(batch))
        file = path.removeprefix("/files/").removesuffix("/content")
        if file in self.files and call.method == "DELETE":
            del self.files[file]
            return Reply({"id": file, "deleted": True})
        if file in self.files:
            self.downloads[file] += 1
            first, content = self.downloads[file] <= LATE, self.files[file]
            if not ("late_file" in self.faults and first):
                cut = "cut_file" in self.faults and first
                return Reply(
                    content[: len(content) // 2] if cut else content, headers={"Content-Type": "application/jsonl"}
                )
        return Reply({"error": {"message": f"no such object: {path}", "type": "invalid_request_error"}}, status=404)

    def _described(self, batch: Batch) -> dict:
        """A batch as a look at it shows it."""
        shown = batch.as_json()
        if batch.status in ("completed", "expired"):
            batch.looks += 1
            if "late_name" in self.faults and batch.looks <= LATE:
                shown["output_file_id"] = None
        if "capitals" in self.faults:
            shown["status"] = shown["status"].upper()
        return shown

    def _create(self, body: dict) -> Reply:
        assert body["endpoint"] == "/v1/chat/completions"
        if body["input_file_id"] not in self.files:
            return Reply({"error": {"message": "no such file", "type": "invalid_request_error"}}, status=400)
        asked = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        metadata = {} if "no_metadata" in self.faults else body.get("metadata") or {}
        batch = Batch(f"batch_{len(self.batches)}", body["input_file_id"], metadata, asked=asked)
        self.batches[batch.id] = batch
        return Reply(batch.as_json())

    def _list(self, query: dict) -> Reply:
        newest = list(reversed(self.batches.values()))
        ids = [batch.id for batch in newest]
        start = ids.index(query["after"][0]) + 1 if "after" in query else 0
        page = newest[start : start + PAGE]
        more = start + PAGE < len(newest)
        return Reply({"object": "list", "data": [batch.as_json() for batch in page], "has_more": more})


def as_lines(entries: list) -> bytes:
    """Entries as lines of JSON; bytes are lines as they are."""
    lines = (entry if isinstance(entry, bytes) else json.dumps(entry).encode() for entry in entries)
    return b"\n".join(lines) + b"\n"


def is_answer(line: dict) -> bool:
    """True for the line of a request that was answered."""
    return isinstance(line.get("response"), dict) and line["response"].get("status_code") == 200


@contextlib.contextmanager
def serving(*faults: str) -> Iterator[tuple[BatchServer, Endpoint]]:
    """A server that runs, with some of `FAULTS`."""
    server = BatchServer(faults)
    endpoint = Endpoint(server)
    try:
        yield server, endpoint
    finally:
        endpoint.stop()
