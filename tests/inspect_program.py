"""Program that `tests/unit/test_inspect.py` runs with the real package of Inspect: its mock model judges. Prints JSON.

python inspect_program.py TASK FOLDER
"""

import json
import re
import sys
from pathlib import Path

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

import rubric_order as ro
from rubric_order.base.errors import InputError
from rubric_order.extras.logs.scorers import Scorer, reads, regrade, regraded, rubric_in_orders

LEVELS = ["Rude.", "Cold.", "Friendly."]
LOGS = Path(__file__).parent / "data/logs"
asked: list[str] = []


def mock(name: str, answer: object) -> Model:
    """A model that answers by a function of the prompt. Without usage the package counts tokens, over a network."""

    def output(messages: list, *_: object) -> ModelOutput:
        made = ModelOutput.from_content(f"mockllm/{name}", answer(messages[-1].text))
        made.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return made

    return get_model(f"mockllm/{name}", custom_outputs=output, memoize=False)


def first_level(prompt: str) -> str:
    """The label that stands first in the rubric."""
    asked.append(prompt)
    shown = re.search(r'^(?:Score )?(\d): |"([CPI])" for', prompt, re.MULTILINE)
    return f"Well. [RESULT] {shown[1]}" if shown[1] else f"Well.\n\nGRADE: {shown[2]}"


def run(scorer: Scorer, folder: Path, epochs: int) -> EvalLog:
    samples = [Sample(id=f"s{k}", input=f"Write letter {k}.", target=f"Letter {k}, kindly.") for k in range(6)]
    (log,) = inspect_ai.eval(
        Task(dataset=samples, solver=generate(), scorer=scorer),
        model=mock("writer", lambda prompt: f"Dear you, {prompt}"),
        epochs=epochs,
        log_dir=str(folder),
        display="none",
    )
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def described(log: EvalLog, name: str) -> dict:
    table = reads(log)
    scores = {f"{sample.id} {sample.epoch}": sample.scores[name].value for sample in log.samples}
    explanations = [sample.scores[name].explanation for sample in log.samples]
    return {"reads": table.to_dict("records"), "asked": asked, "values": scores, "explanations": explanations}


def task(name: str, folder: Path) -> dict:
    judge = mock("judge", first_level)
    if name in ("balanced", "rotated"):
        scorer = rubric_in_orders(LEVELS, "Is it polite?", strategy=name, template="score", model=judge)
        log = run(scorer, folder, epochs=1 if name == "balanced" else 6)
        cards = ro.bias_card(reads(log)).to_dicts()
        return described(log, "rubric_in_orders") | {"verdict": cards[0]["verdict"], "metrics": metrics(log)}
    log = read_eval_log(str(LOGS / f"{name.partition('_')[0]}.eval"))
    labels = {"rubric": ["1", "2", "3", "4", "5"], "rubric_other": ["A", "B"]}.get(name, ["I", "P", "C"])
    strategy = "rotated" if name == "grades_rotated" else "balanced"
    done = regrade(log, labels, model=judge, strategy=strategy, display="none")
    if name == "rubric_other":
        scores = [sample.scores["regraded"] for sample in done.samples]
        return {"asked": asked, "reasons": [[score.reason, score.explanation] for score in scores]}
    inspect_ai.log.write_eval_log(done, str(folder / "regraded.eval"))
    return described(read_eval_log(str(folder / "regraded.eval")), "regraded")


def metrics(log: EvalLog) -> dict:
    return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}


def refused() -> list[str]:
    """Messages about what cannot be used."""
    log = read_eval_log(str(LOGS / "rubric.eval"))
    failed = log.model_copy(update={"status": "error"})
    messages = []
    for call in (
        lambda: rubric_in_orders(["Rude."]),
        lambda: rubric_in_orders(LEVELS, strategy="all"),
        lambda: rubric_in_orders(LEVELS, template="none"),
        lambda: regraded(["A"]),
        lambda: reads(log),
        lambda: regrade(log, ["A", "B"], of="nobody"),
        lambda: reads(failed),
        lambda: reads(failed, partial=True),
    ):
        try:
            call()
        except InputError as error:
            messages.append(str(error))
    return messages


if __name__ == "__main__":
    wanted = sys.argv[1]
    print(json.dumps(refused() if wanted == "refused" else task(wanted, Path(sys.argv[2]))))
