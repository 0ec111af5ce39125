import dataclasses
import time

import numpy as np
import pandas as pd
import pytest
from factories import complete_judge, request

from rubric_order import datasets
from rubric_order.analyses.scoring.scoring_causes import estimate as scoring_causes
from rubric_order.judging import engines, shard
from rubric_order.judging.engines import simulated
from rubric_order.judging.store import Store
from rubric_order.parsing import one_score
from rubric_order.parsing.choices import numbers
from rubric_order.planning import reads as planned
from rubric_order.planning import requests as asking
from rubric_order.probes import Shown
from rubric_order.prompts import conditions, frames, orderings
from rubric_order.scoring.scores import score_reads
from rubric_order.simulation import judge as simulation
from rubric_order.simulation.judge import Simulation


def judge_of(*, answer_format="feedback", temperature=1.0, model="planted", profiles=None, **parameters):
    sampling = {"temperature": temperature, "max_tokens": 64}
    settings = {"answer_format": answer_format, "answer_prefix": "", "profiles": profiles or {}, "sampling": sampling}
    return complete_judge(engine="simulated", model=model, simulation=parameters, **settings)


def asked(number, *, item="g1-c1", **others):
    return request(f"{number:032x}", "prompt", unit_id=item, **others)


def answers(judge, requests):
    found = {response.request_id: response for response in engines.load(judge).answer(requests)}
    assert len(found) == len(requests)
    return [found[request.request_id] for request in requests]


@pytest.fixture
def studied(root):
    """Scores of a small study, planned, asked, kept and parsed as those of any judge."""
    tables = datasets.prepare("sim", datasets.read("simulated", {}, {"n_groups": 20, "n_candidates": 3}, dataset="sim"))

    def run(judge, tmp_path, *, scales=(5,), strategies=("balanced", "fixed"), conditions=("baseline",)):
        template = frames.load_template(root / f"resources/templates/{judge.answer_format}.jinja")
        files = tables.items, tables.rubrics, tables.pairs
        design = planned.Design(scales=scales, strategies=strategies, seed=1, conditions=conditions)
        how = {"study": "s", "judge_id": "j", "judge": judge, "template": template, "probe": "score_order"}
        reads = planned.plan_reads(*files, design=design, **how)
        requests = asking.distinct_requests(reads, owned_elsewhere=set())
        requests = asking.render_requests(requests, asking.units_asked(requests, *files, template, probe="score_order"))
        responses = shard.judge(requests, Store(tmp_path / "store"), lambda: engines.load(judge))
        return score_reads(reads, responses, probe="score_order")

    return run


@pytest.mark.parametrize("answer_format", ["feedback", "score"])
def test_every_answer_is_parsed_as_what_the_judge_selected(studied, tmp_path, answer_format):
    judge = judge_of(
        answer_format=answer_format, preference="first", item_positions=0.5, group_positions=0.4, group_error=0.3
    )
    scores = studied(judge, tmp_path, scales=(2, 3, 5, 9))
    assert scores["failure"].isna().all()
    for n, block in scores.groupby("n"):
        shown = np.array(block["ordering"].tolist())
        item = simulation.keys(f"judge\x1fplanted\x1f0\x1fsim\x1f{item_id}" for item_id in block["item_id"])
        group = simulation.keys(f"judge\x1fplanted\x1f0\x1fgroup\x1fsim\x1f{group}" for group in block["group_id"])
        quality = simulation.latent_quality("sim", block["item_id"].tolist())
        planted = Simulation.of(judge)
        expected = simulation.select(
            planted,
            shown,
            opinion=simulation.opinions(planted, quality, item=item, group=group),
            item=item,
            group=group,
            read=simulation.keys(f"read\x1f0\x1f{name}" for name in block["request_id"]),
            temperature=1.0,
        )
        assert block["position"].tolist() == expected.position.tolist()
        assert block["score"].tolist() == shown[np.arange(len(shown)), expected.position - 1].tolist()
        if answer_format == "score":
            found = np.stack(block["position_probabilities"].to_numpy())
            assert found == pytest.approx(expected.probabilities)
            assert block["option_mass"].to_numpy() == pytest.approx(1)
        else:
            assert block["position_probabilities"].isna().all()
        assert n == shown.shape[1]


