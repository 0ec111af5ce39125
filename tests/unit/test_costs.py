import numpy as np
import pandas as pd
import pytest
from factories import changed
from scipy import stats

from rubric_order.base import parquet
from rubric_order.judging import costs, prefix_cache, speed
from rubric_order.judging.engines import Response
from rubric_order.judging.store import Store
from rubric_order.parsing.decisions import Form
from rubric_order.prompts import orderings
from rubric_order.prompts.structured import Choice, Structured
from rubric_order.settings import judges
from rubric_order.tables import plan_cost

HEAD = "The head that all prompts share. "


def request_table(*, items=6, orderings=4, dataset="d", profile="default", start=0):
    """Requests about items whose prompts share a long beginning and differ in their last characters."""
    rows = []
    for item in range(start, start + items):
        for ordering in range(orderings):
            prompt = HEAD + f"{dataset} item {item}. " * 10 + f"Options {ordering}."
            rows.append((f"{dataset}-{profile}-{item:03d}-{ordering}", profile, dataset, prompt))
    return pd.DataFrame(rows, columns=["request_id", "profile", "dataset", "prompt"])


@pytest.fixture
def write(tmp_path):
    """Write requests of a study, and say where."""

    def write(table, study="s"):
        path = tmp_path / "requests" / f"{study}.parquet"
        parquet.write(table, path)
        return path

    return write


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def words(prompt, profile):
    """Tokens that are words, after one that says the profile."""
    return [profile, *prompt.split()]


@pytest.fixture
def judge(judge):
    return changed(judge, engine_args={"block_size": 4})


def costs_of(judge, requests, store, *, encode=words, reads=100):
    return costs.judge_costs(judge, requests, dict.fromkeys(requests, reads), store, encode=encode).set_index("study")


def test_tokens_of_few_requests_are_counted_one_by_one(judge, write, store):
    table = request_table()
    tokens = [words(prompt, "default") for prompt in table["prompt"]]
    cached = [*map(prefix_cache.PrefixCache(4).ask, tokens)]
    row = costs_of(judge, {"s": write(table)}, store).loc["s"]
    assert row["prompt_tokens"] == sum(map(len, tokens))
    assert row["cached_tokens"] == sum(cached)
    assert 0.5 < row["cached_tokens"] / row["prompt_tokens"] < 1
    assert row["prompt_tokens_from"] == "tokenizer"
    assert (row["reads"], row["requests"], row["answered"], row["to_ask"]) == (100, 24, 0, 24)


def test_a_sample_of_many_requests_says_what_all_of_them_say(judge, write, store):
    """Two datasets of very different prompts, with the tokens and cached tokens of all prompts beside the estimate."""
    long = request_table(items=300, dataset="long")
    long["prompt"] += " One more thing, then. " * 5
    table = pd.concat([long, request_table(items=200)])
    asked = []

    def counting(prompt, profile):
        asked.append(prompt)
        return words(prompt, profile)

    row = costs_of(judge, {"s": write(table)}, store, encode=counting).loc["s"]
    assert len(asked) == 2 * (costs.SAMPLE_PROMPTS + costs.SAMPLE_STRETCHES)
    tokens = [words(prompt, "default") for prompt in table["prompt"]]
    cached = sum([*map(prefix_cache.PrefixCache(4).ask, tokens)])
    assert row["prompt_tokens"] == pytest.approx(sum(map(len, tokens)), rel=0.01)
    assert row["cached_tokens"] == pytest.approx(cached, rel=0.01)


@pytest.mark.parametrize("size", [0, 1, costs.SAMPLE_PROMPTS, costs.SAMPLE_PROMPTS + 1, 1000])
def test_a_sample_is_whole_stretches_of_rows(size):
    rows = np.arange(size) * 3
    stretches = costs.sample(rows)
    taken = np.concatenate([*stretches, np.array([], dtype=int)])
    assert set(taken) <= set(rows)
    if size <= costs.SAMPLE_PROMPTS:
        assert taken.tolist() == rows.tolist()
    else:
        assert len(stretches) == costs.SAMPLE_STRETCHES
        assert all((np.diff(stretch) == 3).all() for stretch in stretches)
        assert stretches[0][0] == rows[0]
        assert stretches[-1][-1] == rows[-1]


