import errno
import multiprocessing
import os
import resource
import time
from dataclasses import fields

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubric_order.base import locks
from rubric_order.base.errors import InputError
from rubric_order.judging import store as store_module
from rubric_order.judging.engines import Response
from rubric_order.judging.store import SCHEMA, Store, asked_again, may_pass


def answer(name, text=None, **values):
    return Response(str(name), text=f"answer {name}" if text is None else text, finish_reason="stop", **values)


def test_the_store_keeps_every_field_of_a_response():
    assert SCHEMA.names == [*(field.name for field in fields(Response)), "engine"]


def test_a_response_comes_back_as_it_was(tmp_path):
    full = Response(
        "a",
        text=" 4\n\u2028é🙂 ",
        finish_reason="stop",
        prompt_tokens=100,
        completion_tokens=2,
        cached_tokens=90,
        option_logprobs=[-0.5, float("-inf"), -1.0],
        option_token=1,
        reasoning="Hm.",
        refusal="No.",
        attempts=2,
        tokens=102,
        cost=0.25,
        model="m-2026",
    )
    failed = Response("b", error="prompt_too_long: 9 tokens, the model takes 8", prompt_tokens=9)
    Store(tmp_path).append([full, failed], engine="vllm")
    table = Store(tmp_path).read(["a", "b"])
    assert table.columns.tolist() == SCHEMA.names
    a, b = table.to_dict("records")
    assert a.pop("engine") == b.pop("engine") == "vllm"
    assert {key: value for key, value in a.items() if key not in ("option_logprobs", "error")} == {
        key: value for key, value in vars(full).items() if key not in ("option_logprobs", "error")
    }
    assert list(a["option_logprobs"]) == full.option_logprobs
    assert pd.isna(a["error"])
    assert b["error"] == failed.error
    assert all(pd.isna(b[key]) for key in ("text", "finish_reason", "option_logprobs", "option_token"))


def test_read_gives_what_is_known_in_the_order_that_was_asked(tmp_path):
    store = Store(tmp_path)
    store.append([answer("c"), answer("a")])
    store.append([answer("b")])
    assert store.read(["b", "x", "a", "c"])["request_id"].tolist() == ["b", "a", "c"]
    assert store.read(pd.Series(["c"]))["text"].tolist() == ["answer c"]
    assert store.read(["x"]).empty
    assert store.read([]).columns.tolist() == SCHEMA.names


def test_read_gives_all_that_is_known_where_nothing_is_named(tmp_path):
    store = Store(tmp_path)
    store.append([answer("b"), Response("a", error="timeout")])
    store.append([answer("a")])
    table = store.read(columns=["text"])
    assert table.columns.tolist() == ["request_id", "text", "error"]
    assert sorted(zip(table["request_id"], table["text"], strict=True)) == [("a", "answer a"), ("b", "answer b")]
    assert Store(tmp_path / "none").read().empty


def test_which_results_are_asked_again():
    errors = pd.Series([None, "timeout", "timeout: 60 s", "timeouts", "prompt_too_long: 9 tokens", "malformed:\n:"])
    assert may_pass(errors).tolist() == [False, True, True, False, False, True]
    assert asked_again(errors, retry_failed=False).tolist() == may_pass(errors).tolist()
    assert asked_again(errors, retry_failed=True).tolist() == [False, True, True, True, True, True]
    assert asked_again(errors[:0], retry_failed=False).tolist() == []


def test_a_note_of_a_run_that_is_torn_is_left_aside(tmp_path, caplog):
    store = Store(tmp_path)
    assert store.runs() == []
    store.note({"ended": "2026-02-02", "seconds": 2})
    store.note({"ended": "2026-01-01", "seconds": 1})
    assert [run["seconds"] for run in store.runs()] == [1, 2]
    next((tmp_path / "runs").iterdir()).write_bytes(bytes(20))
    assert len(store.runs()) == 1
    assert "cannot be read and is ignored" in caplog.text
    assert store.read().empty


