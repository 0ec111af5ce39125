"""A judge that is a program of DSPy. It needs dspy, and the key in OPENAI_API_KEY."""

import dspy

grade = dspy.Predict("prompt -> score: int")
grade.set_lm(dspy.LM("openai/gpt-4.1-mini", temperature=0, cache=False, num_retries=0))  # a cache would copy answers


def judge(prompt: str) -> int:
    return grade(prompt=prompt).score
