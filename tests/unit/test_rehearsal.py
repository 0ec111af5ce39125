"""Rehearsals: what becomes of a config, of datasets that are not at hand, and of recorded judges."""

import json
import os

import pandas as pd
import pytest
import yaml
from factories import ROOT

from rubric_order import datasets
from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import formats
from rubric_order.intake.recorded import plans as reads
from rubric_order.intake.recorded import rehearsal as records
from rubric_order.run import loading, rehearsal
from rubric_order.settings.judges import Rehearsed, Simulated
from rubric_order.simulation.judge import Simulation


def completed(root, config, **over):
    """A config as the rules read it."""
    whole = {"datasets": {}, "judges": {}, "studies": {}} | config | over
    return loading.complete(whole, folder=root)


def test_ready_made_judges_keep_names_labels_profiles_and_prompts_and_ask_nobody(root):
    names = list(loading.ready_judges(root / "config"))
    assert len(names) >= 18
    study = {"datasets": ["vicuna"], "judges": names, "strategies": ["balanced"]}
    real = completed(root, {"studies": {"position_bias": study}}).judges
    rehearsed = completed(root, {"studies": {"position_bias": study}}, rehearse=6).judges
    assert list(rehearsed) == list(real)
    for name, judge in rehearsed.items():
        assert isinstance(judge, Simulated)
        assert Simulation.of(judge).preference_strength > 0
        assert judge.gpu == 0
        for key in ("label", "model", "answer_format", "criteria_format", "system_prompt", "answer_prefix"):
            assert getattr(judge, key) == getattr(real[name], key)
        assert None not in dict(judge.sampling).values()
        assert judge.profiles.keys() == real[name].profiles.keys()
    assert len({judge.simulation.seed for judge in rehearsed.values()}) == len(names)


def test_what_is_wrong_with_the_real_judge_is_said_in_a_rehearsal_too(root):
    judge = {"engine": "openai", "model": "m"}
    study = {"datasets": ["demo"], "judges": ["mine"], "strategies": ["balanced"]}
    with pytest.raises(InputError, match="judges/mine/base_url"):
        completed(root, {"judges": {"mine": judge}, "studies": {"position_bias": study}}, rehearse=6)