def test_few_requests_among_many_are_read_without_the_rest_of_their_files(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "GROUP_ROWS", 8)
    store = Store(tmp_path)
    for first in range(0, 256, 64):
        store.append([answer(k) for k in range(first, first + 64)])
    read = []
    of_group = pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *args: read.append(args[2]) or of_group(*args))
    assert store.read(["70", "3", "none"], ["text"])["text"].tolist() == ["answer 70", "answer 3"]
    assert read == 2 * [["request_id", "text", "error"]]
    (file, *_) = tmp_path.glob("*.parquet")
    ids, *others = (pq.ParquetFile(file).metadata.row_group(0).column(k) for k in range(len(SCHEMA)))
    assert ids.compression == "UNCOMPRESSED"
    assert "RLE_DICTIONARY" not in ids.encodings
    assert {column.compression for column in others} == {"ZSTD"}


def test_a_folder_that_is_not_there_yet_is_an_empty_store(tmp_path):
    table = Store(tmp_path / "none").read(["a"])
    assert table.empty
    assert table.columns.tolist() == SCHEMA.names
    assert not (tmp_path / "none").exists()


def test_nothing_to_append_writes_nothing(tmp_path):
    Store(tmp_path / "none").append([])
    assert not (tmp_path / "none").exists()


@settings(max_examples=30)
@given(st.permutations(range(8)), st.integers(1, 8))
def test_append_read_and_compact_keep_everything_once(tmp_path_factory, names, size):
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder)
    for start in range(0, 8, size):
        store.append([answer(name) for name in names[start : start + size]])
    before = store.read(map(str, range(8)))
    store.compact()
    pd.testing.assert_frame_equal(store.read(map(str, range(8))), before)
    assert before["text"].tolist() == [f"answer {name}" for name in range(8)]
    assert len(list(folder.iterdir())) == 1


def rows(folder):
    return sorted(name for path in folder.glob("*.parquet") for name in pq.read_table(path)["request_id"].to_pylist())


def test_compact_joins_what_anyone_left_behind_and_keeps_nothing_double(tmp_path):
    killed, mine = Store(tmp_path), Store(tmp_path)
    killed.append([answer("x"), answer("b")])
    mine.append([answer("a")])
    mine.append([answer("b"), answer("a")])
    mine.append([answer("a")])
    mine.compact()
    assert rows(tmp_path) == ["a", "b", "x"]
    assert len(list(tmp_path.iterdir())) == 1
    mine.compact()
    mine.append([answer("c")])
    mine.compact()
    assert rows(tmp_path) == ["a", "b", "c", "x"]
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_spent_is_counted_once_for_each_run_also_after_joining(tmp_path):
    store = Store(tmp_path)
    assert store.spent() == {"calls": 0, "tokens": 0, "cost": 0.0}
    timeout = Response("a", error="timeout: no answer within 5 s", attempts=3, tokens=1000, cost=0.3)
    store.append([timeout, answer("b", prompt_tokens=100, completion_tokens=5, attempts=1, cost=0.01)], engine="first")
    store.append([timeout, answer("c", prompt_tokens=200)], engine="second")
    store.append([answer("a", prompt_tokens=50, completion_tokens=5, attempts=2, cost=0.02)], engine="third")
    expected = {"calls": 9, "tokens": 2360, "cost": pytest.approx(0.63)}
    assert store.spent() == expected
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    store.compact()
    assert store.spent() == expected
    for path, content in kept.items():  # as where a job was killed while it was joining
        path.write_bytes(content)
    assert store.spent() == expected


