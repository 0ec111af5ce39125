"""Say which weights a judge has: a digest of local files, or the commit on the hub."""

import json
from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.judging import weights


def main(model: dict, output: Path) -> None:
    """Write the digest or the commit as JSON, see `weights.describe`; `model` has `model` and `revision` of the
    judge.
    """
    description = weights.describe(model["model"], model["revision"])
    files.write_text(json.dumps(description) + "\n", output)
    command_line.log.info("%s: %s", model["model"], ", ".join(f"{kind} {name}" for kind, name in description.items()))


if __name__ == "__main__":
    command_line.run(main)
