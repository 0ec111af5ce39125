"""The textbook's section on debiasing judges: its worked example, and Prometheus 2 in both modes."""

import pytest
import yaml
from factories import completed
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rubric_order.library import prompts

# Code Fragment 46.3.2.
ITEM = {
    "instruction": "A user writes: 'My order is two weeks late and I'm furious.' "
    "Reply with a tone-appropriate, accurate update.",
    "response": "Sorry for the delay. Your package shipped on 2026-05-15 and is now in transit; tracking link below.",
    "reference": "I'm really sorry your order is late, that's frustrating. "
    "It shipped 2026-05-15 and tracking shows it now in transit ...",
    "question": "Does the response acknowledge the user's frustration "
    "and provide accurate, actionable shipping information?",
    "levels": [
        "Ignores user emotion and gives no useful information.",
        "Acknowledges emotion OR gives information, not both.",
        "Acknowledges both but one is weak or generic.",
        "Acknowledges emotion explicitly and provides correct info.",
        "Empathetic, specific, accurate, and offers next steps.",
    ],
}
ANSWER = (
    "The response is factually correct but the apology is perfunctory and does not explicitly acknowledge the user's "
    "stated frustration ... [Score 3]"
)


def test_the_worked_example_is_asked_in_its_own_words_and_its_answer_is_a_3():
    text = prompts.render(**ITEM, ordering=[1, 2, 3, 4, 5], template="papers/debiasing")
    assert text.startswith(
        "###Task Description:\nAn instruction (might include an Input inside it), a response to evaluate,\n"
    )
    sections = ["###Instruction:", "###Response to evaluate:", "###Reference Answer (Score 5):", "###Score Rubric:"]
    texts = [ITEM["instruction"], ITEM["response"], ITEM["reference"], f"[{ITEM['question']}]"]
    assert all(f"\n{head}\n{text_of}\n" in text for head, text_of in zip(sections, texts, strict=True))
    lines = [f"Score {score}: {level}" for score, level in enumerate(ITEM["levels"], start=1)]
    assert text.endswith("\n".join([*lines, "###Feedback:"]))
    turned = prompts.render(**ITEM, ordering=[5, 4, 3, 2, 1], template="papers/debiasing")
    assert turned.endswith("\n".join([*lines[::-1], "###Feedback:"]))
    choice = prompts.parse(ANSWER)
    assert choice.label == "3"


@pytest.fixture
def config(root):
    return yaml.safe_load((root / "config/papers/debiasing.yaml").read_text(encoding="utf-8"))


def test_the_config_has_both_modes_of_prometheus_2_its_system_messages_and_both_wordings(root, config):
    config = completed(config, root)
    studies, judge = config["studies"], config["judges"]["prometheus_2_7b"]
    assert {study["prompt"] for study in studies.values()} == {"papers/kim2024", "papers/debiasing", "relative"}
    said = {name: judge["profiles"][name]["system_prompt"] for name in ("direct", "relative")}
    assert said["direct"].endswith("ensuring each assessment reflects the absolute standards set for performance.")
    assert said["relative"].endswith("how each stands relative to others within the same cohort.")
    assert studies["direct"]["profiles"] == ["direct"]
    assert studies["relative"]["profiles"] == ["relative"]
    assert {"length_sentence", "padded_1", "padded_2", "truncated"} < {*studies["relative"]["conditions"]}


def test_the_chat_has_the_system_message_before_the_prompt_in_the_users_turn(root):
    source = (root / "resources/chat_templates/prometheus_2.jinja").read_text(encoding="utf-8")
    template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(source)
    asked = [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Score this."}]
    tokens = {"bos_token": "<s>"}
    assert template.render(messages=asked, **tokens) == "<s>[INST] Be fair.\nScore this. [/INST]"
    assert template.render(messages=asked[1:], **tokens) == "<s>[INST] Score this. [/INST]"