def test_answers_depend_on_the_request_alone_not_on_order_or_company(monkeypatch):
    judge = judge_of(answer_format="score", item_scores=1, prompts=1, failure_rate=0.3)
    shown = orderings.balanced(5).tolist()
    requests = [asked(k, ordering=shown[k % 10], item=f"g{k % 7}-c1") for k in range(200)]
    together = answers(judge, requests)
    monkeypatch.setattr(simulated, "BATCH_REQUESTS", 7)
    assert answers(judge, requests[::-1])[::-1] == together
    assert answers(judge, [requests[123]]) == [together[123]]


def test_requests_of_several_scales_and_profiles_are_answered_in_one_go():
    judge = judge_of(temperature=1.0, profiles={"greedy": {"sampling": {"temperature": 0}}}, tolerance=3.0)
    requests = [asked(k, n=n) for n in (3, 5) for k in range(100 * n, 100 * n + 40)]
    greedy = [dataclasses.replace(each, request_id=f"{k:032x}", profile="greedy") for k, each in enumerate(requests)]
    texts = [response.text.rpartition("] ")[2] for response in answers(judge, requests + greedy)]
    assert len(set(texts[:40])) == 3
    assert len(set(texts[40:80])) == 5
    assert len(set(texts[80:120])) == len(set(texts[120:])) == 1


@pytest.mark.parametrize("n", [2, 3, 5, 9])
@pytest.mark.parametrize("prefix", ["", "Score: ", '{"score": '])
def test_every_kind_of_failure_is_read_as_one(n, prefix):
    for answer_format, kinds in (("score", simulated.SCORE_FAILURES), ("feedback", simulated.FEEDBACK_FAILURES)):
        if prefix and answer_format == "feedback":
            continue
        judge = judge_of(answer_format=answer_format, failure_rate=1.0)
        found = answers(judge, [asked(k, n=n) for k in range(100)])
        reasons = set()
        for response in found:
            text = prefix + response.text if response.text else ""
            parsed = one_score.parse_score(text, numbers(n), truncated=response.finish_reason == "length")
            assert parsed.label is None, response.text
            reasons.add(parsed.reason)
        assert len({response.text for response in found}) == len(kinds)
        assert len(reasons) >= 4


def test_the_probability_of_failures_is_missing_from_that_of_the_scores(studied, tmp_path):
    scores = studied(judge_of(answer_format="score", failure_rate=[0.6, 0, 0, 0, 0], tolerance=3.0), tmp_path)
    assert scores["option_mass"].mean() < 0.95
    assert scores["failure"].notna().mean() == pytest.approx(1 - scores["option_mass"].mean(), abs=0.03)
    assert scores.loc[scores["position"] == 1].shape[0] < scores.loc[scores["position"] == 2].shape[0]


def test_judges_and_seeds_differ_in_their_errors_about_items():
    requests = [asked(k, item=f"g{k}-c1") for k in range(60)]
    base, same, other, seeded = (
        [response.text for response in answers(judge_of(temperature=0, item_error=2.0, **extra), requests)]
        for extra in ({}, {}, {"model": "other"}, {"seed": 1})
    )
    assert base == same
    assert base != other
    assert base != seeded


CRITERIA = ("Plot", "Style", "Wit")


def several(number, criteria, *, item="g1-c1"):
    return asked(number, item=item, names=criteria, ordering=(1, 2, 3))


def lines(response):
    rows = (line.partition("] ") for line in response.text.split("\n") if line.startswith("["))
    return {name.removeprefix("["): int(score) for name, _, score in rows}


def test_several_criteria_are_answered_a_line_each_in_the_order_asked():
    judge = judge_of(temperature=0, answer_format="score")
    (response,) = answers(judge, [several(1, CRITERIA)])
    assert [line.partition("]")[0] for line in response.text.split("\n")] == ["[Plot", "[Style", "[Wit"]
    assert np.exp(np.array(response.option_logprobs)).reshape(3, 5).sum(axis=1) == pytest.approx(1)
    assert (np.array(response.option_logprobs).reshape(3, 5).argmax(axis=1) + 1).tolist() == list(
        lines(response).values()
    )
    (single,) = answers(judge, [asked(2, item="g1-c1-style")])
    assert lines(response)["Style"] == int(single.text)  # the same text under the same criterion


