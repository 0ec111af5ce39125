from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from rubric_order.base import parquet
from rubric_order.judging import status
from rubric_order.judging.batches import Look, Record, Records, Sent
from rubric_order.judging.engines import Response
from rubric_order.judging.store import Store
from rubric_order.tables import judge_status

TOKENS = {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 60}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.append(
        [Response("a", text="4", cost=0.5, **TOKENS), Response("b", error="timeout: 60 s", attempts=6, cost=0.2)]
    )
    store.append([Response("c", error="prompt_too_long: 9", prompt_tokens=9), Response("old", text="1", cost=1.0)])
    store.append([Response("d", text="3", **TOKENS)])
    return store


@pytest.fixture
def requests(tmp_path):
    """Requests of two studies; those of a third one have not been collected."""
    for study, names in (("s", list("abce")), ("t", ["d", "f", "g"])):
        parquet.write(pd.DataFrame({"request_id": names, "prompt": "p"}), tmp_path / study / "j.parquet")
    return {study: tmp_path / study / "j.parquet" for study in ("s", "t", "u")}


def test_each_request_is_counted_once_and_by_what_became_of_it(requests, store):
    table = status.judge_status(requests, store).set_index("study")
    counts = ["requests", "done", "failed_passing", "failed_for_good", "missing"]
    assert table.loc["s", counts].tolist() == [4, 1, 1, 1, 1]
    assert table.loc["t", counts].tolist() == [3, 1, 0, 0, 2]
    assert table.loc["u", counts].isna().all()
    assert table.loc["all", counts].tolist() == [7, 2, 1, 1, 3]


def test_what_making_reference_answers_asks_is_counted_over_its_steps(requests, store, tmp_path):
    steps = [tmp_path / f"{step}.parquet" for step in ("1_write", "1_review", "2_write")]
    for path, names in zip(steps[:2], (["a", "old"], ["g"]), strict=True):
        parquet.write(pd.DataFrame({"request_id": names}), path)
    parts = {"s": requests["t"], "references of d": steps}
    table = status.judge_status(parts, store).set_index("study")
    assert table.loc["references of d", ["requests", "done", "missing"]].tolist() == [3, 2, 1]
    assert table.loc["all", "other"] == 2  # `old` is no stranger any more; `b` and `c` are
    unknown = status.judge_status({"references of d": steps[2:]}, store)
    assert pd.isna(unknown["requests"]).all()


def test_tokens_are_those_of_answers_and_cost_is_that_of_all_that_is_stored(requests, store):
    table = status.judge_status(requests, store).set_index("study")
    assert table.loc["s", status.TOKEN_COLUMNS].tolist() == [100, 10, 60]
    assert table.loc["all", status.TOKEN_COLUMNS].tolist() == [200, 20, 120]
    assert table.loc["s", "cost"] == pytest.approx(0.7)
    assert pd.isna(table.loc["t", "cost"])
    assert table.loc["all", "cost"] == pytest.approx(1.7)
    assert table.loc["all", "other"] == 1


def test_calls_that_failed_before_the_answer_came_are_in_the_cost(requests, store):
    store.append([Response("b", text="2", cost=0.1, attempts=1)])
    store.compact()
    table = status.judge_status(requests, store).set_index("study")
    assert table.loc["all", "cost"] == pytest.approx(1.8)
    assert table.loc["s", "done"] == 2


def test_hours_are_those_of_all_runs(requests, store):
    for number in (1, 2):
        store.note({"seconds": 1800.0 * number, "ended": f"2026-01-0{number}"})
    assert status.judge_status(requests, store)["hours"].iloc[-1] == pytest.approx(1.5)


def test_nothing_has_to_be_there(tmp_path):
    table = status.judge_status({"s": tmp_path / "none.parquet"}, Store(tmp_path / "store")).set_index("study")
    assert pd.isna(table.loc["all", "requests"])
    assert pd.isna(table.loc["all", "cost"])
    assert list((tmp_path).iterdir()) == []


