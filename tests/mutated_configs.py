"""Damaged configs, each sent through Snakemake itself: each is valid, or ends in a line that names file, line or key.

    python tests/mutated_configs.py [--first N] [--count N]     # mutants N, N + 1, ...; 500 take some 20 minutes

Mutant N is always the same. Prints a line for each one that is not as it should be, then the counts and the most time
of the processor that one took, beside what a valid config takes. Ends with status 1 where one is not as it should be.
Pytest does not collect this file; `tests/workflow/test_config_files.py` runs a few mutants.
"""

import argparse
import collections
import copy
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow/schemas/config.schema.json"
TARGETS = ("all", "results/summary.html", "results/methods.md")
HANGS_SECONDS = 300  # a process that runs as long is stopped; what it took of the processor is what counts
SLOWER = 4  # a mutant may take so many times what a valid config takes

# A judge at an endpoint, one with profiles, and one that is planted.
BASE = {
    "datasets": {"demo": {"limit": 2}},
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": "planted",
            "answer_format": "score",
            "sampling": {"temperature": 0, "seed": 3},
            "simulation": {"preference": "first", "leniency": 0.2},
            "profiles": {"warm": {"sampling": {"temperature": 1}}},
        },
        "asked": {
            "engine": "openai",
            "model": "a-model",
            "label": "A model",
            "base_url": "https://example.invalid/v1",
            "api_key_env": "A_KEY",
            "extra_headers": {"X-Team": "$A_TEAM"},
            "extra_body": {"reasoning_effort": "low"},
            "budget": {"calls": 100, "cost": 5.0},
            "prices": {"prompt": 1.0, "completion": 2.0},
        },
    },
    "studies": {
        "position_bias": {
            "probe": "score_order",
            "datasets": ["demo"],
            "judges": ["planted", "asked"],
            "scales": [5],
            "strategies": ["balanced", "single"],
            "profiles": ["default", "warm"],
            "seed": 20261121,
        }
    },
    "statistics": {"bootstrap": {"resamples": 100, "confidence": 0.95}},
    "figures": {"position_selection": {"study": "position_bias", "strategy": "balanced", "width_in": 6.0}},
    "tables": {"parse_failures": {"study": "position_bias"}, "score_effects": {}},
}

NASTY = (
    *(None, True, "", " ", "x", "no such thing", "../../etc/passwd", "/", "~nobody_here/x", "$HOME", "a" * 10_000),
    *(0, -1, 1.5, -0.0, 10**6, 10**18, 10**30, 1e308, -1e308, 1e-320, float("inf"), float("nan")),
    *([], {}, [[]], [None], {"": ""}, {"x": 1}, ["x", "x"], [1, 2, 3], {"a b": [{}]}),
    *("http://x y", "http://", "ftp://x/v1", "https://user:key@host/v1", "http://[::1/v1", "http://x:99999/v1"),
    *("a\nb", "\x1b[31mred", "\u202e", "<script>alert(1)</script>", "{{ 1 }}", "{x}", "%s", "'; rm -rf x", "ünï", "\0"),
)
LINES = (
    *(
        "\tx: 1",
        "x: 1",
        "judges: {}",
        "a: &a [*a]",
        "a: *b",
        "? [x]",
        "- x",
        "---",
        "...",
        "!!python/object:x {}",
        "'",
        "}",
    ),
    *(
        "<<: {x: 1}",
        "__use_yte__: true",
        "n: 99999999999999999999",
        "x: 2026-02-31",
        "x: 0x",
        "x: !!bool y",
        "@",
        "%YAML 9",
    ),
)


class Mutant(NamedTuple):
    """A damaged config.

    Attributes:
        what: the damage, in words.
        content: the file's bytes; a name of `PLACES` where the file is not one.
    """

    what: str
    content: bytes | str


PLACES = ("missing", "folder", "device")


def mutant(number: int) -> Mutant:
    """A damaged config; one number is always the same one."""
    rng = random.Random(number)  # noqa: S311
    damage = rng.choices([in_the_tree, in_the_text, in_the_bytes, in_all], [10, 6, 2, 1])[0]
    return damage(rng)


