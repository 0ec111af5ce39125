"""Damaged files: each of many small mutations of valid files must give whole tables or one error that names the file.

A fixed seed makes the same mutations each time. `python tests/unit/test_mutations.py` counts outcomes by kind.
"""

import collections
import copy
import csv
import dataclasses
import io
import json
import math
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from rubric_order import datasets
from rubric_order.base import parquet
from rubric_order.base.errors import InputError

DEEP = "@@deep@@"  # stands for a deeply nested list until the text is written
TEXT_FORMATS = ("yaml", "csv", "json", "jsonl")
VALUES = (None, 5, -1, 10**400, 2.5, True, "text", "", " ", "a\nb: [", "x\u2028y", "\ud83d", [], [1, None], {"a": 1})


# --- writing records in each format


def dump(records: list, kind: str, *, twice: str | None = None, ragged: bool = False) -> bytes:
    """Records as a file. `twice` is a key that the first record, or the header, has once more."""
    if kind == "json":
        return _deep(_json(records, twice))
    if kind == "json_by_id":
        return _deep(_json({_key(record): record for record in records}, twice))
    if kind == "jsonl":
        lines = [_json(record, twice if number == 0 else None) for number, record in enumerate(records)]
        return _deep("".join(line + "\n" for line in lines))
    if kind == "yaml":
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        text = yaml.dump(records, Dumper=dumper, sort_keys=False, allow_unicode=True)
        return _deep(text if twice is None else text.replace("\n", f"\n  {twice}: again\n", 1))
    header, rows = _cells(records, twice)
    if kind == "parquet":
        return _parquet(header, rows)
    rows = [[value if isinstance(value, str | int | float | None) else str(value) for value in row] for row in rows]
    if ragged:
        rows[-1] = rows[-1][:-1] if len(rows) % 2 else [*rows[-1], "more"]
    if kind == "xlsx":
        workbook = openpyxl.Workbook()
        for row in [header, *rows]:
            workbook.active.append(row)
        file = io.BytesIO()
        workbook.save(file)
        return file.getvalue()
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return _deep(file.getvalue())


def _key(record: object) -> str:
    fields = ("capability", "task", "instance_idx")
    return "_".join(str(record.get(name)) for name in fields) if isinstance(record, dict) else "x"


def _json(content: object, twice: str | None) -> str:
    text = json.dumps(content, ensure_ascii="\\ud83d" in json.dumps(content))  # half a pair cannot be written as it is
    return text if twice is None else text.replace(f'"{twice}": ', f'"{twice}": "before", "{twice}": ', 1)


def _deep(text: str, depth: int = 900) -> bytes:
    for quoted in (f'"{DEEP}"', f"'{DEEP}'", DEEP):
        text = text.replace(quoted, "[" * depth + "]" * depth)
    return text.encode("utf-8", "surrogatepass")


def _cells(records: list[dict], twice: str | None) -> tuple[list[str], list[list]]:
    header = list(dict.fromkeys(key for record in records for key in record))
    rows = [[record.get(key) for key in header] for record in records]
    if twice is not None:
        header, rows = [*header, twice], [[*row, row[0]] for row in rows]
    return header, rows


def _parquet(header: list[str], rows: list[list]) -> bytes:
    columns = []
    for place in range(len(header)):
        values = [row[place] for row in rows]
        try:
            columns.append(pa.array(values))
        except (pa.ArrowException, OverflowError, UnicodeError):  # of several types, which a column cannot have
            columns.append(pa.array([str(value).encode("utf-8", "replace").decode() for value in values]))
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=header), file)
    return file.getvalue()


def load(content: bytes, kind: str) -> list:
    """Records that a file still holds whole, by the plainest reader there is; none if it cannot be read."""
    try:
        if kind == "yaml":
            return yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or []  # noqa: S506
        if kind == "jsonl":
            return [json.loads(line) for line in content.splitlines()]
        if kind == "csv":
            return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    except (yaml.YAMLError, ValueError):
        pass
    return []


# --- valid files


