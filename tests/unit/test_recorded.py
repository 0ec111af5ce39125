import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rubric_order import datasets
from rubric_order.base import randomness
from rubric_order.base.errors import InputError
from rubric_order.config import judges
from rubric_order.datasets.rubrics import Rubric
from rubric_order.judging.store import SCHEMA
from rubric_order.planning import plan
from rubric_order.recorded import recorded
from rubric_order.scoring import scores
from rubric_order.statistics import human_agreement, parse_failures

ARTICLE = "dm-test-ab12"


def general(**changes):
    return {"item_id": "ebb-a", "ordering": [3, 1, 2], "response": "Score: 2", "judge": "J"} | changes


def summary(**changes):
    record = {"judge": "gpt-3.5", "prompt_style": "rts", "system": "M8", "criterion": "coherence"}
    return record | {"article_id": ARTICLE, "response": "It scores a 4."} | changes


def comparison(**changes):
    record = {"benchmark": "MTBench", "judge": "gpt-4", "task": "writing", "question_id": "81", "answer_a": "x"}
    return record | {"answer_b": "y", "options": ["A", "B", "C"], "repetition": 0, "response": "[[A]]"} | changes


def compared_summaries(**changes):
    record = {"judge": "gpt-4", "criterion": "coherence", "article_id": ARTICLE, "pair": ["M8", "M9"]}
    record |= {"toggled": True, "options": ["A", "B", "C"], "human_score_1": 2.0, "human_score_2": 3.5}
    return record | {"response": "B"} | changes


RECORDS = {"general": general, "summeval": summary, "pairwise": comparison, "summeval_pairwise": compared_summaries}


