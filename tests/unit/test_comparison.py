"""Two judges compared: equal ones seldom differ, different ones do, and mistakes are named."""

import html
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from factories import simulated_reads
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app, main
from rubric_order.intake import score_tables as reads
from rubric_order.library import comparison, results
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation


def read_twice(judges, seed, *, groups=40, candidates=2):
    """Reads of the same items, each judge's drawn anew from its probabilities, as plain tables."""
    rng, found = np.random.default_rng(seed), []
    for judge in judges:
        (reads,) = studies.read_items(
            judge, n=5, strategies=["balanced"], groups=groups, candidates=candidates, seed=seed
        ).values()
        sums = reads.probabilities.cumsum(axis=-1)
        place = (rng.random((*sums.shape[:2], 1)) * sums[..., -1:] > sums).sum(axis=-1)
        score = np.take_along_axis(reads.shown, place[..., None], axis=-1).ravel()
        item = np.repeat(np.arange(len(sums)), sums.shape[1])
        shown = [" ".join(map(str, row)) for row in reads.shown.reshape(-1, 5)]
        found.append(pd.DataFrame({"item": item, "group": item // candidates, "ordering": shown, "score": score}))
    return found


def test_judges_that_differ_are_found_and_what_they_differ_in(tmp_path):
    one, other = read_twice([Simulation(preference="first"), Simulation()], 1)
    found = comparison.compare(one, other)
    assert found.verdict == "different"
    assert "first less last position" in found.reasons[0]
    (first_last,) = [each for each in found.differences if each.quantity == "first_last"]
    assert first_last.estimate == pytest.approx(first_last.of_one - first_last.of_other)
    assert first_last.low < 1 < first_last.high
    turned = comparison.compare(other, one)
    for each, back in zip(found.differences, turned.differences, strict=True):
        assert (back.estimate, back.low, back.high) == pytest.approx((-each.estimate, -each.high, -each.low))
    one.to_csv(tmp_path / "old.csv", index=False)
    other.to_csv(tmp_path / "new.csv", index=False)
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "old.csv"), str(tmp_path / "new.csv"), "--json"])
    names = {"one": "judge (old)", "other": "judge (new)"}  # both files have no names of judges
    assert json.loads(done.stdout) == json.loads(json.dumps(found.to_dict())) | names
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "old.csv"), str(tmp_path / "new.csv")])
    assert "judge (old) and judge (new): different" in done.stdout
    assert "< .001" in done.stdout.replace("\n", " ")


def test_only_items_that_both_have_read_count_and_two_judges_may_share_a_file():
    one, other = read_twice([Simulation(), Simulation()], 2)
    both = pd.concat([one.assign(judge="a"), other[other["item"] < 70].assign(judge="b")])
    found = comparison.compare(both)
    assert (found.one, found.other, found.n_items, found.n_groups) == ("a", "b", 70, 35)
    few = comparison.compare(one[one["item"] < 20], other)
    assert few.verdict == "cannot tell"
    assert "10 groups" in few.reasons[0]


def test_fewer_than_thirty_groups_cannot_tell_whatever_the_p_values():
    one, other = read_twice([Simulation(preference="first"), Simulation()], 1)
    few = comparison.compare(one[one["item"] < 40], other)
    assert (few.verdict, few.n_groups) == ("cannot tell", 20)
    assert min(each.p_holm for each in few.differences) < 0.001
    assert "20 groups" in few.reasons[0]
    assert "no finding" in few.reasons[1]


def row(p, quantity="first_last", n_groups=40):
    return comparison.Difference(quantity, "hard", 0.5, 0.25, 0.25, 0.125, 0.375, p, n_groups)