def test_levels_in_a_crossed_prompt_have_positions_and_levels_that_are_not_listed_have_none():
    requests = [several(k, CRITERIA, item=f"g{k}-c1") for k in range(300)]
    reverse = [dataclasses.replace(each, shown=Shown((1, 2, 3), (5, 4, 3, 2, 1))) for each in requests]
    forward = [dataclasses.replace(each, shown=Shown((1, 2, 3), (1, 2, 3, 4, 5))) for each in requests]
    plain, biased = judge_of(temperature=0), judge_of(temperature=0, preference="first", preference_strength=3.0)
    means = [
        np.mean([list(lines(response).values()) for response in answers(judge, asked)])
        for judge, asked in ((plain, requests), (biased, requests), (biased, forward), (biased, reverse))
    ]
    assert means[0] == means[1]
    assert means[2] < means[0] - 0.3
    assert means[3] > means[0] + 0.3


def test_without_order_effects_a_criterion_gets_the_same_score_wherever_it_stands():
    requests = [several(k, order, item=f"g{k // 2}-c1") for k in range(200) for order in [CRITERIA[:: 1 - 2 * (k % 2)]]]
    found = [lines(response) for response in answers(judge_of(temperature=0), requests)]
    assert found[::2] == found[1::2]


def test_a_later_criterion_is_scored_higher_by_as_much_as_its_place_adds():
    requests = [several(k, CRITERIA, item=f"g{k}-c1") for k in range(3000)]
    judge = judge_of(temperature=0, spread=0.3, item_error=0, criterion_position=[0, 0.5, 1])
    means = pd.DataFrame([lines(response) for response in answers(judge, requests)]).mean()
    assert means.to_numpy() - means.iloc[0] == pytest.approx([0, 0.5, 1], abs=0.06)


def test_the_preceding_score_is_carried_over():
    requests = [several(k, CRITERIA, item=f"g{k}-c1") for k in range(3000)]
    linked, apart = (
        pd.DataFrame([lines(response) for response in answers(judge_of(carry_over=carry), requests)]).corr()
        for carry in (0.6, 0.0)
    )
    assert linked.loc["Plot", "Style"] > apart.loc["Plot", "Style"] + 0.1


def test_a_criterion_whose_score_fails_has_no_line():
    requests = [several(k, CRITERIA) for k in range(300)]
    counts = [len(lines(response)) for response in answers(judge_of(failure_rate=0.3), requests)]
    assert np.mean(counts) == pytest.approx(2.1, abs=0.15)


def test_an_answer_takes_as_long_as_the_judge_is_told():
    started = time.monotonic()
    stream = engines.load(judge_of(seconds_per_request=0.05)).answer(iter([asked(k) for k in range(4)]))
    next(stream)
    assert time.monotonic() - started >= 0.05
    assert len(list(stream)) == 3
    assert time.monotonic() - started >= 0.2


def test_the_engine_says_what_it_is():
    assert engines.load(judge_of()).describe()["engine"] == "simulated"


def test_what_an_id_is_worth_is_found_from_what_the_judge_writes(studied, tmp_path):
    names = ["letter", "letter_a_lowest"]
    judge = judge_of(answer_format="score", preference="first", id_preference={"A": 0.7, "D": -0.4})
    scores = studied(judge, tmp_path, strategies=("balanced",), conditions=names)
    assert scores["failure"].isna().all()
    read = {name: conditions.read(name, 5) for name in names}
    said = {name: {"5": {"ids": each.labels(5), "text": each.reference, "shown": 5}} for name, each in read.items()}
    found = scoring_causes.estimate(scores, conditions=said, confidence=0.95)
    found = found[(found["readout"] == "soft") & (found["cluster"] == "group")].set_index(["cause", "about"])[
        "estimate"
    ]
    assert found["id", "A - E"] == pytest.approx(0.7)
    assert found["id", "B - D"] == pytest.approx(0.4)
    assert found["position", "1"] - found["position", "5"] == pytest.approx(1.0)