@dataclasses.dataclass
class Dataset:
    """Files of an adapter that is given no damaged one.

    Attributes:
        adapter: the adapter.
        files: records and format by the name of the file.
        damaged: the files to damage.
        options: of the adapter.
        count: how many items and pairs there must be for the records of a damaged file; as many as before by default.
    """

    adapter: str
    files: dict[str, tuple[list, str]]
    damaged: tuple[str, ...]
    options: dict = dataclasses.field(default_factory=dict)
    count: Callable[[list], float] = lambda records: math.inf


def levels(n: int = 5) -> dict[int, str]:
    return {level: f"level {level}, na\u00efve" for level in range(1, n + 1)}


def rubrics(*names: str) -> tuple[list, str]:
    return [{"id": name, "name": name, "question": f"Is it {name}?", "levels": levels()} for name in names], "yaml"


def demo() -> Dataset:
    tasks = [
        {
            "id": f"task_{n}",
            "category": "talk",
            "instruction": f"Say \u201chello\u201d {n}.",
            "reference": "Good day.",
            "rubric": {"criterion": "Is it polite?", "levels": levels(3)},
            "responses": [
                {"candidate": name, "level": k, "text": f"H\u00e9llo {k}."} for k, name in ((1, "a"), (3, "b"))
            ],
        }
        for n in range(4)
    ]

    def count(records: list) -> float:
        tasks = [task for task in records if isinstance(task, dict)]
        return sum(len(task["responses"]) for task in tasks if isinstance(task.get("responses"), list))

    return Dataset("demo", {"tasks": (tasks, "yaml")}, ("tasks",), count=count)


def hanna() -> Dataset:
    criteria = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
    stories = [
        {"": str(n), "Prompt": f"Prompt {n}", "Human": f'St\u00f6ry {n},\n"quoted"', "Story": "s", "Model": model}
        for model in ("GPT-2", "CTRL")
        for n in range(96)
    ]
    columns = [f"Human {rater} {code}" for code in ("RE", "CH", "EM", "SU", "EG", "CX") for rater in (1, 2, 3)]
    ratings = [{"Model": name} | {column: str([3, 4] * 48) for column in columns} for name in ("GPT\u20112", "Human")]
    files = {"stories": (stories, "csv"), "ratings": (ratings, "csv"), "rubrics": rubrics(*criteria)}
    return Dataset("hanna", files, tuple(files))


def prompt(n: int, response: str, reference: str = "\n\n###Reference Answer (Score 5):\nGood d\u00e4y.") -> str:
    scale = "\n".join(f"Score {level}: {text}" for level, text in levels().items())
    return (
        f"###Task Description:\nJudge.\n\n###The instruction to evaluate:\nSay hello {n}.\n\n###Response to evaluate:\n"
        f"{response}{reference}\n\n###Score Rubrics:\n[Is it polite?]\n{scale}\n\n###Feedback: "
    )


def prometheus() -> Dataset:
    records = [
        {"idx": n, "response_source": name, "category": "c", "gpt4_score": [3, 4, 4], "instruction": prompt(n, name)}
        for n in range(3)
        for name in ("one", "two")
    ]
    return Dataset("prometheus", {"records": (records, "json")}, ("records",), count=len)


def summeval() -> Dataset:
    criteria = ("coherence", "consistency", "fluency", "relevance")
    systems = ("m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15", "m17", "m20", "m22", "m23")
    files = {"rubrics": rubrics(*criteria)}
    for system in systems:
        shared = {"model_id": system.upper(), "expert_annotations": [dict.fromkeys(criteria, 3)] * 3}
        files[system] = (
            [{"id": f"dm-{n}", "text": f"Article {n}", "decoded": f"s\u00fcmmary {n}", **shared} for n in range(100)],
            "jsonl",
        )
    return Dataset("summeval", files, ("rubrics", "m8", "m23"), {"systems": ["m23"]})


