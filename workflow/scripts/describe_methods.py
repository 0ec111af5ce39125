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
        scores: of every study, dataset and judge, in folders of these names.
        answers: of each live judge what its shards say of their answers.
        made: reference answers at several scores, by dataset.
        statistics: names of those that were made.
        run: the parts of config that results depend on.
        library: BibTeX of all that can be cited.
        page, references: the files to write.
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
