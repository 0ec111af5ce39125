"""A plain table of reads, from a file or from memory, as the table of scores that statistics read."""

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from rubric_order.base import files, permutations
from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.methods.position import designs
from rubric_order.prompts import orderings
from rubric_order.strategies import EVERY_POSITION

REQUIRED = ("item", "ordering", "score")
OPTIONAL = ("judge", "group", "human_score")
PROBABILITY = re.compile(r"p_[0-9]+")
SURROGATE = re.compile("[\ud800-\udfff]")
GZIP = b"\x1f\x8b"  # how such a file begins
MISSING = {"", "nan", "none", "null", "na", "n/a", "<na>"}  # in place of a value; case does not count
FEWEST_LEVELS, MOST_LEVELS = 2, 10
SUM_WITHIN = 0.02  # of 1: probabilities are often written with two decimals
# In the workflow's files of scores.
WORKFLOW = {"study", "item_id", "group_id", "strategy", "condition", "profile", "n", "ordering", "score"}
PROBE = "score_order"  # of whose scores the numbers are the levels that the orderings list
ABOUT = {"study": "reads", "profile": DEFAULT_PROFILE, "condition": BASELINE, "dataset": "reads"}
_ALL_OF = 5  # levels; all orderings of more are more than anybody reads


def read_file(path: str | Path) -> pd.DataFrame:
    """The rows of a file, as they stand there.

    Args:
        path: CSV with a header, JSON Lines or Parquet, as its ending says; also a file of ``results/scores/``.

    Raises:
        InputError: the file is missing or malformed, or has another ending.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".jsonl": _read_json_lines, ".ndjson": _read_json_lines, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path}: expected a file that ends in .csv, .jsonl or .parquet")
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    table = readers[path.suffix.lower()](path)
    if not len(table):
        raise InputError(f"{path}: no rows")
    return table


def _read_csv(path: Path) -> pd.DataFrame:
    with path.open("rb") as file:
        if file.read(2) == GZIP:
            raise InputError(f"{path}: found a gzip file; expected CSV, so unpack it first")
    parse = pa_csv.ParseOptions(newlines_in_values=True)
    try:
        with pa_csv.open_csv(path, parse_options=parse) as reader:
            columns = reader.schema.names
        _check_names(columns, path)
        convert = pa_csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False)
        return pa_csv.read_csv(path, parse_options=parse, convert_options=convert).to_pandas()
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise InputError(f"{path}: malformed CSV: {_first_line(error)}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InputError(f"{path}: line 1: expected column names in UTF-8, found byte 0x{byte:02x}") from None


def _read_json_lines(path: Path) -> pd.DataFrame:
    records = files.read_json_lines(path)
    columns: dict[str, None] = {}
    for number, record in records:
        if not isinstance(record, dict):
            raise InputError(f"{path}: line {number}: expected a mapping, found {record!r:.60}")
        columns |= dict.fromkeys(record)
    _check_names([*columns], path)
    return pd.DataFrame([record for _, record in records], dtype=object)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        raise InputError(f"{path}: malformed Parquet: {_first_line(error)}") from None
    _check_names(table.column_names, path)
    if set(table.column_names) >= WORKFLOW:
        table = _of_workflow(table, path)
    lists = [name for name in table.column_names if pa.types.is_list(table[name].type)]
    for name in lists:
        try:
            joined = pc.binary_join(table[name].cast(pa.list_(pa.string())), " ")
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            type_name = str(table[name].type)
            raise InputError(
                f"{path}: column {name!r:.60}: expected texts, numbers or lists of them, found {type_name:.60}"
            ) from None
        table = table.set_column(table.column_names.index(name), name, joined)
    return table.to_pandas()


def _of_workflow(table: pa.Table, where: Path) -> pa.Table:
    """Scores that the workflow wrote as a plain table: the reads of the first strategy that varies the order.

    Raises:
        InputError: there is none, the scores are of several studies, profiles, conditions or scales, or what is ordered
            is something else than score levels.
    """
    if "probe" in table.column_names:
        others = sorted(set(map(str, table["probe"].unique().to_pylist())) - {PROBE})
        if others:
            raise InputError(f"{where}: field 'probe': expected reads of {PROBE!r}, found {files.listed(others)}")
    there = set(table["strategy"].unique().to_pylist())
    chosen = [name for name in (*EVERY_POSITION, "recorded") if name in there]
    if not chosen:
        raise InputError(
            f"{where}: no strategy shows every score in every position; found {files.listed(sorted(there))}"
        )
    table = table.filter(pc.equal(table["strategy"], chosen[0]))
    for name in ("study", "profile", "condition", "n"):
        values = table[name].unique().to_pylist()
        if len(values) > 1:
            raise InputError(f"{where}: several values of {name}: {files.listed(list(map(str, values)))}; expected one")
    new_names = {"item_id": "item", "group_id": "group"}
    kept = [
        name
        for name in ("item_id", "group_id", "judge", "ordering", "score", "human_score")
        if name in table.column_names
    ]
    plain = table.select(kept).rename_columns([new_names.get(name, name) for name in kept])
    shares = table["position_probabilities"] if "position_probabilities" in table.column_names else None
    if shares is None or shares.null_count == len(table):
        return plain
    n = table["n"][0].as_py()
    has_shares = pc.is_valid(shares).to_numpy()
    at = np.full((len(table), n), np.nan)
    # From the probability of each position to that of each score.
    shown = np.stack(table["ordering"].to_numpy())[has_shares]
    np.put_along_axis(given := np.empty(shown.shape), shown - 1, np.stack(shares.filter(has_shares).to_numpy()), axis=1)
    at[has_shares] = given
    for k in range(n):
        plain = plain.append_column(f"p_{k + 1}", pa.array(at[:, k], from_pandas=True))
    return plain


def _first_line(error: Exception) -> str:
    return f"{(str(error).splitlines() or ['cannot be read'])[0]:.200}"


def _check_names(names: list[str], where: str | Path) -> None:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InputError(f"{where}: column {name!r:.60} stands twice; expected once")
        if SURROGATE.search(str(name)):
            raise InputError(f"{where}: column {name!r:.60}: expected a name that UTF-8 can write")


def as_scores(reads: pd.DataFrame, where: str | Path = "reads") -> pd.DataFrame:
    """Reads as scores, see `scoring.scores.score_reads`; a row a read.

    Args:
        reads: columns ``item``; ``ordering``, the score at each position, such as ``1 2 3 4 5``, as text or as a list;
            ``score``, empty where there is none; and, where they are known, ``judge``, ``group`` (what items share that
            are not independent; else each item is one), ``p_1`` to ``p_n`` (probability of each score) and
            ``human_score`` of the item. Other columns are not read.
        where: names the table in errors.

    Returns:
        The columns that statistics read, with study and dataset ``reads``. `strategy` is ``balanced`` or ``all`` where
        every item of a judge is read in all orderings of that name, however often, and in no others, else ``recorded``.
        Reads of an item are numbered as they stand. `named_groups` says whether groups were named.

    Raises:
        InputError: with row (from 1, without the header) and field, where something is not as described.
    """
    _check_names(list(reads.columns), where)
    reads = reads.reset_index(drop=True)
    _check_columns(reads, where)
    if not len(reads):
        raise InputError(f"{where}: no rows")
    _check_texts(reads, where)
    item = _names(reads, "item", where)
    judge = _names(reads, "judge", where, default="judge")
    named = "group" in reads and not (_words(reads["group"]) == "").all()
    group = _names(reads, "group", where) if named else item
    code, shown = _orderings(reads["ordering"], where)
    n = np.array([len(ordering) for ordering in shown])[code]
    _check_alike(judge, pd.Series(n), "ordering", "levels", where)
    score = _scores(reads["score"], n, where)
    of_judge = judge + "\n" + item
    human = _human(reads, of_judge, where)
    table = pd.DataFrame(ABOUT | {"judge": judge, "n": n, "item_id": item, "group_id": group, "unit_id": item})
    table["human_score"], table["score"] = human, score
    table["candidate"], table["criterion"], table["question"] = item, "", ""
    table["failure"] = np.where(score.isna(), "no_score", None)
    table["read_index"] = table.groupby(["judge", "item_id"]).cumcount()
    table["named_groups"] = named
    _check_alike(of_judge, group, "group", "groups", where)
    parts = [_of_judge(part, code, shown, reads, where) for _, part in table.groupby("judge", sort=False)]
    return pd.concat(parts, ignore_index=True)


class Single(NamedTuple):
    """Reads of one judge on one scale, as they stand in a table.

    Attributes:
        judge: its name; None where the table names none.
        rows: places of the reads in the table, shape (m,).
        orderings: score at each position, shape (m, n).
        scores: written scores, shape (m,), NaN where there is none.
        probabilities: of each position, shape (m, n), NaN where unknown.
    """

    judge: str | None
    rows: np.ndarray
    orderings: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray


def single_reads(reads: pd.DataFrame, where: str | Path = "reads") -> Iterator[Single]:
    """Reads that need no other read beside them, judge by judge.

    Args:
        reads: columns ``ordering``; ``score`` or ``p_1`` to ``p_n``, or both; and ``judge`` where it is known. Other
            columns are not read.
        where: names the table in errors.

    Raises:
        InputError: as `as_scores`.
    """
    _check_names(list(reads.columns), where)
    reads = reads.reset_index(drop=True)
    has_shares = any(PROBABILITY.fullmatch(str(name)) for name in reads.columns)
    absent = [name for name in ("ordering", "score") if name not in reads and not (name == "score" and has_shares)]
    if absent:
        columns = files.listed([str(name) for name in reads.columns])
        raise InputError(f"{where}: column {absent[0]!r} is missing; found {columns}")
    if not len(reads):
        raise InputError(f"{where}: no rows")
    _check_texts(reads, where)
    judge = _names(reads, "judge", where, default="")
    code, shown = _orderings(reads["ordering"], where)
    n = np.array([len(ordering) for ordering in shown], dtype=int)[code]
    _check_alike(judge, pd.Series(n), "ordering", "levels", where)
    score = pd.Series(np.nan, index=reads.index)
    if "score" in reads:
        score = _scores(reads["score"], n, where)
    for name, rows in judge.groupby(judge, sort=False).groups.items():
        places = rows.to_numpy()
        used, number = np.unique(code[places], return_inverse=True)
        order = np.stack([shown[place] for place in used])[number]
        shares = _probabilities(reads.iloc[places], order, where)
        written = score.iloc[places].to_numpy(dtype=float, na_value=np.nan)
        yield Single(str(name) or None, places, order, written, shares)


def _check_columns(reads: pd.DataFrame, where: str | Path) -> None:
    columns = [str(name) for name in reads.columns]
    for name in REQUIRED:
        if name not in columns:
            raise InputError(f"{where}: column {name!r} is missing; found {files.listed(columns)}")
    absent = [name for name in OPTIONAL if name not in columns]
    for name in columns:
        if name in (*REQUIRED, *OPTIONAL) or PROBABILITY.fullmatch(name):
            continue
        meant = difflib.get_close_matches(name.strip().lower().removesuffix("_id"), absent, n=1, cutoff=0.8)
        if meant:
            raise InputError(f"{where}: column {name!r:.60} is not known; expected {meant[0]!r}, or another name")


def _check_texts(reads: pd.DataFrame, where: str | Path) -> None:
    """No text that is read may hold half a character, which JSON can write and UTF-8 cannot."""
    for name in reads.columns:
        if reads[name].dtype == object and (name in (*REQUIRED, *OPTIONAL) or PROBABILITY.fullmatch(str(name))):
            bad = reads[name].map(lambda value: SURROGATE.search(_word(value)) is not None)
            _fail(where, bad, name, "text that UTF-8 can write", reads[name])


def _words(column: pd.Series) -> pd.Series:
    """A column as text without blanks around it; what is missing is empty."""
    codes, values = pd.factorize(column.astype(object).map(_word) if column.dtype == object else column)
    words = np.array([*(_word(value) for value in values), ""], dtype=object)
    return pd.Series(words[codes], dtype=object).astype("str")


def _word(value: object) -> str:
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(_word(part) for part in value)
    if isinstance(value, float | np.floating):
        whole = np.isfinite(value) and value == int(value)
        return "" if np.isnan(value) else str(int(value)) if whole else repr(float(value))
    return "" if value is None or value is pd.NA else str(value).strip()


def _fail(where: str | Path, bad: np.ndarray | pd.Series, field: str, expected: str, found: pd.Series) -> None:
    """Raise an error about the first bad row, if there is one."""
    rows = np.flatnonzero(bad)
    if len(rows):
        value = str(found.iloc[rows[0]])
        raise InputError(f"{where}: row {rows[0] + 1}: field {field!r}: expected {expected}, found {value!r:.60}")


def _names(reads: pd.DataFrame, field: str, where: str | Path, default: str | None = None) -> pd.Series:
    if field not in reads:
        return pd.Series([default] * len(reads), dtype="str")
    words = _words(reads[field])
    _fail(where, words == "", field, "a name", words)
    return words


def _orderings(column: pd.Series, where: str | Path) -> tuple[np.ndarray, list[np.ndarray]]:
    """Code of each row's ordering, shape (n_reads,), and the orderings that occur."""
    words = _words(column)
    codes, texts = pd.factorize(words)
    parsed, shown = [], []
    for text in texts:
        parsed.append(permutation(text))
        shown.append(np.array(parsed[-1] or [0]))
    bad = np.array([ordering is None for ordering in parsed])[codes]
    expected = f"the {FEWEST_LEVELS} to {MOST_LEVELS} scores from 1 on, each once, such as '1 2 3 4 5'"
    _fail(where, bad, "ordering", expected, words)
    return codes, shown


