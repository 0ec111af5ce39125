"""Write the methods of a run in words, with their references."""

from pathlib import Path

import pandas as pd

from rubric_order.base import command_line, files
from rubric_order.cards import methods, summary
from rubric_order.contracts.items import REFERENCES
from rubric_order.contracts.scores import SCORES

COLUMNS = ("unit_id", "group_id", "failure")
SLOT = ["group_id", "criterion", "rubric_id", "level"]  # what a reference answer is written for


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
    read: dict[tuple[str, str], list] = {}
    for path in scores:
        read.setdefault((path.parts[-3], path.parts[-2]), []).append(SCORES.read(path, columns=COLUMNS))
    counts: dict[str, dict[str, methods.Counts]] = {}
    for (study, dataset), tables in read.items():
        units = {unit for table in tables for unit in table["unit_id"].unique()}
        groups = {group for table in tables for group in table["group_id"].unique()}
        n_reads, n_failed = (
            sum(found) for found in zip(*((len(t), t["failure"].count()) for t in tables), strict=True)
        )
        counts.setdefault(study, {})[dataset] = methods.Counts(len(units), len(groups), n_reads, int(n_failed))
    versions = {judge: files.read_json(path)["versions"] for judge, path in answers.items()}
    software = summary.versions()
    told = {dataset: _answers(REFERENCES.read(path)) for dataset, path in made.items()}
    about = {"counts": counts, "versions": versions, "statistics": statistics, "software": software}
    text, cited = methods.text(run, **about, references=told, library=files.read_text(library))
    files.write_text(text, page)
    files.write_text(cited, references)


def _answers(attempts: pd.DataFrame) -> methods.Answers:
    """Facts about the reference answers of a dataset."""
    wanted = attempts.groupby(SLOT)["accepted"].any()
    levels = sorted(attempts["level"].astype(int).unique().tolist())
    return methods.Answers(levels, len(wanted), len(attempts), int(attempts["text"].notna().sum()), int(wanted.sum()))


if __name__ == "__main__":
    command_line.run(main)
