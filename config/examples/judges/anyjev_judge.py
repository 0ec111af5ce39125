"""A judge that AnyJev reads from the next token of an open model. It needs anyjev[hf], and ANYJEV_MODEL."""

import os

from anyjev import Decider, Question
from anyjev.backends.hf import HFBackend

SCORES = ["1", "2", "3", "4", "5"]
# AnyJev shows its five options in all rotations. The rubric in the prompt keeps its order: that is what is audited.
# Without a prior, since one that is learned from the answers so far would let them depend on each other.
model = HFBackend(os.environ["ANYJEV_MODEL"], device="cpu", dtype="float32")
decider = Decider(model, prior="none")
question = Question.choice("Which score does the rubric give?", SCORES)


def judge(prompt: str) -> dict[str, object]:
    (decision,) = decider.decide(prompt, [question])
    return {"score": int(decision.argmax), "probabilities": decision.distribution}
