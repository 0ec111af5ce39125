"""Settings of a judge under its profiles."""

from rubric_order.config import judges


def test_a_setting_is_that_of_the_judge_and_of_profiles_that_set_it(judge):
    judge["chat_template_kwargs"] = {"reasoning_effort": "medium"}
    judge["profiles"] = {
        "hot": {"sampling": {"temperature": 1.0}},
        "low": {"chat_template_kwargs": {"reasoning_effort": "low"}},
        "plain": {"system_prompt": "Be brief."},
    }
    profiles = ["default", "hot", "low", "plain", "of_another_judge"]
    assert judges.varied(judge, profiles, "sampling/temperature") == {"default": 0, "hot": 1.0}
    effort = judges.varied(judge, profiles, "chat_template_kwargs/reasoning_effort")
    assert effort == {"default": "medium", "low": "low"}
    assert judges.varied(judge, ["low", "hot"], "chat_template_kwargs/reasoning_effort") == {"low": "low"}
    assert judges.varied(judge, profiles, "extra_body/reasoning/effort") == {}
    assert judges.varied(judge, profiles, "system_prompt") == {"plain": "Be brief."}


def test_every_parameter_of_a_simulated_judge_names_its_requests_but_how_long_answers_take(judge):
    def name(**simulation):
        return judges.identity(judge | {"engine": "simulated", "simulation": simulation}, [])

    assert name(seed=1) != name(seed=2)
    assert name(seed=1, preference="first") != name(seed=1)
    assert name(seed=1, seconds_per_request=3.0) == name(seed=1)