def test_compact_leaves_large_files_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("rubric_order.judging.store.FULL_FILE_ROWS", 3)
    store = Store(tmp_path)
    for names in ("abc", "de", "f"):
        store.append([answer(name) for name in names])
    large = next(path for path in tmp_path.iterdir() if pq.read_metadata(path).num_rows == 3)
    store.compact()
    assert rows(tmp_path) == list("abcdef")
    assert large.exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_compact_keeps_failed_calls_that_were_paid_for_once_each(tmp_path):
    store = Store(tmp_path)
    failed = Response("a", error="malformed: no JSON", attempts=6, cost=0.5)
    store.append([failed, Response("b", error="timeout", attempts=6)])
    store.append([failed])  # a copy, as two jobs that join the same files leave it
    store.append([Response("c", error="stopped")])
    store.append([answer("a", attempts=1, cost=0.1), answer("b", attempts=1), answer("c")])
    store.compact()
    (path,) = tmp_path.iterdir()
    table = pq.read_table(path).to_pandas()
    assert sorted(table["request_id"]) == ["a", "a", "b", "b", "c"]
    assert table["cost"].sum() == pytest.approx(0.6)
    assert store.read(["a", "b", "c"])["error"].isna().all()


def test_compact_keeps_the_file_that_already_holds_all_that_is_joined(tmp_path):
    store = Store(tmp_path)
    store.append([answer("a")])
    store.append([answer("a"), answer("b")])
    store.compact()
    assert rows(tmp_path) == ["a", "b"]


def test_two_jobs_that_write_the_same_responses_lose_none_whoever_joins_them_first(tmp_path):
    first, second = Store(tmp_path), Store(tmp_path)
    for store in (first, second):
        store.append([answer("a")])
        store.append([answer("b")])
    first.compact()
    second.compact()
    assert first.read(["a", "b"])["request_id"].tolist() == ["a", "b"]
    assert rows(tmp_path) == ["a", "b"]


def test_the_same_responses_make_the_same_file(tmp_path):
    Store(tmp_path / "x").append([answer("a"), answer("b")])
    Store(tmp_path / "y").append([answer("a"), answer("b")])
    Store(tmp_path / "y").append([answer("b"), answer("a")])
    (x,) = (tmp_path / "x").iterdir()
    assert (tmp_path / "y" / x.name).read_bytes() == x.read_bytes()
    assert len(list((tmp_path / "y").iterdir())) == 2


def test_an_answer_that_was_given_twice_is_read_once(tmp_path):
    Store(tmp_path).append([answer("a", "one"), answer("b")])
    Store(tmp_path).append([answer("a", "two")])
    table = Store(tmp_path).read(["a", "b"])
    assert table["request_id"].tolist() == ["a", "b"]
    assert table["text"][0] == Store(tmp_path).read(["a"])["text"][0]


TEXT = "text " * 800  # of an answer: 4 KB

# Jobs are processes: the lock of those who join files is one of processes.
processes = multiprocessing.get_context("fork")


