"""A plain table of reads, from a file or from memory, as the table of scores that statistics read."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rubric_order.base import files, permutations, records
from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE
from rubric_order.base.levels import LOWEST
from rubric_order.intake import columns as column_names
from rubric_order.intake import scales
from rubric_order.intake.choices import MISSING
from rubric_order.intake.columns import NUMBER, PROBABILITY, Columns
from rubric_order.intake.scales import Scale
from rubric_order.intake.words import (
    Words,
    check_alike,
    check_cells,
    check_named,
    fail,
    names_of,
    numbers_of,
    one_human,
    word_of,
    words_of,
)
from rubric_order.parsing.choices import EMPTY
from rubric_order.prompts import orderings
from rubric_order.strategies import EVERY_POSITION

ONE_ORDER = (
    "no ordering is recorded, and scores in one order cannot show an effect of positions; 'rubric-order relog' asks"
    " the judge again in several orders, where the log has its prompts (docs/relog.md; Logs without an ordering,"
    f" {column_names.PAGE})"
)
REQUIRED = ("item", "ordering", "score")
OPTIONAL = ("judge", "group", "criterion", "human_score")
ABOUT_READ = ("judge", "criterion", "condition")  # columns that say how a read was made
REASON = "failure"  # column with the reason why a read has no score, in words of the file
LONGEST_REASON = 60  # characters of a reason that are kept
ROUNDED = 0.005  # allowed distance of a sum from 1 for each level: probabilities are often written with two decimals
FEWEST_ROUNDED = 4  # levels; fewer may be as far from 1 as these
# Columns of the workflow's files of scores.
WORKFLOW = {"study", "item_id", "group_id", "strategy", "condition", "profile", "n", "ordering", "score"}
PROBE = "score_order"  # in this probe, scores are numbers of the levels that the orderings list
ABOUT = {"study": "reads", "profile": DEFAULT_PROFILE, "condition": BASELINE, "dataset": "reads"}
_ALL_OF = 5  # most levels of which anybody reads all orderings


def read_file(path: str | Path, *, packed: bool = False) -> pd.DataFrame:
    """The rows of a file as for `records.read`, or of ``results/scores/``, as they are written there; at least one."""
    path = Path(path)
    suffix = records.suffix_of(path)
    if suffix == ".eval":
        raise InputError(f"{path}: a log of Inspect: {ONE_ORDER}")
    if (
        suffix == ".json"
        and path.is_file()
        and records.is_one_object(start := records.head(path))
        and '"results"' in start
    ):
        raise InputError(f"{path}: results of promptfoo: {ONE_ORDER}")
    table = records.read(path, packed=packed)
    if isinstance(table, pa.Table):
        if set(table.column_names) >= WORKFLOW:
            table = _plain_table(table, path)
        table = records.join_lists(table).to_pandas()
    if not len(table):
        raise InputError(f"{path}: no rows")
    return table


def _plain_table(table: pa.Table, where: Path) -> pa.Table:
    """A plain table from scores that the workflow wrote: the reads of the first strategy that varies the order."""
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
    columns = [
        name
        for name in ("item_id", "group_id", "judge", "criterion", "ordering", "score", "human_score", REASON)
        if name in table.column_names
    ]
    plain = table.select(columns).rename_columns([new_names.get(name, name) for name in columns])
    shares = table["position_probabilities"] if "position_probabilities" in table.column_names else None
    if shares is None or shares.null_count == len(table):
        return plain
    n = table["n"][0].as_py()
    has_shares = pc.is_valid(shares).to_numpy()
    at = np.full((len(table), n), np.nan)
    # From the probability of each position to the probability of each score.
    orders = np.stack(table["ordering"].to_numpy())[has_shares]
    np.put_along_axis(
        by_score := np.empty(orders.shape), orders - 1, np.stack(shares.filter(has_shares).to_numpy()), axis=1
    )
    at[has_shares] = by_score
    for k in range(n):
        plain = plain.append_column(f"p_{k + 1}", pa.array(at[:, k], from_pandas=True))
    return plain


def as_scores(
    reads: pd.DataFrame,
    where: str | Path = "reads",
    *,
    columns: Columns | None = None,
    scale: Scale | None = None,
) -> pd.DataFrame:
    """Reads as scores, see `scoring.scores.score_reads`, with one row per read; docs/audit.md has the columns.

    Levels are numbered from 1, human scores too; `lowest` is there only where levels go by ones, but not from 1.
    `strategy` is ``balanced`` or ``all`` where a judge reads every item in just these orderings.
    """
    reads = rename_columns(reads, columns, where)
    _check_columns(reads, where)
    if not len(reads):
        raise InputError(f"{where}: no rows")
    check_cells(reads[_read_columns(reads)], where)
    criterion = _criteria(reads, where)
    text = names_of(reads, "item", where)
    item = _under(text, criterion)
    judge = names_of(reads, "judge", where, default="judge")
    groups = words_of(reads["group"]) if "group" in reads else None
    named = groups is not None and not groups.empty
    group = check_named(groups, "group", where) if named and groups else text
    orders = _orderings(reads["ordering"], judge, scale, where)
    level, unparsed = _scores(reads["score"], orders, where)
    reason = _reasons(reads, unparsed)
    of_judge = Words(judge.codes * len(item.values) + item.codes, item.values)
    human = _human(reads, of_judge, orders, where)
    check_alike(of_judge, group.codes, group.values, "group", "groups", where)
    names = item.series()
    lowest = np.array([each.first for each in orders.scales], dtype="int8")
    table = pd.DataFrame(
        ABOUT
        | {"judge": judge.series(), "n": orders.n, "item_id": names, "group_id": group.series(), "unit_id": names}
        | {"human_score": human, "score": pd.array(level, dtype="Int8"), "candidate": names}
        | {"criterion": criterion.series(), "question": "", "failure": reason, "unparsed": unparsed}
        | {"scale": pd.Categorical.from_codes(orders.scale_of_row, [",".join(each.labels) for each in orders.scales])}
        | ({LOWEST: lowest[orders.scale_of_row]} if (lowest != 1).any() else {})
        | {"read_index": pd.Series(of_judge.codes).groupby(of_judge.codes).cumcount(), "named_groups": named}
        | {"unread_judges": column_names.unread_judges(reads)}
    )
    places = [np.flatnonzero(judge.codes == code) for code in pd.unique(judge.codes)]
    parts = [_judge_reads(table, rows, orders, reads, where) for rows in places]
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


class Single(NamedTuple):
    """Reads of one judge on one scale: names of `ABOUT_READ`, rows (m,), orderings (m, n), scores (m,), probabilities
    (m, n).
    """

    about: Mapping[str, str]
    rows: np.ndarray
    orderings: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray


def single_reads(reads: pd.DataFrame, where: str | Path = "reads") -> Iterator[Single]:
    """Reads of each judge, criterion and condition in turn, for uses in which a read needs no other reads.

    The table's index counts from 0; scores are 1 to n; without a score, a read has the probabilities ``p_1`` to
    ``p_n``.
    """
    has_shares = any(PROBABILITY.fullmatch(str(name)) for name in reads.columns)
    absent = [name for name in ("ordering", "score") if name not in reads and not (name == "score" and has_shares)]
    if absent:
        raise column_names.missing(absent, reads, where, ("judge",))
    if not len(reads):
        raise InputError(f"{where}: no rows")
    check_cells(reads[_read_columns(reads)], where)
    judge = names_of(reads, "judge", where, default="")
    orders = _orderings(reads["ordering"], judge, None, where)
    check_usual([each for each in orders.scales if not each.usual], where)
    level = _scores(reads["score"], orders, where)[0] if "score" in reads else np.full(len(reads), np.nan)
    for about, places in judge_rows(reads):
        _, _, order = orders.of(places)
        shares = _probabilities(reads, places, order, orders.scales[orders.scale_of_row[places[0]]], where)
        yield Single(about, places, order, level[places], shares)


def judge_rows(reads: pd.DataFrame) -> Iterator[tuple[dict[str, str], np.ndarray]]:
    """Names of judge, criterion and condition where a table has them, and the rows of each combination."""
    words = {name: words_of(reads[name]) for name in ABOUT_READ if name in reads}
    words = {name: column for name, column in words.items() if not column.empty}
    if not words:
        yield {}, np.arange(len(reads))
        return
    codes, number = np.unique(np.column_stack([column.codes for column in words.values()]), axis=0, return_inverse=True)
    for place, row in enumerate(codes):
        texts = {name: str(column.values[code]) for (name, column), code in zip(words.items(), row, strict=True)}
        yield {name: text for name, text in texts.items() if text}, np.flatnonzero(number.ravel() == place)


def rename_columns(reads: pd.DataFrame, columns: Mapping[str, str] | Columns | None, where: str | Path) -> pd.DataFrame:
    """A table with our names for its columns, numbered from 0."""
    records.check_names(reads.columns, where)
    return column_names.named(reads.reset_index(drop=True), Columns.given(columns), where)


def check_usual(others: Sequence[Scale], where: str | Path) -> None:
    """Check that there is no scale other than 1 to n."""
    if others:
        raise InputError(f"{where}: field 'ordering': expected the scores 1 to n, found {others[0].words}")


class Shown(NamedTuple):
    """Orderings of reads: index of each row's ordering (rows,), level at each position by ordering, and each row's
    scale.
    """

    code: np.ndarray
    orderings: Sequence[np.ndarray]
    scales: Sequence[Scale]
    scale_of_row: np.ndarray

    @property
    def n(self) -> np.ndarray:
        """Number of levels of each row, shape (rows,)."""
        return np.array([scale.n for scale in self.scales])[self.scale_of_row]

    def of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct orderings of some rows, the index of each row's ordering among them, and each row's ordering."""
        used, number = np.unique(self.code[rows], return_inverse=True)
        distinct = np.stack([self.orderings[place] for place in used])
        return distinct, number, distinct[number]


