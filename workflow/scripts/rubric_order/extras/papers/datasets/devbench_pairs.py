"""DevBench for comparing designs (Li et al. 2024; sheet of Shi et al. 2025,
github.com/Slimshilin/Position-Bias-Analyzer).

A task such as ``uml_class-complexity`` is a document and a criterion; one document is judged under four or five.
"""

from collections.abc import Iterator
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair
from rubric_order.datasets.rubrics import Rubric
from rubric_order.extras.papers.datasets.spreadsheets import add_pairs, models, read_rows


class DevBenchPairs(Adapter):
    files = ("answers",)

    def read(self, answers: Path, baseline: str = "human") -> Iterator[Item | Pair]:
        rows = read_rows(answers, ("index", "task", "question", "evaluating_guidance", "reference_answer"))
        model_names = models(answers, rows[0], "answer-", baseline)
        for row in rows:
            group, task = row.text("index"), row.text("task")
            document, _, criterion = task.partition("-")
            if not document or not criterion:
                raise InputError(f"{row.where('task')}: expected '<document>-<criterion>', found {task!r:.60}")
            rubric = Rubric(task, criterion, row.text("evaluating_guidance"), levels=())
            items = [
                Item(
                    where=f"{row.place}, model {model!r}",
                    item_id=f"{group}-{model}",
                    group_id=group,
                    candidate=model,
                    instruction=row.text("question"),
                    response=row.text(f"answer-{model}"),
                    rubric=rubric,
                    reference=row.optional("reference_answer"),
                    category=task,
                )
                for model in model_names
            ]
            yield from add_pairs(items, baseline)
