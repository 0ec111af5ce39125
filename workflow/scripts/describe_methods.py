"""Write the methods of a run in words, with their references."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.cards import methods, summary
from rubric_order.contracts.items import REFERENCES


def main(
    scores: list[Path],
    answers: dict[str, Path],
    made: dict[str, Path],
    statistics: list[str],
    run: dict,
    library: Path,
    page: Path,
    references: Path,
) -> None:
    """Write `methods.md` and `methods.bib`, from `library`, a BibTeX file of everything that can be cited.

    `scores` are named ``STUDY/DATASET/JUDGE``; `answers`: file of ``list_responses.py`` by judge; `made`: reference
    answers by dataset; `run`: the parts of config that results depend on.
    """
    versions = {judge: files.read_json(path)["versions"] for judge, path in answers.items()}
    answered = {dataset: methods.Answers.of(REFERENCES.read(path)) for dataset, path in made.items()}
    facts = {"counts": methods.counts(scores), "versions": versions, "statistics": statistics}
    facts |= {"software": summary.versions(), "references": answered, "library": files.read_text(library)}
    text, cited = methods.text(run, **facts)
    files.write_text(text, page)
    files.write_text(cited, references)


if __name__ == "__main__":
    command_line.run(main)
