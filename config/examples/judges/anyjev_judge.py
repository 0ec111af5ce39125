"""A judge that AnyJev makes of a chat model. It needs anyjev and transformers, and the model in ANYJEV_MODEL."""

import functools
import os
import re

from anyjev import Decider, Question
from anyjev.backends.hf import HFBackend


@functools.cache
def decider() -> Decider:
    backend = HFBackend(os.environ["ANYJEV_MODEL"], device="cpu", dtype="float32")
    # Without `prior`, an answer would depend on the calls before it.
    return Decider(backend, prior="none", shared_prefix=True)


def judge(prompt: str) -> dict[str, object]:
    text, rubric = prompt.split("###Score Rubrics:")
    levels = dict(re.findall(r"^Score (\d+): (.*)$", rubric, re.MULTILINE))  # in the order that is under test
    asked = Question.choice(re.search(r"\[(.*)\]", rubric)[1], [*levels.values()])
    shares = decider().decide(text.partition("###The instruction")[2], [asked])[0].probs
    return {
        "score": int([*levels][shares.argmax()]),
        "probabilities": dict(zip(levels, map(float, shares), strict=True)),
    }
