from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.cards import methods, summary
from rubric_order.contracts.items import REFERENCES


def describe_methods(
    scores: list[Path],
    answers: dict[str, Path],
    made: dict[str, Path],
    statistics: list[str],
    run: dict[str, Any],
    library: Path,
    page: Path,
    references: Path,
) -> None:
    """Write the methods of a run in words and their references, from `library`, a BibTeX file of all that can be cited.

    `scores` are named ``STUDY/DATASET/JUDGE``; `answers`: file of `list_responses` by judge; `made`: reference answers
    by dataset; `run`: the parts of config that results depend on.
    """
    versions = {judge: files.read_json(path)["versions"] for judge, path in answers.items()}
    attempts = {dataset: methods.Answers.of(REFERENCES.read(path)) for dataset, path in made.items()}
    facts: dict[str, Any] = {"counts": methods.counts(scores), "versions": versions, "statistics": statistics}
    facts |= {"software": summary.versions(), "references": attempts, "library": files.read_text(library)}
    text, cited = methods.text(run, **facts)
    files.write_text(text, page)
    files.write_text(cited, references)
