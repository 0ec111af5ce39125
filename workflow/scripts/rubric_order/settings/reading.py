"""Config files as users write them. They are checked before Snakemake reads them, whose messages name no line."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError

MAX_BYTES = 500_000  # the largest of ours has 5 kB; Snakemake takes seconds for a file of this size
TEMPLATED = "__use_yte__"  # with this key, Snakemake runs Python code in the file


def read(path: str | Path) -> dict[str, Any]:
    """Content of a config file, JSON or YAML: a regular file of limited size, no template, a mapping."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        if not path.is_file():
            raise InputError(f"{path}: expected a file with a config, found a device or a pipe")
        if (size := path.stat().st_size) > MAX_BYTES:
            raise InputError(f"{path}: expected at most {MAX_BYTES:,} bytes, found {size:,}")
    content = _content(path)
    if not isinstance(content, dict):
        text = "nothing" if content is None else f"{content!r:.60}"
        raise InputError(f"{path}: expected a mapping of keys to settings, found {text}")
    if TEMPLATED in content:
        raise InputError(f"{path}: key {TEMPLATED!r}: expected plain YAML; a config is not run as a template")
    return content


def _content(path: Path) -> object:
    """The content that Snakemake would read: a file that is JSON as JSON, any other as YAML."""
    if not files.read_text(path).lstrip().startswith(("{", "[")):
        return files.read_yaml(path)
    try:
        return files.read_json(path)
    except InputError as error:
        if "malformed JSON" not in str(error):
            raise
        if path.suffix == ".json":
            raise
    return files.read_yaml(path)


def check(paths: Iterable[str | Path]) -> None:
    """Check that config files can be read, with one line of the error for each that cannot."""
    problems = []
    for path in paths:
        try:
            read(path)
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError("\nerror: ".join(problems))


def end_at_a_mistake(words: Sequence[str]) -> None:
    """End the program, one line a file, if config files on a command line of Snakemake (without the program) cannot be
    read.
    """
    try:
        check(named(words))
    except InputError as error:
        sys.exit(f"error: {error}")


def named(words: Sequence[str]) -> list[str]:
    """Config files that a command line of Snakemake, without the program, names."""
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    parser.add_argument("--config", "-C", nargs="*")  # without this, --config would count as short for --configfile
    try:
        return parser.parse_known_args(list(words))[0].configfile
    except argparse.ArgumentError:  # Snakemake says what is wrong
        return []