def write(path, *records):
    """Records as a file of the kind that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith(".parquet"):
        pd.DataFrame(list(records)).to_parquet(path)
        return path
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.name.endswith(".gz") else text)
    return path


def summaries(scores_of):
    """Items of one article by (system, criterion) and its human score; ids as the adapter of SummEval makes them."""
    return datasets.prepare(
        "summeval",
        [
            datasets.Item(
                where=f"{system}, {criterion}",
                item_id=f"000-{system}-{criterion}",
                group_id=ARTICLE,
                candidate=system,
                instruction="Summarise.",
                response=f"Summary of {system}.",
                rubric=Rubric(criterion, criterion, "Good?", ("no", "yes")),
                human_scores=[human],
            )
            for (system, criterion), human in scores_of.items()
        ],
    ).items


@pytest.fixture
def small():
    """Two groups of two candidates with rubrics of five levels."""
    rubric = Rubric("r", "quality", "Is it explained?", tuple(f"level {k}" for k in range(1, 6)))
    return datasets.prepare(
        "small",
        [
            datasets.Item(
                where=f"{group}, {candidate}",
                item_id=f"{group}-{candidate}",
                group_id=group,
                candidate=candidate,
                instruction=f"Explain {group}.",
                response=f"{candidate} explains {group}.",
                rubric=rubric,
                human_scores=[human],
            )
            for group in ("ebb", "flow")
            for candidate, human in (("a", 2), ("b", 5))
        ],
    )


# --- finding judges


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "deep/er/a.jsonl"])
@pytest.mark.parametrize("kind", RECORDS)
def test_every_format_is_recognised_by_its_fields_in_every_kind_of_file(tmp_path, kind, name):
    write(tmp_path / name, RECORDS[kind](), RECORDS[kind](response="other"))
    (judge,) = recorded.discover(tmp_path).values()
    assert judge["engine"] == "recorded"
    assert judge["formats"] == [kind]
    assert judge["files"] == [str(tmp_path / name)]
    assert len(recorded.read_records(judge["files"])) == 2


def test_judges_are_found_by_name_and_prompt_style_whatever_file_they_stand_in(tmp_path):
    write(tmp_path / "b.jsonl", summary(), summary(prompt_style="mcq"), summary(judge="Llama-2 (7B)"))
    write(tmp_path / "a.jsonl.gz", summary(system="M9"))
    write(tmp_path / "own_judge.jsonl", {"item_id": "x", "ordering": [2, 1], "response": "1"})
    (tmp_path / "README.md").write_text("not an answer")
    (tmp_path / ".b.jsonl").write_text("being written")
    judges = recorded.discover(tmp_path)
    assert list(judges) == ["gpt_3_5_mcq", "gpt_3_5_rts", "llama_2_7b_rts", "own_judge"]
    assert judges["gpt_3_5_rts"] == {
        "engine": "recorded",
        "model": "gpt-3.5",
        "prompt_style": "rts",
        "n": 5,
        "formats": ["summeval"],
        "adapters": ["summeval"],
        "files": [str(tmp_path / "a.jsonl.gz"), str(tmp_path / "b.jsonl")],
    }
    assert judges["own_judge"]["n"] == 2
    assert judges["own_judge"]["adapters"] is None
    assert judges["own_judge"]["prompt_style"] is None


def test_options_are_letters_in_prompt_style_mcq_and_numbers_otherwise():
    assert judges.option_letters({"prompt_style": "mcq", "n": 5}) == "ABCDE"
    assert judges.option_letters({"prompt_style": "mcq", "n": 3}) == "ABC"
    assert judges.option_letters({"prompt_style": "rts", "n": 5}) is None
    assert judges.option_letters({"prompt_style": None, "n": 5}) is None


def test_two_names_that_give_one_id_are_an_error(tmp_path):
    write(tmp_path / "a.jsonl", summary(judge="gpt-3.5"), summary(judge="GPT 3_5"))
    with pytest.raises(
        InputError, match=re.escape("a.jsonl: line 2: judge 'GPT 3_5' with prompt style 'rts'")
    ) as error:
        recorded.discover(tmp_path)
    assert "the id 'gpt_3_5_rts' of judge 'gpt-3.5'" in str(error.value)


def test_a_name_that_gives_no_id_is_an_error(tmp_path):
    write(tmp_path / "a.jsonl", summary(judge="裁判"))
    with pytest.raises(InputError, match="line 1: field 'judge': expected a name with letters"):
        recorded.discover(tmp_path)


def test_a_folder_without_answers_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no recorded answers; expected files named"):
        recorded.discover(tmp_path)
    with pytest.raises(InputError, match="absent: no such folder"):
        recorded.discover(tmp_path / "absent")


# --- files that are wrong


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.jsonl: line 1: expected a recorded answer, found nothing"),
        (b"\n \n", "a.jsonl: line 1: expected a recorded answer, found nothing"),
        (b'{"question": 1}\n', "a.jsonl: line 1: no known format of recorded answers: found fields question"),
        (b"[1]\n", "a.jsonl: line 1: expected an object with named fields, found [1]"),
        (b'\n{"item_id": \n', "a.jsonl: line 2, column 12: malformed JSON"),
        (b'{"item_id": "\xff"}\n', "a.jsonl: line 1: expected UTF-8, found byte 0xff"),
        (b'{"item_id": ' + b"9" * 5000 + b"}\n", "a.jsonl: line 1: malformed JSON"),
        (b"[" * 100_000 + b"\n", "a.jsonl: line 1: malformed JSON"),
    ],
)
def test_a_broken_line_is_an_error_with_file_and_line(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        recorded.discover(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in RECORDS for name in recorded.FORMATS[kind].required]
)
def test_a_missing_field_is_an_error_with_file_and_line(tmp_path, kind, name):
    broken = RECORDS[kind]()
    del broken[name]
    write(tmp_path / "a.jsonl", RECORDS[kind](), broken)
    with pytest.raises(InputError, match=f"a.jsonl: line 2: field '{name}' is missing"):
        recorded.discover(tmp_path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (general(response=4), "field 'response': expected text, found 4"),
        (general(response="\ud83d"), "field 'response': expected text without half of a surrogate pair"),
        (general(item_id=" "), "field 'item_id': expected a name, found ' '"),
        (general(ordering=[1, 1, 2]), "field 'ordering': expected a list that holds each of 1 to n once"),
        (general(ordering=[1, 2, "3"]), "field 'ordering': expected a list"),
        (general(ordering=[True, 2]), "field 'ordering': expected a list"),
        (general(ordering=[1]), "field 'ordering': expected a list"),
        (general(ordering="1,2"), "field 'ordering': expected a list"),
        (general(ordering_index=-1), "field 'ordering_index': expected a whole number from 0, found -1"),
        (general(repeat=1.5), "field 'repeat': expected a whole number from 0, found 1.5"),
        (general(repeat=True), "field 'repeat': expected a whole number from 0, found True"),
        (comparison(options=[]), "field 'options': expected a list of names, found []"),
        (compared_summaries(pair=["M8"]), "field 'pair': expected a list of two names"),
        (compared_summaries(toggled="no"), "field 'toggled': expected true or false, found 'no'"),
        (compared_summaries(human_score_1="2"), "field 'human_score_1': expected a number, found '2'"),
    ],
)
def test_a_wrong_value_is_an_error_with_file_line_and_field(tmp_path, record, message):
    path = write(tmp_path / "a.jsonl", record)
    with pytest.raises(InputError, match=re.escape(f"a.jsonl: line 1: {message}")):
        recorded.read_records(path)


def test_a_gzip_file_that_is_cut_short_is_an_error(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", *(general(item_id=f"i{k}", response=str(k)) for k in range(2000)))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(InputError, match=r"a.jsonl.gz: line \d+: broken gzip file"):
        recorded.discover(tmp_path)


@pytest.mark.parametrize("content", [b"no gzip", b"\x1f\x8b\x08\x00garbage that is no deflate stream"])
def test_a_file_that_is_no_gzip_is_an_error(tmp_path, content):
    (tmp_path / "a.jsonl.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.jsonl\.gz: line 1: "):
        recorded.discover(tmp_path)


def test_a_file_that_is_no_parquet_is_an_error(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match=r"a\.parquet: not a readable Parquet file"):
        recorded.discover(tmp_path)


# --- records


def test_records_are_in_one_form_with_their_place(tmp_path):
    path = write(
        tmp_path / "mine.jsonl",
        {"item_id": "a", "ordering": [2, 1], "response": ""},
        {"item_id": "b"} | {"response": "x", "ordering_index": 3, "repeat": 2},
    )
    table = recorded.read_records(path)
    assert table.columns.tolist() == recorded.COLUMNS
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
        recorded.read_records(write(tmp_path / name, *rows)).drop(columns=["file", "line"])
        for name in ("a.parquet", "a.jsonl")
    ]
    pd.testing.assert_frame_equal(*tables)


def test_a_toggled_pair_was_shown_the_other_way_round(tmp_path):
    path = write(tmp_path / "a.jsonl", compared_summaries(toggled=False), compared_summaries())
    table = recorded.read_records(path)
    assert table["shown_first"].tolist() == ["M8", "M9"]
    assert table["shown_second"].tolist() == ["M9", "M8"]


def test_only_the_wanted_judge_is_read(tmp_path):
    path = write(tmp_path / "a.jsonl", summary(), summary(prompt_style="mcq", response="D"), summary(judge="other"))
    table = recorded.read_records(path, judge="gpt-3.5", prompt_style="mcq")
    assert table["response"].tolist() == ["D"]
    with pytest.raises(InputError, match="no recorded answer of judge 'nobody'"):
        recorded.read_records(path, judge="nobody")


def test_duplicates_become_repeats_in_the_order_of_the_files_and_are_counted(tmp_path, caplog):
    first = write(tmp_path / "a.jsonl", summary(response="1"), summary(response="2"), summary(system="M9"))
    second = write(tmp_path / "b.jsonl", summary(response="1"))
    table = recorded.read_records([first, second])
    assert table["repeat"].tolist() == [0, 1, 0, 2]
    assert table["request_id"].is_unique
    assert "2 of 4 records repeat an earlier one" in caplog.text


def test_duplicates_of_numbered_repeats_are_numbered_anew_in_the_order_of_their_repeats(tmp_path):
    rows = [general(repeat=1, response="2"), general(repeat=0, response="1"), general(repeat=1, response="3")]
    table = recorded.read_records(write(tmp_path / "a.jsonl", *rows), duplicates="keep")
    assert dict(zip(table["response"], table["repeat"], strict=True)) == {"1": 0, "2": 1, "3": 2}


def test_duplicates_can_be_kept_silently(tmp_path, caplog):
    table = recorded.read_records(write(tmp_path / "a.jsonl", summary(), summary()), duplicates="keep")
    assert table["repeat"].tolist() == [0, 1]
    assert not caplog.text


def test_duplicates_can_be_refused_with_both_places(tmp_path):
    path = write(tmp_path / "a.jsonl", summary(system="M9"), summary(), summary())
    with pytest.raises(InputError, match=re.escape("a.jsonl: line 3: group_id 'dm-test-ab12'")) as error:
        recorded.read_records(path, duplicates="refuse")
    assert str(error.value).endswith("is already recorded at " + f"{path}: line 2")
    with pytest.raises(InputError, match="option 'duplicates': expected keep_and_report, keep, refuse, found 'drop'"):
        recorded.read_records(path, duplicates="drop")


def test_other_orderings_and_other_repeats_are_no_duplicates(tmp_path):
    rows = (general(), general(ordering=[1, 2, 3]), general(repeat=4), general(judge="K"))
    table = recorded.read_records(write(tmp_path / "a.jsonl", *rows), duplicates="refuse")
    assert table["repeat"].tolist() == [0, 0, 4, 0]


def test_a_request_id_depends_on_what_was_judged_and_answered_and_not_on_the_place(tmp_path):
    def ids(path, *rows):
        return recorded.read_records(write(tmp_path / path, *rows))["request_id"].tolist()

    (one,) = ids("a.jsonl", general())
    assert ids("deep/b.jsonl.gz", general(item_id="first"), general())[1] == one
    others = [general(response="3"), general(judge="K"), general(repeat=1), general(ordering=[1, 2, 3])]
    assert one not in ids("c.jsonl", *others)


# --- reads


def test_reads_have_the_columns_and_types_of_a_plan(tmp_path, small, judge, template):
    items, rubrics = small.items, small.rubrics
    live = plan.plan_reads(
        items,
        rubrics,
        study="s",
        judge_id="j",
        judge=judge,
        template=template,
        scales=[5],
        strategies=["balanced"],
        budget=None,
        seed=0,
    )
    rows = [
        {"item_id": row.item_id, "ordering": row.ordering, "response": "3"}
        for row in live.sample(frac=1, random_state=0).itertuples()
    ]
    records = recorded.read_records(write(tmp_path / "a.jsonl", *rows))
    reads = recorded.plan_recorded(items, records, study="s", judge_id="j")
    assert reads.columns.tolist() == live.columns.tolist()
    assert reads.dtypes.tolist() == live.dtypes.tolist()
    assert reads["strategy"].unique().tolist() == ["recorded"]
    for name in ("study", "judge", "dataset", "item_id", "group_id", "candidate", "human_score", "n", "read_index"):
        assert reads[name].tolist() == live[name].tolist()
    shown = {(row.item_id, *row.ordering) for row in reads.itertuples()}
    assert shown == {(row.item_id, *row.ordering) for row in live.itertuples()}


def test_records_that_were_kept_in_a_file_give_the_same_reads(tmp_path):
    items = summaries({("m8", "coherence"): 2, ("m9", "coherence"): 4})
    rows = [summary(), summary(), summary(system="M9")]
    more = [general(item_id="000-m8-coherence"), {"item_id": "000-m9-coherence", "ordering_index": 2, "response": "x"}]
    paths = [write(tmp_path / "a.jsonl", *rows), write(tmp_path / "b.jsonl", *more)]
    records = recorded.read_records(paths)
    records.to_parquet(tmp_path / "records.parquet")
    kept = pd.read_parquet(tmp_path / "records.parquet")
    reads = [recorded.plan_recorded(items, table, study="s", judge_id="j") for table in (records, kept)]
    pd.testing.assert_frame_equal(*reads)
    pd.testing.assert_frame_equal(recorded.responses_of(records), recorded.responses_of(kept))


def test_an_ordering_is_the_recorded_one_or_of_its_index_or_canonical(tmp_path, small):
    rows = [
        {"item_id": "ebb-a", "ordering": [2, 1, 3], "response": "1"},
        {"item_id": "ebb-b", "ordering_index": 1, "response": "1"},
        {"item_id": "flow-a", "ordering_index": 3, "response": "1"},
        {"item_id": "flow-b", "response": "1"},
    ]
    records = recorded.read_records(write(tmp_path / "a.jsonl", *rows))
    reads = recorded.plan_recorded(small.items, records, study="s", judge_id="j", n=3)
    assert reads["ordering"].tolist() == [[2, 1, 3], [2, 3, 1], [3, 2, 1], [1, 2, 3]]
    assert reads["n"].tolist() == [3, 3, 3, 3]


def test_an_ordering_index_without_an_ordering_is_an_error(tmp_path, small):
    records = recorded.read_records(
        write(tmp_path / "a.jsonl", {"item_id": "ebb-a", "ordering_index": 6, "response": "1"})
    )
    with pytest.raises(InputError, match="line 1: field 'ordering_index': expected 0 to 5 for 3 options, found 6"):
        recorded.plan_recorded(small.items, records, study="s", judge_id="j", n=3)


def test_items_are_found_by_group_candidate_and_criterion(tmp_path):
    items = summaries({("m8", "coherence"): 2, ("m9", "coherence"): 4, ("m9", "fluency"): 3})
    path = write(tmp_path / "a.jsonl", summary(system="M9", criterion="fluency"), summary(system="M9"), summary())
    reads = recorded.plan_recorded(items, recorded.read_records(path), study="s", judge_id="j")
    assert reads["item_id"].tolist() == ["000-m8-coherence", "000-m9-coherence", "000-m9-fluency"]
    assert reads["human_score"].tolist() == [2, 4, 3]
    assert reads["ordering"].tolist() == [[1, 2, 3, 4, 5]] * 3


def test_a_name_that_two_items_share_is_an_error(tmp_path):
    items = summaries({("m8", "coherence"): 2, ("M8", "coherence"): 4})
    records = recorded.read_records(write(tmp_path / "a.jsonl", summary()))
    with pytest.raises(InputError, match="line 1: names an item by group, candidate and criterion, which 1 items"):
        recorded.plan_recorded(items, records, study="s", judge_id="j")


@pytest.mark.parametrize("row", [summary(article_id="other"), general(item_id="999-m8-coherence")])
def test_a_record_of_no_item_is_an_error_or_left_out_and_counted(tmp_path, caplog, row):
    items = summaries({("m8", "coherence"): 2, ("m9", "coherence"): 2})
    records = pd.concat(
        [recorded.read_records(write(tmp_path / f"{k}.jsonl", r)) for k, r in enumerate([summary(), row])],
        ignore_index=True,
    )
    with pytest.raises(InputError, match=r"1.jsonl: line 1: .*is not among the items of dataset 'summeval'"):
        recorded.plan_recorded(items, records, study="s", judge_id="j")
    reads = recorded.plan_recorded(items, records, study="s", judge_id="j", unknown="skip")
    assert reads["item_id"].tolist() == ["000-m8-coherence"]
    assert "1 of 2 records left out" in caplog.text
    assert "judge j: 1 of 2 items have no recorded answer" in caplog.text
    with pytest.raises(InputError, match="judge j: no recorded answer is of an item"):
        recorded.plan_recorded(items, records.iloc[1:], study="s", judge_id="j", unknown="skip")


def test_comparisons_are_not_mixed_with_scores(tmp_path, small):
    paths = [write(tmp_path / "a.jsonl", comparison()), write(tmp_path / "b.jsonl", summary())]
    records = recorded.read_records(paths)
    with pytest.raises(InputError, match="line 1: format 'pairwise' compares two answers"):
        recorded.plan_recorded(small.items, records, study="s", judge_id="j")


def test_comparisons_are_parsed_by_their_letters_and_have_no_human_score(tmp_path, small):
    rows = [comparison(response="Good. [[B]]"), comparison(response="Neither", repetition=1)]
    records = recorded.read_records(write(tmp_path / "a.jsonl", *rows))
    reads = recorded.plan_recorded(small.items, records, study="s", judge_id="j")
    n = len(rows[0]["options"])
    labels = judges.option_letters({"compares": True, "n": n})
    scored = scores.score_reads(reads, recorded.responses_of(records), labels=labels)
    assert scored["score"].tolist()[0] == 2
    assert scored["failure"].tolist()[1] == "no_score"
    assert scored["human_score"].isna().all()
    assert human_agreement.estimate(scored, resamples=100, confidence=0.95, seed=0).empty
    assert parse_failures.estimate(scored).query("reason == 'all'")[["n_reads", "n_failed"]].values.tolist() == [[2, 1]]


def test_a_record_belongs_to_the_dataset_of_its_format_or_benchmark(tmp_path):
    rows = [comparison(benchmark="MTBench"), comparison(benchmark="DevBench")]
    paths = [write(tmp_path / "a.jsonl", *rows), write(tmp_path / "b.jsonl", summary())]
    records = recorded.read_records(paths)
    for adapter, kept in (("mtbench_pairs", 1), ("devbench_pairs", 1), ("summeval", 1), ("hanna", 0)):
        assert len(recorded.about(records, adapter)) == kept
    with pytest.raises(InputError, match="line 1: field 'benchmark': expected MTBench, DevBench, found 'Other'"):
        recorded.discover(write(tmp_path / "b" / "a.jsonl", comparison(benchmark="Other")).parent)


# --- from answers to statistics


def test_responses_have_the_columns_of_the_store_and_name_their_file(tmp_path):
    records = recorded.read_records(write(tmp_path / "a.jsonl", summary(), summary(response="")))
    responses = recorded.responses_of(records)
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
    (settings,) = recorded.discover(tmp_path).values()
    records = recorded.read_records(path, judge=settings["model"], prompt_style=settings["prompt_style"])
    reads = recorded.plan_recorded(items, records, study="s", judge_id="j", n=settings["n"])
    table = scores.score_reads(reads, recorded.responses_of(records), labels=judges.option_letters(settings))
    assert table["score"].tolist() == [1, 1, 3, pd.NA, 5]
    assert table["failure"].dropna().tolist() == ["no_score"]

    found = human_agreement.estimate(table, resamples=10, confidence=0.95, seed=0).query("cluster == 'item'")
    row = found.iloc[0]
    assert (row["strategy"], row["criterion"], row["readout"]) == ("recorded", "all", "hard")
    assert (row["n_items"], row["n_reads"], row["n_failed"]) == (3, 4, 1)
    estimates = found.set_index("quantity")["estimate"]
    assert estimates["spearman"] == pytest.approx(1)
    assert estimates["pearson"] == pytest.approx(np.corrcoef([1, 2, 5], [1, 2, 4])[0, 1])

    counted = parse_failures.estimate(table)
    pooled = counted.query("position == 'all' and reason == 'all'").iloc[0]
    assert (pooled["n_reads"], pooled["n_failed"]) == (5, 1)


def test_position_bias_planted_in_recorded_answers_is_seen_in_the_positions(tmp_path, small):
    # The judge always takes the option at position 2.
    rng = randomness.generator(0, "test")
    rows = []
    for item_id in small.items["item_id"]:
        for repeat in range(10):
            ordering = (rng.permutation(5) + 1).tolist()
            rows.append({"item_id": item_id, "ordering": ordering, "repeat": repeat, "response": f"{ordering[1]}"})
    records = recorded.read_records(write(tmp_path / "a.jsonl", *rows))
    reads = recorded.plan_recorded(small.items, records, study="s", judge_id="j")
    table = scores.score_reads(reads, recorded.responses_of(records))
    assert table["position"].tolist() == [2] * 40


# --- answers of real judges, which are not part of this repository


@pytest.fixture
def judgments():
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    return Path(folder)


def test_all_published_judges_are_found(judgments):
    judges = recorded.discover(judgments)
    assert [judge_id for judge_id, settings in judges.items() if settings["formats"] == ["summeval"]] == [
        "gpt_3_5_turbo_0301_mcq",
        "gpt_3_5_turbo_0301_rts",
        "llama_2_7b_chat_hf_rts",
    ]
    assert len(judges) == 8
    counts = {}
    for judge_id, settings in judges.items():
        names = {"judge": settings["model"], "prompt_style": settings["prompt_style"]}
        counts[judge_id] = recorded.read_records(settings["files"], **names)["repeat"].value_counts().to_dict()
    assert counts["gpt_3_5_turbo_0301_mcq"] == {0: 4800, 1: 300}
    assert counts["gpt_3_5_turbo_0301_rts"] == counts["llama_2_7b_chat_hf_rts"] == {0: 4800}
    assert counts["gpt_4_0613"] == {0: 7040, 1: 336, 2: 336, 3: 336}


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
    settings = recorded.discover(judgments / "summeval")[judge_id]
    style = settings["prompt_style"]
    records = recorded.read_records(settings["files"], judge=settings["model"], prompt_style=style)
    reads = recorded.plan_recorded(items, records, study="s", judge_id=judge_id, n=settings["n"])
    table = scores.score_reads(reads, recorded.responses_of(records), labels=judges.option_letters(settings))
    assert table["failure"].notna().sum() == failed
    found = human_agreement.estimate(table, resamples=2, confidence=0.95, seed=0)
    found = found.query("quantity == 'spearman' and cluster == 'item'").set_index("criterion")["estimate"]
    assert found[["coherence", "consistency", "fluency", "relevance"]].tolist() == pytest.approx(correlations, abs=6e-5)