def in_the_tree(rng: random.Random) -> Mutant:
    """One or two settings are nonsense, gone, misspelt, or not ours."""
    config, damage = copy.deepcopy(BASE), []
    for _ in range(rng.choice([1, 1, 1, 2])):
        block, key, path = a_place(rng, config)
        how = rng.choice(["nonsense"] * 6 + ["gone", "misspelt", "added"])
        damage.append(f"{how}: {path}")
        if how == "nonsense":
            block[key] = copy.deepcopy(rng.choice(NASTY))
        elif how == "gone":
            block.pop(key, None)
        elif how == "misspelt":
            letters = list(str(key))
            letters.insert(rng.randrange(len(letters) + 1), rng.choice("aeqz_ "))
            block["".join(letters)] = block.pop(key, 1)
        else:
            block[rng.choice(["x", "Sampling", "model_name", "1", "", " a"])] = copy.deepcopy(rng.choice(NASTY))
    text = yaml.safe_dump(config, allow_unicode=True, sort_keys=False)
    return Mutant("; ".join(damage), text.encode("utf-8", "surrogatepass"))


def a_place(rng: random.Random, config: dict) -> tuple[dict, str, str]:
    """A block of a config, one of the keys that the schema knows or the config has there, and its path."""
    block, part, path = config, json.loads(SCHEMA.read_text(encoding="utf-8")), ""
    while True:
        known = part.get("properties", {})
        key = rng.choice(sorted({*known, *map(str, block)}) or ["x"])
        path = f"{path}/{key}".lstrip("/")
        others = part.get("additionalProperties")
        inside = known.get(key, others if isinstance(others, dict) else {})
        kinds = inside.get("anyOf", ())  # of judges
        inside = (
            {"properties": {name: part for kind in kinds for name, part in kind["properties"].items()}}
            if kinds
            else inside
        )
        is_block = isinstance(block.get(key), dict) or "properties" in inside
        if not is_block or rng.random() < 0.15:
            return block, key, path
        part, block = inside, block.setdefault(key, {}) if isinstance(block.get(key, {}), dict) else {}


def in_the_text(rng: random.Random) -> Mutant:
    """Lines are added, doubled, dropped, indented or cut."""
    lines = yaml.safe_dump(BASE, sort_keys=False).splitlines()
    damage = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        place = rng.randrange(len(lines))
        how = rng.choice(
            ["added", "doubled", "dropped", "indented", "outdented", "cut", "swapped", "colon", "alias", "tab"]
        )
        damage.append(f"{how}: line {place + 1}")
        line = lines[place]
        if how == "added":
            lines.insert(place, " " * rng.randrange(7) + rng.choice(LINES))
        elif how == "doubled":
            lines.insert(place, line)
        elif how == "dropped" and len(lines) > 1:
            del lines[place]
        elif how == "indented":
            lines[place] = " " * rng.randint(1, 3) + line
        elif how == "outdented":
            lines[place] = line.removeprefix(" " * rng.randint(1, 3))
        elif how == "cut":
            lines[place] = line[: rng.randrange(len(line) + 1)]
        elif how == "swapped":
            other = rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], line
        elif how == "colon":
            lines[place] = line.replace(":", rng.choice([" :", "", "::", ": :", "="]), 1)
        elif how == "alias":
            lines[place:place] = bomb(
                rng.choice(["a", "judges", "studies"]), rng.choice(["[]", "{}"]), rng.randint(2, 12)
            )
        else:
            lines[place] = "\t" + line
    return Mutant("; ".join(damage), "\n".join(lines).encode())


def bomb(name: str, kind: str, depth: int) -> list[str]:
    """Lines of aliases of aliases."""
    begin, end = kind
    names = [f"{name}_{k}" for k in range(depth)]
    first = f"{names[0]}: &{names[0]} {begin}{'x: 1' if kind == '{}' else 'x'}{end}"
    fill = (lambda k, one: f"k{k}: *{one}") if kind == "{}" else (lambda k, one: f"*{one}")
    return [first] + [
        f"{one}: &{one} {begin}{', '.join(fill(k, before) for k in range(9))}{end}"
        for before, one in itertools.pairwise(names)
    ]


def in_the_bytes(rng: random.Random) -> Mutant:
    """Bytes are put in, changed or cut off."""
    content = bytearray(yaml.safe_dump(BASE, sort_keys=False), "utf-8")
    how = rng.choice(["put in", "changed", "cut off", "another encoding"])
    place = rng.randrange(len(content))
    if how == "put in":
        content[place:place] = rng.choice(
            [b"\xe9", b"\xff\xfe", b"\x00", b"\x1b[2J", b"\x85", b"\xed\xa0\x80", b"\r", b"\x07"]
        )
    elif how == "changed":
        content[place] = rng.randrange(256)
    elif how == "cut off":
        del content[place:]
    else:
        content = bytearray(
            content.decode().replace("A model", "Café").encode(rng.choice(["latin-1", "utf-16", "utf-8-sig"]))
        )
    return Mutant(f"{how}: byte {place}", bytes(content))


