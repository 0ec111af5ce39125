"""SummEval (Fabbri et al. 2021; files of Shen et al. 2023, github.com/DAMO-NLP-SG/LLM_summeval): a file a system.

Xu et al. (2026) do not name their four systems: ours are ranks 2, 5, 8 and 11 of 12 by mean expert score.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.datasets import Adapter, Item, Pair, instructions
from rubric_order.datasets.rubrics import read_rubrics

SYSTEMS = ("m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15", "m17", "m20", "m22", "m23")
DEFAULT_SYSTEMS = ("m23", "m13", "m8", "m20")  # best to worst; a test applies the rule to the published scores

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
N_ARTICLES = 100
N_EXPERTS = 3
TASK = "Summarise the following news article in a few sentences.\n\n{}"


@dataclass(frozen=True)
class Summary:
    """One line of a system's file; `scores` are the scores of the experts under each criterion."""

    where: str
    article: str
    text: str
    scores: dict[str, list[int]]


class SummEval(Adapter):
    files = ("rubrics", *SYSTEMS)

    def read(
        self,
        rubrics: Path,
        systems: list[str] | str | None = None,
        pairs: bool = False,
        task: str = TASK,
        **annotations: Path,
    ) -> Iterator[Item | Pair]:
        """Summaries under each criterion, one article after the other, and with `pairs` each two summaries of an
        article.

        The summary with the higher mean expert score is preferred; in `task` the article replaces ``{}``.
        """
        chosen, asked = check_systems(systems), instructions(task, "summeval")
        if not isinstance(pairs, bool):
            raise InputError(f"adapter 'summeval': option 'pairs': expected true or false, found {pairs!r:.60}")
        unknown = [name for name in annotations if name not in SYSTEMS]
        if unknown:
            raise InputError(f"adapter 'summeval': file {unknown[0]!r} is no system; expected {', '.join(SYSTEMS)}")
        scale = read_rubrics(rubrics, "summeval")
        absent = [criterion for criterion in CRITERIA if criterion not in scale]
        if absent:
            raise InputError(f"{rubrics}: no rubric for criterion {absent[0]!r}; found {files.listed(scale)}")
        summaries = {system: read_summaries(annotations[system], system) for system in SYSTEMS}
        check_articles(summaries, annotations)

        for number, article in enumerate(summaries[SYSTEMS[0]]):
            for system in chosen:
                summary = summaries[system][article]
                for criterion in CRITERIA:
                    yield Item(
                        where=summary.where,
                        item_id=f"{number:03d}-{system}-{criterion}",
                        group_id=article,
                        candidate=system,
                        instruction=asked(summary.article),
                        response=summary.text,
                        rubric=scale[criterion],
                        human_scores=list(summary.scores[criterion]),
                    )
            if not pairs:
                continue
            for (a, b), criterion in itertools.product(itertools.combinations(chosen, 2), CRITERIA):
                first, second = (summaries[system][article] for system in (a, b))
                yield Pair(
                    where=f"{first.where} and {second.where}",
                    pair_id=f"{number:03d}-{a}-{b}-{criterion}",
                    group_id=article,
                    item_a=f"{number:03d}-{a}-{criterion}",
                    item_b=f"{number:03d}-{b}-{criterion}",
                    preference=preference(first.scores[criterion], second.scores[criterion]),
                    criterion=criterion,
                )


def check_systems(systems: object) -> list[str]:
    """The chosen systems in the order of ``SYSTEMS``."""
    if systems is None:
        systems = list(DEFAULT_SYSTEMS)
    if systems == "all":
        systems = list(SYSTEMS)
    expected = f"'all' or a list of different names among {', '.join(SYSTEMS)}"
    where = "adapter 'summeval': option 'systems'"
    if not isinstance(systems, list) or not systems:
        raise InputError(f"{where}: expected {expected}; found {systems!r:.60}")
    for place, name in enumerate(systems):
        if name not in SYSTEMS or name in systems[:place]:
            raise InputError(f"{where}: expected {expected}; found {name!r:.60}{' twice' if name in SYSTEMS else ''}")
    return sorted(systems, key=SYSTEMS.index)


def preference(scores: list[int], other: list[int]) -> str:
    """The preferred one of two summaries (``a`` or ``b``), or ``tie``, by the exact sums of as many scores."""
    difference = sum(scores) - sum(other)
    return "tie" if difference == 0 else "a" if difference > 0 else "b"


def read_summaries(path: Path, system: str) -> dict[str, Summary]:
    """Dictionary from an article's id to a system's summary of it, in the order of the file."""
    summaries: dict[str, Summary] = {}
    for where, record in files.json_records(path):
        for name in ("id", "text", "decoded"):
            if not isinstance(record.get(name), str) or not record[name].strip():
                raise InputError(f"{where}: field {name!r}: expected text, found {record.get(name)!r:.60}")
        if record.get("model_id") != system.upper():
            model_id = record.get("model_id")
            raise InputError(f"{where}: field 'model_id': expected {system.upper()!r}, found {model_id!r:.60}")
        article = record["id"]
        if article in summaries:
            raise InputError(f"{where}: field 'id': {article!r:.60} is already used by {summaries[article].where}")
        summaries[article] = Summary(where, record["text"], record["decoded"], read_scores(record, where))
    if len(summaries) != N_ARTICLES:
        raise InputError(f"{path}: expected {N_ARTICLES} articles, found {len(summaries)}")
    return summaries


def read_scores(record: dict[str, Any], where: str) -> dict[str, list[int]]:
    """Scores of the experts under each criterion, in the experts' order."""
    where = f"{where}: field 'expert_annotations'"
    experts = record.get("expert_annotations")
    if not isinstance(experts, list) or len(experts) != N_EXPERTS:
        raise InputError(f"{where}: expected a list of {N_EXPERTS} experts' scores, found {experts!r:.60}")
    for number, scores in enumerate(experts, start=1):
        if not isinstance(scores, dict):
            raise InputError(f"{where}: expert {number}: expected a mapping, found {scores!r:.60}")
        for criterion in CRITERIA:
            score = scores.get(criterion)
            if type(score) is not int or not 1 <= score <= 5:
                raise InputError(
                    f"{where}: expert {number}: {criterion}: expected a score from 1 to 5, found {score!r:.60}"
                )
    return {criterion: [scores[criterion] for scores in experts] for criterion in CRITERIA}


def check_articles(summaries: dict[str, dict[str, Summary]], paths: dict[str, Path]) -> None:
    """Check that each system summarised the articles of the first system."""
    expected = summaries[SYSTEMS[0]]
    for system in SYSTEMS[1:]:
        for article, summary in summaries[system].items():
            if article not in expected:
                raise InputError(f"{summary.where}: field 'id': {article!r:.60} is not in {paths[SYSTEMS[0]]}")
            if summary.article != expected[article].article:
                raise InputError(
                    f"{summary.where}: field 'text': differs from the article of {expected[article].where}"
                )
