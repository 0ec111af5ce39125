"""The methods of a run in words: what it says follows the config, and what it cites is there."""

import importlib
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from factories import ROOT, complete_judge

from rubric_order import catalogue, probes, registry
from rubric_order.cards import methods
from rubric_order.methods.position import order_tests
from rubric_order.prompts import orderings
from rubric_order.run import pages

LIBRARY = (ROOT / "workflow/scripts/rubric_order/cards/references.bib").read_text(encoding="utf-8")
SOFTWARE = {"rubric-order": "0.1.0", "python": "3.11.7", "vllm": "0.32.0"}
STUDY = {
    "probe": "score_order",
    "permutes": "the score levels in the rubric",
    "source": "xu2026",
    "scales": [5],
    "strategies": ["balanced", "single"],
    "seed": 7,
    "conditions": ["baseline"],
}


OVER_ENDPOINT = complete_judge(engine="openai", label="E", template="own.jinja")


def facts(judge):
    return judge.block() | {
        "run_by": judge.RUN_BY or f"by engine `{judge.engine}`",
        "cited": judge.CITED,
        "loaded": judge.LOADED,
    }


def run(**changes):
    vllm = facts(complete_judge(label="Small-1B", revision="0123abc", answer_format="feedback"))
    found = {
        "judges": {"small": vllm},
        "datasets": {"d": {"label": "Tales", "citation": "Doe (2020), 50% of_all", "limit": 3}},
        "studies": {"s": STUDY},
        "statistics": {"bootstrap": {"resamples": 2000, "confidence": 0.9, "seed": 11}},
        "described": {name: pages.statistic_facts(name) for name in catalogue.STATISTICS},
    }
    return found | changes


def text(config, statistics=(), versions=None, scales=(), **others):
    counts = {"s": {"d": methods.Counts(12, 3, 240, 6, scales)}}
    about = {"counts": counts, "versions": versions or {}, "statistics": statistics, "software": SOFTWARE}
    return methods.text(config, **about, library=LIBRARY, **others)


def test_it_says_models_revisions_versions_seeds_counts_and_tests_of_this_run():
    versions = {"small": {"version of the engine": {"0.32.0": 240}}}
    said, cited = text(run(), ["position_selection", "budget_curve"], versions)
    assert "Tales [@data_d] has 12 units in 3 groups. It was limited to its first 3 groups." in said
    assert "Small-1B (model org/model, revision 0123abc) was run with vLLM [@vllm], temperature 0, top-p 1" in said
    assert "at most 8 tokens, seed 0, number format bfloat16, and wrote feedback and then a score." in said
    assert "What answered: version of the engine: 0.32.0 (240 answers)." in said
    assert "240 reads; 6 (2.50%) gave no score" in said
    assert "were the sample, and intervals cover 90%. Those of position_selection come from 2,000 bootstrap" in said
    assert "bootstrap resamples of groups (seed 11). Whether" in said
    assert "Rao-Scott correction" in said
    assert "Further statistics (budget_curve)" in said
    assert r"note = {Doe (2020), 50\% of\_all}" in cited


def test_what_the_run_did_not_do_is_not_said():
    said, cited = text(run())
    assert "chi-square" not in said
    assert "Conditions" not in said
    assert "li2025" not in cited
    assert "rao1984" not in cited
    assert "resamples" not in said
    assert "Random orderings" not in said
    for strategies, counted in ((["single", "random"], True), (["latin"], True), (["single", "recorded"], False)):
        other, _ = text(run(studies={"s": STUDY | {"strategies": strategies}}))
        assert ("Random orderings had seed 7." in other) == counted
    other, _ = text(run(studies={"s": STUDY | {"conditions": ["baseline", "letter"]}}))
    assert "Conditions: baseline, letter [@li2025]." in other


def test_the_number_of_options_is_that_of_the_reads():
    pairs = STUDY | {"probe": "pair_order", "strategies": ["recorded"], "permutes": "the two answers"}
    said, _ = text(run(studies={"s": pairs}), ["position_consistency"], scales=(2,))
    assert "with 2 options. Orderings: recorded: the orderings in which answers had been recorded. Its judges" in said
    assert "Shares of comparisons have Clopper-Pearson intervals" in said
    assert "bootstrap" not in said
    assert "with 5 options" in text(run())[0]


def test_statistics_that_are_said_to_be_resampled_take_a_number_of_resamples():
    for name, record in catalogue.STATISTICS.items():
        estimate = importlib.import_module(catalogue.module("statistics", name)).estimate
        takes = "resamples" in inspect.signature(estimate).parameters
        assert takes == ("bootstrap" in record.settings), name


