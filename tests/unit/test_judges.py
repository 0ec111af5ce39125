"""Settings of a judge under its profiles."""

from factories import complete_judge

from rubric_order.settings import judges


def test_a_setting_is_that_of_the_judge_and_of_profiles_that_set_it():
    judge = complete_judge(
        chat_template_kwargs={"reasoning_effort": "medium"},
        profiles={
            "hot": {"sampling": {"temperature": 1.0}},
            "low": {"chat_template_kwargs": {"reasoning_effort": "low"}},
            "plain": {"system_prompt": "Be brief."},
        },
    )
    profiles = ["default", "hot", "low", "plain", "of_another_judge"]
    assert judge.varied(profiles, "sampling/temperature") == {"default": 0, "hot": 1.0}
    effort = judge.varied(profiles, "chat_template_kwargs/reasoning_effort")
    assert effort == {"default": "medium", "low": "low"}
    assert judge.varied(["low", "hot"], "chat_template_kwargs/reasoning_effort") == {"low": "low"}
    assert judge.varied(profiles, "extra_body/reasoning/effort") == {}
    assert judge.varied(profiles, "system_prompt") == {"plain": "Be brief."}


def test_every_parameter_of_a_simulated_judge_names_its_requests_but_how_long_answers_take():
    def name(**simulation):
        return judges.read({"engine": "simulated", "model": "m", "simulation": simulation}).identity([])

    assert name(seed=1) != name(seed=2)
    assert name(seed=1, preference="first") != name(seed=1)
    assert name(seed=1, seconds_per_request=3.0) == name(seed=1)