def test_the_table_has_a_line_a_study_and_one_for_all_where_there_are_several(requests, store):
    parts = {"a": status.judge_status(requests, store)}
    parts["b"] = status.judge_status({"s": requests["s"]}, store)
    rows = judge_status.TABLE.table(parts, {"a": "USD", "b": ""})
    assert rows[["judge", "study"]].to_numpy().tolist() == [
        *(["a", study] for study in ("s", "t", "u", "all")),
        *(["b", study] for study in ("s", "all")),
    ]
    lines = judge_status.TABLE.printout(rows)
    assert lines[["Judge", "Study"]].to_numpy().tolist() == [*(["a", s] for s in ("s", "t", "u", "all")), ["b", "all"]]
    first = lines.iloc[0]
    assert (first["Requests"], first["Done"], first["Prompt tokens"], first["From cache"]) == ("4", "1", "100", "60 %")
    assert (first["Cost"], first["Hours"]) == ("0.70 USD", "")
    assert lines["Requests"][2] == "not planned"
    assert lines["Done"][2] == ""


# --- open batches

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)


def batch_of(names, key="k1", *, state="created", batch="batch_0123456789abcdef0123456789abcdef", sent=NOW):
    requests = [Sent(name, "default", 0, None, 0, 9, 0.0) for name in names]
    return Record(
        key=key,
        engine="{}",
        base_url="http://127.0.0.1:9/v1",
        state=state,
        batch=batch,
        questions=[[]],
        requests=requests,
        sent=sent,
    )


@pytest.fixture
def records(store):
    """Two batches: one that was looked at, and one whose creation got no answer. Together they hold three requests."""
    records = Records(store.folder / "batches")
    seen = batch_of("ef", sent=NOW - timedelta(hours=3))
    records.write(seen)
    records.note(seen, Look(at=NOW - timedelta(minutes=5), status="in_progress", done=1))
    records.write(batch_of("g", "k2", state="creating", batch=None, sent=NOW - timedelta(hours=1.5)))
    return records


def test_requests_in_open_batches_are_counted_by_study_and_over_all(requests, store, records):
    table = status.judge_status(requests, store).set_index("study")
    assert table.loc[["s", "t", "all"], "in_batches"].tolist() == [1, 2, 3]  # e; f, g
    assert pd.isna(table.loc["u", "in_batches"])
    assert table.loc["all", ["missing", "open_batches"]].tolist() == [3, 2]


def test_an_open_batch_has_its_state_at_the_last_look_its_age_and_its_requests(store, records):
    table = status.open_batches(store, NOW)
    assert table["batch"].tolist() == ["batch_0123456789abcdef0123456789abcdef", "k2"]
    assert table["state"].tolist() == ["in_progress", "being created"]
    assert table[["done", "requests"]].to_numpy().tolist() == [[1, 2], [0, 1]]
    assert table["age_hours"].tolist() == pytest.approx([3.0, 1.5])
    assert table["looked"].fillna("").tolist() == ["2026-11-25T11:55:00+00:00", ""]
    lines = judge_status.BATCHES.printout(judge_status.BATCHES.table({"a": table}))
    assert lines.to_numpy().tolist() == [
        ["a", "batch_012345...bcdef", "in_progress", "1", "2", "2026-11-25 11:55 UTC", "3.0 h"],
        ["a", "k2", "being created", "0", "1", "never", "1.5 h"],
    ]


def test_a_record_of_an_earlier_version_has_no_age_and_a_look_that_cannot_be_read_is_none(store, records):
    old = batch_of("d", "k3", batch="b").model_dump_json(exclude={"sent"})
    records.path("k3").write_text(old)
    records.path("k3").with_suffix(".look").write_text("{")
    table = status.open_batches(store, NOW)
    assert table["state"].tolist() == ["in_progress", "being created", "sent"]  # what has no time comes last
    lines = judge_status.BATCHES.printout(judge_status.BATCHES.table({"a": table}))
    assert lines["Age"].tolist() == ["3.0 h", "1.5 h", "unknown"]


def test_the_table_speaks_of_batches_only_where_there_are_some(requests, store, records):
    open_ones = judge_status.TABLE.table({"a": status.judge_status(requests, store)}, {"a": ""})
    assert judge_status.TABLE.printout(open_ones)["In batches"].tolist() == ["1", "2", "", "3"]
    for record in records.all():
        records.remove(record)
    assert list(records.folder.iterdir()) == []  # the last look goes with its record
    assert status.open_batches(store, NOW).empty
    none = judge_status.TABLE.table({"a": status.judge_status(requests, store)}, {"a": ""})
    assert "In batches" not in judge_status.TABLE.printout(none)