def _check_columns(reads: pd.DataFrame, where: str | Path) -> None:
    columns = [str(name) for name in reads.columns]
    if column_names.has_choices(reads):
        raise InputError(
            f"{where}: expected reads that score, found choices between candidates (columns {files.listed(columns)});"
            f" 'rubric-order audit FILE' makes their cards (Choices, {column_names.PAGE})"
        )
    absent = [name for name in REQUIRED if name not in columns]
    if absent:
        raise column_names.missing(absent, reads, where, OPTIONAL)
    absent = [name for name in OPTIONAL if name not in columns]
    for name in columns:
        if name in (*REQUIRED, *OPTIONAL) or PROBABILITY.fullmatch(name):
            continue
        meant = difflib.get_close_matches(name.strip().lower().removesuffix("_id"), absent, n=1, cutoff=0.8)
        if meant:
            raise InputError(f"{where}: column {name!r:.60} is not known; expected {meant[0]!r}, or another name")


def _read_columns(reads: pd.DataFrame) -> list[str]:
    return [name for name in reads if name in (*REQUIRED, *OPTIONAL) or PROBABILITY.fullmatch(str(name))]


def _criteria(reads: pd.DataFrame, where: str | Path) -> Words:
    words = words_of(reads["criterion"]) if "criterion" in reads else None
    if words is None or words.empty:
        return Words(np.zeros(len(reads), dtype=np.int64), np.array([""], dtype=object))
    return check_named(words, "criterion", where)


