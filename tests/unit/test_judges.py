"""Settings of a judge under its profiles, and judges from files."""

import json

import pytest
from factories import changed

from rubric_order.base.errors import InputError
from rubric_order.settings.judges import Judge, Recorded


def test_a_judge_comes_from_a_file_with_its_roles(judge, tmp_path):
    path = tmp_path / "judge.json"
    roles = {"writing": {"temperature": 1}, "reviewing": {}}
    path.write_text(json.dumps(judge.block() | {"roles": roles}))
    read = Judge.from_file(path)
    assert read.changed(profiles={}).block() == judge.block()
    assert read.under("reference_writing").sampling.temperature == 1
    with pytest.raises(InputError, match=r"judge\.json: expected a judge of kind Recorded, found Vllm"):
        Recorded.from_file(path)
    path.write_text(json.dumps({"engine": "none"}))
    with pytest.raises(
        InputError, match=r"judge\.json: expected a file of JSON with a judge's settings: unknown engine"
    ):
        Judge.from_file(path)


def test_a_setting_is_that_of_the_judge_and_of_profiles_that_set_it(judge):
    profiles = {
        "hot": {"sampling": {"temperature": 1.0}},
        "low": {"chat_template_kwargs": {"reasoning_effort": "low"}},
        "plain": {"system_prompt": "Be brief."},
    }
    judge = changed(judge, chat_template_kwargs={"reasoning_effort": "medium"}, profiles=profiles)
    wanted = ["default", *profiles, "of_another_judge"]
    assert judge.varied(wanted, "sampling/temperature") == {"default": 0, "hot": 1.0}
    assert judge.varied(wanted, "chat_template_kwargs/reasoning_effort") == {"default": "medium", "low": "low"}
    assert judge.varied(["low", "hot"], "chat_template_kwargs/reasoning_effort") == {"low": "low"}
    assert judge.varied(wanted, "extra_body/reasoning/effort") == {}
    assert judge.varied(wanted, "system_prompt") == {"plain": "Be brief."}


def test_every_parameter_of_a_simulated_judge_names_its_requests_but_how_long_answers_take(judge):
    def name(**simulation):
        return changed(judge, engine="simulated", simulation=simulation).identity([])

    assert name(seed=1) != name(seed=2)
    assert name(seed=1, preference="first") != name(seed=1)
    assert name(seed=1, seconds_per_request=3.0) == name(seed=1)
