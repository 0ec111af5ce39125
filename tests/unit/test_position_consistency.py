import math
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import ROOT, comparison_table
from matplotlib.markers import CARETRIGHT
from recorded_answers import comparison, write
from statsmodels.stats.contingency_tables import StratifiedTable

from rubric_order.analyses.comparisons.list_position_bias import table as list_position_bias
from rubric_order.analyses.comparisons.pairwise_position_bias import table as pairwise_position_bias
from rubric_order.analyses.comparisons.position_consistency import estimate as position_consistency
from rubric_order.analyses.comparisons.position_consistency import figure
from rubric_order.base.labels import Labels
from rubric_order.figures import view
from rubric_order.intake.recorded import discovery
from rubric_order.intake.recorded import plans as reads
from rubric_order.methods.comparisons import series
from rubric_order.methods.uncertainty import distributions
from rubric_order.scoring import scores
from rubric_order.tables import study_rows

A, B, TIE, NONE = 1, 2, 0, None
# Of ten pairs six are consistent, one of them a tie; two count for primacy, two for recency.
TEN = [(A, B)] * 3 + [(B, A)] * 2 + [(TIE, TIE), (A, A), (A, TIE), (B, B), (TIE, B)]


def estimated(*tables, forms=None):
    found = position_consistency.estimate(list(tables), confidence=0.95, forms=forms or {})
    return found.set_index(["task", "cluster", "quantity"])["estimate"]


def printed(*tables, **settings):
    found = position_consistency.estimate(list(tables), confidence=0.95, forms={})
    settings = {
        "study": "judging_the_judges",
        "least_stability": 0.85,
        "most_errors": 0.1,
        "judge_names": {},
    } | settings
    return pairwise_position_bias.TABLE.table(found, **settings)


def test_measures_of_ten_pairs():
    found = estimated(comparison_table(TEN))["all", "group"]
    assert found["position_consistency"] == pytest.approx(0.6)
    assert found["preference_fairness"] == pytest.approx(0)
    assert found["primacy"] == found["recency"] == pytest.approx(0.2)
    assert found["inconsistent_primacy"] == pytest.approx(0.5)
    assert found["strict_flips"] == found["soft_flips"] == pytest.approx(0.2)
    assert found["error_rate"] == 0
    assert "repetition_stability" not in found  # no prompt is read twice
    assert "excess" not in found


def test_only_pairs_with_a_verdict_in_both_orders_count_and_every_failure_is_an_error():
    table = comparison_table([*TEN, (A, NONE), (NONE, NONE)])
    found = estimated(table)["all", "group"]
    assert found["position_consistency"] == pytest.approx(0.6)
    assert found["error_rate"] == pytest.approx(3 / 24)
    row = printed(table).iloc[0]
    assert (row["n_pairs"], row["n_questions"], row["flag"]) == (10, 10, "few clusters, many errors")


def test_forms_that_do_not_count_are_failures():
    table = comparison_table(TEN)
    table.loc[0, "pattern"] = "conclusion"
    assert estimated(table, forms={"B": ["brackets"]})["all", "group", "error_rate"] == pytest.approx(1 / 20)
    assert estimated(table, forms={"other": ["brackets"]})["all", "group", "error_rate"] == 0


def test_series_are_of_the_first_run_and_recorded_repeats_of_the_later_ones():
    first = comparison_table(TEN)
    # Three repeats of two pairs: one always the same, one with the order's first place twice and a failure.
    repeats = [comparison_table([(A, B), place], repeat=r) for r, place in ((1, (A, B)), (2, (A, B)), (3, (NONE, B)))]
    found = estimated(pd.concat([first, *repeats]))["all", "group"]
    assert found["position_consistency"] == pytest.approx(0.6)
    assert found["repetition_stability"] == pytest.approx((1 + 1 + 2 / 3 + 1) / 4)
    assert found["error_rate"] == 0
    only = estimated(pd.concat(repeats))["all", "group"]
    assert only["position_consistency"] == 1  # the first of the later runs


