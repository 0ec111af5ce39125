"""Keys that are written out in a config."""

import pytest

from rubric_order.base.errors import InputError
from rubric_order.settings import secrets, values

KEY = "sk-0123456789abcdefABCDEF"


def found(judge: dict) -> list[str]:
    return list(secrets.problems({"judges": {"mine": judge}}))


@pytest.mark.parametrize(
    ("judge", "path"),
    [
        ({"extra_headers": {"X-Tenant": KEY}}, "extra_headers/X-Tenant"),
        ({"extra_headers": {"Authorization": "Bearer abc"}}, "extra_headers/Authorization"),
        ({"extra_headers": {"X-Api-Key": "abc"}}, "extra_headers/X-Api-Key"),
        ({"extra_headers": {"Cookie": "session"}}, "extra_headers/Cookie"),
        ({"extra_headers": {"X-Tenant": "0123456789abcdef0123"}}, "extra_headers/X-Tenant"),
        ({"extra_headers": {"X-Tenant": f"$TENANT {KEY}"}}, "extra_headers/X-Tenant"),
        ({"api_key_env": "hf_0123456789abcdefghij"}, "api_key_env"),
        ({"extra_body": {"user": {"api_key": "abc"}}}, "extra_body/user/api_key"),
        ({"extra_body": {"tags": [f"a {KEY}"]}}, "extra_body/tags/0"),
        ({"profiles": {"p": {"extra_body": {"password": "abc"}}}}, "profiles/p/extra_body/password"),
        ({"base_url": "https://user:word@example.org/v1"}, "base_url"),
        ({"base_url": "https://example.org/v1?api_key=abc"}, "base_url"),
        ({"model": f"org/{KEY}"}, "model"),
        ({"engine_args": {"hf_token": "hf_0123456789abcdefghij"}}, "engine_args/hf_token"),
    ],
)
def test_a_key_that_is_written_out_is_refused_and_not_shown(judge, path):
    (line,) = found(judge)
    assert line.startswith(f"judges/mine/{path}: ")
    assert "expected" in line
    for part in (KEY, "abc", "word@", "0123456789"):
        assert part not in line
    with pytest.raises(InputError, match="config: judges/mine/"):
        values.check({"judges": {"mine": judge}})


@pytest.mark.parametrize(
    "judge",
    [
        {"extra_headers": {"Authorization": "Bearer $KEY", "X-Tenant": "id ${TENANT}", "X-Price": "5 $$"}},
        {"extra_headers": {"X-Title": "position-bias-2026-study", "anthropic-version": "2023-06-01"}},
        {"extra_headers": {"X-Tenant": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}},
        {"api_key_env": "OPENAI_API_KEY", "base_url": "http://127.0.0.1:8000/v1"},
        {"model": "org/sk-learn-based-pipeline", "revision": "0123456789abcdef0123456789abcdef01234567"},
        {"chat_template_kwargs": {"eos_token": "</s>"}, "sampling": {"max_tokens": 5}},
        {"extra_body": {"reasoning_effort": "low", "user": 'a "quoted" $MY_KEY'}},
    ],
)
def test_what_is_no_key_is_taken(judge):
    assert found(judge) == []


def test_the_configs_that_come_with_the_project_hold_no_key(root):
    from rubric_order.settings import reading

    paths = list(root.glob("config/**/*.yaml"))
    assert len(paths) > 10
    assert [line for path in paths for line in secrets.problems(reading.read(path))] == []