def permutation(text: str) -> list[int] | None:
    """The scores in a text such as ``1 2 3``, ``[3, 2, 1]`` or ``321``; None where they are no permutation."""
    if re.fullmatch(r"[0-9]{2,9}", text):
        words = list(text)
    elif re.fullmatch(r"[\[(]?\s*[0-9]+(?:\s*[\s,;>|/-]\s*[0-9]+)*\s*[\])]?", text):
        words = re.findall(r"[0-9]+", text)
    else:
        return None
    if not FEWEST_LEVELS <= len(words) <= MOST_LEVELS or sorted(map(int, words)) != list(range(1, len(words) + 1)):
        return None
    return [int(word) for word in words]


def _check_alike(key: pd.Series, value: pd.Series, field: str, what: str, where: str | Path) -> None:
    """Every key, such as a judge, must have one value, such as a number of levels, in all its rows."""
    first = value.groupby(key.to_numpy()).transform("first")
    rows = np.flatnonzero((value != first).to_numpy())
    if len(rows):
        row, name = rows[0], key.iloc[rows[0]].split("\n")[-1]
        both = f"{first.iloc[row]} in an earlier row, {value.iloc[row]} here"
        raise InputError(f"{where}: row {row + 1}: field {field!r}: {name!r:.60} has two {what}: {both}; expected one")


