"""Make rubric.eval and grades.eval with the real package, its mock model and no network:

python make_inspect_logs.py FOLDER
"""

import itertools
import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Scorer, model_graded_qa
from inspect_ai.solver import generate

INSTRUCTIONS = """
Use this rubric:
1: The answer is wrong.
2: The answer is mostly wrong.
3: The answer is half right.
4: The answer is mostly right.
5: The answer is right.

End with 'GRADE: N', where N is one of 1 to 5.
"""
TASKS = {
    "What is {{ 2 + 2 }}?": ("4", "It is four.\n1. Add.\n2. Done."),
    "Name a {colour}.": ("red", "Green, I think."),
    "Who wrote Hamlet?": ("Shakespeare", "Marlowe."),
    "Which is the longest river?": ("the Nile", "The Nile or the Amazon."),
}


def mock(name: str, texts: list[str], **config: object) -> Model:
    """A model that writes these texts in turn. Without usage the package would count tokens, over a network."""
    turn = itertools.cycle(texts)

    def answer(*_: object) -> ModelOutput:
        output = ModelOutput.from_content(f"mockllm/{name}", next(turn))
        output.usage = ModelUsage(input_tokens=90, output_tokens=5, total_tokens=95)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, config=GenerateConfig(**config))


def write(folder: Path, name: str, scorer: Scorer, epochs: int) -> None:
    samples = [Sample(id=f"q{k}", input=task, target=target) for k, (task, (target, _)) in enumerate(TASKS.items())]
    answers = [answer for _, answer in TASKS.values()]
    answers = answers + [f"{answer} Surely." for answer in answers] if epochs > 1 else answers
    task = Task(dataset=samples, solver=generate(), scorer=scorer, name=name)
    (log,) = eval(
        task,
        model=mock("answers", answers),
        log_dir=str(folder),
        display="none",
        epochs=epochs,
        max_samples=1,
        log_format="eval",
    )
    Path(log.location.removeprefix("file://")).rename(folder / f"{name}.eval")


if __name__ == "__main__":
    rubric = mock("judge", [f"So so.\n\nGRADE: {grade}" for grade in (5, 4, 1, 3)], temperature=0.0, max_tokens=100)
    write(
        Path(sys.argv[1]),
        "rubric",
        model_graded_qa(instructions=INSTRUCTIONS, grade_pattern=r"GRADE: ([1-5])", model=rubric),
        epochs=1,
    )
    grades = mock("judge", [f"Step by step.\n\nGRADE: {grade}" for grade in "CPIC"])
    write(Path(sys.argv[1]), "grades", model_graded_qa(partial_credit=True, model=grades), epochs=2)