def test_each_task_has_its_rows_and_sources_are_clusters_where_groups_share_one():
    table = comparison_table(TEN * 4, per_source=5, task=["t1", "t2"] * 20)
    found = position_consistency.estimate(table, confidence=0.95, forms={})
    assert set(found["task"]) == {"all", "t1", "t2"}
    consistency = found.query("quantity == 'position_consistency' and task == 'all'").set_index("cluster")
    assert consistency["n_clusters"].to_dict() == {"group": 40, "source": 8}
    assert consistency["estimate"].tolist() == pytest.approx([0.6, 0.6])
    by_task = found.query("quantity == 'position_consistency' and cluster == 'group' and task != 'all'")["estimate"]
    # The standard deviation is over cells, which are the tasks here.
    assert consistency["sd"].iloc[0] == pytest.approx(np.std(by_task, ddof=1))


def test_a_list_in_cyclic_orders_and_what_even_places_would_give():
    rng = np.random.default_rng(20261122)
    table = comparison_table(rng.integers(1, 4, size=(600, 3)).tolist(), n=3, tie=False)
    found = estimated(table)["all", "group"]
    consistency, fairness = series.random_judge(3)
    assert found["position_consistency"] == pytest.approx(consistency, abs=0.04)
    assert found["preference_fairness"] == pytest.approx(fairness, abs=0.08)
    even = (1 - 2 / 3) * (1 - found["position_consistency"])
    assert found["fairness_of_even_places"] == pytest.approx(even)


def test_a_judge_that_draws_has_no_excess_and_one_that_leans_has():
    rng = np.random.default_rng(20261123)

    def runs(lean):
        odds = rng.normal(0, 1.5, 400)
        parts = []
        for repeat in (1, 2, 3):
            first = rng.random(400) < 1 / (1 + np.exp(-odds - lean))
            second = rng.random(400) < 1 / (1 + np.exp(odds - lean))
            verdicts = np.column_stack([np.where(first, A, B), np.where(second, A, B)])
            parts.append(comparison_table(verdicts.tolist(), repeat=repeat, per_group=5))
        return position_consistency.estimate(pd.concat(parts), confidence=0.95, forms={}).set_index("quantity")

    fair, leaning = runs(0.0), runs(0.8)
    assert fair.loc["position_consistency", "estimate"] < 0.8  # inconsistent by chance alone
    assert fair.loc["excess", "ci_low"] < 0 < fair.loc["excess", "ci_high"]
    assert leaning.loc["excess", "ci_low"] > 0
    assert leaning.loc["preference_fairness", "ci_high"] < 0


def test_the_table_has_the_columns_of_the_paper_and_calls_judges_by_their_names():
    rows = printed(comparison_table(TEN * 4, judge="gpt_4"), judge_names={"gpt_4": "GPT-4"})
    wanted = ["judge", "benchmark", "repetition_stability", "position_consistency", "position_consistency_sd"]
    wanted += ["preference_fairness", "error_rate", "n_pairs"]
    assert {*wanted, "position_consistency_low", "position_consistency_high"} <= {*rows}
    assert rows[["judge", "judge_id", "benchmark"]].values.tolist() == [["GPT-4", "gpt_4", "B"]]
    assert "undefined" in pairwise_position_bias.TABLE.printout(rows)["RS"].item()
    assert printed(comparison_table(TEN), study="other").empty


