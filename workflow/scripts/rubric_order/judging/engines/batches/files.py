"""Files of the Batch API: one line of JSON a request, and one a result, in any order; the same for OpenAI (its guide to
the Batch API), compatible endpoints and ``vllm run-batch``.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

ENDPOINT = "/v1/chat/completions"
PURPOSE = "batch"
MAX_BYTES = 200_000_000  # most bytes of a file of requests
MAX_REQUESTS = 50_000  # most requests of a file


def line_of(request_id: str, body: Mapping[str, Any]) -> bytes:
    r"""Line of a file of requests.

    Examples:
        >>> line_of("a", {"model": "m"})
        b'{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m"}}\n'
    """
    line = {"custom_id": request_id, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(line).encode() + b"\n"


@dataclass(frozen=True)
class Result:
    """Result of one request of a batch.

    Attributes:
        status: HTTP status; None where the request was not asked.
        body: the answer; None where it is no JSON object.
        error, code: why the request was not asked, as ``code message``, and its code.
    """

    status: int | None
    body: Mapping[str, Any] | None
    error: str | None = None
    code: str = ""

    @property
    def is_answer(self) -> bool:
        return self.status == 200 and self.body is not None


@dataclass
class Results:
    """Results of the requests of a batch, in the order of lines, and number of lines ignored for each reason."""

    by_request: dict[str, list[Result]] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)

    def add(self, lines: Iterable[bytes], wanted: Collection[str]) -> None:
        """Read the lines of a file of results or of errors; those of requests that are not `wanted` are ignored."""
        for line in lines:
            if not line.strip():
                continue
            entry = _entry(line)
            if entry is None:
                self.ignored["no result in JSON"] += 1
                continue
            name, result = entry
            if name not in wanted:
                self.ignored["of an unknown request"] += 1
                continue
            results = self.by_request.setdefault(name, [])
            if results:
                self.ignored["a second result of a request"] += 1
            results.append(result)

    def missing(self, batch: Mapping[str, Any], requests: int) -> int:
        """Requests of an ended batch that lack a result, and that the endpoint does not itself count as failed or not
        asked.
        """
        missing = requests - len(self.by_request)
        completed, failed = (count_of(batch, name) for name in ("completed", "failed"))
        answers = sum(any(result.status == 200 for result in results) for results in self.by_request.values())
        if completed is None or completed > answers:
            return missing
        return missing if batch["status"] == "completed" and completed + (failed or 0) < requests else 0

    def warning(self) -> str:
        return ", ".join(f"{count} {reason}" for reason, count in self.ignored.items())


def count_of(batch: Mapping[str, Any], name: str) -> int | None:
    counts = batch.get("request_counts")
    count = counts.get(name) if isinstance(counts, dict) else None
    return count if isinstance(count, int) else None


def _entry(line: bytes) -> tuple[str, Result] | None:
    """Id of the request, and result, from a line; None where the line is not a result."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
        return None
    response, error = entry.get("response"), entry.get("error")
    if isinstance(response, dict) and type(response.get("status_code")) is int:
        body = response.get("body")
        if body is None and error is not None:  # form of vLLM
            body = error if isinstance(error, dict) and "error" in error else {"error": error}
        return entry["custom_id"], Result(response["status_code"], body if isinstance(body, dict) else None)
    if isinstance(error, dict):
        code = str(error.get("code"))
        return entry["custom_id"], Result(None, None, f"{code} {error.get('message')}", code)
    return None