def in_all(rng: random.Random) -> Mutant:
    """The file is none, or is something else."""
    wholes = [
        b"",
        b"\n",
        b"null",
        b"- a\n- b\n",
        b"text",
        b"42",
        b"{",
        b"[" * 5000,
        b'{"judges": NaN}',
        b'{"a": 1, "a": 2}',
    ]
    wholes += [
        b"#" * 100,
        b"\xff" * 50,
        b"a: " + b"[" * 900 + b"]" * 900,
        b"judges: " + b"9" * 5000,
        b"x: y\n" * 200_000,
    ]
    chosen = rng.choice([*PLACES, *wholes])
    return Mutant(f"all: {chosen[:20]!r}", chosen)


def written(one: Mutant, folder: Path) -> Path:
    """Path of a mutant that is put into a folder."""
    path = folder / "mutant.yaml"
    if one.content == "device":
        return Path("/dev/zero")
    if one.content == "folder":
        path.mkdir()
    elif isinstance(one.content, bytes):
        path.write_bytes(one.content)
    return path


class Outcome(NamedTuple):
    """End of a run of Snakemake.

    Attributes:
        kind: "valid", "refused", or what is wrong.
        seconds: of the processor.
        said: what the run said of an error; all where it did not end as it should.
    """

    kind: str
    seconds: float
    said: str


def outcome(config: Path, folder: Path, project: Path = ROOT) -> Outcome:
    """End of a dry run with a config, in a folder of its own."""
    command = [sys.executable, "-m", "snakemake", *TARGETS, "--dry-run", "--cores", "1", "--nocolor"]
    command += ["--snakefile", str(project / "Snakefile"), "--directory", str(folder), "--configfile", str(config)]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("RUBRIC_ORDER")}
    output = folder / "said.txt"
    with output.open("wb") as said:
        process = subprocess.Popen(command, cwd=project, env=kept, stdout=said, stderr=subprocess.STDOUT)
        seconds, status = waited(process)
    text = output.read_text(encoding="utf-8", errors="replace")
    errors = [line for line in text.splitlines() if line.startswith("error: ")]
    if status is None:
        kind = "hangs"
    elif "Traceback" in text:
        kind = "traceback"
    elif re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text):
        kind = "control characters"
    elif status == 0:
        kind = "valid"
    elif not errors:
        kind = "no line of ours"
    elif not all(line.startswith("error: config: ") or str(config) in line for line in errors):
        kind = "names no place"
    else:
        kind = "refused"
    return Outcome(kind, seconds, "\n".join(errors) if kind == "refused" else text)


def waited(process: subprocess.Popen) -> tuple[float, int | None]:
    """Seconds of the processor that a process took, and its status; None where it was stopped."""
    import signal
    import threading

    stopped = threading.Timer(HANGS_SECONDS, process.send_signal, [signal.SIGKILL])
    stopped.start()
    _, status, usage = os.wait4(process.pid, 0)
    stopped.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, None if process.returncode == -signal.SIGKILL else process.returncode


def main(first: int, count: int) -> int:
    """Send mutants through Snakemake.

    Returns:
        The number of those that are not as they should be.
    """
    with tempfile.TemporaryDirectory() as place:
        usual = run_one(Mutant("none", yaml.safe_dump(BASE).encode()), Path(place, "usual"))
        if usual.kind != "valid":
            raise RuntimeError(f"the config without damage: {usual.kind}\n{usual.said}")
        counts: collections.Counter = collections.Counter()
        most = 0.0
        for number in range(first, first + count):
            one = mutant(number)
            found = run_one(one, Path(place, str(number)))
            slow = found.seconds > SLOWER * usual.seconds
            kind = "slow" if slow and found.kind in ("valid", "refused") else found.kind
            counts[kind] += 1
            most = max(most, found.seconds)
            if kind not in ("valid", "refused"):
                print(
                    f"mutant {number} ({one.what:.200}): {kind}, {found.seconds:.1f} s\n{found.said:.2000}", flush=True
                )
    print(", ".join(f"{kind}: {n}" for kind, n in sorted(counts.items())))
    print(f"at most {most:.1f} s of the processor; a valid config {usual.seconds:.1f} s")
    return sum(n for kind, n in counts.items() if kind not in ("valid", "refused"))


def run_one(one: Mutant, folder: Path) -> Outcome:
    """End of a dry run with a mutant."""
    folder.mkdir()
    return outcome(written(one, folder), folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    sys.exit(min(main(**vars(parser.parse_args())), 1))