def test_datasets_are_cut_and_those_that_are_not_at_hand_are_simulated(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = {"datasets": ["demo", "vicuna"], "judges": ["qwen3_8b"], "strategies": ["balanced"]}
    config = {"studies": {"position_bias": study}, "datasets": {"demo": {"limit": 4}}}
    made = completed(root, config, rehearse=6)
    assert made.datasets["demo"].limit == 4
    assert made.datasets["demo"].stand_in is None
    assert os.path.isabs(made.datasets["demo"].files["tasks"].path)
    assert made.datasets["vicuna"].stand_in["n_groups"] == 6
    assert rehearsal.stand_ins(made) == ["Vicuna-Bench"]
    assert rehearsal.note(made).endswith("Simulated data stand in for Vicuna-Bench.")
    source = made.datasets["vicuna"].files["records"]
    (tmp_path / "mirror" / source.mirror).parent.mkdir(parents=True)
    (tmp_path / "mirror" / source.mirror).touch()
    assert completed(root, config, rehearse=6, dataset_mirror="mirror").datasets["vicuna"].stand_in is None
    fetched = tmp_path / rehearsal.FETCHED / "vicuna/records"
    fetched.parent.mkdir(parents=True)
    fetched.touch()
    found = completed(root, config, rehearse=6).datasets["vicuna"]
    assert found.block()["files"] == {"records": {"path": str(fetched)}}
    assert rehearsal.note(completed(root, config)) == ""


def test_a_dataset_whose_files_a_study_would_name_is_simulated(root):
    study = {"datasets": ["mine"], "judges": ["qwen3_8b"], "strategies": ["balanced"]}
    block = {"adapter": "hanna", "label": "Mine", "stand_in": {"n_candidates": 2}}
    config = {"studies": {"position_bias": study}, "datasets": {"mine": block}}
    made = completed(root, config, rehearse=6)
    assert made.datasets["mine"].stand_in == {"n_candidates": 2, "n_groups": 6}
    assert rehearsal.stand_ins(made) == ["Mine"]
    simulated = {"adapter": "simulated", "label": "Mine", "options": {"n_groups": 80, "n_candidates": 4}}
    made = completed(root, config | {"datasets": {"mine": simulated}}, rehearse=6)
    assert made.datasets["mine"].stand_in is None
    assert made.datasets["mine"].options["n_candidates"] == 4


STAND_INS = sorted(path.stem for path in (ROOT / "config/datasets").glob("*.yaml") if "stand_in:" in path.read_text())


@pytest.mark.parametrize("name", STAND_INS)
def test_a_stand_in_has_what_its_dataset_has(root, name):
    block = yaml.safe_load((root / f"config/datasets/{name}.yaml").read_text(encoding="utf-8"))["datasets"][name]
    entries = datasets.read("simulated", {}, block["stand_in"] | {"n_groups": 3}, dataset=name)
    made = datasets.prepare(name, entries)
    items = made.items
    assert items["group_id"].nunique() == 3
    assert bool(len(made.pairs)) == (name in ("hhh", "autoj", "mtbench_pairs", "devbench_pairs"))
    assert made.pairs["preference"].notna().all() == (name in ("hhh", "autoj") or not len(made.pairs))
    assert items["reference"].notna().all() == (name in ("mt_bench", "flask_human", "flask", "vicuna", "biggen"))
    assert (items["human_scores"].map(len) > 0).all() == (name in ("hanna", "summeval", "flask_human", "biggen"))
    assert (items["reference_labels"].map(len) > 0).all() == (name in ("mt_bench", "flask_human", "vicuna"))
    assert items["turns"].notna().all() == (name == "mtbench_pairs")
    assert items["criterion"].nunique() == {"hanna": 6, "summeval": 4, "flask_human": 2, "flask": 3}.get(name, 1)


def test_pairs_that_name_no_candidate_are_refused():
    with pytest.raises(InputError, match="pairs: expected all or one of 'c01', 'c02', found 'c09'"):
        list(datasets.read("simulated", {}, {"n_candidates": 2, "pairs": "c09"}, dataset="d"))


def test_recorded_studies_without_records_get_two_judges_of_the_kind_that_they_want(root):
    study = {"datasets": ["summeval"], "judges": [], "strategies": ["recorded"]}
    made = completed(root, {"studies": {"scored": study, "compared": study | {"probe": "pair_order"}}}, rehearse=6)
    assert made.studies["scored"].judges == ["stand_in_scores_mcq", "stand_in_scores_rts"]
    assert made.studies["compared"].judges == ["stand_in_1", "stand_in_2"]
    assert made.judges["stand_in_1"].files == ["results/recorded/stand_in_1/summeval.jsonl"]
    with pytest.raises(InputError, match="no recorded answers"):
        completed(root, {"studies": {"scored": study}})


def test_recorded_judges_that_statistics_name_keep_their_names(root):
    study = {"datasets": ["summeval"], "judges": [], "strategies": ["recorded"], "probe": "pair_order"}
    families = {"judges_compared": {"families": {"b": ["b-"], "a": ["a-"]}}}
    replication = {"replication": {"paper": "shi2025", "studies": ["mine"], "judges": {"a": "gpt_4"}}}
    made = completed(root, {"studies": {"mine": study}, "statistics": families | replication}, rehearse=6)
    assert made.studies["mine"].judges == ["a", "b"]


JUDGE = Rehearsed.model_validate(
    {"engine": "recorded", "model": "stand_in", "files": ["f"], "simulation": {"seed": 3, "failure_rate": 0.2}}
)


def written(records_, path):
    path.write_text("".join(json.dumps(record) + "\n" for record in records_))
    return path


def test_simulated_records_are_read_as_those_of_a_recorded_judge(tmp_path):
    items = datasets.prepare("d", datasets.read("simulated", {}, {"n_groups": 2, "n_candidates": 2}, dataset="d")).items
    judge = JUDGE.changed(prompt_style="mcq")
    table = reads.read(
        written(records.scores(items, judge), tmp_path / "a.jsonl"), judge="stand_in", prompt_style="mcq"
    )
    assert len(table) == 4 * 10  # items, balanced orderings
    assert set(table["response"]) <= {*"ABCDE", records.NO_CHOICE}
    assert 0 < (table["response"] == records.NO_CHOICE).mean() < 0.5
    plan = reads.plan(items, table, study="s", judge_id="j", n=5)
    assert plan.groupby("item_id")["ordering"].apply(lambda rows: len({*map(tuple, rows)})).eq(10).all()


@pytest.mark.parametrize(("adapter", "per_pair"), [("mtbench_pairs", 6), ("devbench_pairs", 6), ("summeval", 2)])
def test_simulated_comparisons_are_of_the_benchmark_of_the_dataset(tmp_path, adapter, per_pair):
    options = {"n_groups": 2, "n_candidates": 3, "categories": ["uml_class-complexity"], "pairs": "c01"}
    made = datasets.prepare("d", datasets.read("simulated", {}, options, dataset="d"))
    found = records.comparisons(made.items, made.pairs, JUDGE, adapter=adapter)
    assert len(found) == 4 * per_pair
    table = reads.read(written(found, tmp_path / "a.jsonl"))
    assert {formats.adapter_of(row) for row in table.to_dict("records")} == {adapter}
    plan = reads.plan_comparisons(table, study="s", judge_id="j", dataset="d")
    assert plan["unit_id"].nunique() == 4
    assert pd.Series(map(tuple, plan["ordering"])).value_counts().to_dict() == {
        (1, 2): len(plan) / 2,
        (2, 1): len(plan) / 2,
    }


def test_comparisons_of_a_dataset_that_no_benchmark_has_are_refused():
    with pytest.raises(InputError, match="recorded comparisons are of"):
        records.comparisons(pd.DataFrame(), pd.DataFrame(), JUDGE, adapter="custom")