def _under(item: Words, criterion: Words) -> Words:
    pairs, code = np.unique(item.codes * len(criterion.values) + criterion.codes, return_inverse=True)
    items, criteria = np.divmod(pairs, len(criterion.values))
    if len(np.unique(items)) == len(items):
        return item
    joined = [f"{item.values[one]}/{criterion.values[other]}" for one, other in zip(items, criteria, strict=True)]
    return Words(code, np.array(joined, dtype=object))


def _orderings(column: pd.Series, judge: Words, scale: Scale | None, where: str | Path) -> Shown:
    """The ordering and the scale of each row; a word such as ``descending`` has the scale of the judge's other
    orderings.
    """
    words = words_of(column)
    parsed = [scales.ordering(text, scale) for text in words.values]
    turned = np.array([scales.direction(text) for text in words.values])
    bad = np.array([ordering is None for ordering in parsed]) & (turned == 0)
    expected = (
        f"the {scales.FEWEST} to {scales.MOST} scores, each once, such as '1 2 3 4 5'"
        if scale is None
        else f"each of {scale.words} once"
    )
    if bad.any():
        fail(where, bad[words.codes], "ordering", expected, words)
    kinds: dict[Scale, int] = {} if scale is None else {scale: 0}
    of_code = np.array(
        [-1 if ordering is None else kinds.setdefault(ordering.scale, len(kinds)) for ordering in parsed]
    )
    of_row = of_code[words.codes]
    if (turned != 0).any():
        of_row = _word_scales(of_row, words, judge, scale, where)
    levels = [np.array(ordering.levels if ordering else [0]) for ordering in parsed]
    used, code = [*kinds], words.codes
    if (turned != 0).any():  # a word such as ``descending`` stands for another ordering on each scale
        code = code * len(used) + of_row
        rows = {
            (word, k): np.arange(1, used[k].n + 1)[:: turned[word]]
            for word in np.flatnonzero(turned)
            for k in range(len(used))
        }
        levels = [rows.get((word, k), levels[word]) for word in range(len(words.values)) for k in range(len(used))]
    orders = Shown(code, levels, used, of_row)
    check_alike(judge, orders.n, np.arange(scales.MOST + 1), "ordering", "levels", where)
    check_alike(
        judge, of_row, np.array([ordering.words for ordering in used], dtype=object), "ordering", "scales", where
    )
    return orders