def test_place_preference_of_two_options_is_half_the_log_of_primacy_over_recency():
    table = comparison_table([(A, A)] * 6 + [(B, B)] * 2 + [(A, B), (B, A)] * 9, tie=False)
    found = position_consistency.estimate(table, confidence=0.95, forms={}).set_index("quantity")
    assert found.loc["first_last", "estimate"] == pytest.approx(np.log(6.5 / 2.5) / 2)  # with Firth's penalty
    assert found.loc["first_last", "n_values"] == 8
    odds = np.log(6.5 / 2.5) / 4
    assert found.loc["place_preference", "estimate"].tolist() == pytest.approx([odds, -odds])
    # Ties tell too: of A,C and C,A against B,C and C,B the log-odds are once the difference of the positions. They need
    # wins of both candidates: of one alone, ties likelier in one order would give the same.
    one = [(A, TIE)] * 6 + [(TIE, B)] * 2 + [(TIE, TIE)] * 9
    other = [(TIE, A)] * 6 + [(B, TIE)] * 2
    alone, both = (
        position_consistency.estimate(comparison_table(rows), confidence=0.95, forms={}).set_index("quantity")
        for rows in (one, one + other)
    )
    assert np.isnan(alone.loc["first_last", "estimate"])
    assert both.loc["first_last", "estimate"] == pytest.approx(np.log(6.5 / 2.5))


@pytest.mark.parametrize("per_pair", [(40,), (12, 7, 30, 3)])
def test_the_effect_within_pairs_of_candidates_is_the_pooled_odds_ratio_of_statsmodels(per_pair):
    rng = np.random.default_rng(5)
    pair = np.repeat(np.arange(len(per_pair)), per_pair)
    first, cluster = rng.random(len(pair)) < 0.4, np.arange(len(pair))
    won = (rng.random(len(pair)) < 0.35 + 0.3 * first).astype(float)
    tables = [
        [[((first == f) & (won == w) & (pair == k)).sum() for w in (1, 0)] for f in (True, False)]
        for k in range(len(per_pair))
    ]
    row = series.within_pairs(first, won, pair, cluster, 0.95)
    assert row["estimate"] == pytest.approx(np.log(StratifiedTable(np.array(tables).T).oddsratio_pooled) / 2)
    ties = series.within_pairs(np.r_[first, True], np.r_[won, np.nan], np.r_[pair, 0], np.arange(len(pair) + 1), 0.95)
    assert {name: ties[name] for name in ("estimate", "ci_low", "p")} == {
        name: row[name] for name in ("estimate", "ci_low", "p")
    }
    if len(per_pair) == 1:  # Woolf's error, with Student's t
        half = distributions.t_quantile(0.975, 39) * np.sqrt((1 / np.array(tables)).sum()) / 2
        assert (row["ci_high"] - row["ci_low"]) / 2 == pytest.approx(half, rel=0.03)


def test_one_candidate_that_always_stands_first_shows_no_effect_of_the_position():
    row = series.within_pairs(np.full(50, True), np.tile([1.0, 0.0], 25), np.zeros(50, dtype=int), np.arange(50), 0.95)
    assert np.isnan(row["estimate"])
    assert not len(row["sizes"])


def test_a_judge_that_always_takes_the_first_place_has_a_preference_that_only_the_penalty_keeps_finite():
    table = comparison_table([(A, A)] * 40)
    row = position_consistency.estimate(table, confidence=0.95, forms={}).set_index("quantity").loc["first_last"]
    assert row["estimate"] == pytest.approx(np.log(40.5 / 0.5) / 2)
    assert 0 < row["ci_low"] < row["estimate"]
    assert row["flag"].startswith("separated")
    assert printed(table)["flag"].tolist() == ["beta: separated"]
    assert printed(comparison_table(TEN * 4))["flag"].tolist() == ["beta: few clusters"]
    assert printed(comparison_table(TEN * 8))["flag"].tolist() == [""]