def test_what_the_store_has_is_not_asked_again_but_for_failures_that_may_pass(judge, write, store):
    table = request_table(items=1)
    a, b, c, d = table["request_id"]
    store.append([Response(a, text="4", completion_tokens=10), Response(b, error="timeout")])
    store.append([Response(c, error="prompt_too_long: 9"), Response("other", text="5", completion_tokens=90)])
    path = write(table)
    row = costs_of(judge, {"s": path}, store).loc["s"]
    assert (row["answered"], row["to_ask"]) == (2, 2)
    assert row["prompt_tokens"] == sum(len(words(prompt, "")) for prompt in table["prompt"][[1, 3]])
    assert (row["output_tokens"], row["output_tokens_from"]) == (20, "answers")
    again = costs_of(changed(judge, retry_failed=True), {"s": path}, store).loc["s"]
    assert again["to_ask"] == 3
    store.append([Response(name, text="1") for name in (b, c, d)])
    done = costs_of(judge, {"s": path}, store).loc["all"]
    assert (done["to_ask"], done["prompt_tokens"], done["output_tokens"], done["hours"]) == (0, 0, 0, 0)


def test_answers_are_as_long_as_those_that_are_known_under_a_profile_or_as_long_as_they_may_be(judge, write, store):
    judge = changed(judge, profiles={"long": {"sampling": {"max_tokens": 500}}})
    table = pd.concat([request_table(items=1), request_table(items=1, profile="long")])
    store.append([Response(table["request_id"].iloc[0], text="4", completion_tokens=6)])
    whole = costs_of(judge, {"s": write(table)}, store).loc["all"]
    assert whole["output_tokens"] == 3 * 6 + 4 * 500
    assert whole["output_tokens_from"] == "max_tokens"
    unlimited = changed(judge, sampling=judge.sampling.block() | {"max_tokens": None})
    assert pd.isna(costs_of(unlimited, {"s": write(request_table(items=2, start=5))}, store).loc["s", "output_tokens"])


def test_the_row_of_all_studies_is_their_sum(judge, write, store):
    paths = {"s": write(request_table()), "t": write(request_table(start=50), "t")}
    table = costs_of(judge, paths, store)
    for name in ("reads", "requests", "to_ask", "prompt_tokens", "cached_tokens", "output_tokens"):
        assert table.loc["all", name] == table.loc["s", name] + table.loc["t", name]


def test_without_a_tokenizer_characters_stand_for_tokens(judge, write, store):
    table = request_table()
    row = costs_of(judge, {"s": write(table)}, store, encode=None).loc["s"]
    assert row["prompt_tokens_from"] == "characters"
    assert row["prompt_tokens"] == pytest.approx(table["prompt"].str.len().sum() / 4 + len(table), rel=0.01)
    assert 0.5 < row["cached_tokens"] / row["prompt_tokens"] < 1


def test_pieces_of_a_prompt_begin_with_what_the_profile_changes(judge):
    profiles = {"low": {"chat_template_kwargs": {"effort": "low"}}, "p": {"system_prompt": "Be kind."}}
    judge = changed(judge, profiles=profiles)
    plain, low = costs.pieces(judge, "abcdef", "default"), costs.pieces(judge, "abcdef", "low")
    assert plain[1:] == low[1:] == ["abcd", "ef"]
    assert plain[0] != low[0]
    assert costs.pieces(judge, "abcd", "p")[1:] == ["Be k", "ind.", "abcd"]


def run(seconds, *, prompt=1000, cached=600, completion=100):
    return {
        "seconds": seconds,
        "requests": 10,
        "ended": f"2026-01-{int(seconds):02d}",
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "completion_tokens": completion,
    }


def test_how_fast_a_judge_is_comes_from_config_or_from_earlier_runs(judge, store):
    assert speed.judge_speed(judge, store) is None
    store.note(run(0.5))
    assert speed.judge_speed(judge, store) is None  # too short to say anything
    store.note(run(2.0))
    assert speed.judge_speed(judge, store).tokens == pytest.approx(2 * 500 / 2.5)
    assert np.isnan(speed.judge_speed(judge, store).low)  # notes without marks, as of earlier versions
    assert speed.judge_speed(changed(judge, throughput=70.0), store).tokens == 70