@pytest.mark.parametrize(
    ("rows", "word", "says"),
    [
        ([row(0.0001), row(0.5, "ends_middle")], "different", "first less last position"),
        ([row(0.0501), row(np.nan, "ends_middle")], "no difference found", "does not show that there is none"),
        ([row(0.0001, n_groups=29)], "cannot tell", "of which 29 tell something"),
        ([row(0.0001, n_groups=29), row(0.5, n_groups=30)], "no difference found", "No difference is found"),
        ([row(np.nan)], "cannot tell", "hardly vary"),
        ([], "cannot tell", "Nothing can be compared"),
    ],
)
def test_every_outcome_of_differences_made_by_hand(rows, word, says):
    found, reasons = comparison.verdict(rows, 40)
    assert found == word
    assert says in " ".join(reasons)


def test_judges_that_never_change_their_score_cannot_be_compared():
    one = pd.DataFrame([(i, f"{a} {b}", 1) for i in range(40) for a, b in ((1, 2), (2, 1))])
    one.columns = ["item", "ordering", "score"]
    assert comparison.compare(one, one).verdict == "cannot tell"


def test_the_page_says_what_was_found_and_asks_for_nothing_else(tmp_path):
    one, other = read_twice([Simulation(preference="first"), Simulation()], 1)
    one.assign(judge="<b>old</b>").to_csv(tmp_path / "old.csv", index=False)
    other.assign(judge="new").to_csv(tmp_path / "new.csv", index=False)
    page = tmp_path / "page.html"
    command = ["compare", str(tmp_path / "old.csv"), str(tmp_path / "new.csv"), "--page", str(page), "--json"]
    found = json.loads(CliRunner().invoke(app, command).stdout)
    text = page.read_text(encoding="utf-8")
    assert html.escape(f"{found['one']} and new: different") in text
    assert "<b>old" not in text
    assert all(html.escape(reason) in text for reason in found["reasons"])
    assert "&lt; .001" in text
    assert not re.findall(r"(?:src|href)=\"(?!data:|#)", text)
    assert "<script" not in text
    nothing = comparison.Comparison("a", "b", *comparison.verdict([], 40), (), 80, 40)
    assert "nothing that both have" in comparison.page(nothing, results.bias_card(tmp_path / "new.csv").cards * 2)


