"""A judge that AnyJev reads from the next token of an open model. It needs anyjev[hf], and ANYJEV_MODEL."""

import functools
import os

from anyjev import Decider, Question

SCORES = ["1", "2", "3", "4", "5"]
question = Question.choice("Which score does the rubric give?", SCORES)


@functools.cache
def decider() -> Decider:
    """Load the model once, with the first call."""
    from anyjev.backends.hf import HFBackend

    model = HFBackend(os.environ["ANYJEV_MODEL"], device="cpu", dtype="float32")
    # AnyJev shows its five options in all rotations. The rubric in the prompt keeps its order: that is what is audited.
    # Without a prior, since one that is learned from the answers so far would let them depend on each other.
    return Decider(model, prior="none")


def judge(prompt: str) -> dict[str, object]:
    (decision,) = decider().decide(prompt, [question])
    return {"score": int(decision.argmax), "probabilities": decision.distribution}
