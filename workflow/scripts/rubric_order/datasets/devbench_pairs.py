"""DevBench for comparing designs: 8 projects under 14 tasks, answered by 10 models and a human.

A task names a kind of document and a criterion, such as ``uml_class-complexity``. The part after the hyphen is the
criterion, and the whole name is the category. The sheet's evaluating guidance is the question of the rubric, which has
no levels. One document is judged under four or five criteria, so texts repeat. A question's id is its project and task.

Source: Li et al. (2024); sheet of Shi et al. (2025), github.com/Slimshilin/Position-Bias-Analyzer.
"""

from collections.abc import Iterator
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair
from rubric_order.datasets.rubrics import Rubric
from rubric_order.datasets.spreadsheets import add_pairs, models, read_rows


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
