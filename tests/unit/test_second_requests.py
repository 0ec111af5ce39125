import pandas as pd
import pytest
from factories import changed, questions, request_table

from rubric_order import probes
from rubric_order.judging import shard
from rubric_order.judging.engines import Response
from rubric_order.judging.second_requests import second_id, second_requests, study_second_requests
from rubric_order.judging.store import Store
from rubric_order.scoring.scores import score_reads

criterion_order, score_order = map(probes.load, ("criterion_order", "score_order"))

ANSWERS = {"a": "4", "b": "a fine answer", "c": "", "d": "7"}


class Engine:
    """Answers as ``ANSWERS`` say, and 2 where the answer has begun."""

    def __init__(self):
        self.asked = []

    def answer(self, requests):
        for request in requests:
            self.asked.append((request.request_id, request.begun))
            text = ANSWERS[request.request_id] if request.begun is None else "2"
            yield Response(request.request_id, text=text, finish_reason="stop")

    def describe(self):
        return {}

    def close(self):
        pass


@pytest.fixture
def run(tmp_path, judge):
    """Judge four requests into one store, with second requests."""

    def judge_again(**settings):
        engine, asking = Engine(), changed(judge, **settings)
        table = shard.judge(
            request_table(*ANSWERS),
            Store(tmp_path),
            lambda: engine,
            second_requests=lambda *tables: second_requests(*tables, judge=asking, probe=score_order),
        )
        return table, engine

    return judge_again


def test_only_answers_without_a_score_are_followed_by_a_second_request(run):
    table, engine = run()
    second = [(second_id(name, "Score: "), "Score: ") for name in ("b", "c", "d")]
    assert engine.asked == [(name, None) for name in ANSWERS] + second
    assert table["constrained_text"].fillna("none").tolist() == ["none", "2", "2", "2"]
    assert table["text"].tolist() == list(ANSWERS.values())


def test_two_beginnings_of_an_answer_give_two_names():
    assert second_id("a", "Score: ") != second_id("a", "Score:")
    assert second_id("a", "Fine.\n[RESULT] ") != second_id("a", "Poor.\n[RESULT] ")
    assert second_id("a", "Score: ") != second_id("b", "Score: ")


def test_a_feedback_is_kept_and_its_result_is_asked_for(run):
    _, engine = run(answer_format="feedback", answer_prefix="")
    assert (second_id("b", "a fine answer\n[RESULT] "), "a fine answer\n[RESULT] ") in engine.asked


def test_second_requests_are_not_repeated(run):
    run()
    table, engine = run()
    assert engine.asked == []
    assert table["constrained_text"].notna().sum() == 3


def test_what_failed_or_scores_several_criteria_is_not_asked_a_second_time(judge):
    responses = pd.DataFrame({"request_id": ["a", "b"], "text": [None, "x"], "error": ["prompt_too_long: 9", None]})
    requests = request_table("a", "b")
    several = [question._asdict() for question in questions(("plot", "style"))]
    requests["questions"] = [requests["questions"][0], several]
    responses = responses.assign(finish_reason="stop")
    assert second_requests(requests, responses, judge=judge, probe=score_order).empty


def test_a_score_that_only_the_second_request_gave_says_so():
    reads = pd.DataFrame({"request_id": ["a", "b"], "n": 5, "condition": "baseline", "ordering": [[1, 2, 3, 4, 5]] * 2})
    responses = pd.DataFrame({"request_id": ["a", "b"], "text": ["4", "well"], "constrained_text": [None, "2"]})
    responses = responses.assign(error=None, finish_reason="stop", option_logprobs=None)
    table = score_reads(reads, responses, probe="score_order")
    assert table["score"].tolist() == [4, 2]
    assert table["pattern"].tolist()[1] == "constrained"
    assert table["failure"].isna().all()


def test_requests_of_several_studies_are_each_read_by_the_probe_of_their_study(judge, monkeypatch):
    requests = request_table(*"abcd").assign(probe=["score_order", "criterion_order", "score_order", "criterion_order"])
    responses = pd.DataFrame({"request_id": list("abcd"), "text": "4", "error": None, "finish_reason": "stop"})
    assert study_second_requests(requests, responses, judge=judge).empty
    monkeypatch.setattr(
        criterion_order,
        "parse",
        lambda text, questions, *, truncated: score_order.parse("", questions, truncated=False),
    )
    second = study_second_requests(requests, responses, judge=judge)
    assert second["first_id"].tolist() == ["b", "d"]
    assert study_second_requests(requests.iloc[:0], responses.iloc[:0], judge=judge)["first_id"].tolist() == []