def test_the_figure_has_a_point_with_its_interval_for_each_judge_and_task():
    tables = [comparison_table(TEN * 4, judge=judge, task=["t1", "t2"] * 20) for judge in ("j1", "j2")]
    found = position_consistency.estimate(tables, confidence=0.95, forms={})
    settings = {"study": "judging_the_judges", "profile": "default", "cluster": "group"}
    sizes = {"least_comparisons": 20, "width_in": 6.5, "row_height_in": 0.3, "columns": 3}
    labels = Labels({"j1": "One", "j2": "Two"}, {"d": "D"})
    drawn = view.draw(figure, found, **settings, **sizes, labels=labels)
    consistency = drawn.axes[0]
    points = [container.lines[0].get_xdata() for container in consistency.containers]
    expected = found.query("quantity == 'position_consistency' and judge == 'j1'")["estimate"]
    assert [sorted(point) for point in points] == [sorted(expected)] * 2
    assert [label.get_text() for label in consistency.get_yticklabels()] == ["B, all", "t1", "t2"]
    for columns, named in ((3, [0]), (2, [0, 2]), (1, [0, 1, 2])):  # the panels that begin a row
        drawn = view.draw(figure, found, **settings, **sizes | {"columns": columns}, labels=labels)
        drawn.canvas.draw()
        shown = [place for place, axis in enumerate(drawn.axes) if axis.get_visible() and axis.containers]
        assert shown == [0, 1, 2]
        assert [place for place in shown if drawn.axes[place].yaxis.get_tick_params()["labelleft"]] == named
        plt.close(drawn)


def test_judges_of_a_benchmark_share_its_lines_evenly_whatever_judges_other_benchmarks_have():
    judges = {"b1": ["j1"], "b2": ["j2", "j3"]}
    tables = [comparison_table(TEN * 4, judge=j).assign(benchmark=b) for b, names in judges.items() for j in names]
    found = position_consistency.estimate(tables, confidence=0.95, forms={})
    settings = {"study": "judging_the_judges", "profile": "default", "cluster": "group"}
    sizes = {"least_comparisons": 20, "width_in": 6.5, "row_height_in": 0.3, "columns": 3}
    drawn = view.draw(figure, found, **settings, **sizes, labels=Labels({}, {}))
    of_all = [[part.lines[0].get_ydata()[0] for part in axis.containers] for axis in (drawn.axes[0], drawn.axes[3])]
    assert of_all == [[pytest.approx(0)], pytest.approx([-0.2, 0.2])]
    # A benchmark that is a dataset of ours has its name.
    named = view.draw(figure, found, **settings, **sizes, labels=Labels({}, {"b1": "Bench (pairs)"}))
    assert [named.axes[k].get_yticklabels()[0].get_text() for k in (0, 3)] == ["Bench (pairs), all", "b2, all"]
    plt.close(named)
    plt.close(drawn)


def lists_table(*tables, **about):
    found = position_consistency.estimate(list(tables), confidence=0.95, forms={})
    return list_position_bias.TABLE.table(found, study=about.get("study", "judging_the_judges"))


def test_the_table_of_lists_by_hand():
    # Orders 123, 231, 312. Of four lists one is the first candidate's throughout, one takes the first place throughout,
    # one calls ties, and one has the second candidate twice and a tie.
    places = [(1, 3, 2), (1, 1, 1), (TIE, TIE, TIE), (2, 1, TIE)]
    rows = lists_table(comparison_table(places, n=3))
    row = rows.iloc[0]
    assert (row["n"], row["n_lists"], row["strategy"]) == (3, 4, "cyclic")
    assert row["position_consistency"] == pytest.approx(2 / 4)
    # The second list counts for the first place, the last one half for it and half for the second.
    assert row["preference_fairness"] == pytest.approx((-1 + 0) / 4)
    assert row["fairness_of_even_places"] == pytest.approx(1 / 3 * 1 / 2)
    assert (row["strict_flips"], row["soft_flips"]) == (0.25, 0.25)
    ties = 4 / 12
    assert row["consistency_by_chance"] == pytest.approx(ties**3 + 3 * ((1 - ties) / 3) ** 3)
    assert np.isnan(row["first_last"])  # the tie may be likelier in its order
    assert list_position_bias.TABLE.printout(rows)["chance"].tolist() == ["0.07"]
    rows = lists_table(comparison_table([(1, 3, 2), (1, 1, 1), (2, 1, 1)], n=3))
    row = rows.iloc[0]
    assert row["place_1"] + row["place_2"] + row["place_3"] == pytest.approx(0)
    assert row["place_1"] - row["place_3"] == pytest.approx(row["first_last"])
    printed = list_position_bias.TABLE.printout(rows)
    assert printed["positions"].item().split() == [f"{row[f'place_{k}']:+.2f}" for k in (1, 2, 3)]
    assert lists_table(comparison_table(places, n=3), study="other").empty


