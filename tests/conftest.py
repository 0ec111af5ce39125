"""What tests share: the project's files, a judge's settings with all defaults, and a small dataset."""

import copy
import os
from pathlib import Path

import hypothesis
import pandas as pd
import pytest

from rubric_order import datasets
from rubric_order.datasets.rubrics import Rubric
from rubric_order.prompts import frames

hypothesis.settings.register_profile("project", deadline=None)  # how fast a shared machine is says nothing about us
hypothesis.settings.load_profile("project")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def root() -> Path:
    """The project."""
    return ROOT


@pytest.fixture
def mirror() -> Path:
    """A folder with the datasets as published; tests that need it are skipped where there is none."""
    folder = os.environ.get("RUBRIC_ORDER_MIRROR")
    if not folder:
        pytest.skip("RUBRIC_ORDER_MIRROR names no folder with the published datasets")
    return Path(folder)


JUDGE = {
    "engine": "vllm",
    "model": "org/model",
    "revision": None,
    "gguf": None,
    "dtype": "bfloat16",
    "quantization": None,
    "max_model_len": None,
    "answer_format": "score",
    "answer_prefix": "Score: ",
    "system_prompt": None,
    "chat_template_kwargs": {},
    "sampling": {"temperature": 0, "top_p": 1, "max_tokens": 8, "seed": 0, "stop": []},
    "engine_args": {},
    "base_url": None,
    "api_key_env": None,
    "dialect": "openai",
    "extra_headers": {},
    "extra_body": {},
    "accept_models": [],
    "max_tokens_name": "max_tokens",
    "top_logprobs": 20,
    "concurrency": 32,
    "requests_per_minute": None,
    "tokens_per_minute": None,
    "timeout": 600,
    "max_attempts": 6,
    "backoff": {"first": 1, "longest": 60},
    "budget": {"calls": None, "tokens": None, "cost": None},
    "prices": None,
    "serve": None,
    "profiles": {},
    "chat_template": None,
    "reasoning_end": None,
    "batch_invariant": False,
    "second_request": False,
    "greedy_repeats": "measure",
    "accept_failures": False,
    "retry_failed": False,
    "gpu": 1,
    "shards": 1,
    "mem": "16GB",
    "runtime": "4h",
}


@pytest.fixture
def judge() -> dict:
    return copy.deepcopy(JUDGE)


@pytest.fixture
def template():
    return frames.load_template(ROOT / "resources/templates/score.jinja")


@pytest.fixture
def small_dataset() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two groups of two candidates, five levels; one item has no reference answer."""
    items = []
    for group in ("ebb", "flow"):
        rubric = Rubric(group, "quality", f"Is {group} explained?", tuple(f"{group} level {k}" for k in range(1, 6)))
        for candidate, level in (("a", 2), ("b", 5)):
            items.append(
                datasets.Item(
                    where=f"{group}, {candidate}",
                    item_id=f"{group}-{candidate}",
                    group_id=group,
                    candidate=candidate,
                    instruction=f"Explain {group}.",
                    response=f"{candidate} explains {group}.",
                    rubric=rubric,
                    reference=None if group == "ebb" else f"The best explanation of {group}.",
                    human_scores=[level],
                )
            )
    return datasets.prepare("small", items)
