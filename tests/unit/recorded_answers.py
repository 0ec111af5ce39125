"""Recorded answers of every format, and items that they are about."""

import gzip
import json

import pandas as pd

from rubric_order import datasets
from rubric_order.datasets.rubrics import Rubric

ARTICLE = "dm-test-ab12"


def general(**changes):
    return {"item_id": "ebb-a", "ordering": [3, 1, 2], "response": "Score: 2", "judge": "J"} | changes


def summary(**changes):
    record = {"judge": "gpt-3.5", "prompt_style": "rts", "system": "M8", "criterion": "coherence"}
    return record | {"article_id": ARTICLE, "response": "It scores a 4."} | changes


def comparison(**changes):
    record = {"benchmark": "MTBench", "judge": "gpt-4", "task": "writing", "question_id": "81", "answer_a": "x"}
    return record | {"answer_b": "y", "options": ["A", "B", "C"], "repetition": 0, "response": "[[A]]"} | changes


def compared_summaries(**changes):
    record = {"judge": "gpt-4", "criterion": "coherence", "article_id": ARTICLE, "pair": ["M8", "M9"]}
    record |= {"toggled": True, "options": ["A", "B", "C"], "human_score_1": 2.0, "human_score_2": 3.5}
    return record | {"response": "B"} | changes


def any_benchmark(**changes):
    """A comparison of a benchmark of anybody's; a change to None takes a field away."""
    record = {"benchmark": "Arena", "judge": "gpt-4", "question_id": "7", "answer_a": "x", "answer_b": "y"}
    record |= {"response": "[[A]]"} | changes
    return {name: value for name, value in record.items() if value is not None}


RECORDS = {"general": general, "summeval": summary, "pairwise": comparison, "summeval_pairwise": compared_summaries}
RECORDS["comparisons"] = any_benchmark


def write(path, *records):
    """Records as a file of the kind that its name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith(".parquet"):
        pd.DataFrame(list(records)).to_parquet(path)
        return path
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.name.endswith(".gz") else text)
    return path


def summaries(scores_of):
    """Items of one article by (system, criterion) and its human score; ids as the adapter of SummEval makes them."""
    return datasets.prepare(
        "summeval",
        [
            datasets.Item(
                where=f"{system}, {criterion}",
                item_id=f"000-{system}-{criterion}",
                group_id=ARTICLE,
                candidate=system,
                instruction="Summarise.",
                response=f"Summary of {system}.",
                rubric=Rubric(criterion, criterion, "Good?", ("no", "yes")),
                human_scores=[human],
            )
            for (system, criterion), human in scores_of.items()
        ],
    ).items


def two_groups():
    """Two groups of two candidates with rubrics of five levels."""
    rubric = Rubric("r", "quality", "Is it explained?", tuple(f"level {k}" for k in range(1, 6)))
    return datasets.prepare(
        "small",
        [
            datasets.Item(
                where=f"{group}, {candidate}",
                item_id=f"{group}-{candidate}",
                group_id=group,
                candidate=candidate,
                instruction=f"Explain {group}.",
                response=f"{candidate} explains {group}.",
                rubric=rubric,
                human_scores=[human],
            )
            for group in ("ebb", "flow")
            for candidate, human in (("a", 2), ("b", 5))
        ],
    )
