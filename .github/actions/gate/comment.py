"""One comment on a pull request that each run of the gate replaces: its own first one that begins with its mark."""

import argparse
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LONGEST = 60_000  # characters of a comment; GitHub takes 65,536
PAGE = 100  # comments that are asked for at once
RUNNER = "github-actions[bot]"  # writer of comments with the runner's own token, which may not ask who it is


def call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """Answer of the API to a request, as JSON."""
    request = urllib.request.Request(  # noqa: S310 - the address is the runner's own
        f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/{path}",
        data=json.dumps(body).encode() if body else None,
        method=method,
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


def writer() -> str:
    """Name under which the token writes."""
    try:
        return str(call("GET", "user")["login"])
    except urllib.error.HTTPError:
        return RUNNER


def earlier(comments: str, mark: str) -> int | None:
    """Id of the writer's own comment that begins with the mark; None where there is none: others' are left alone."""
    login, page = writer(), 1
    while listed := call("GET", f"{comments}?per_page={PAGE}&page={page}"):
        for comment in listed:
            if (comment["user"] or {}).get("login") == login and (comment["body"] or "").startswith(mark):
                return int(comment["id"])
        page += 1
    return None


def main() -> None:
    """Write the comment of the pull request whose event the runner names. A token that may not write is a warning."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--title", required=True)
    options.add_argument("markdown", type=Path)
    chosen = options.parse_args()
    pull = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))["pull_request"]["number"]
    words = re.findall(r"[\w.]+", chosen.title)  # without what could end the comment of HTML
    mark = f"<!-- rubric-order gate: {' '.join(words)} -->"
    text = chosen.markdown.read_text(encoding="utf-8")
    if len(text) > LONGEST:
        text = f"{text[:LONGEST].rpartition(chr(10))[0]}\n\nThe rest is in the step summary.\n"
    body = {"body": f"{mark}\n{text}"}
    issues = f"repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        comment = earlier(f"{issues}/{pull}/comments", mark)
        if comment is None:
            call("POST", f"{issues}/{pull}/comments", body)
        else:
            call("PATCH", f"{issues}/comments/{comment}", body)
    except urllib.error.URLError as error:  # such as a pull request from a fork, whose token may only read
        print(f"::warning::no comment was written: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
