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
    """Write `methods.md` and `methods.bib`.

    Args:
        scores: files of scores, in folders with the names of study and dataset. A file has the name of its judge.
        answers: dictionary from each judge that is asked to its file of ``list_responses.py``.
        made: dictionary from a dataset to its file of reference answers at several scores.
        statistics: names of the statistics that were made.
        run: the parts of config that results depend on.
        library: BibTeX file of everything that can be cited.
        page: the file of the methods.
        references: the file of their references.
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