def custom(kind: str) -> Dataset:
    rows = [
        {"item_id": f"i{n}", "instruction": f"Say {n}", "response": f"H\u00e9llo\n{n}", "question": "Is it polite?"}
        | {"level_1": "no", "level_2": "yes", "human_score_1": str(n % 2 + 1), "category": "talk"}
        for n in range(6)
    ]
    return Dataset("custom", {"items": (rows, kind)}, ("items",), {"format": kind}, count=len)


def custom_with_rubrics() -> Dataset:
    rows = [
        {"item_id": f"i{n}", "instruction": "Say", "response": f"Hello {n}", "criterion": name, "human_scores": [1, 2]}
        for n, name in enumerate(("polite", "short"))
    ]
    files = {"items": (rows, "jsonl"), "rubrics": rubrics("polite", "short")}
    return Dataset("custom", files, tuple(files), {"format": "jsonl"}, count=len)


def biggen() -> Dataset:
    rubric = {"criteria": "Is it?"} | {f"score{level}_description": text for level, text in levels().items()}
    records = [
        {"capability": "grounding", "task": "t", "instance_idx": n, "system_prompt": "Be.", "input": f"Say {n}"}
        | {"reference_answer": f"Hello {n}", "score_rubric": rubric, "response": f"H\u00e9llo {n}"}
        | {"response_model_name": "m"}
        for n in range(3)
    ]
    return Dataset("biggen", {"records": (records, "json_by_id")}, ("records",), count=len)


def flask() -> Dataset:
    evaluation = [
        {"idx": n, "instruction": f"Do {n}.", "answer": f"D\u00f6ne {n}.", "task": "t", "skill": ["Factuality"]}
        | {"domain": ["Health"], "difficulty": "expert"}
        for n in (1, 2, 3)
    ]
    files = {"evaluation": (evaluation, "jsonl"), "rubrics": rubrics("factuality")}
    for name in ("one", "two"):
        files[name] = [{"question_id": n, "text": f"{name} do\u00ebs {n}"} for n in (1, 2, 3)], "jsonl"
    return Dataset("flask", files, ("evaluation", "rubrics", "two"))


def mtbench_pairs() -> Dataset:
    texts = {
        name: "Te\u0301xt"
        for turn in (1, 2)
        for name in (f"question_{turn}", f"reference_answer_{turn}", f"answer_{turn}-base", f"answer_{turn}-m")
    }
    rows = [{"index": n, "task": "writing", **texts} for n in range(3)]
    files = {"answers": (rows, "xlsx")}
    return Dataset("mtbench_pairs", files, ("answers",), {"baseline": "base"}, count=_answers(columns=2))


def devbench_pairs() -> Dataset:
    row = {"task": "uml-complexity", "question": "Q", "evaluating_guidance": "G", "reference_answer": "R"}
    rows = [{"index": n, **row, "answer-human": "H\u00e4", "answer-m": "M", "answer-n": "N"} for n in range(3)]
    return Dataset("devbench_pairs", {"answers": (rows, "xlsx")}, ("answers",), count=_answers(columns=1))


def _answers(*, columns: int) -> Callable[[list], float]:
    """Each answer is an item, and all but the baseline's make a pair; a column that is gone is a model that is gone."""

    def count(records: list) -> float:
        names = {key for record in records for key in record if str(key).startswith("answer")}
        models = len(names) // columns
        return len(records) * (2 * models - 1)

    return count


def autoj() -> Dataset:
    records = [
        {"scenario": "s", "label": n % 3, "prompt": f"Say {n}", "response 1": "H\u00ebllo", "response 2": "Bye"}
        for n in range(4)
    ]

    def count(records: list) -> float:  # a pair with an empty response is left out, and that is logged
        texts = [[record.get(f"response {n}") for n in (1, 2)] for record in records if isinstance(record, dict)]
        return 3 * sum(all(isinstance(text, str) and text.strip() for text in pair) for pair in texts)

    return Dataset("autoj", {"records": (records, "jsonl")}, ("records",), count=count)