def test_lists_of_several_lengths_have_a_row_each_and_no_place_that_they_do_not_have():
    rng = np.random.default_rng(20261124)
    tables = [comparison_table(rng.integers(1, n + 1, (40, n)).tolist(), n=n, tie=False) for n in (3, 4)]
    rows = lists_table(*tables).set_index("n")
    assert rows.index.tolist() == [3, 4]
    assert np.isnan(rows.loc[3, "place_4"])
    assert np.isfinite(rows.loc[4, "place_4"])
    assert rows["consistency_by_chance"].tolist() == pytest.approx([3 * 3**-3, 4 * 4**-4])
    assert [len(text.split()) for text in list_position_bias.TABLE.printout(rows.reset_index())["positions"]] == [3, 4]
    assert list_position_bias.TABLE.printout(lists_table(*tables, study="other")).empty


def test_a_table_of_several_studies_and_strategies_has_a_row_each():
    pairs = comparison_table(TEN)
    tables = [pairs, pairs.assign(strategy="random"), pairs.assign(study="mine"), pairs.assign(study="other")]
    found = position_consistency.estimate(pd.concat(tables), confidence=0.95, forms={})
    settings = {"study": "judging_the_judges", "also": ["mine"], "least_stability": 0.85, "most_errors": 0.1}
    rows, printed_rows = study_rows(
        pairwise_position_bias.TABLE, {"position_consistency": found}, settings | {"judge_names": {}}
    )
    assert rows[["study", "strategy"]].values.tolist() == [
        ["judging_the_judges", "random"],
        ["judging_the_judges", "recorded"],
        ["mine", "recorded"],
    ]
    assert rows["position_consistency"].tolist() == pytest.approx([0.6] * 3)
    assert printed_rows["study"].tolist() == rows["study"].tolist()
    assert "candidates" not in pairwise_position_bias.TABLE.printout(rows)


def test_the_figure_leaves_out_tasks_of_few_comparisons_and_marks_intervals_that_go_on():
    pairs = [*TEN * 4, *[(A, A)] * 11, (A, A), (B, B)]  # 40 of one task, 11 of another, two of a third
    tasks = ["t1"] * 40 + ["t2"] * 11 + ["t3"] * 2
    found = position_consistency.estimate(comparison_table(pairs, task=tasks), confidence=0.95, forms={})
    settings = {"study": "judging_the_judges", "profile": "default", "cluster": "group"}
    sizes = {"least_comparisons": 10, "width_in": 6.5, "row_height_in": 0.3, "columns": 3}
    drawn = view.draw(figure, found, **settings, **sizes, labels=Labels({}, {}))
    assert [label.get_text() for label in drawn.axes[0].get_yticklabels()] == ["B, all", "t1", "t2"]
    betas = drawn.axes[2]
    low, high = betas.get_xlim()
    rows = found.query("quantity == 'first_last' and task != 't3'").set_index("task")
    beyond = rows[rows["ci_high"] > high]
    assert list(beyond.index) == ["t2"]  # eleven pairs that all take the first place: only the penalty keeps it finite
    marks = [line for line in betas.lines if line.get_marker() == CARETRIGHT and len(line.get_xdata())]
    assert [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in marks] == [([high], [2.0])]
    assert (rows["estimate"] < high).all()
    assert low == -high
    assert rows.loc["all", "ci_high"] < high
    plt.close(drawn)