def run_job(folder, number, chunks, begin, apart, grown):
    """A judge job of 40 answers a chunk, which another job also gives some of, and which joins files as it goes."""
    store = Store(folder)
    names = [[f"{number}-{chunk}-{row}" for row in range(40)] for chunk in range(chunks)]
    begin.wait()
    time.sleep(number * apart)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for chunk in names:
        store.append([answer(name, f"{name} {TEXT}") for name in [*chunk, "shared-1", "shared-2"]], engine="e" * 300)
        assert store.read(chunk)["request_id"].tolist() == chunk
    store.compact([name for chunk in names for name in chunk])
    grown.put(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


@pytest.mark.parametrize("apart", [0.0, 0.05])
def test_jobs_that_write_read_and_join_at_the_same_time_or_soon_after_lose_nothing(tmp_path, caplog, apart):
    jobs, chunks = 6, 6
    begin, grown = processes.Barrier(jobs), processes.SimpleQueue()
    work = [(tmp_path, number, chunks, begin, apart, grown) for number in range(jobs)]
    started = [processes.Process(target=run_job, args=each) for each in work]
    for job in started:
        job.start()
    for job in started:
        job.join()
        assert job.exitcode == 0
    found = rows(tmp_path)
    distinct = {f"{n}-{chunk}-{row}" for n in range(jobs) for chunk in range(chunks) for row in range(40)}
    assert set(found) == distinct | {"shared-1", "shared-2"}
    assert len(found) <= 1.1 * len(distinct)
    assert len(list(tmp_path.iterdir())) <= jobs
    # Kilobytes; all texts are 6 MB. A job that joins the files of all has them in memory once. Much
    # of it is pyarrow's own (50 to 62 MB were seen).
    assert max(grown.get() for _ in range(jobs)) < 100_000
    assert caplog.messages == []


def test_files_that_hold_nothing_of_a_job_are_left_to_others(tmp_path):
    store = Store(tmp_path)
    for name in "abcd":
        store.append([answer(name)])
    store.compact(["a", "c", "unknown"])
    assert sorted(map(sorted, (pq.read_table(path)["request_id"].to_pylist() for path in tmp_path.iterdir()))) == [
        ["a", "c"],
        ["b"],
        ["d"],
    ]


def test_only_one_job_joins_files_at_a_time_and_others_leave_theirs(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "SECONDS_TO_WAIT", 0)
    store, other = Store(tmp_path), Store(tmp_path)
    store.append([answer("a")])
    store.append([answer("b")])
    kept = sorted(tmp_path.iterdir())
    with locks.only_writer(tmp_path / "compaction"):
        other.compact()
        assert sorted(tmp_path.glob("[!.]*")) == kept
    other.compact()
    assert rows(tmp_path) == ["a", "b"]
    assert len(list(tmp_path.iterdir())) == 1


def test_copies_in_large_files_are_removed_too(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "FULL_FILE_ROWS", 3)
    store = Store(tmp_path)
    store.append([answer(name) for name in "abc"])
    store.append([answer(name) for name in "cde"])
    store.append([answer(name) for name in "xyz"])
    store.compact(["c"])
    assert rows(tmp_path) == list("abcdexyz")
    assert len(list(tmp_path.iterdir())) == 2


def test_joined_rows_are_read_by_row_groups_and_stay_in_the_order_in_which_they_were_written(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "GROUP_ROWS", 4)
    store = Store(tmp_path)
    names = [f"{number:02d}" for number in range(23)]
    for start in range(0, 23, 5):
        store.append([answer(name) for name in names[start : start + 5]], engine=f"engine {start % 2}")
    store.compact()
    (path,) = tmp_path.iterdir()
    file = pq.ParquetFile(path)
    assert file.read(["request_id"])["request_id"].to_pylist() == names
    assert 1 < file.num_row_groups <= 10
    read, groups = pq.ParquetFile.read_row_group, []
    monkeypatch.setattr(
        pq.ParquetFile, "read_row_group", lambda self, group, *rest: groups.append(group) or read(self, group, *rest)
    )
    found = store.read(["07", "06", "22", "none"])
    assert found["request_id"].tolist() == ["07", "06", "22"]
    assert found["text"].tolist() == ["answer 07", "answer 06", "answer 22"]
    assert found["engine"].tolist() == ["engine 1", "engine 1", "engine 0"]
    assert len(groups) == 2


def test_what_another_job_joins_while_the_folder_is_read_is_not_missed(tmp_path, monkeypatch):
    other = Store(tmp_path)
    other.append([answer("a")])
    other.append([answer("b")])
    reader = Store(tmp_path)
    load, joined = reader._load, []

    def load_after_the_other_has_joined(path, columns):
        if not joined:
            joined.append(other.compact())
        return load(path, columns)

    monkeypatch.setattr(reader, "_load", load_after_the_other_has_joined)
    assert reader.read(["a", "b"])["request_id"].tolist() == ["a", "b"]


@pytest.mark.parametrize("reason", [errno.ENOENT, errno.ESTALE])
def test_a_file_that_has_gone_while_it_was_read_is_looked_for_again(tmp_path, monkeypatch, reason):
    fail_once(monkeypatch, OSError(reason, os.strerror(reason)))
    store = Store(tmp_path)
    store.append([answer("a")])
    store.append([answer("b")])
    assert store.read(["a", "b"])["request_id"].tolist() == ["a", "b"]


@pytest.mark.parametrize("reason", [errno.EIO, errno.EACCES, errno.EMFILE])
def test_a_file_that_cannot_be_read_now_is_not_taken_for_torn(tmp_path, monkeypatch, reason):
    fail_once(monkeypatch, OSError(reason, os.strerror(reason)))
    store = Store(tmp_path)
    store.append([answer("a")])
    with pytest.raises(InputError, match=os.strerror(reason)):
        store.read(["a"])


def fail_once(monkeypatch, error):
    read, failed = store_module._read, []

    def read_or_fail(path, columns):
        if not failed:
            failed.append(path)
            raise error
        return read(path, columns)

    monkeypatch.setattr(store_module, "_read", read_or_fail)


def test_half_a_character_is_kept_as_the_mark_of_one_and_costs_no_other_answer(tmp_path):
    # JSON can carry it, UTF-8 cannot. A whole one in two halves is whole.
    store = Store(tmp_path)
    store.append([answer("a"), Response("b", text="good \ud83d", error="x \udc00"), Response("c", text="\ud83d\ude00")])
    found = store.read(["a", "b", "c"])
    assert found["text"].tolist()[1:] == ["good \ufffd", "\U0001f600"]
    assert found["error"].tolist()[1] == "x \ufffd"


def test_a_file_that_is_being_written_is_not_read(tmp_path, caplog):
    store = Store(tmp_path)
    store.append([answer("a")])
    (tmp_path / ".half-written.parquet").write_bytes(b"PAR1 and so on")
    assert store.read(["a"])["request_id"].tolist() == ["a"]
    assert caplog.messages == []


def spoil_nothing_left(raw):
    return b""


def spoil_cut(raw):
    return raw[: len(raw) // 2]


def spoil_last_byte(raw):
    return raw[:-1]


def spoil_all(raw):
    return bytes(len(raw))


def spoil_first_page(raw):
    return bytes(200) + raw[200:]


def spoil_footer(raw):
    return raw[:-400] + bytes(390) + raw[-10:]


@pytest.mark.parametrize(
    "spoil",
    [spoil_nothing_left, spoil_cut, spoil_last_byte, spoil_all, spoil_first_page, spoil_footer],
    ids=lambda function: function.__name__,
)
def test_a_torn_file_is_left_aside_with_a_warning_and_the_rest_is_read(tmp_path, caplog, spoil):
    store = Store(tmp_path)
    store.append([answer("a"), answer("b")])
    (torn,) = tmp_path.iterdir()
    store.append([answer("c")])
    torn.write_bytes(spoil(torn.read_bytes()))
    assert Store(tmp_path).read(["a", "b", "c"])["request_id"].tolist() == ["c"]
    (message,) = caplog.messages
    assert message.startswith(f"{torn} cannot be read and is ignored: ")
    assert "\n" not in message
    store.append([answer("a"), answer("d")])
    store.compact()
    assert torn.exists()
    assert Store(tmp_path).read(["a", "c", "d"])["request_id"].tolist() == ["a", "c", "d"]


def test_whatever_bit_of_a_file_flips_no_wrong_answer_is_read(tmp_path):
    store = Store(tmp_path)
    store.append([answer(f"{number:02d}", prompt_tokens=number) for number in range(40)], engine="e")
    names, before = [f"{number:02d}" for number in range(40)], store.read()
    (path,) = tmp_path.iterdir()
    raw = path.read_bytes()
    for bit in np.random.default_rng(1).integers(0, 8 * len(raw), 150).tolist():
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        assert store.read(names).empty
    path.write_bytes(raw)
    pd.testing.assert_frame_equal(store.read(names), before)