def hhh() -> Dataset:
    records = [
        {"source": "helpful"}
        | {f"{name}_instruction": prompt(n, f"{name} \u00e4nswer", "") for name in ("chosen", "rejected")}
        for n in range(3)
    ]
    return Dataset("hhh", {"records": (records, "json")}, ("records",), count=lambda records: 3 * len(records))


DATASETS = {
    "demo": demo,
    "hanna": hanna,
    "prometheus": prometheus,
    "summeval": summeval,
    "custom_csv": lambda: custom("csv"),
    "custom_jsonl": lambda: custom("jsonl"),
    "custom_parquet": lambda: custom("parquet"),
    "custom_with_rubrics": custom_with_rubrics,
    "biggen": biggen,
    "flask": flask,
    "mtbench_pairs": mtbench_pairs,
    "devbench_pairs": devbench_pairs,
    "autoj": autoj,
    "hhh": hhh,
}


# --- damage


@dataclasses.dataclass
class Mutant:
    """A damaged file: its content ("folder": it is a folder, None: it is not there), and the records in it if known."""

    kind: str
    content: bytes | str | None
    records: list | None = None


def damaged_bytes(content: bytes, kind: str, rng: random.Random) -> Iterator[Mutant]:
    """Mutations of any file."""

    def insert(what: bytes) -> bytes:
        place = rng.randrange(len(content))
        return content[:place] + what + content[place:]

    for _ in range(6):
        cut = content[: rng.randrange(1, len(content))]
        yield Mutant("truncated", cut, load(cut, kind))
    for _ in range(3):
        yield Mutant("latin-1 byte", insert(b"\xe9"))
        yield Mutant("nul", insert(b"\0"))
    yield Mutant("empty", b"")
    yield Mutant("blank", b" \n\n")
    yield Mutant("folder", "folder")
    yield Mutant("gone", None)
    yield Mutant("nested", b"[" * 100_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("file"), content)
    yield Mutant("zip", packed.getvalue())
    if kind in TEXT_FORMATS or kind == "json_by_id":
        text = content.decode()
        yield Mutant("utf-16", text.encode("utf-16"))
        yield Mutant("utf-16 without bom", text.encode("utf-16-le"))
        yield Mutant("latin-1", text.encode("latin-1", "replace"))
        yield Mutant("bom", b"\xef\xbb\xbf" + content)
        for _ in range(3):
            yield Mutant("stray quote", insert(b'"'))
        yield Mutant("crlf", text.replace("\n", "\r\n").encode())


def places(content: object) -> list[tuple[list | dict, object]]:
    """Each place in nested lists and mappings, as its container and its key there."""
    found = []
    if isinstance(content, list | dict):
        for key, value in enumerate(content) if isinstance(content, list) else content.items():
            found += [(content, key), *places(value)]
    return found


class Changes:
    """Mutations of records: each method changes some of them in place, drawn at random.

    Attributes:
        rng: draws. flat: whether a record's fields are the only places in it.
    """

    def __init__(self, rng: random.Random, *, flat: bool) -> None:
        self.rng, self.flat = rng, flat

    def set_anywhere(self, value: object, *, texts: bool = False) -> Callable[[list], None]:
        def change(changed: list) -> None:
            options = [(c, key) for c, key in places(changed) if not (self.flat and c is changed)]
            if texts:
                options = [(c, key) for c, key in options if isinstance(c[key], str)]
            container, key = self.rng.choice(options)
            container[key] = value

        return change

    def keyed(self, changed: list) -> dict:
        return self.rng.choice([c for c, _ in places(changed) if isinstance(c, dict)] if not self.flat else changed)

    def drop(self, changed: list) -> None:
        entry = self.keyed(changed)
        del entry[self.rng.choice(list(entry))]

    def drop_column(self, changed: list) -> None:
        name = self.rng.choice(list(changed[0]))
        for record in changed:
            del record[name]

    def add_column(self, changed: list) -> None:
        for record in changed:
            record["new\ncolumn"] = "x"

    def repeat_value(self, changed: list) -> None:
        name = self.rng.choice(list(changed[0]))
        changed[-1][name] = copy.deepcopy(changed[0][name])

    def swap(self, changed: list) -> None:
        names = self.rng.sample(list(changed[0]), 2)
        for record in changed:
            record[names[0]], record[names[1]] = record[names[1]], record[names[0]]

    def swap_in_one(self, changed: list) -> None:
        entry = self.rng.choice(changed)
        names = self.rng.sample(list(entry), 2)
        entry[names[0]], entry[names[1]] = entry[names[1]], entry[names[0]]