def _scores(column: pd.Series, n: np.ndarray, where: str | Path) -> pd.Series:
    values, missing = _numeric(column)
    off = ~missing & ~(values.between(1, n) & (values % 1 == 0))
    rows = np.flatnonzero(off)
    most = n[rows[0]] if len(rows) else 0
    _fail(where, off, "score", f"a whole number from 1 to {most}, or nothing where there is no score", column)
    return pd.Series(pd.array(values, dtype="Float64").astype("Int8"))


def _numbers(column: pd.Series, field: str, where: str | Path) -> pd.Series:
    values, missing = _numeric(column)
    _fail(where, ~missing & ~np.isfinite(values), field, "a number, or nothing", column)
    return values


def _numeric(column: pd.Series) -> tuple[pd.Series, pd.Series]:
    """A column as numbers, NaN for what is none; and where there is nothing."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column.astype(float), column.isna()
    words = _words(column)
    missing = words.str.lower().isin(MISSING)
    return pd.to_numeric(words.mask(missing), errors="coerce").astype(float), missing


def _human(reads: pd.DataFrame, item: pd.Series, where: str | Path) -> pd.Series:
    """The human score of each row's item, NaN where no row of it has one.

    Args:
        item: names of the items, each after its judge's.
    """
    if "human_score" not in reads:
        return pd.Series(np.nan, index=reads.index)
    values = _numbers(reads["human_score"], "human_score", where)
    first = values.groupby(item.to_numpy()).transform("first")
    rows = np.flatnonzero((values.notna() & (values != first)).to_numpy())
    if len(rows):
        row = rows[0]
        both = f"{first.iloc[row]:g} in an earlier row, {values.iloc[row]:g} here"
        text = f"item {item.iloc[row].split(chr(10))[-1]!r:.60} has two human scores: {both}; expected one"
        raise InputError(f"{where}: row {row + 1}: field 'human_score': {text}")
    return first


def _of_judge(
    table: pd.DataFrame, code: np.ndarray, shown: list[np.ndarray], reads: pd.DataFrame, where: str | Path
) -> pd.DataFrame:
    """The reads of one judge, whose orderings have one length, with what their orderings say.

    Args:
        table: its rows, with the row numbers of `reads` as index.
    """
    rows = table.index.to_numpy()
    used, number = np.unique(code[rows], return_inverse=True)
    distinct = np.stack([shown[place] for place in used])
    order = distinct[number]
    table = table.assign(ordering=list(order), strategy=_strategy(distinct[number], table["item_id"]))
    score = table["score"].to_numpy(dtype=float, na_value=np.nan)
    scored = ~np.isnan(score)
    places = permutations.positions_of(distinct)[number[scored], score[scored].astype(int) - 1]
    position = np.full(len(table), np.nan)
    position[scored] = places
    table["position"] = pd.array(position, dtype="Float64").astype("Int8")
    shares = _probabilities(reads.iloc[rows], order, where)
    complete = ~np.isnan(shares).any(axis=1)
    table["expected_score"] = (shares * order).sum(axis=1)
    table["position_probabilities"] = pd.Series(list(shares), index=table.index, dtype=object).where(complete, None)
    return table


def _strategy(order: np.ndarray, item: pd.Series) -> str:
    """The name of the orderings that all items are read in, however often."""
    n = order.shape[1]
    distinct, number = np.unique(order, axis=0, return_inverse=True)
    unit, items = pd.factorize(item)
    if designs.Design(distinct, number.ravel(), unit, len(items)).fewest == 0:
        return "recorded"
    if np.array_equal(distinct, np.unique(orderings.balanced(n), axis=0)) and n > 2:
        return "balanced"
    if n <= _ALL_OF and np.array_equal(distinct, np.unique(orderings.all_orderings(n), axis=0)):
        return "all"
    return "recorded"


def _probabilities(reads: pd.DataFrame, order: np.ndarray, where: str | Path) -> np.ndarray:
    """Probability of each position in each read, NaN where it is unknown. Shape (n_reads, n)."""
    n = order.shape[1]
    columns = {name for name in reads.columns if isinstance(name, str) and PROBABILITY.fullmatch(name)}
    values = {name: _numbers(reads[name], name, where).to_numpy() for name in columns}
    values = {name: column for name, column in values.items() if not np.isnan(column).all()}
    if not values:
        return np.full(order.shape, np.nan)
    wanted = [f"p_{score}" for score in range(1, n + 1)]
    absent, beyond = [name for name in wanted if name not in values], sorted(values.keys() - set(wanted))
    if absent or beyond:
        what = f"found {files.listed(sorted(values))}, expected p_1 to p_{n}, one for each of the {n} scores"
        raise InputError(f"{where}: columns of probabilities: {what}")
    shares = np.column_stack([values[name] for name in wanted])
    is_known = ~np.isnan(shares)
    row_of = reads.index.to_numpy()
    for bad, expected in (
        (is_known.any(axis=1) & ~is_known.all(axis=1), "a probability of every score, or of none"),
        ((is_known & ~((shares >= 0) & (shares <= 1 + SUM_WITHIN))).any(axis=1), "probabilities from 0 to 1"),
        (is_known.all(axis=1) & ~(np.abs(shares.sum(axis=1) - 1) <= SUM_WITHIN), "probabilities that sum to 1"),
    ):
        if bad.any():
            place = int(np.flatnonzero(bad)[0])
            row_text = " ".join("empty" if np.isnan(value) else f"{value:g}" for value in shares[place])
            text = f"expected {expected}, found {row_text} (sum {np.nansum(shares[place]):.4g})"
            raise InputError(f"{where}: row {row_of[place] + 1}: fields 'p_1' to 'p_{n}': {text}")
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.take_along_axis(shares, order - 1, axis=1)
