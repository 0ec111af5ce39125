"""Cost of a new probe: one class, which brings its own labels and its own strategy, and a line that registers it."""

import pandas as pd
import pytest

from .conftest import Project

LIBRARY = "workflow/scripts/rubric_order"
PROBE = '''"""The order of the score levels, which letters name: E is the lowest."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from rubric_order.probes import Probe, Question, Shown, Unit
from rubric_order.probes.score_order import ScoreOrder

NUMBERS = ScoreOrder()


class LetterOrder(Probe):
    PERMUTES = "the levels that letters name"
    STRATEGIES = ("mirrored",)

    def template(self, judge, prompt=None) -> str:
        return NUMBERS.template(judge, prompt)

    def choose(self, strategy: str, options: int, *, budget, rng) -> np.ndarray:
        forward = np.arange(1, options + 1)
        return np.stack([forward, forward[::-1]])

    def units(self, items, rubrics, pairs, *, n: int, template, comparisons) -> Iterator[Unit]:
        for unit in NUMBERS.units(items, rubrics, pairs, n=n, template=template):
            yield replace(unit, questions=lambda shown: asked(n), prompt=partial(lettered, unit.prompt, n))

    def questions(self, reads) -> list[tuple[Question, ...]]:
        return [asked(n) for n in reads["n"].tolist()]

    def parse(self, text: str, questions, *, truncated: bool):
        return NUMBERS.parse(text, questions, truncated=truncated)

    def score(self, reads, questions, choices):
        return NUMBERS.score(reads, questions, choices)


def asked(n: int) -> tuple[Question, ...]:
    return (Question("", tuple("EDCBA")[5 - n :], "option"),)


def lettered(prompt, n: int, shown: Shown) -> str:
    text = prompt(shown)
    for number, letter in enumerate(asked(n)[0].labels, start=1):
        text = text.replace(f"Score {number}: ", f"Score {letter}: ")
    return text
'''
ENTRY = "letter_order = rubric_order.probes.letter_order:LetterOrder"
CONFIG = {
    "datasets": {"sim": {"adapter": "simulated", "options": {"n_groups": 6, "n_candidates": 2}}},
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": "planted",
            "answer_format": "score",
            "sampling": {"temperature": 1},
            "simulation": {"preference": "first", "failure_rate": 0.2},
        }
    },
    "studies": {
        "letters": {"probe": "letter_order", "datasets": ["sim"], "judges": ["planted"], "strategies": ["mirrored"]}
    },
    "tables": {"parse_failures": {"study": "letters"}},
}


@pytest.mark.slow
def test_a_new_probe_is_one_class_and_runs_to_a_table_and_pages_that_say_what_it_permutes(fresh: Project):
    fresh.file(f"{LIBRARY}/probes/letter_order.py").write_text(PROBE)
    entries = fresh.file(f"{LIBRARY}/entry_points.txt")
    entries.write_text(entries.read_text().replace("[rubric_order.probes]\n", f"[rubric_order.probes]\n{ENTRY}\n"))
    run = fresh.snakemake("all", "results/reads/letters/index.html", "results/methods.md", config=CONFIG, alone=True)
    assert run.returncode == 0, run.stdout + run.stderr

    requests = pd.read_parquet(fresh.file("results/requests/letters/planted.parquet"))
    assert requests["prompt"].str.contains("Score E: ").all()
    assert not requests["prompt"].str.contains("Score 1: ").any()
    assert [list(asked[0]["labels"]) for asked in requests["questions"]] == [list("EDCBA")] * len(requests)

    scores = pd.read_parquet(fresh.file("results/scores/letters/sim/planted.parquet"))
    responses = pd.read_parquet(fresh.file("results/responses/planted/1.parquet")).set_index("request_id")
    assert len(scores) == 6 * 2 * 2
    for row in scores[scores["score"].notna()].itertuples():
        assert "EDCBA"[row.score - 1] == responses.loc[row.request_id, "text"]
        assert row.ordering[row.position - 1] == row.score

    failures = pd.read_csv(fresh.file("results/tables/parse_failures.csv"))
    pooled = failures[(failures["option"] == "all") & (failures["reason"] == "all")]
    assert pooled["strategy"].tolist() == ["mirrored"]
    assert pooled["n_scores"].tolist() == [24]
    assert pooled["n_failed"].tolist() == [scores["failure"].notna().sum()]
    assert 0 < pooled["n_failed"].item() < 24

    page = fresh.file("results/reads/letters/index.html").read_text(encoding="utf-8")
    assert "in several orders of the levels that letters name" in page
    methods = fresh.file("results/methods.md").read_text(encoding="utf-8")
    assert "Study `letters` varied the order of the levels that letters name, with 5 options." in methods