def test_a_judge_that_counts_no_tokens_is_as_fast_as_its_answers_come(judge, write, store):
    none = run(2.0, prompt=0, cached=0, completion=0)
    store.note(none | {"marks": [[0.4, 4, 0], [1.1, 6, 0], [1.5, 8, 0], [2.0, 10, 0]]})
    row = costs_of(judge, {"s": write(request_table())}, store).loc["s"]
    assert row["hours"] == pytest.approx(24 / 5 / 3600)
    assert 0 <= row["hours_low"] < row["hours"] < row["hours_high"]


def test_the_interval_of_a_speed_by_hand():
    parts = np.array([[1.0, 100], [2, 100], [3, 100]])
    ratios = np.array([5 / 200, 4 / 200, 3 / 200]) / (6 / 300)
    error = np.sqrt(2 / 3 * ((ratios - ratios.mean()) ** 2).sum())
    reach = stats.t(2).ppf(0.975) * error
    assert speed.interval(parts) == pytest.approx((max(1 - reach, 0), 1 + reach))
    assert speed.interval(parts[[1, 1, 1, 1]]) == pytest.approx((1, 1))
    assert np.isnan(speed.interval(parts[:2])).all()


def test_intervals_of_speeds_cover_what_is_true():
    rng = np.random.default_rng(1)
    tokens = rng.integers(50, 150, (2000, 20))
    seconds = tokens * rng.gamma(4, 1 / 4, tokens.shape)  # one second a token on average
    ends = [
        np.array(speed.interval(np.stack([s, t], axis=1))) * s.sum() / t.sum()
        for s, t in zip(seconds, tokens, strict=False)
    ]
    covered = np.mean([low <= 1 <= high for low, high in ends])
    assert 0.92 <= covered <= 0.97


def test_marks_of_a_run_stay_few_and_end_evenly():
    marks = speed.Marks()
    for answer in range(1, 1001):
        marks.answered(answer)
    assert [tokens for *_, tokens in marks.marks] == list(range(32, 1001, 32))


def test_hours_have_the_interval_of_the_runs_and_money_that_of_the_answers(judge, write, store):
    table = request_table(items=10)
    tokens = np.tile([90, 110, 100, 100], 5)
    answers = [
        Response(name, text="4", prompt_tokens=50, cached_tokens=0, completion_tokens=int(count))
        for name, count in zip(table["request_id"], tokens, strict=False)
    ]
    store.append(answers, engine="{}")
    store.note(run(2.0) | {"marks": [[0.4, 5, 100], [1.1, 10, 200], [1.5, 15, 300], [2.0, 20, 400]]})
    prices = {"prompt": 1.0, "completion": 10.0}
    endpoint = changed(judge, engine="openai", engine_args={}, prices=prices)
    row = costs_of(endpoint, {"s": write(table)}, store, encode=None).loc["s"]
    pace = speed.judge_speed(endpoint, store)
    assert (row["to_ask"], row["prompt_tokens"], row["output_tokens"]) == (20, 20 * 50, 20 * 100)
    assert row["prompt_tokens_from"] == "answers"
    assert row["hours_low"] / row["hours"] == pytest.approx(pace.low)
    assert row["hours_high"] / row["hours"] == pytest.approx(pace.high)
    variance = np.var(tokens, ddof=1)
    error = 10 * np.sqrt(20**2 * variance / 20 + 20 * variance)
    assert row["cost"] == pytest.approx((20 * 50 + 10 * 20 * 100) / 1e6)
    assert row["cost_high"] - row["cost"] == pytest.approx(1.96 * error / 1e6)
    printed = plan_cost.printout(plan_cost.table({"j": row.to_frame().T.assign(study="all").infer_objects()}, {}))
    assert printed.loc[0, "Cost"] == "0.02 [0.02, 0.02] USD"


def test_without_an_answer_nothing_has_an_interval(judge, write, store):
    row = costs_of(judge, {"s": write(request_table())}, store).loc["all"]
    assert row[["hours_low", "hours_high", "cost_low", "cost_high"]].isna().all()