def test_it_says_who_wrote_and_reviewed_reference_answers_and_how_many_were_accepted():
    block = {"judges": ["small", "big"], "rounds": 2, "file": None, "shows_rejected": True, "reviewing": {}}
    block |= {"writing": {"temperature": 1, "max_tokens": 320}}
    config = run(references={"d": block})
    config["judges"]["big"] = facts(complete_judge(label="Big-9B"))
    made = methods.Answers(levels=[1, 2, 3, 4], n_wanted=12, n_attempts=21, n_texts=17, n_accepted=3)
    said, cited = text(config, references={"d": made})
    paragraph = said.partition("## Reference answers\n\n")[2].partition("\n")[0]
    assert paragraph.startswith(
        "Reference answers of Tales at the scores 1, 2, 3, 4 were written by Small-1B and reviewed by Big-9B; the two"
        " changed roles by round, in at most 2 rounds [@li2025]; the prompts are ours."
    )
    assert "For writing they sampled with temperature 1, max_tokens 320." in paragraph
    assert "For reviewing" not in paragraph
    assert "A writer saw what had been rejected before." in paragraph
    assert "Of 12 that were wanted (one per group, criterion and score) 3 were accepted." in paragraph
    assert "The other 9 are not shown." in paragraph
    assert "It took 21 attempts, of which 17 gave a text." in paragraph
    assert "@article{li2025" in cited or "{li2025," in cited
    alone, _ = text(run(references={"d": block | {"judges": ["small"], "rounds": 1}}), references={"d": made})
    assert "were written and reviewed by Small-1B, in at most 1 round [@li2025]" in alone
    own, _ = text(run(references={"d": block | {"file": "mine.csv"}}), references={"d": made})
    assert "17 reference answers of Tales came from a file of our own." in own
    assert "## Reference answers" not in text(run())[0]


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ({"engine": "recorded", "label": "Old"}, "Old: answers that had been recorded elsewhere"),
        ({"engine": "simulated", "label": "P"}, "P is a simulated judge, whose bias was planted"),
        (facts(OVER_ENDPOINT), "over an OpenAI-compatible endpoint"),
        (facts(OVER_ENDPOINT) | {"run_by": "by engine `words`"}, "E (model org/model) was run by engine `words`, temp"),
    ],
)
def test_judges_of_other_kinds_are_not_said_to_be_models_run_here(judge, said):
    found, cited = text(run(judges={"j": judge}))
    assert said in found
    assert "vllm" not in cited
    assert ("The prompt was our own." in found) == bool(judge.get("template"))


@pytest.mark.parametrize("probe", probes.names())
def test_every_citation_has_its_reference_and_every_reference_is_cited(probe):
    module = probes.load(probe)
    study = STUDY | {"probe": probe, "strategies": list(module.STRATEGIES), "conditions": ["baseline", "x"]}
    study |= {"permutes": module.PERMUTES, "source": module.SOURCE}
    said, cited = text(run(studies={"s": study}), catalogue.STATISTICS)
    keys = set(re.findall(r"@(\w+)", said))
    assert f"varied the order of {module.PERMUTES} [@{module.SOURCE}]" in said
    assert keys == set(re.findall(r"^@\w+\{(\w+),", cited, re.MULTILINE))
    assert "see the documentation" not in said


def test_the_strategies_that_it_explains_exist():
    assert set(orderings.STRATEGIES) <= set(methods.STRATEGIES)


def test_facts_about_reference_answers_by_hand():
    attempts = pd.DataFrame(
        {
            "group_id": ["a", "a", "a", "b"],
            "criterion": "c",
            "rubric_id": "r",
            "level": [2, 2, 1, 1],
            "accepted": [False, True, False, False],
            "text": ["x", "y", None, "z"],
        }
    )
    expected = methods.Answers([1, 2], n_wanted=3, n_attempts=4, n_texts=3, n_accepted=1)
    assert methods.Answers.of(attempts) == expected


def test_counts_are_those_of_all_judges_together(tmp_path):
    """Two judges read the same items, one of them in one group more, and a third one another dataset."""
    of_judge = {"d/a": (3, 0), "d/b": (4, 5), "e/a": (2, 0)}
    for name, (groups, failed) in of_judge.items():
        path = tmp_path / f"s/{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        group = np.repeat(np.arange(groups), 6).astype(str)
        unit = np.char.add(np.char.add(group, "/"), np.tile(["x", "y"], 3 * groups))
        failure = pd.Series([None] * len(unit), dtype="string")
        failure.iloc[:failed] = "no_score"
        pd.DataFrame({"unit_id": unit, "group_id": group, "failure": failure, "n": 5}).to_parquet(path)
    counted = methods.counts(tmp_path / f"s/{name}.parquet" for name in of_judge)
    assert counted == {"s": {"d": (8, 4, 18 + 24, 5, (5,)), "e": (4, 2, 12, 0, (5,))}}


def test_texts_name_the_level_at_which_a_bias_is_found():
    texts = [catalogue.STATISTICS["order_tests"].methods]
    for name in ("position_selection", "position_preference", "score_effects"):
        texts.append(registry.caption("tables", name))
    said = [re.findall(r"p of at most ([0-9.]+%)", text) for text in texts]
    assert said == [[f"{order_tests.LEVEL:.0%}"]] * 4