def _word_scales(of_row: np.ndarray, words: Words, judge: Words, scale: Scale | None, where: str | Path) -> np.ndarray:
    """Index of each row's scale. A word has the scale of the judge's first ordering that lists levels."""
    of_judge = np.full(len(judge.values), -1 if scale is None else 0)
    listed = np.flatnonzero(of_row >= 0)[::-1]
    of_judge[judge.codes[listed]] = of_row[listed]
    of_row = np.where(of_row < 0, of_judge[judge.codes], of_row)
    expected = "the scores, such as '5 4 3 2 1', or --scale beside a word: --scale 1-5"
    fail(where, of_row < 0, "ordering", expected, words)
    return of_row


def permutation(text: str) -> list[int] | None:
    """The scores in a text such as ``1 2 3``, ``[3, 2, 1]`` or ``321``; None if they are no permutation."""
    ordering = scales.ordering(text)
    return None if ordering is None or not ordering.scale.usual else [*ordering.levels]


def _scores(column: pd.Series, shown: Shown, where: str | Path) -> tuple[np.ndarray, pd.Series]:
    """Level of each row, from 1, NaN if there is none; and the reason why there is none, else None."""
    level: np.ndarray = np.full(len(column), np.nan)
    reason: np.ndarray = np.zeros(len(column), dtype=np.int64)
    reasons: dict[str | None, int] = {None: 0, EMPTY: 1}
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    words = None if is_number else words_of(column)
    for k, scale in enumerate(shown.scales):
        rows = np.flatnonzero(shown.scale_of_row == k)
        bad: np.ndarray = np.zeros(len(column), dtype=bool)
        if words is None:
            values = column.iloc[rows].to_numpy(dtype=float, na_value=np.nan)
            level[rows], missing = scale.level(values), np.isnan(values)
            bad[rows] = ~missing & ~_is_level(level[rows], scale)
            reason[rows] = missing
        else:
            used = np.unique(words.codes[rows])
            choices = [_choice(words.values[code], scale) for code in used]
            of_word = np.full((2, len(words.values)), np.nan)
            of_word[0, used] = [place or np.nan for place, _ in choices]
            of_word[1, used] = [-1 if why == "" else reasons.setdefault(why, len(reasons)) for _, why in choices]
            level[rows], reason[rows] = of_word[0, words.codes[rows]], of_word[1, words.codes[rows]]
            bad = reason == -1
        levels = f"a whole number from 1 to {scale.n}" if scale.usual else f"one of {scale.words}"
        expected = f"{levels}, or nothing where there is no score"
        fail(where, bad, "score", expected, column if words is None else words)
    if words is not None and len(reasons) > 2 and np.isnan(level).all():
        row = int(np.flatnonzero(reason > 1)[0])
        text = words.values[words.codes[row]]
        raise InputError(
            f"{where}: row {row + 1}: field 'score': expected answers that give a score, found none in any row, here"
            f" {text!r:.60}"
        )
    texts = pd.Series([*reasons], dtype=object)
    return level, texts.take(reason).reset_index(drop=True)