def of_folder(folder, rules="ours"):
    """The table of a folder of recorded comparisons."""
    parts, names = [], {}
    for judge_id, judge in discovery.discover(folder).items():
        records = reads.read(judge["files"], judge=judge["model"], prompt_style=judge["prompt_style"])
        names[judge_id] = judge["model"]
        for adapter in judge["adapters"]:
            chosen = reads.about(records, adapter)
            plan = reads.plan_comparisons(chosen, study="judging_the_judges", judge_id=judge_id, dataset=adapter)
            parts.append(scores.score_reads(plan, reads.responses(chosen), probe="pair_order"))
    forms = {"MTBench": ["brackets"], "DevBench": ["choice"]}
    found = position_consistency.estimate(parts, confidence=0.95, forms=forms, rules=rules)
    settings = {"study": "judging_the_judges", "least_stability": 0.85, "most_errors": 0.1, "judge_names": names}
    return pairwise_position_bias.TABLE.table(found, **settings).set_index(["judge", "benchmark"])


def test_a_made_up_folder_in_the_published_format(tmp_path):
    said = {"[[A]]": ("base", "new"), "[[C]] then [[B]]": ("new", "base"), "It is fine. [[B]]": ("new", "base")}
    rows = [
        comparison(question_id=str(q), answer_a=a, answer_b=b, response=text)
        for q, chosen in ((1, ("[[A]]", "It is fine. [[B]]")), (2, ("[[A]]", "[[C]] then [[B]]")))
        for text, (a, b) in said.items()
        if text in chosen
    ]
    choice = {"benchmark": "DevBench", "options": ["A", "B"], "task": "uml_class-complexity"}
    for project in ("one", "two"):
        for a, b in (("human", "gpt"), ("gpt", "human")):
            rows.append(
                comparison(
                    **choice,
                    question_id=f"{project}_uml_class-complexity",
                    answer_a=a,
                    answer_b=b,
                    response="Choice: A\nReason: 1. Response 1 is clearer than Response 2.",
                )
            )
    write(tmp_path / "a.jsonl", *rows)
    found = of_folder(tmp_path)
    assert found.loc[("gpt-4", "MTBench"), "position_consistency"] == 1
    assert found.loc[("gpt-4", "MTBench"), ["n_pairs", "error_rate"]].tolist() == [1, 0.25]  # two verdicts are none
    assert found.loc[("gpt-4", "DevBench"), "preference_fairness"] == -1


def test_the_papers_rules_take_the_first_verdict_of_a_made_up_folder(tmp_path):
    first, second = {"answer_a": "base", "answer_b": "new"}, {"answer_a": "new", "answer_b": "base"}
    rows = [
        comparison(**first, question_id="1", response="[[A]]"),
        comparison(**second, question_id="1", response="[[C]] then [[B]]"),
        comparison(**first, question_id="2", response="Choice: B or rather Choice: A"),
        comparison(**second, question_id="2", response="Response A is better."),
    ]
    write(tmp_path / "a.jsonl", *rows)
    row = of_folder(tmp_path, "shi2025").loc[("gpt-4", "MTBench")]
    assert row["n_pairs"] == 1  # A and a tie: for the first place
    assert row["position_consistency"] == 0
    assert row["preference_fairness"] == -1 / 2  # of both pairs
    assert row["error_rate"] == pytest.approx(1 / 3)  # the verdict beside a failure does not count


