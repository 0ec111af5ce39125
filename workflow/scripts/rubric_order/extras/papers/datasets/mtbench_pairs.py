"""MT-Bench for comparing answers (Zheng et al. 2023; sheet of Shi et al. 2025,
github.com/Slimshilin/Position-Bias-Analyzer).

A conversation is one text with its turns under headings such as ``[Turn 1, user]``, which we add; `turns` has them
apart.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair, Turn
from rubric_order.extras.papers.datasets.spreadsheets import Row, add_pairs, models, read_rows

TURNS = (1, 2)
QUESTIONS = tuple(f"question_{turn}" for turn in TURNS)
REFERENCES = tuple(f"reference_answer_{turn}" for turn in TURNS)

log = logging.getLogger(__name__)


class MTBenchPairs(Adapter):
    files = ("answers",)

    def read(self, answers: Path, baseline: str = "vicuna-13b-v1.3") -> Iterator[Item | Pair]:
        rows = read_rows(answers, ("index", "task", *QUESTIONS, *REFERENCES))
        first, second = (models(answers, rows[0], f"answer_{turn}-", baseline) for turn in TURNS)
        alone = sorted(set(first) ^ set(second))
        if alone:
            raise InputError(
                f"{answers}: expected the same models in both turns; {alone[0]!r} has a column in one only"
            )
        silent = 0
        for row in rows:
            group = row.text("index")
            references = [row.optional(column) for column in REFERENCES]
            questions = [row.text(column) for column in QUESTIONS]
            items = []
            for model in first:
                texts = _answers(row, model)
                silent += None in texts
                items.append(
                    Item(
                        where=f"{row.place}, model {model!r}",
                        item_id=f"{group}-{model}",
                        group_id=group,
                        candidate=model,
                        instruction=conversation(questions, "user"),
                        response=conversation([text or "" for text in texts], "assistant"),
                        rubric=None,
                        reference=conversation(references, "reference") if any(references) else None,
                        category=row.text("task"),
                        turns=[
                            Turn(question, text or "", reference)
                            for question, text, reference in zip(questions, texts, references, strict=True)
                        ],
                    )
                )
            yield from add_pairs(items, baseline)
        if silent:
            log.info("%s: %d answers say nothing in one of the two turns; they are kept", answers, silent)


def _answers(row: Row, model: str) -> list[str | None]:
    texts = [row.optional(f"answer_{turn}-{model}") for turn in TURNS]
    if not any(texts):
        raise InputError(f"{row.place}: model {model!r} has no answer in either turn; expected text in one at least")
    return texts


def conversation(texts: Sequence[str | None], speaker: str) -> str:
    """Texts of the turns, each under its heading, as one text; None leaves a turn out."""
    turns = [f"[Turn {turn}, {speaker}]\n{text}" for turn, text in zip(TURNS, texts, strict=True) if text is not None]
    return "\n\n".join(turns)
