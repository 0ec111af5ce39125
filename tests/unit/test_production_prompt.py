"""The example of a production prompt: its bytes, and from its table over an endpoint to cards."""

import json
import re

import pytest
from endpoint import Reply, completion, running
from factories import ROOT, completed

from rubric_order import datasets
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.base.keys import EVERY
from rubric_order.cards import criteria
from rubric_order.judging import engines, shard
from rubric_order.judging.store import Store
from rubric_order.planning import reads as planning
from rubric_order.planning import requests as planned
from rubric_order.prompts import frames, messages
from rubric_order.run.checks import own_template
from rubric_order.scoring.scores import score_reads
from rubric_order.settings import judges
from rubric_order.settings.base import parse

SYSTEM = """\
You rate replies of a support team. Give each criterion a whole number from 1 (worst) to 10 (best).

- Accuracy: Is what the reply says right, and about the question?
- Completeness: Does the reply say all that the customer needs next?
- Tone: Is the reply kind and respectful?

Answer with one JSON object and nothing else."""
EXAMPLES = [
    {
        "role": "user",
        "content": "Customer: Where is my parcel?\nReply: It is at the depot in your town. The driver brings it"
        " tomorrow before noon; if not, call me, and I see to it.",
    },
    {"role": "assistant", "content": '{"accuracy": 9, "completeness": 10, "tone": 8}'},
    {"role": "user", "content": "Customer: Can I still change my order?\nReply: No idea."},
    {"role": "assistant", "content": '{"accuracy": 2, "completeness": 1, "tone": 3}'},
]


@pytest.fixture(scope="module")
def example():
    """The judge of the example, its reads and its requests."""
    config = completed(parse((ROOT / "config/examples/production_prompt.yaml").read_text(encoding="utf-8")))
    block = config["datasets"]["support"]
    files = {name: ROOT / file["path"] for name, file in block["files"].items()}
    tables = datasets.prepare("support", datasets.read("custom", files, block["options"], dataset="support"))
    tables = (tables.items, tables.rubrics, tables.pairs)
    judge = judges.read(config["judges"]["production"])
    template = frames.compile_template(messages.compose(own_template(judge)))
    design = planning.Design(scales=[10], strategies=["balanced"], budget=None, seed=0)
    about = {"study": "criteria", "judge_id": "production", "judge": judge, "design": design}
    reads = planning.plan_reads(*tables, template=template, probe="criterion_order", **about)
    requests = planned.distinct_requests(reads, owned_elsewhere=[])
    units = planned.units_asked(requests, *tables, template, probe="criterion_order")
    return judge, reads, planned.render_requests(requests, units)


def test_the_bytes_of_its_prompt(example):
    _, _, requests = example
    assert len(requests) == 48 * 6
    own = requests[(requests["unit_id"] == "refund-old") & (requests["ordering"].map(list).map(tuple) == (1, 2, 3))]
    (prompt,) = own["prompt"]
    asked = "Customer: My order arrived broken. Can I have my money back?\nReply: Please read our policy."
    last = {"role": "user", "content": asked}
    assert messages.chat(prompt) == [{"role": "system", "content": SYSTEM}, *EXAMPLES, last]
    systems = {messages.split(prompt)[0].content for prompt in requests["prompt"]}
    assert len(systems) == 6
    assert {tuple(re.findall("^- ([A-Z][a-z]+):", system, re.MULTILINE)) for system in systems} == {
        ("Accuracy", "Completeness", "Tone"),
        ("Completeness", "Tone", "Accuracy"),
        ("Tone", "Accuracy", "Completeness"),
        ("Tone", "Completeness", "Accuracy"),
        ("Completeness", "Accuracy", "Tone"),
        ("Accuracy", "Tone", "Completeness"),
    }


def test_a_bias_for_the_first_criterion_goes_from_the_table_to_the_cards(example, tmp_path):
    """A judge that gives what stands first two points more: a long reply has 7, a short one 3."""
    judge, reads, requests = example

    def first_gains(call):
        system, *_, last = call.body["messages"]
        names = re.findall("^- ([A-Z][a-z]+):", system["content"], re.MULTILINE)
        usual = 7 if len(last["content"]) > 140 else 3
        scores = {name.lower(): usual + 2 * (place == 0) for place, name in enumerate(names)}
        return Reply(completion(json.dumps(dict(sorted(scores.items()))), model=judge.model))

    with running(first_gains) as endpoint:
        loaded = {"serve", "gguf", "dtype", "engine_args"}
        block = {name: value for name, value in judge.block().items() if name not in loaded}
        settings = judges.read(block | {"base_url": endpoint.base_url})
        responses = shard.judge(requests, Store(tmp_path / "store"), lambda: engines.load(settings))
        assert endpoint.calls[0].body["response_format"]["json_schema"]["name"] == "scores"
    scores = score_reads(reads, responses, probe="criterion_order")
    assert len(scores) == 48 * 6 * 3
    assert scores["failure"].isna().all()
    assert set(scores["pattern"]) == {"json"}
    estimates = criterion_order.estimate(scores, resamples=200, confidence=0.95, seed=1)
    together, *own = criteria.cards(estimates, 0.1)
    assert [card.criterion for card in (together, *own)] == [EVERY, "accuracy", "completeness", "tone"]
    assert {card.verdict for card in (together, *own)} == {"biased"}
    assert {card.n_groups for card in own} == {24}
    for card in own:
        assert [shift.estimate for shift in card.shifts] == pytest.approx([4 / 3, -2 / 3, -2 / 3])