def damaged_records(records: list, kind: str, rng: random.Random) -> Iterator[Mutant]:
    """Mutations of the content of a file."""
    flat = kind in ("csv", "xlsx", "parquet")
    change = Changes(rng, flat=flat)

    def mutant(name: str, damage: Callable[[list], object], **options: object) -> Mutant:
        changed = copy.deepcopy(records)
        if kind != "yaml":  # shared parts are copied once; a change must be in one place
            changed = [copy.deepcopy(record) for record in changed]
        changed = json.loads(json.dumps(changed)) if kind in ("json", "jsonl", "json_by_id") else changed
        damage(changed)
        return Mutant(name, dump(changed, kind, **options), changed)

    for value in VALUES:
        usable = not (kind == "yaml" and (value == 10**400 or value == "\ud83d")) and not (flat and value == "\ud83d")
        if usable and not (kind == "xlsx" and value == 10**400):
            yield mutant("wrong type", change.set_anywhere(value))
    for _ in range(3):
        yield mutant("nan", change.set_anywhere(math.nan))
        yield mutant("field missing", change.drop)
        yield mutant("swapped", change.swap)
        yield mutant("value repeated", change.repeat_value)
    for _ in range(2):
        yield mutant("column missing", change.drop_column)
        yield mutant("swapped in one", change.swap_in_one)
        yield mutant("nested", change.set_anywhere(DEEP))
        yield mutant("record repeated", lambda changed: changed.append(copy.deepcopy(rng.choice(changed))))
    yield mutant("column added", change.add_column)
    yield mutant("field added", lambda changed: change.keyed(changed).update({"extra": [1] if not flat else "1"}))
    yield mutant("huge", change.set_anywhere("1 MB. " * 170_000, texts=True))
    yield mutant("last record removed", lambda changed: changed.pop())
    yield mutant("no records", lambda changed: changed.clear())
    yield mutant("key repeated", lambda changed: None, twice=next(key for key in records[0] if key))
    if kind == "csv":
        yield mutant("ragged", lambda changed: None, ragged=True)
        yield mutant("ragged", lambda changed: changed.append(copy.deepcopy(changed[0])), ragged=True)
    if kind in ("json", "jsonl", "yaml"):
        for root in ({}, "text", 5, None, [[]]):
            yield Mutant("another root", dump(root, "yaml" if kind == "yaml" else "json"))


# --- what comes of it


def write(path: Path, content: bytes | str | None) -> None:
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)


def read(dataset: Dataset, paths: dict[str, Path]) -> datasets.Tables:
    """Tables of a dataset, made and written as the workflow does."""
    tables = datasets.prepare("d", datasets.read(dataset.adapter, paths, dataset.options))
    for table in (tables.items, tables.rubrics, tables.pairs):
        parquet.write(table, next(iter(paths.values())).parent / "table.out")
    return tables


def size(tables: datasets.Tables) -> int:
    return len(tables.items) + len(tables.pairs)


def defect(mutant: Mutant, dataset: Dataset, paths: dict[str, Path], whole: datasets.Tables) -> tuple[str, str | None]:
    """The outcome for a damaged file, and what is wrong with it, if anything."""
    try:
        tables = read(dataset, paths)
    except InputError as error:
        message = str(error)
        if len(message.splitlines()) != 1:
            return "error", f"not one line: {message!r:.300}"
        if len(message) > 1000:
            return "error", f"{len(message)} characters: {message:.300}"
        if not any(str(path) in message for path in paths.values()):
            return "error", f"names no file: {message!r:.300}"
        return "error", None
    except Exception as error:  # any other is the defect that is looked for
        return "exception", f"{type(error).__name__}: {error!s:.300}"
    least = size(whole) if mutant.records is None else min(size(whole), dataset.count(mutant.records))
    if size(tables) < least:
        return "tables", f"{size(tables)} items and pairs, expected {least}"
    if mutant.kind in ("bom", "crlf") and not tables.items.equals(whole.items):
        return "tables", "other items than without it"
    return "tables", None


