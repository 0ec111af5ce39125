"""The versions behind the answers, as statistic and table."""

import json

import pandas as pd
from factories import complete_judge

from rubric_order.analyses.overview.judge_versions import estimate as judge_versions
from rubric_order.analyses.overview.judge_versions import table
from rubric_order.base import files, parquet
from rubric_order.jobs.list_responses import list_responses
from rubric_order.judging import answers, versions


def answered(engine, count):
    return pd.DataFrame({"engine": [json.dumps(engine)] * count, "model": None})


def test_versions_are_counted_over_shards_and_a_mix_is_marked(tmp_path):
    old, new = ({"engine": "vllm", "engine_version": version, "model_revision": "abc"} for version in ("0.9", "0.10"))
    for shard, (engine, count) in enumerate(((old, 3), (old, 4), (new, 5)), start=1):
        path = tmp_path / f"{shard}.parquet"
        parquet.write(pd.DataFrame({"a": [1]}), path, versions=versions.counts(answered(engine, count)))
    list_responses(tmp_path, 3, complete_judge(accept_mixed=True), tmp_path / "mixed.json")
    told = files.read_json(tmp_path / "mixed.json")
    one = answers.joined([tmp_path / "1.parquet"])

    rows = judge_versions.estimate({"mixed": told, "one": one, "recorded": {"studies": {}, "versions": {}}})
    assert rows.to_numpy().tolist() == [
        ["mixed", "revision", "abc", 12, False],
        ["mixed", "version of the engine", "0.10", 5, True],
        ["mixed", "version of the engine", "0.9", 7, True],
        ["one", "revision", "abc", 3, False],
        ["one", "version of the engine", "0.9", 3, False],
    ]
    printed = table.TABLE.printout(table.TABLE.table(rows))
    assert printed["flag"].tolist() == ["", "mixed", "mixed", "", ""]
    assert printed["answers"].tolist() == ["12", "5", "7", "3", "3"]


def test_judges_that_say_nothing_make_an_empty_table():
    rows = judge_versions.estimate({"recorded": {"studies": {}, "versions": {}}})
    assert rows.empty
    assert table.TABLE.printout(table.TABLE.table(rows)).empty