def test_the_papers_deviations_by_hand():
    pairs = [(1, 2), (1, 1), (None, 1), (1, 2)]
    runs = [comparison_table(pairs, repeat=0, per_group=4)]
    repeats = [[(1, 1)], [(1, 2)], [(2, None)]]  # in one order 1, 1, 2; in the other 1, 2 and a failure
    runs += [comparison_table(verdicts, repeat=k, per_group=4) for k, verdicts in enumerate(repeats, start=1)]
    table = pd.concat(runs)
    settings = {"confidence": 0.95, "forms": {}}
    rows = position_consistency.estimate(table, rules="shi2025", **settings).set_index("quantity")
    # One prompt has 1, 1, 0 (of its commonest choice), the other 1, 0, 0: both have the deviation sqrt(1/3).
    assert rows.loc["repetition_stability", "estimate"] == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert rows.loc["repetition_stability", "sd"] == pytest.approx(np.std([1, 1, 0], ddof=1))
    # Four cells of one comparison: 1, 0, without a valid one (0), 1.
    assert rows.loc["position_consistency", "estimate"] == pytest.approx(2 / 3)
    assert rows.loc["position_consistency", "sd"] == pytest.approx(np.std([1, 0, 0, 1]))
    assert rows.loc["preference_fairness", "estimate"] == pytest.approx(-1 / 4)
    assert rows.loc["error_rate", "estimate"] == pytest.approx(1 / 7)
    ours = position_consistency.estimate(table, **settings).set_index("quantity")
    assert ours.loc["preference_fairness", "estimate"] == pytest.approx(-1 / 3)
    assert ours.loc["error_rate", "estimate"] == pytest.approx(1 / 8)
    assert ours.loc["position_consistency", "sd"] == pytest.approx(np.std([1, 0, 1], ddof=1))


MEASURES = ["repetition_stability", "repetition_stability_sd", "position_consistency", "position_consistency_sd"]
MEASURES += ["preference_fairness", "error_rate"]
# Of the judges in the folder, what the paper calls them. GPT-3.5 on DevBench is another version of the model there, and
# of GPT-4-Turbo only the repetitions are there: its pairs are not those of the table.
JUDGES = {"gpt-4-0613": "gpt_4", "gpt-3.5-turbo-1106": "gpt_3_5_turbo", "gpt-4-1106-preview": "gpt_4_turbo"}
BENCHMARKS = {"MTBench": "mtbench_pairs", "DevBench": "devbench_pairs"}
FULL = [("gpt-4-0613", "MTBench"), ("gpt-4-0613", "DevBench"), ("gpt-3.5-turbo-1106", "MTBench")]
REPEATED = [("gpt-4-1106-preview", "MTBench"), ("gpt-4-1106-preview", "DevBench")]


@pytest.mark.slow  # some 20,000 answers are parsed
def test_all_22_cells_of_the_papers_table_come_out_to_the_printed_digits():
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    found = of_folder(Path(folder) / "pairwise", "shi2025")
    path = ROOT / "resources" / "published" / "shi2025_table2.csv"
    paper = pd.read_csv(path, dtype=str).set_index(["judge", "dataset", "probe"])
    cells = [(key, name) for key in FULL for name in MEASURES]
    cells += [(key, name) for key in REPEATED for name in MEASURES[:2]]
    assert len(cells) == 22
    printed = {
        ((judge, benchmark), name): paper.loc[(JUDGES[judge], BENCHMARKS[benchmark], "pair_order"), name]
        for (judge, benchmark), name in cells
    }
    assert {cell: f"{found.loc[cell[0], cell[1]]:.2f}" for cell in cells} == printed


@pytest.mark.slow
def test_the_finding_that_the_readme_begins_with_is_what_the_published_answers_give(tmp_path):
    folder = os.environ.get("RUBRIC_ORDER_JUDGMENTS")
    if not folder:
        pytest.skip("RUBRIC_ORDER_JUDGMENTS is not set")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for judge, digits in (("gpt-4-0613", 1), ("gpt-3.5-turbo-0125", 2)):
        for path in (Path(folder) / "pairwise").glob(f"devbench_{judge}_*.jsonl.gz"):
            (tmp_path / path.name).symlink_to(path)
        row = of_folder(tmp_path).loc[(judge, "DevBench")]
        odds, low, high = (math.exp(row[f"beta{end}"]) for end in ("", "_low", "_high"))
        assert f"{odds:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}] for {judge}" in readme