def test_hours_and_gpu_hours_by_hand(judge, write, store):
    row = costs_of(changed(judge, throughput=10.0, gpu=2), {"s": write(request_table())}, store).loc["all"]
    computed = row["prompt_tokens"] - row["cached_tokens"] + 24 * judge.sampling.max_tokens
    assert row["hours"] == pytest.approx(computed / 10 / 3600)
    assert row["gpu_hours"] == 2 * row["hours"]
    on_cpu = costs_of(changed(judge, throughput=10.0, gpu=0), {"s": write(request_table())}, store).loc["all"]
    assert on_cpu["gpu_hours"] == 0
    assert pd.isna(costs_of(judge, {"s": write(request_table())}, store).loc["all", "hours"])


def test_cost_by_hand(judge, write, store):
    prices = {"prompt": 2.0, "completion": 8.0, "cached": 0.5, "currency": "EUR"}
    endpoint = changed(judge, engine="openai", engine_args={}, prices=prices)
    row = costs_of(endpoint, {"s": write(request_table())}, store).loc["all"]
    expected = (2 * row["prompt_tokens"] + 8 * row["output_tokens"]) / 1e6
    assert row["cost"] == row["cost_cached"] == pytest.approx(expected)  # no prefix has 1,024 tokens
    served = changed(judge, engine="openai", engine_args={}, serve={}, prices=prices, gpu=1)
    row = costs_of(served, {"s": write(request_table())}, store).loc["all"]
    assert row["cost_cached"] == pytest.approx(row["cost"] - 1.5 * row["cached_tokens"] / 1e6)
    assert row["cached_tokens"] > 0
    assert row["currency"] == "EUR"
    free = costs_of(changed(served, prices=None), {"s": write(request_table())}, store).loc["all"]
    assert (pd.isna(free["cost"]), free["currency"]) == (True, "")


def test_what_nothing_bounds_is_unknown_in_every_row_and_never_zero(judge, write, store):
    free = {"sampling": judge.sampling.block() | {"max_tokens": None}, "prices": {"prompt": 2.0, "completion": 8.0}}
    profiles = {"short": {"sampling": {"max_tokens": 9}}}
    judge = changed(judge, engine="openai", serve={}, throughput=10.0, gpu=1, profiles=profiles, **free)
    paths = {"s": write(request_table()), "t": write(request_table(profile="short"), "t")}
    table = costs_of(judge, paths, store)
    unknown = ["output_tokens", "hours", "gpu_hours", "cost"]
    assert table.loc[["s", "all"], unknown].isna().all(axis=None)
    assert table.loc["t", unknown].gt(0).all()
    printed = plan_cost.printout(plan_cost.table({"j": table.reset_index()}, {}))
    assert printed.loc[0, ["Output tokens", "Hours", "GPU hours", "Cost"]].tolist() == ["unknown"] * 3 + ["unknown USD"]


def test_a_judge_that_caches_nothing(judge, write, store):
    row = costs_of(changed(judge, engine="simulated", engine_args={}), {"s": write(request_table())}, store).loc["all"]
    assert row["cached_tokens"] == 0


def test_an_empty_study_costs_nothing(judge, write, store):
    row = costs_of(judge, {"s": write(request_table().iloc[:0])}, store, reads=0).loc["all"]
    assert (row["requests"], row["prompt_tokens"], row["output_tokens"], row["hours"]) == (0, 0, 0, 0)


def test_the_table_marks_what_is_estimated_and_adds_judges_up(judge, write, store):
    paths = {"s": write(request_table()), "t": write(request_table(start=50), "t")}
    prices = {"prices": {"prompt": 2.0, "completion": 8.0}, "throughput": 1.0, "gpu": 1}
    parts = {}
    served = changed(judge, engine="openai", serve={}, **prices)
    for name, settings, encode in (("a", served, None), ("b", judge, words)):
        parts[name] = costs.judge_costs(settings, paths, {"s": 60, "t": 40}, store, encode=encode)
    rows = plan_cost.table(parts)
    assert rows.columns[:2].tolist() == ["judge", "study"]
    assert len(rows) == 6
    a, b, whole = plan_cost.printout(rows).to_dict("records")
    assert (a["Judge"], a["Reads"], a["Requests"], a["To ask"]) == ("a", "100", "48", "48")
    assert a["Prompt tokens"].startswith("≈ ")
    counted = rows.set_index(["judge", "study"])["prompt_tokens"]["b", "all"]
    assert b["Prompt tokens"] == f"{counted:,}"
    assert a["From cache"].endswith(" %")
    assert a["Output tokens"] == f"≤ {48 * judge.sampling.max_tokens}"
    assert a["GPU hours"].startswith("≤ ")
    assert a["Cost"].endswith(" USD")
    assert (b["Hours"], b["Cost"]) == ("unknown", "")
    assert (whole["Judge"], whole["Reads"], whole["Requests"], whole["GPU hours"]) == ("all", "200", "96", "")
    assert plan_cost.saved(rows) == "200 reads need 96 distinct requests: sharing them saves 104 (52 %)."