def test_a_page_that_cannot_be_written_is_one_line(tmp_path, monkeypatch, capsys):
    file = tmp_path / "file"
    file.touch()
    nothing = comparison.Comparison("a", "b", *comparison.verdict([], 40), (), 80, 40)
    monkeypatch.setattr(comparison, "compare", lambda *_, **__: nothing)
    monkeypatch.setattr(comparison, "page", lambda *_: "page")
    monkeypatch.setattr(results, "bias_card", lambda *_, **__: [])
    for page, named in ((tmp_path, tmp_path), (file / "page.html", file), (file / "x/page.html", file / "x")):
        monkeypatch.setattr(sys, "argv", ["rubric-order", "compare", "a.csv", "--page", str(page)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        said = capsys.readouterr().err
        assert said.startswith(f"error: {named}: ")
        assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_page_of_one_file_puts_each_card_under_its_judge_whatever_stands_first(tmp_path):
    biased, fair = read_twice([Simulation(preference="first"), Simulation()], 1)
    both = pd.concat([biased.assign(judge="zeta"), fair.assign(judge="alpha")])
    both.to_csv(tmp_path / "both.csv", index=False)
    words = {card.judge: card.verdict.word for card in results.bias_card(tmp_path / "both.csv")}
    assert words["zeta"] != words["alpha"]
    page = tmp_path / "page.html"
    CliRunner().invoke(app, ["compare", str(tmp_path / "both.csv"), "--page", str(page), "--json"])
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r'<h3>(.+?)</h3>\s*<p class="verdict">(.+?)</p>', text)
    assert shown == [(name, words[name].capitalize()) for name in ("zeta", "alpha")]


def test_scores_of_the_workflow_are_reads_too(tmp_path):
    scores = simulated_reads(groups=5, strategies=("balanced", "fixed"), soft=True, n=3)
    for column in ("ordering", "position_probabilities"):
        scores[column] = [None if row is None else list(row) for row in scores[column]]
    scores.to_parquet(tmp_path / "scores.parquet")
    found = reads.as_scores(reads.read_file(tmp_path / "scores.parquet"))
    own = scores[scores["strategy"] == "balanced"].reset_index(drop=True)
    assert (found["strategy"] == "balanced").all()
    assert found["score"].tolist() == own["score"].tolist()
    assert found["group_id"].tolist() == own["group_id"].tolist()
    assert np.allclose(np.stack(found["position_probabilities"]), np.stack(own["position_probabilities"]))
    scores.assign(profile=["default", "other"] * (len(scores) // 2)).to_parquet(tmp_path / "two.parquet")
    with pytest.raises(InputError, match="several values of profile: default, other"):
        reads.read_file(tmp_path / "two.parquet")
    scores[scores["strategy"] == "fixed"].to_parquet(tmp_path / "fixed.parquet")
    with pytest.raises(InputError, match="no strategy shows every score in every position; found fixed"):
        reads.read_file(tmp_path / "fixed.parquet")


@pytest.mark.parametrize("probe", ["pair_order", "list_order", "criterion_order"])
def test_scores_of_another_probe_are_no_score_levels(tmp_path, probe):
    scores = simulated_reads(groups=2, n=3)
    scores["ordering"] = [list(row) for row in scores["ordering"]]
    scores.assign(probe="score_order").to_parquet(tmp_path / "own.parquet")
    assert len(reads.read_file(tmp_path / "own.parquet"))
    scores.assign(probe=probe).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(InputError, match=f"field 'probe': expected reads of 'score_order', found {probe}"):
        reads.read_file(tmp_path / "other.parquet")


@pytest.mark.parametrize("name", ["study", "n"])
def test_a_file_like_the_workflows_but_for_a_column_is_a_plain_table(tmp_path, name):
    scores = simulated_reads(groups=2, n=3).drop(columns=name)
    scores["ordering"] = [list(row) for row in scores["ordering"]]
    scores.to_parquet(tmp_path / "scores.parquet")
    with pytest.raises(InputError, match="column 'item' is missing"):
        reads.as_scores(reads.read_file(tmp_path / "scores.parquet"), "scores.parquet")


def test_a_comparison_as_people_read_it():
    written = row(0.0001).words
    assert written == (
        *("first less last position, log-odds", "written", "+0.50", "+0.25", "+0.25 [+0.12, +0.38]", "< .001"),
    )
    assert row(0.0123).words[-1] == ".012"
    assert row(1.0).words[-1] == "1.000"
    unknown = row(np.nan)._replace(low=np.nan, high=np.nan)
    assert unknown.words[-2:] == ("+0.25 [no interval]", "-")


def test_what_cannot_be_compared_is_named():
    one, other = read_twice([Simulation(), Simulation()], 3, groups=2)
    for tables, message in (
        ((one,), "expected two judges"),
        ((one, other.assign(item="x" + other["item"].astype(str))), "no item in common"),
        ((one, pd.DataFrame({"item": [0], "ordering": ["1 2"], "score": [1]})), "5 and 2 score levels"),
    ):
        with pytest.raises(InputError, match=message):
            comparison.compare(*tables)


@pytest.mark.slow
def test_a_judge_differs_from_itself_as_often_as_the_level_says():
    judge, n = Simulation(preference="first", group_positions=0.5), 1000
    pairs = (read_twice([judge, judge], seed, groups=30, candidates=1) for seed in range(n))  # as few as get a verdict
    found = [comparison.compare(*pair) for pair in pairs]
    alone = {}
    for quantity in comparison.QUANTITIES:  # an interval leaves out 0 where the p-value of one test alone is below 5%
        own = [each for pair in found for each in pair.differences if each.quantity == quantity]
        alone[quantity] = sum(each.low > 0 or each.high < 0 for each in own) / n
    assert all(0.035 <= share <= 0.065 for share in alone.values()), alone  # 5%, and two standard errors of 1000
    # All three together, by Holm: at most 5%, and not far below, for the three hardly depend on each other.
    assert 0.025 <= sum(each.verdict == "different" for each in found) / n <= 0.065
