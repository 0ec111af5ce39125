"""Finding the judges of recorded answers."""

import os
import re
from pathlib import Path

import pytest
from recorded_answers import comparison, summary, write

from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import discovery
from rubric_order.intake.recorded import plans as reads


def test_judges_are_found_by_name_and_prompt_style_whatever_file_they_stand_in(tmp_path):
    write(tmp_path / "b.jsonl", summary(), summary(prompt_style="mcq"), summary(judge="Llama-2 (7B)"))
    write(tmp_path / "a.jsonl.gz", summary(system="M9"))
    write(tmp_path / "own_judge.jsonl", {"item_id": "x", "ordering": [2, 1], "response": "1"})
    (tmp_path / "README.md").write_text("not an answer")
    (tmp_path / ".b.jsonl").write_text("being written")
    judges = discovery.discover(tmp_path)
    assert list(judges) == ["gpt_3_5_mcq", "gpt_3_5_rts", "llama_2_7b_rts", "own_judge"]
    assert judges["gpt_3_5_rts"] == {
        "engine": "recorded",
        "model": "gpt-3.5",
        "label": "gpt-3.5 (rts)",
        "prompt_style": "rts",
        "n": 5,
        "compares": False,
        "adapters": ["summeval"],
        "files": [str(tmp_path / "a.jsonl.gz"), str(tmp_path / "b.jsonl")],
    }
    assert judges["own_judge"]["n"] == 2
    assert judges["own_judge"]["label"] == "own_judge"
    assert judges["own_judge"]["adapters"] is None
    assert judges["own_judge"]["prompt_style"] is None


def test_two_names_that_give_one_id_are_an_error(tmp_path):
    write(tmp_path / "a.jsonl", summary(judge="gpt-3.5"), summary(judge="GPT 3_5"))
    with pytest.raises(
        InputError, match=re.escape("a.jsonl: line 2: judge 'GPT 3_5' with prompt style 'rts'")
    ) as error:
        discovery.discover(tmp_path)
    assert "the id 'gpt_3_5_rts' of judge 'gpt-3.5'" in str(error.value)


def test_a_name_that_gives_no_id_is_an_error(tmp_path):
    write(tmp_path / "a.jsonl", summary(judge="裁判"))
    with pytest.raises(InputError, match="line 1: field 'judge': expected a name with letters"):
        discovery.discover(tmp_path)


def test_a_folder_without_answers_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no recorded answers; expected files named"):
        discovery.discover(tmp_path)
    with pytest.raises(InputError, match="absent: no such folder"):
        discovery.discover(tmp_path / "absent")


def test_a_judge_joins_the_studies_that_are_about_what_its_answers_do(tmp_path):
    write(tmp_path / "a.jsonl", summary())
    write(tmp_path / "b.jsonl", comparison())
    studies = {"scores": {"strategies": ["recorded"]}, "pairs": {"strategies": ["recorded"], "probe": "pair_order"}}
    config = {"recorded_dir": str(tmp_path), "studies": studies}
    discovery.add_judges(config)
    assert config["studies"]["scores"]["judges"] == ["gpt_3_5_rts"]
    assert config["studies"]["pairs"]["judges"] == ["gpt_4"]
    del studies["pairs"]
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(InputError, match="the recorded answers compare two texts each; the studies of strategy 'recor"):
        discovery.add_judges({"recorded_dir": str(tmp_path), "studies": studies})


@pytest.mark.parametrize("wrong", [None, ["a"], "a"])
def test_what_is_no_block_of_judges_is_left_for_the_check_of_the_shape(tmp_path, wrong):
    write(tmp_path / "a.jsonl", summary())
    studies = {"scores": {"strategies": ["recorded"]}}
    config = {"recorded_dir": str(tmp_path), "studies": studies, "judges": wrong}
    discovery.add_judges(config)
    assert config["judges"] == wrong


@pytest.mark.parametrize("wrong", [None, {"a": {}}, "a"])
def test_what_is_no_list_of_judges_is_left_for_the_check_of_the_shape(tmp_path, wrong):
    write(tmp_path / "a.jsonl", summary())
    config = {"recorded_dir": str(tmp_path), "studies": {"scores": {"strategies": ["recorded"], "judges": wrong}}}
    discovery.add_judges(config)
    assert config["studies"]["scores"]["judges"] == wrong


# --- answers of real judges, which are not part of this repository


@pytest.fixture
def judgments():
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    return Path(folder)


def test_all_published_judges_are_found(judgments):
    judges = discovery.discover(judgments)
    assert [judge_id for judge_id, settings in judges.items() if not settings["compares"]] == [
        "gpt_3_5_turbo_0301_mcq",
        "gpt_3_5_turbo_0301_rts",
        "llama_2_7b_chat_hf_rts",
    ]
    assert len(judges) == 8
    counts = {}
    for judge_id, settings in judges.items():
        names = {"judge": settings["model"], "prompt_style": settings["prompt_style"]}
        counts[judge_id] = reads.read(settings["files"], **names)["repeat"].value_counts().to_dict()
    assert counts["gpt_3_5_turbo_0301_mcq"] == {0: 4800, 1: 300}
    assert counts["gpt_3_5_turbo_0301_rts"] == counts["llama_2_7b_chat_hf_rts"] == {0: 4800}
    assert counts["gpt_4_0613"] == {0: 7040, 1: 336, 2: 336, 3: 336}
