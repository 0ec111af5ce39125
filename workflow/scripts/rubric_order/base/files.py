"""Reading input files with errors that name the place, and writing outputs that are whole or absent."""

import contextlib
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import yaml

from rubric_order.base.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# A text that a spreadsheet takes for a formula, and no number; apostrophes before it are marks of `write_csv`.
FORMULA = re.compile(r"'*(?![+-](?:[0-9]*\.)?[0-9]+(?:e[+-]?[0-9]+)?$)[=+\-@\t\r].", re.DOTALL | re.IGNORECASE)
GZIP = b"\x1f\x8b"  # first bytes of a gzip file
KEY = re.compile(r'"\s*:')  # the end of a key of JSON, or the same within a text
MAX_DEPTH = 50
MAX_REPEATED = 100_000  # values of a YAML file that aliases may repeat; later steps visit every repetition
LEFT_SECONDS = 3600.0  # an older temporary file belongs to no running job: writing a file takes seconds


@contextlib.contextmanager
def atomic(path: str | Path, *, rename: Callable[[Path], Path] | None = None) -> Iterator[Path]:
    """A temporary path beside `path`, which replaces it when the block ends, and is removed if the block fails.

    `rename` makes the output's path, in the same folder, from the written file where the content decides it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(descriptor)
    temporary = Path(name)
    temporary.chmod(0o644)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file)  # after a power cut there is the old or the new file, never an empty file
        os.replace(temporary, rename(temporary) if rename else path)
        if os.name == "posix":  # elsewhere a folder cannot be opened
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # from here on, a power cut leaves the new file
            finally:
                os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(folder: str | Path) -> None:
    """Remove the temporary files of `atomic` that killed jobs left in a folder a while ago."""
    for path in Path(folder).glob(".*-????????.*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFT_SECONDS:
                path.unlink()


def write_text(text: str, path: str | Path) -> None:
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def copy(source: str | Path, target: Path) -> None:
    """Copy a file, unless source and target are the same file."""
    if not (target.exists() and target.samefile(source)):
        with atomic(target) as temporary:
            shutil.copyfile(source, temporary)


def write_csv(table: "pd.DataFrame", path: str | Path) -> None:
    """Write a table as CSV, with an apostrophe, see `strip_marks`, before texts that a spreadsheet would take for
    formulas.
    """

    def marked(value: object) -> object:
        return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value

    columns = {name: column if column.dtype.kind in "biufM" else column.map(marked) for name, column in table.items()}
    content = table.assign(**columns).rename(columns=marked).to_csv(index=False)
    write_text(content, path)


def strip_marks(table: "pd.DataFrame") -> "pd.DataFrame":
    """A table of texts that was read from CSV, without the apostrophes that `write_csv` put before formulas."""

    def bare(value: object) -> object:
        return value[1:] if isinstance(value, str) and value.startswith("'") and FORMULA.match(value) else value

    marked = {
        name: column.astype(object).map(bare)
        for name, column in table.items()
        if (column.cat.categories if hasattr(column, "cat") else column).str.startswith("'").any()
    }
    return table.assign(**marked).rename(columns=bare)


def content_hash(path: str | Path) -> str:
    """Hash of the bytes of a file, as 32 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def sha256(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_regular(path: str | Path) -> None:
    """Refuse what is no regular file, such as a pipe, which cannot be read twice and can wait without an end."""
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file")
    if not os.path.isfile(path):
        raise InputError(f"{path}: expected a file, found a folder or a pipe")


@contextlib.contextmanager
def unpacked(path: str | Path, place: Callable[[], str] = str) -> Iterator[IO[bytes]]:
    """A file for reading, unpacked where it begins like a gzip file, whatever its name.

    `place` gives the place of an error in the file, such as ``line 7: ``.
    """
    try:
        with open(path, "rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            yield gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[misc]  # a GzipFile is one in all but name
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: {place()}broken gzip file: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def read_text(path: str | Path) -> str:
    """Text of a UTF-8 file, with its line ends as they are."""
    with unpacked(path) as file:
        content = file.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: {bad_byte(error)}") from None


def bad_byte(error: UnicodeDecodeError) -> str:
    return f"expected UTF-8, found byte 0x{error.object[error.start]:02x}"


def read_json(path: str | Path) -> Any:
    return parse_json(read_text(path), path)


def read_json_lines(path: str | Path) -> list[tuple[int, Any]]:
    """List of what `json_lines` gives."""
    return [*json_lines(path)]


def json_lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """Number (from 1) and content of each non-blank line of JSON Lines, packed by gzip or not; errors name it."""
    number = 0
    with unpacked(path, lambda: f"line {number + 1}: ") as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(f"{path}: line {number}: {bad_byte(error)}") from None
            if line.strip():
                yield number, parse_json(line.rstrip("\n"), path, number)


def json_records(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and content of each line of `json_lines`, which must be mappings."""
    for number, record in json_lines(path):
        where = f"{path}: line {number}"
        yield where, check_mapping(record, where)


def check_mapping(record: object, where: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a mapping, found {record!r:.60}")
    return record


def listed_records(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and content of each record of a list in a JSON file."""
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: expected a list of records, found {type(content).__name__}")
    for number, record in enumerate(content, start=1):
        where = f"{path}: record {number}"
        yield where, check_mapping(record, where)


def check_fields(record: Mapping[str, Any], kinds: Mapping[str, type], where: str) -> None:
    """Check that fields of a record are there and of their kinds."""
    for name, kind in kinds.items():
        if type(record.get(name)) is not kind:
            expected = "text" if kind is str else kind.__name__
            raise InputError(f"{where}: field {name!r}: expected {expected}, found {record.get(name)!r:.60}")


def parse_json(text: str, path: str | Path, line: int | None = None) -> Any:
    """Content of a text of JSON that repeats no key; `path` and `line` are for messages."""
    where = f"{path}" if line is None else f"{path}: line {line}"

    def unique(pairs: list[tuple[str, object]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{where}: key {repeated!r:.60} stands twice in one mapping; expected once")
        return content

    try:
        flat = text.count("{") == 1  # nearly all lines of a file; then its keys can be counted, which is faster
        content = json.loads(text, object_pairs_hook=None if flat else unique)
        if flat and len(content) < len(KEY.findall(text)):
            content = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        place = f"line {line or error.lineno}, column {error.colno}"
        raise InputError(f"{path}: {place}: malformed JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply; expected at most {MAX_DEPTH} levels") from None
    except ValueError as error:  # such as a number of ten thousand digits
        raise InputError(f"{where}: malformed JSON: {error}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(content, where)
    return content


def _check_depth(content: object, where: str) -> None:
    """Refuse content that is nested more than `MAX_DEPTH` levels deep. Even a message that shows it could fail."""
    level, seen = [content] if isinstance(content, dict | list) else [], set()
    for _ in range(MAX_DEPTH):
        inside = [entry.values() if isinstance(entry, dict) else entry for entry in level]
        level = []
        for entry in (entry for entries in inside for entry in entries if isinstance(entry, dict | list)):
            if id(entry) not in seen:  # a YAML alias is visited once, even if it refers to itself
                seen.add(id(entry))
                level.append(entry)
        if not level:
            return
    raise InputError(f"{where}: nested too deeply; expected at most {MAX_DEPTH} levels")


def read_csv(path: str | Path, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """Rows of a CSV file with a header, of which `columns` are required: number of the last line (from 1), and cells by
    name.

    Blank lines are skipped; ragged rows, repeated columns and a file without rows are refused.
    """
    csv.field_size_limit(2**24)
    # strict: otherwise a quote that is never closed takes all later rows into one cell
    reader = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num}: malformed CSV: {error}") from None
    header = lines[0][1] if lines else []
    if len(lines) < 2:
        raise InputError(f"{path}: no rows")
    for name in columns:
        if name not in header:
            raise InputError(f"{path}: column {name!r} is missing; found {listed(header)}")
    for place, name in enumerate(header):
        if name in header[:place]:
            raise InputError(f"{path}: column {name!r:.60} stands twice; expected once")
    for number, cells in lines[1:]:
        if len(cells) != len(header):
            raise InputError(f"{path}: line {number}: expected {len(header)} cells, found {len(cells)}")
    return [(number, dict(zip(header, cells, strict=True))) for number, cells in lines[1:]]


def listed(names: Iterable[str]) -> str:
    """Names on one line, cut after 200 characters."""
    return f"{', '.join(' '.join(name.split()) for name in names):.200}"


class _UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # in C where available
    """A safe loader that refuses a mapping that repeats a key. YAML forbids this, but PyYAML allows it."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, TypeError, AttributeError) as error:  # such as date 2026-02-31, `!!bool x`
            raise yaml.MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        seen = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.MarkedYAMLError(problem=f"key {key!r:.60} is not a word", problem_mark=key_node.start_mark)
            if key in seen:
                raise yaml.MarkedYAMLError(problem=f"duplicate key {key!r:.60}", problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def _check_aliases(text: str) -> None:
    """Refuse YAML whose aliases repeat more than `MAX_REPEATED` values or contain themselves; counts values, creates
    none.

    A few lines of aliases of aliases can stand for billions of values.
    """
    sizes: dict[str, int] = {}  # number of values under each anchor
    count = repeated = 0
    begun: list[tuple[str | None, int]] = []  # open mappings and lists: anchor, and the count before
    for event in yaml.parse(text, Loader=_UniqueKeyLoader):
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in begun):
                problem = f"alias *{event.anchor:.60} stands for the value that it is in"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
            if (size := sizes.get(event.anchor)) is None:
                problem = f"found undefined alias {event.anchor!r:.60}"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
            count, repeated = count + size, repeated + size
            if repeated > MAX_REPEATED:
                problem = f"aliases stand for more than {MAX_REPEATED} values; expected fewer"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
        elif isinstance(event, yaml.NodeEvent):
            count += 1
            if not isinstance(event, yaml.ScalarEvent):
                begun.append((event.anchor, count - 1))
                if len(begun) > MAX_DEPTH:
                    problem = f"nested too deeply; expected at most {MAX_DEPTH} levels"
                    raise yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
            elif event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = begun.pop()
            if anchor is not None:
                sizes[anchor] = count - before


def read_yaml(path: str | Path) -> object:
    """Content of a YAML file that repeats no key and whose aliases stand for few values."""
    text = read_text(path)
    try:
        _check_aliases(text)
        content = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise InputError(
            f"{path}: line {mark.line + 1}, column {mark.column + 1}: malformed YAML: {error.problem}"
        ) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"{path}: line {line}: character {chr(error.character)!r} is not allowed in YAML") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; expected at most {MAX_DEPTH} levels") from None
    _check_depth(content, str(path))
    return content