def test_reference_answers_that_are_still_to_be_made_are_told_from_least_to_most(judge, write, store):
    part = costs.judge_costs(judge, {"s": write(request_table())}, {"s": 60}, store, encode=words)
    made = [("a", 2, 10, 34, 900.0), ("writer", 0, 24, 48, 700.0)]
    columns = ["judge", "answered", "to_ask", "to_ask_most", "output_tokens"]
    rows = plan_cost.table({"a": part.assign(to_come=6.0)}, {"d": pd.DataFrame(made, columns=columns)})
    assert rows["study"].tolist() == ["s", "all", "references of d", "references of d"]
    a, of_a, of_writer, whole = plan_cost.printout(rows).to_dict("records")
    assert (a["Requests"], a["To ask"]) == ("24 to 30", "24 to 30")
    assert (of_a["Judge"], of_a["Reads"], of_a["Requests"]) == ("a/references of d", "", "12 to 36")
    assert (of_a["To ask"], of_a["Prompt tokens"], of_a["Output tokens"]) == ("10 to 34", "unknown", "≤ 900")
    assert of_writer["Judge"] == "writer/references of d"
    assert (whole["Reads"], whole["Requests"], whole["To ask"]) == ("60", "60 to 114", "58 to 112")
    assert plan_cost.saved(rows).startswith("60 reads need 24 distinct requests")
    unknown = plan_cost.printout(plan_cost.table({"a": part.assign(to_come=float("nan"))}))
    assert unknown["To ask"].tolist() == ["24 to unknown", "24 to unknown"]


def test_a_decision_model_costs_its_text_and_questions_and_less_where_all_orderings_are_asked_together(write, store):
    """Apart, each of ten requests has the text; together, one request has it, with ten questions."""
    text, options = "A long text. " * 100, tuple(Choice(str(k), f"It is level {k}.") for k in range(1, 6))
    orders = tuple(map(tuple, orderings.balanced(5).tolist()))
    apart = [Structured(text, "How good?", tuple(options[option - 1] for option in order)).encode() for order in orders]
    together = [Structured(text, "How good?", options, orders).encode()]
    paths = {
        name: write(
            pd.DataFrame(
                {
                    "request_id": [f"{name}{k}" for k in range(len(prompts))],
                    "profile": "default",
                    "dataset": "d",
                    "prompt": prompts,
                }
            ),
            name,
        )
        for name, prompts in (("apart", apart), ("together", together))
    }
    prices = {"prompt": 1.0, "cached": 0.1, "cache_write": 1.25, "completion": 9.0}
    judge = judges.read(
        {"engine": "decisions", "model": "m", "base_url": "https://e.org/v1", "question": "choice", "prices": prices}
    )
    rows = costs_of(judge, paths, store, encode=None, reads=10)
    assert rows["requests"].to_dict() == {"apart": 10, "together": 1, "all": 11}
    asked = [costs.decision_questions.sent(prompt, Form("decisions", "choice")) for prompt in apart]
    assert all(prompt.startswith(text) for prompt in asked)
    expected = sum(len(costs.pieces(judge, prompt, "default")) for prompt in apart)
    assert rows.loc["apart", "prompt_tokens"] == expected
    assert rows.loc["apart", "prompt_tokens"] == pytest.approx(sum(map(len, asked)) / 4, rel=0.02)
    assert rows.loc["together", "prompt_tokens"] < rows.loc["apart", "prompt_tokens"] / 2
    assert rows["output_tokens"].tolist() == [0, 0, 0]
    assert rows["cost"].to_numpy() == pytest.approx(rows["prompt_tokens"].to_numpy(float) / 1e6)
    cached = rows["cached_tokens"].to_numpy(float)
    written = (rows["prompt_tokens"].to_numpy(float) - cached) * 1.25
    assert rows["cost_cached"].to_numpy() == pytest.approx((cached * 0.1 + written) / 1e6)
