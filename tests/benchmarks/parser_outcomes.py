"""Outcomes of the parser on recorded answers, beside those of an earlier commit.

    .venv/bin/python tests/benchmarks/parser_outcomes.py FOLDER --before COMMIT [--examples 3]

reads every file of recorded answers below FOLDER (docs/recorded.md has the formats) with the parser of the working tree
and with that of the commit. It prints the failures of each file before and after, and examples of the answers that are
read otherwise. It ends with status 1 where a verdict or score that was read before is now another one or none, unless
the answer is a tie that was read as a win (`[[A=B]]`).
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = "workflow/scripts"
DUMP = "--dump"  # an inner call, with the library to use on its path
TIE = re.compile(r"\b[A-Z]\s?==?\s?[A-Z]\b")


def dump(folder: Path) -> None:
    """Write one line of JSON an answer: file, line, label, reason and form."""
    from rubric_order.intake.recorded import discovery, formats
    from rubric_order.parsing import choices, one_score, verdict

    files = sorted({file for judge in discovery.discover(folder).values() for file in judge["files"]})
    for file in files:
        for record in formats.read(Path(file)):
            if formats.compares(record["format"]):
                options = record["options"]
                choice = verdict.parse_verdict(record["response"], options, tie=len(options) == 3)
            elif record["prompt_style"] == "mcq":
                choice = one_score.parse_score(record["response"], "ABCDE")
            else:
                n = 5 if record["ordering"] is None else len(record["ordering"])
                choice = one_score.parse_score(record["response"], choices.numbers(n))
            place = {"file": str(Path(file).relative_to(folder)), "line": record["line"]}
            print(json.dumps(place | {"label": choice.label, "reason": choice.reason, "form": choice.pattern}))


def outcomes(folder: Path, scripts: Path) -> dict[tuple[str, int], dict]:
    """The outcome of each answer, by file and line, by the library in a folder."""
    call = [sys.executable, __file__, DUMP, str(folder)]
    run = subprocess.run(
        call, env=os.environ | {"PYTHONPATH": str(scripts)}, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    rows = map(json.loads, run.stdout.splitlines())
    return {(row.pop("file"), row.pop("line")): row for row in rows}


def earlier(folder: Path, commit: str) -> dict[tuple[str, int], dict]:
    """The outcomes by the library of a commit."""
    with tempfile.TemporaryDirectory() as checkout:
        archive = Path(checkout, "library.tar")
        subprocess.run(["git", "archive", "-o", str(archive), commit, SCRIPTS], cwd=ROOT, check=True)
        with tarfile.open(archive) as file:
            file.extractall(checkout, filter="data")
        return outcomes(folder, Path(checkout, SCRIPTS))


def texts(folder: Path, places: set[tuple[str, int]]) -> dict[tuple[str, int], str]:
    """The answers in some places."""
    from rubric_order.intake.recorded import formats

    return {
        (name, record["line"]): record["response"]
        for name in sorted({name for name, _ in places})
        for record in formats.read(folder / name)
        if (name, record["line"]) in places
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--before", default="HEAD", metavar="COMMIT", help="whose parser is compared with")
    parser.add_argument("--examples", type=int, default=3, help="answers to print of each kind and file")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    before, after = earlier(folder, arguments.before), outcomes(folder, ROOT / SCRIPTS)
    counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    changed: dict[tuple[str, str], list] = collections.defaultdict(list)
    for place, now in after.items():
        then, count = before[place], counts[place[0]]
        count.update(answers=1, before=then["label"] is None, after=now["label"] is None)
        if then["label"] != now["label"]:
            kind = (
                "now read" if then["label"] is None else "no longer read" if now["label"] is None else "read otherwise"
            )
            changed[place[0], kind].append(place)
    said = texts(folder, {place for rows in changed.values() for place in rows})
    print(f"{'answers':>8} {'failures before':>16} {'after':>6}  file")
    for name, count in sorted(counts.items()):
        print(f"{count['answers']:8d} {count['before']:16d} {count['after']:6d}  {name}")
    wrong = 0
    for (name, kind), rows in sorted(changed.items()):
        ties = sum(TIE.search(said[place]) is not None for place in rows) if kind != "now read" else 0
        wrong += len(rows) - ties if kind != "now read" else 0
        print(f"\n{name}: {len(rows)} {kind}" + (f", {ties} of them ties" if ties else ""))
        for place in rows[: arguments.examples]:
            then, now = before[place], after[place]
            was, is_ = (f"{row['label'] or row['reason']} ({row['form']})" for row in (then, now))
            print(f"  line {place[1]}: {was} -> {is_}: ...{said[place].strip()[-160:]!r}")
    print(f"\n{wrong} answers that were read are read otherwise or no longer, beside ties that were read as wins")
    return int(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1] == DUMP:
        dump(Path(sys.argv[2]))
    else:
        sys.path.insert(0, str(ROOT / SCRIPTS))
        sys.exit(main())
