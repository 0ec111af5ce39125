"""One comment on a pull request that each run of the gate replaces: the first that begins with the mark of the gate."""

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


def call(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """Answer of the API to a request, as JSON."""
    request = urllib.request.Request(  # noqa: S310 - the address is the runner's own
        f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}",
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


def earlier(pull: int, mark: str) -> int | None:
    """Id of the comment that begins with the mark; None where there is none."""
    page = 1
    while comments := call("GET", f"issues/{pull}/comments?per_page={PAGE}&page={page}"):
        for comment in comments:
            if (comment["body"] or "").startswith(mark):
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
    try:
        comment = earlier(pull, mark)
        if comment is None:
            call("POST", f"issues/{pull}/comments", body)
        else:
            call("PATCH", f"issues/comments/{comment}", body)
    except urllib.error.URLError as error:  # such as a pull request from a fork, whose token may only read
        print(f"::warning::no comment was written: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