def try_all(name: str, folder: Path) -> Iterator[tuple[str, str, str, str | None]]:
    """File, kind of damage, outcome and defect of each mutant of a dataset's files."""
    dataset = DATASETS[name]()
    rng = random.Random(f"mutations of {name}")  # noqa: S311 - not a secret
    paths = {file: folder / f"{file}.{kind}" for file, (_, kind) in dataset.files.items()}
    contents = {file: dump(records, kind) for file, (records, kind) in dataset.files.items()}
    for file, path in paths.items():
        write(path, contents[file])
    whole = read(dataset, paths)
    for file in dataset.damaged:
        records, kind = dataset.files[file]
        for mutant in (*damaged_bytes(contents[file], kind, rng), *damaged_records(records, kind, rng)):
            write(paths[file], mutant.content)
            yield file, mutant.kind, *defect(mutant, dataset, paths, whole)
        write(paths[file], contents[file])


@pytest.mark.parametrize(
    "name", [name if name == "demo" else pytest.param(name, marks=pytest.mark.slow) for name in DATASETS]
)
def test_a_damaged_file_gives_whole_tables_or_one_error_that_names_it(name, tmp_path):
    outcomes = list(try_all(name, tmp_path))
    assert len(outcomes) >= 40
    assert [(file, kind, found) for file, kind, _, found in outcomes if found] == []


# --- what is changed on purpose


RECORD = {"idx": 7, "response_source": "m", "gpt4_score": [3]}


def changes(caplog, **records: list[dict]) -> list[str]:
    """Messages about the texts of some Prometheus files, one per file that is prepared."""
    caplog.set_level("INFO", logger="rubric_order")
    for name, content in records.items():
        path = Path(f"{name}.json")
        path.write_text(json.dumps(content))
        datasets.prepare(name, datasets.read("prometheus", {"records": path}))
    return [message for message in caplog.messages if "texts changed" in message]


def test_texts_whose_form_line_ends_or_surrounding_space_change_are_counted_once_a_dataset(
    caplog, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    texts = [prompt(n, response).strip() for n, response in enumerate(("plain", "e\u0301", "a\r\nb", "e\u0301\rb"))]
    odd = [RECORD | {"idx": n, "instruction": text} for n, text in enumerate([*texts, f"{texts[0]}\n"])]
    for record in odd:
        record["category"] = " talk"
    plain = [RECORD | {"instruction": texts[0]}]
    assert changes(caplog, odd=odd, plain=plain) == [
        "odd: texts changed: 2 by Unicode form, 2 by line ends, 2 by surrounding space"
    ]


def test_ids_are_compared_in_their_cleaned_form(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    same = [RECORD | {"response_source": name, "instruction": prompt(1, "x")} for name in ("\u00e9", "e\u0301")]
    Path("records.json").write_text(json.dumps(same))
    with pytest.raises(InputError, match="record 2: item id '007-\u00e9' is already used by records"):
        datasets.prepare("d", datasets.read("prometheus", {"records": Path("records.json")}))


def main() -> None:
    import tempfile

    counts = collections.Counter()
    for name in DATASETS:
        folder = Path(tempfile.mkdtemp())
        for file, kind, outcome, found in try_all(name, folder):
            counts[kind, outcome] += 1
            counts["all", outcome] += 1
            if found:
                print(f"{name} {file}: {kind}: {found}")
        shutil.rmtree(folder)
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind:24}", {outcome: n for (k, outcome), n in sorted(counts.items()) if k == kind})


if __name__ == "__main__":
    main()
