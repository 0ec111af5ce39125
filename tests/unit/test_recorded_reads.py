"""Recorded answers as reads and responses."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from recorded_answers import compared_summaries, comparison, general, summaries, summary, two_groups, write

from rubric_order import datasets
from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.analyses.overview.parse_failures import estimate as parse_failures
from rubric_order.base import randomness
from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import discovery, formats
from rubric_order.intake.recorded import plans as reads
from rubric_order.judging.store import SCHEMA
from rubric_order.planning import reads as live_reads
from rubric_order.scoring import scores
from rubric_order.settings import judges


@pytest.fixture
def small():
    """Two groups of two candidates with rubrics of five levels."""
    return two_groups()


def test_options_are_letters_in_prompt_style_mcq_and_numbers_otherwise():
    def letters(prompt_style, n):
        block = {"engine": "recorded", "model": "J", "files": ["a.jsonl"], "prompt_style": prompt_style, "n": n}
        return judges.read(block).option_letters

    assert letters("mcq", 5) == "ABCDE"
    assert letters("mcq", 3) == "ABC"
    assert letters("rts", 5) is None
    assert letters(None, 5) is None


# --- records


def test_records_are_in_one_form_with_their_place(tmp_path):
    path = write(
        tmp_path / "mine.jsonl",
        {"item_id": "a", "ordering": [2, 1], "response": ""},
        {"item_id": "b"} | {"response": "x", "ordering_index": 3, "repeat": 2},
    )
    table = reads.read(path)
    assert table.columns.tolist() == formats.COLUMNS
    assert table["item_id"].tolist() == ["a", "b"]
    assert table["judge"].tolist() == ["mine", "mine"]
    assert table["ordering"].tolist() == [[2, 1], None]
    assert table["ordering_index"].tolist() == [pd.NA, 3]
    assert table["repeat"].tolist() == [0, 2]
    assert table["line"].tolist() == [1, 2]
    assert table["file"].unique().tolist() == [str(path)]


def test_numbers_and_absent_values_of_a_parquet_file_are_read_as_those_of_a_text_file(tmp_path):
    rows = [general(repeat=1, ordering_index=4), general(item_id="b", ordering=None)]
    tables = [
        reads.read(write(tmp_path / name, *rows)).drop(columns=["file", "line"]) for name in ("a.parquet", "a.jsonl")
    ]
    pd.testing.assert_frame_equal(*tables)


def test_a_toggled_pair_was_shown_the_other_way_round(tmp_path):
    path = write(tmp_path / "a.jsonl", compared_summaries(toggled=False), compared_summaries())
    table = reads.read(path)
    assert table["shown_first"].tolist() == ["M8", "M9"]
    assert table["shown_second"].tolist() == ["M9", "M8"]


def test_only_the_wanted_judge_is_read(tmp_path):
    path = write(tmp_path / "a.jsonl", summary(), summary(prompt_style="mcq", response="D"), summary(judge="other"))
    table = reads.read(path, judge="gpt-3.5", prompt_style="mcq")
    assert table["response"].tolist() == ["D"]
    with pytest.raises(InputError, match="no recorded answer of judge 'nobody'"):
        reads.read(path, judge="nobody")


def test_duplicates_become_repeats_in_the_order_of_the_files_and_are_counted(tmp_path, caplog):
    first = write(tmp_path / "a.jsonl", summary(response="1"), summary(response="2"), summary(system="M9"))
    second = write(tmp_path / "b.jsonl", summary(response="1"))
    table = reads.read([first, second])
    assert table["repeat"].tolist() == [0, 1, 0, 2]
    assert table["request_id"].is_unique
    assert "2 of 4 records repeat an earlier one" in caplog.text


def test_duplicates_of_numbered_repeats_are_numbered_anew_in_the_order_of_their_repeats(tmp_path):
    rows = [general(repeat=1, response="2"), general(repeat=0, response="1"), general(repeat=1, response="3")]
    table = reads.read(write(tmp_path / "a.jsonl", *rows), duplicates="keep")
    assert dict(zip(table["response"], table["repeat"], strict=True)) == {"1": 0, "2": 1, "3": 2}


def test_duplicates_can_be_kept_silently(tmp_path, caplog):
    table = reads.read(write(tmp_path / "a.jsonl", summary(), summary()), duplicates="keep")
    assert table["repeat"].tolist() == [0, 1]
    assert not caplog.text


def test_duplicates_can_be_refused_with_both_places(tmp_path):
    path = write(tmp_path / "a.jsonl", summary(system="M9"), summary(), summary())
    with pytest.raises(InputError, match=re.escape("a.jsonl: line 3: group_id 'dm-test-ab12'")) as error:
        reads.read(path, duplicates="refuse")
    assert str(error.value).endswith("is already recorded at " + f"{path}: line 2")
    with pytest.raises(InputError, match="option 'duplicates': expected keep_and_report, keep, refuse, found 'drop'"):
        reads.read(path, duplicates="drop")


def test_other_orderings_and_other_repeats_are_no_duplicates(tmp_path):
    rows = (general(), general(ordering=[1, 2, 3]), general(repeat=4), general(judge="K"))
    table = reads.read(write(tmp_path / "a.jsonl", *rows), duplicates="refuse")
    assert table["repeat"].tolist() == [0, 0, 4, 0]


def test_a_request_id_depends_on_what_was_judged_and_answered_and_not_on_the_place(tmp_path):
    def ids(path, *rows):
        return reads.read(write(tmp_path / path, *rows))["request_id"].tolist()

    (one,) = ids("a.jsonl", general())
    assert ids("deep/b.jsonl.gz", general(item_id="first"), general())[1] == one
    others = [general(response="3"), general(judge="K"), general(repeat=1), general(ordering=[1, 2, 3])]
    assert one not in ids("c.jsonl", *others)


# --- reads


def test_reads_have_the_columns_and_types_of_a_plan(tmp_path, small, judge, template):
    items = small.items
    how = {"study": "s", "judge_id": "j", "judge": judge, "template": template, "probe": "score_order"}
    design = live_reads.Design(scales=[5], strategies=["balanced"])
    live = live_reads.plan_reads(items, small.rubrics, small.pairs, design=design, **how)
    rows = [
        {"item_id": row.item_id, "ordering": row.ordering, "response": "3"}
        for row in live.sample(frac=1, random_state=0).itertuples()
    ]
    records = reads.read(write(tmp_path / "a.jsonl", *rows))
    planned = reads.plan(items, records, study="s", judge_id="j")
    assert planned.columns.tolist() == live.columns.tolist()
    assert planned.dtypes.tolist() == live.dtypes.tolist()
    assert planned["strategy"].unique().tolist() == ["recorded"]
    for name in ("study", "judge", "dataset", "item_id", "group_id", "candidate", "human_score", "n", "read_index"):
        assert planned[name].tolist() == live[name].tolist()
    shown = {(row.item_id, *row.ordering) for row in planned.itertuples()}
    assert shown == {(row.item_id, *row.ordering) for row in live.itertuples()}


def test_records_that_were_kept_in_a_file_give_the_same_reads(tmp_path):
    items = summaries({("m8", "coherence"): 2, ("m9", "coherence"): 4})
    rows = [summary(), summary(), summary(system="M9")]
    more = [general(item_id="000-m8-coherence"), {"item_id": "000-m9-coherence", "ordering_index": 2, "response": "x"}]
    paths = [write(tmp_path / "a.jsonl", *rows), write(tmp_path / "b.jsonl", *more)]
    records = reads.read(paths)
    records.to_parquet(tmp_path / "records.parquet")
    kept = pd.read_parquet(tmp_path / "records.parquet")
    planned = [reads.plan(items, table, study="s", judge_id="j") for table in (records, kept)]
    pd.testing.assert_frame_equal(*planned)
    pd.testing.assert_frame_equal(reads.responses(records), reads.responses(kept))


def test_an_ordering_is_the_recorded_one_or_of_its_index_or_canonical(tmp_path, small):
    rows = [
        {"item_id": "ebb-a", "ordering": [2, 1, 3], "response": "1"},
        {"item_id": "ebb-b", "ordering_index": 1, "response": "1"},
        {"item_id": "flow-a", "ordering_index": 3, "response": "1"},
        {"item_id": "flow-b", "response": "1"},
    ]
    records = reads.read(write(tmp_path / "a.jsonl", *rows))
    planned = reads.plan(small.items, records, study="s", judge_id="j", n=3)
    assert planned["ordering"].tolist() == [[2, 1, 3], [2, 3, 1], [3, 2, 1], [1, 2, 3]]
    assert planned["n"].tolist() == [3, 3, 3, 3]


def test_an_ordering_index_without_an_ordering_is_an_error(tmp_path, small):
    records = reads.read(write(tmp_path / "a.jsonl", {"item_id": "ebb-a", "ordering_index": 6, "response": "1"}))
    with pytest.raises(InputError, match="line 1: field 'ordering_index': expected 0 to 5 for 3 options, found 6"):
        reads.plan(small.items, records, study="s", judge_id="j", n=3)


def test_items_are_found_by_group_candidate_and_criterion(tmp_path):
    items = summaries({("m8", "coherence"): 2, ("m9", "coherence"): 4, ("m9", "fluency"): 3})
    path = write(tmp_path / "a.jsonl", summary(system="M9", criterion="fluency"), summary(system="M9"), summary())
    planned = reads.plan(items, reads.read(path), study="s", judge_id="j")
    assert planned["item_id"].tolist() == ["000-m8-coherence", "000-m9-coherence", "000-m9-fluency"]
    assert planned["human_score"].tolist() == [2, 4, 3]
    assert planned["ordering"].tolist() == [[1, 2, 3, 4, 5]] * 3


def test_a_name_that_two_items_share_is_an_error(tmp_path):
    items = summaries({("m8", "coherence"): 2, ("M8", "coherence"): 4})
    records = reads.read(write(tmp_path / "a.jsonl", summary()))
    with pytest.raises(InputError, match="line 1: names an item by group, candidate and criterion, which 1 items"):
        reads.plan(items, records, study="s", judge_id="j")


@pytest.mark.parametrize("row", [summary(article_id="other"), general(item_id="999-m8-coherence")])
def test_a_record_of_no_item_is_an_error_or_left_out_and_counted(tmp_path, caplog, row):
    items = summaries({("m8", "coherence"): 2, ("m9", "coherence"): 2})
    records = pd.concat(
        [reads.read(write(tmp_path / f"{k}.jsonl", r)) for k, r in enumerate([summary(), row])],
        ignore_index=True,
    )
    with pytest.raises(InputError, match=r"1.jsonl: line 1: .*is not among the items of dataset 'summeval'"):
        reads.plan(items, records, study="s", judge_id="j")
    planned = reads.plan(items, records, study="s", judge_id="j", unknown="skip")
    assert planned["item_id"].tolist() == ["000-m8-coherence"]
    assert "1 of 2 records left out" in caplog.text
    assert "judge j: 1 of 2 items have no recorded answer" in caplog.text
    with pytest.raises(InputError, match="judge j: no recorded answer is of an item"):
        reads.plan(items, records.iloc[1:], study="s", judge_id="j", unknown="skip")


def test_comparisons_are_not_mixed_with_scores(tmp_path, small):
    paths = [write(tmp_path / "a.jsonl", comparison()), write(tmp_path / "b.jsonl", summary())]
    records = reads.read(paths)
    with pytest.raises(InputError, match=r"a\.jsonl: line 1: format 'pairwise' compares two texts"):
        reads.plan(small.items, records, study="s", judge_id="j")
    with pytest.raises(InputError, match=r"b\.jsonl: line 1: format 'summeval' scores one text"):
        reads.plan_comparisons(records, study="s", judge_id="j", dataset="d")


def test_comparisons_become_reads_of_a_pair_in_one_canonical_order(tmp_path):
    rows = [
        comparison(answer_a="new", answer_b="base"),
        comparison(answer_a="base", answer_b="new"),
        comparison(answer_a="base", answer_b="other", repetition=2),
    ]
    records = reads.read(write(tmp_path / "a.jsonl", *rows))
    planned = reads.plan_comparisons(records, study="s", judge_id="j", dataset="d")
    assert planned["candidates"].tolist() == [["base", "new"], ["base", "new"], ["base", "other"]]
    assert planned["ordering"].tolist() == [[1, 2], [2, 1], [1, 2]]
    assert planned["candidate"].tolist() == ["new", "new", "other"]
    assert set(planned["baseline"]) == {"base"}
    assert planned["repeat"].tolist() == [0, 0, 2]
    assert planned["read_index"].tolist() == [0, 1, 0]
    assert planned["n"].tolist() == [2] * 3


def test_a_task_of_devbench_loses_the_name_of_the_project(tmp_path):
    rows = [
        comparison(benchmark="DevBench", task=f"{rest}uml_class-complexity", question_id=f"{name}_uml_class-complexity")
        for rest, name in (("", "idcenter"), ("management_", "people_management"))
    ]
    records = reads.read(write(tmp_path / "a.jsonl", *rows))
    planned = reads.plan_comparisons(records, study="s", judge_id="j", dataset="d")
    assert set(planned["task"]) == {"uml_class-complexity"}
    assert planned["source_id"].tolist() == ["idcenter", "people_management"]


def test_human_scores_stay_with_their_summaries(tmp_path):
    rows = [compared_summaries(toggled=toggled) for toggled in (False, True)]
    records = reads.read(write(tmp_path / "a.jsonl", *rows))
    planned = reads.plan_comparisons(records, study="s", judge_id="j", dataset="d")
    assert planned["candidates"].tolist() == [["M8", "M9"]] * 2
    assert planned["human_scores"].tolist() == [[2.0, 3.5]] * 2
    assert planned["ordering"].tolist() == [[1, 2], [2, 1]]
    assert planned["baseline"].isna().all()


def test_a_record_belongs_to_the_dataset_of_its_format_or_benchmark(tmp_path):
    rows = [comparison(benchmark="MTBench"), comparison(benchmark="DevBench")]
    paths = [write(tmp_path / "a.jsonl", *rows), write(tmp_path / "b.jsonl", summary())]
    records = reads.read(paths)
    for adapter, kept in (("mtbench_pairs", 1), ("devbench_pairs", 1), ("summeval", 1), ("hanna", 0)):
        assert len(reads.about(records, adapter)) == kept
    discovered = discovery.discover(write(tmp_path / "b" / "a.jsonl", comparison(benchmark="Other")).parent)
    assert discovered["gpt_4"]["adapters"] == ["recorded"]


# --- from answers to statistics


def test_responses_have_the_columns_of_the_store_and_name_their_file(tmp_path):
    records = reads.read(write(tmp_path / "a.jsonl", summary(), summary(response="")))
    responses = reads.responses(records)
    assert responses.columns.tolist() == SCHEMA.names
    assert responses["request_id"].tolist() == records["request_id"].tolist()
    assert responses["text"].tolist() == ["It scores a 4.", ""]
    assert responses["finish_reason"].isna().all()
    assert [json.loads(engine) for engine in responses["engine"]] == [
        {"engine": "recorded", "file": "a.jsonl", "line": line} for line in (1, 2)
    ]


def test_recorded_answers_reach_agreement_and_parse_failures(tmp_path):
    # Humans give 1, 2, 3, 4. The judge gives A, (A and C: mean B), nothing, E.
    systems = ("m8", "m9", "m10", "m11")
    items = summaries({(system, "coherence"): human for human, system in enumerate(systems, start=1)})
    answers = [("M8", "A"), ("M9", "A"), ("M10", "I cannot say."), ("M9", "C"), ("M11", "E.")]
    path = write(tmp_path / "a.jsonl", *(summary(prompt_style="mcq", system=s, response=r) for s, r in answers))
    (settings,) = discovery.discover(tmp_path).values()
    records = reads.read(path, judge=settings["model"], prompt_style=settings["prompt_style"])
    planned = reads.plan(items, records, study="s", judge_id="j", n=settings["n"])
    letters = judges.read(settings).option_letters
    table = scores.score_reads(planned, reads.responses(records), probe="score_order", labels=letters)
    assert table["score"].tolist() == [1, 1, 3, pd.NA, 5]
    assert table["failure"].dropna().tolist() == ["no_score"]

    found = human_agreement.estimate(table, confidence=0.95).query("cluster == 'item'")
    row = found.iloc[0]
    assert (row["strategy"], row["criterion"], row["readout"]) == ("recorded", "all", "hard")
    assert (row["n_items"], row["n_reads"], row["n_failed"]) == (3, 4, 1)
    estimates = found.set_index("quantity")["estimate"]
    assert estimates["spearman"] == pytest.approx(1)
    assert estimates["pearson"] == pytest.approx(np.corrcoef([1, 2, 5], [1, 2, 4])[0, 1])

    counted = parse_failures.estimate(table)
    pooled = counted.query("position == 'all' and reason == 'all'").iloc[0]
    assert (pooled["n_scores"], pooled["n_failed"]) == (5, 1)


def test_position_bias_planted_in_recorded_answers_is_seen_in_the_positions(tmp_path, small):
    # The judge always takes the option at position 2.
    rng = randomness.generator(0, "test")
    rows = []
    for item_id in small.items["item_id"]:
        for repeat in range(10):
            ordering = (rng.permutation(5) + 1).tolist()
            rows.append({"item_id": item_id, "ordering": ordering, "repeat": repeat, "response": f"{ordering[1]}"})
    records = reads.read(write(tmp_path / "a.jsonl", *rows))
    planned = reads.plan(small.items, records, study="s", judge_id="j")
    table = scores.score_reads(planned, reads.responses(records), probe="score_order")
    assert table["position"].tolist() == [2] * 40


@pytest.fixture
def judgments():
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    return Path(folder)


@pytest.mark.parametrize(
    ("judge_id", "failed", "correlations"),
    [
        ("gpt_3_5_turbo_0301_mcq", 0, [0.4239, 0.3406, 0.3428, 0.3843]),
        ("gpt_3_5_turbo_0301_rts", 162, [0.4418, 0.4334, 0.2863, 0.4456]),
        ("llama_2_7b_chat_hf_rts", 1, [-0.0009, 0.1199, 0.0412, 0.0665]),
    ],
)
def test_agreement_with_experts_is_that_of_an_independent_script(
    root, mirror, judgments, judge_id, failed, correlations
):
    # That script shares no code with this project: own reading, scipy's correlation.
    names = {path.name.split("_")[0].lower(): path for path in (mirror / "summeval").glob("M*.jsonl")}
    names["rubrics"] = root / "resources/rubrics/summeval.yaml"
    items = datasets.prepare("summeval", datasets.read("summeval", names, {"systems": "all"})).items
    settings = discovery.discover(judgments / "summeval")[judge_id]
    style = settings["prompt_style"]
    records = reads.read(settings["files"], judge=settings["model"], prompt_style=style)
    planned = reads.plan(items, records, study="s", judge_id=judge_id, n=settings["n"])
    letters = judges.read(settings).option_letters
    table = scores.score_reads(planned, reads.responses(records), probe="score_order", labels=letters)
    assert table["failure"].notna().sum() == failed
    found = human_agreement.estimate(table, confidence=0.95)
    found = found.query("quantity == 'spearman' and cluster == 'item'").set_index("criterion")["estimate"]
    assert found[["coherence", "consistency", "fluency", "relevance"]].tolist() == pytest.approx(correlations, abs=6e-5)