def _reasons(reads: pd.DataFrame, reason: pd.Series) -> pd.Series:
    if REASON not in reads or not (empty := (reason == EMPTY).to_numpy()).any():
        return reason
    reason = reason.copy()
    reason[empty] = [_reason(value) for value in reads.loc[empty, REASON]]
    return reason


def _reason(value: object) -> str:
    is_word = isinstance(value, str | float | int | np.number) and not isinstance(value, bool)
    lines = word_of(value).splitlines() if is_word else []
    text = records.SURROGATE.sub("?", lines[0][:LONGEST_REASON].strip()) if lines else ""
    return EMPTY if text.lower() in MISSING else text


def _is_level(level: np.ndarray, scale: Scale) -> np.ndarray:
    return (level >= 1) & (level <= scale.n) & (level % 1 == 0)


def _choice(text: str, scale: Scale) -> tuple[int | None, str | None]:
    """Level that a text gives, and the reason why it gives none. The reason is empty if the text is no answer."""
    if text.lower() in MISSING:
        return None, EMPTY
    place = scale.place(text)
    if place is None:
        choice = scale.parse(text)
        place = None if choice.label is None else scale.labels.index(choice.label) + 1
        if place is None:
            return None, choice.reason if len(text.split()) > 1 else ""
    return place, None


def _human(reads: pd.DataFrame, item: Words, shown: Shown, where: str | Path) -> np.ndarray:
    """The human score of each row's item as a level, NaN if none; items of different judges count as different."""
    if "human_score" not in reads:
        return np.full(len(reads), np.nan)
    column = reads["human_score"]
    if any(not scale.numeric for scale in shown.scales):
        column = _levels_of_labels(words_of(column), shown)
    values = numbers_of(column, "human_score", where)
    first = one_human(values, item, where)
    low = np.array([scale.low for scale in shown.scales])[shown.scale_of_row]
    step = np.array([scale.step for scale in shown.scales])[shown.scale_of_row]
    return first if all(scale.usual for scale in shown.scales) else (first - low) / step + 1


def _levels_of_labels(words: Words, shown: Shown) -> pd.Series:
    texts = pd.Series(words.values, dtype=object).take(words.codes).reset_index(drop=True)
    for k, scale in enumerate(shown.scales):
        if not scale.numeric:
            places = {label: str(place) for label in words.values if (place := scale.place(label)) is not None}
            texts = texts.where(shown.scale_of_row != k, texts.map(lambda text, by=places: by.get(text, text)))
    return texts


def _judge_reads(
    table: pd.DataFrame, rows: np.ndarray, shown: Shown, reads: pd.DataFrame, where: str | Path
) -> pd.DataFrame:
    """The reads of one judge, at `rows` of the table, with columns that follow from its orderings, of one length."""
    scale = shown.scales[shown.scale_of_row[rows[0]]]
    distinct, number, order = shown.of(rows)
    table = table if len(rows) == len(table) else table.take(rows)
    by_number = _objects(distinct)  # one array for all reads in an ordering
    score = table["score"].to_numpy(dtype=float, na_value=np.nan)
    shares = _probabilities(reads, rows, order, scale, where)
    complete = ~np.isnan(shares).any(axis=1)
    if complete.any() and np.isin(shares[complete], (0, 1)).all():  # written scores in another form: chance is in them
        if np.isnan(score).all():
            score[complete] = (shares * order)[complete].sum(axis=1)
            table = table.assign(score=pd.array(score, dtype=table["score"].dtype))
        shares, complete = np.full_like(shares, np.nan), np.zeros_like(complete)
    scored = ~np.isnan(score)
    position = np.full(len(table), np.nan)
    position[scored] = permutations.positions_of(distinct)[number[scored], score[scored].astype(int) - 1]
    by_row: np.ndarray = np.full(len(table), None, dtype=object)
    by_row[complete] = _objects(shares[complete])
    return table.assign(
        ordering=by_number[number],
        strategy=_strategy(distinct, number, table["item_id"]),
        position=pd.array(position, dtype="Int8"),
        expected_score=(shares * order).sum(axis=1),
        position_probabilities=pd.Series(by_row, table.index, dtype=object),
    )


