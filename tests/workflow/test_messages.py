"""A template of messages in the workflow: what a judge is asked, and what runs again when a message changes."""

import copy

import pandas as pd
import pytest

from rubric_order.prompts import messages

from .conftest import Project, of_tasks

REQUESTS = "results/requests/position_bias/planted.parquet"
SYSTEM = "{% for option in options %}{{ option }}\n{% endfor %}"
CONFIG = {
    "datasets": of_tasks(1),
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": "planted",
            "answer_format": "score",
            "sampling": {"temperature": 0},
            "template": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "{{ response }}"}],
        }
    },
    "studies": {"position_bias": {"judges": ["planted"], "strategies": ["balanced"]}},
}


@pytest.mark.slow
def test_messages_of_config_are_asked_and_another_one_makes_new_requests(fresh: Project):
    run = fresh.snakemake(REQUESTS, config=CONFIG)
    assert run.returncode == 0, run.stdout + run.stderr
    prompts = pd.read_parquet(fresh.file(REQUESTS))["prompt"]
    chats = [messages.chat(prompt) for prompt in prompts]
    assert {tuple(message["role"] for message in chat) for chat in chats} == {("system", "user")}
    assert len({chat[0]["content"] for chat in chats}) == 10
    edited = copy.deepcopy(CONFIG)
    edited["judges"]["planted"]["template"][1]["content"] = "Reply: {{ response }}"
    assert not fresh.planned(REQUESTS, config=CONFIG)
    assert set(fresh.planned(REQUESTS, config=edited)) == {"write_prompt", "plan_reads", "collect_requests"}