def _objects(rows: np.ndarray) -> np.ndarray:
    objects: np.ndarray = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        objects[place] = row
    return objects


def _strategy(distinct: np.ndarray, number: np.ndarray, item: pd.Series) -> str:
    """Name of the strategy whose orderings all items are read in, however often; ``recorded`` if there is none."""
    n = distinct.shape[1]
    distinct, merged = np.unique(distinct, axis=0, return_inverse=True)
    units, items = pd.factorize(item)
    if len(np.unique(units * len(distinct) + merged.ravel()[number])) < len(items) * len(distinct):
        return "recorded"
    if np.array_equal(distinct, np.unique(orderings.balanced(n), axis=0)) and n > 2:
        return "balanced"
    if n <= _ALL_OF and np.array_equal(distinct, np.unique(orderings.all_orderings(n), axis=0)):
        return "all"
    return "recorded"


def _probabilities(
    reads: pd.DataFrame, rows: np.ndarray, order: np.ndarray, scale: Scale, where: str | Path
) -> np.ndarray:
    """Probability of each position in each of some reads, NaN if it is unknown. Shape (len(rows), n)."""
    n, by_label = scale.n, {f"p_{label}".lower(): f"p_{label}" for label in scale.labels}
    columns = {}
    for name in reads.columns:
        match = PROBABILITY.fullmatch(str(name))
        if match and (NUMBER.fullmatch(match["label"]) or name.lower() in by_label):
            columns[by_label.get(name.lower(), name)] = name
    values = {of: numbers_of(reads[name], name, where)[rows] for of, name in columns.items()}
    values = {name: column for name, column in values.items() if not np.isnan(column).all()}
    if not values:
        return np.full(order.shape, np.nan)
    wanted = [*by_label.values()]
    if not scale.numeric and not values.keys() & set(wanted):
        wanted = [f"p_{level}" for level in range(1, n + 1)]
    absent, beyond = [name for name in wanted if name not in values], sorted(values.keys() - set(wanted))
    if absent or beyond:
        expected = f"p_{scale.labels[0]} to p_{scale.labels[-1]}, one for each of the {n} scores"
        listed = files.listed(sorted(values))
        raise InputError(f"{where}: columns of probabilities: found {listed}, expected {expected}")
    shares = np.column_stack([values[name] for name in wanted])
    is_known, within = ~np.isnan(shares), max(n, FEWEST_ROUNDED) * ROUNDED + 1e-9
    decimals = (
        "of two decimals or more " if (np.abs(shares * 10 - np.round(shares * 10))[is_known] < 1e-9).all() else ""
    )
    for bad, expected in (
        (is_known.any(axis=1) & ~is_known.all(axis=1), "a probability of every score, or of none"),
        ((is_known & ~((shares >= 0) & (shares <= 1 + within))).any(axis=1), "probabilities from 0 to 1"),
        (is_known.all(axis=1) & ~(np.abs(shares.sum(axis=1) - 1) <= within), f"probabilities {decimals}that sum to 1"),
    ):
        if bad.any():
            place = int(np.flatnonzero(bad)[0])
            row_text = " ".join("empty" if np.isnan(value) else f"{value:g}" for value in shares[place])
            text = f"expected {expected}, found {row_text} (sum {np.nansum(shares[place]):.4g})"
            raise InputError(f"{where}: row {rows[place] + 1}: fields {wanted[0]!r} to {wanted[-1]!r}: {text}")
    shares = shares / shares.sum(axis=1, keepdims=True)
    return np.take_along_axis(shares, order - 1, axis=1)
