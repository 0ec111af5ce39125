"""The gate with a memory: runs against a baseline, its history, and what a pipeline reads."""

import functools
import json
import re
import shlex
import subprocess
import threading
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rubric_order as ro
from rubric_order.base import locks
from rubric_order.base.errors import InputError
from rubric_order.cards import summary
from rubric_order.cards.anchors import Anchors
from rubric_order.commands.app import app
from rubric_order.extras.gate import drift, gate, history, outcome
from rubric_order.extras.gate.commands import check as command
from rubric_order.extras.gate.limits import CANNOT_TELL, FAILED, PASSED, Finding

ORDERINGS = ro.orderings("balanced", 3).tolist()


@functools.cache
def reads(seed=0, *, groups=30, shift=0.0, noise=0.6, part=1.0, judge="j", fail=0.0):
    """Reads of two items per group in all balanced orderings of three levels; items are the same for every seed."""
    quality = np.random.default_rng(7).uniform(1, 3, size=(groups, 2, 1))
    rng = np.random.default_rng(seed)
    hit = (np.arange(groups) < part * groups)[:, None, None]
    scores = np.rint(quality + shift * hit + noise * rng.normal(size=(groups, 2, len(ORDERINGS)))).clip(1, 3)
    scores[rng.random(scores.shape) < fail] = np.nan
    return pd.DataFrame(
        {"judge": judge, "item": f"i{g}-{i}", "group": f"g{g}", "ordering": ORDERINGS[k], "score": scores[g, i, k]}
        for g, i, k in np.ndindex(scores.shape)
    )


CARDS = {}  # of tables that were written, by their identity


def cards_of(table):
    """Cards of a table as JSON has them, made once."""
    if id(table) not in CARDS:
        CARDS[id(table)] = table, ro.bias_card(table).to_dicts()
    return CARDS[id(table)][1]


@pytest.fixture
def written(tmp_path):
    """Write the cards of some reads, as audit --json does."""

    def write(name, *tables):
        path = tmp_path / name
        path.write_text(json.dumps([card for table in tables for card in cards_of(table)]))
        return path

    return write


def check(summary, baseline, *words):
    """Status, findings by limit, and the output of a check."""
    done = CliRunner().invoke(app, ["check", str(summary), "--baseline", str(baseline), "--json", *map(str, words)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    findings = json.loads(done.stdout) if done.stdout.startswith("[") else []
    return done.exit_code, {finding["limit"]: finding for finding in findings}, done.output


def test_a_judge_that_only_wavers_passes_and_one_that_changed_fails(written):
    base = written("base.json", reads(0))
    for day in range(1, 4):
        status, findings, _ = check(written("today.json", reads(day)), base)
        assert status == 0, findings
    assert set(findings) == {
        "no change: mean score",
        "no change: usual ordering less all orderings",
        "no change: first less last position",
        "no change: reads without a score",
        "no change: distance of groups from the baseline",
    }
    status, findings, _ = check(written("today.json", reads(4, shift=0.4)), base)
    assert status == 1
    assert findings["no change: mean score"]["outcome"] == "failed"
    assert "this run and the 4 runs before, p < 0.001" in findings["no change: mean score"]["found"]


def test_the_history_has_a_line_a_run_and_a_run_that_is_checked_again_counts_once(written, tmp_path):
    base = written("base.json", reads(0))
    for day, name in enumerate(["a", "b", "b"], start=1):
        check(written("today.json", reads(day)), base, "--run", name)
    lines = [json.loads(line) for line in (tmp_path / "base.history.jsonl").read_text().splitlines()]
    assert [line["run"] for line in lines] == ["a", "b", "b"]
    (name,) = lines[0]["cards"]
    runs = history.read(tmp_path / "base.history.jsonl", lines[0]["baseline"])
    assert [card.anchors for card in history.cards(runs, name)] == [lines[k]["cards"][name]["anchors"] for k in (0, 2)]
    (card,) = summary.read(written("again.json", reads(3)))
    values = {key: value for key, value in card["anchors"].items() if key != "names"}
    assert lines[2]["cards"][name]["anchors"] == values
    check(written("today.json", reads(9)), base, "--history", tmp_path / "own.jsonl")
    assert len((tmp_path / "own.jsonl").read_text().splitlines()) == 1


def test_the_same_reads_count_once_under_any_name(written, tmp_path):
    base, kept = written("base.json", reads(0)), tmp_path / "base.history.jsonl"
    today = written("today.json", reads(2))
    done = [check(today, base, *words) for words in ([], [], ["--run", "n2"], ["--run", "n3"])]
    assert [status for status, _, _ in done] == [0, 0, 0, 0]
    assert done[0][1] == done[1][1] == done[3][1]
    assert len(kept.read_text().splitlines()) == 1
    run = json.loads(kept.read_text())["run"]
    assert f"The reads are those of run {run}, to the last digit, and do not count again." in done[1][2]
    assert "The reads are those of the baseline" in check(base, base)[2]
    assert len(kept.read_text().splitlines()) == 1


def test_equal_reads_of_a_judge_that_was_asked_anew_count(written, tmp_path):
    base = written("base.json", reads(0, noise=0))
    for name in ("a", "b", "b"):  # the last one is a second attempt
        check(written("today.json", reads(1, noise=0)), base, "--new-reads", "--run", name)
    lines = (tmp_path / "base.history.jsonl").read_text().splitlines()
    assert [json.loads(line)["run"] for line in lines] == ["a", "b"]


def test_a_run_that_found_a_change_is_not_replaced_by_a_run_of_its_name(written, tmp_path):
    base = written("base.json", reads(0))
    for _ in range(2):
        status, findings, _ = check(written("today.json", reads(1, shift=0.8)), base, "--run", "n3")
        assert status == 1
        assert "no change in earlier runs" not in findings  # it is this run
    status, findings, output = check(written("today.json", reads(3)), base, "--run", "n3")
    assert status == 1
    assert findings["no change in earlier runs"]["found"].startswith("run n3 found one: mean score")
    assert "Run n3 found a change, which stays found: these reads count as run n3 (attempt 2)." in output
    lines = [json.loads(line) for line in (tmp_path / "base.history.jsonl").read_text().splitlines()]
    assert [line["run"] for line in lines] == ["n3", "n3 (attempt 2)"]
    status, findings, _ = check(written("today.json", reads(1, shift=0.8)), base, "--run", "n3", "--max-drift", "2")
    assert findings["no change in earlier runs"]["outcome"] == FAILED


def test_a_run_of_two_judges_can_be_checked_judge_by_judge(written, tmp_path):
    base = written("base.json", reads(0, judge="a"), reads(1, judge="b"))
    today = written("today.json", reads(2, judge="a"), reads(3, judge="b"))
    for judge in "ab":
        check(today, base, "--run", "n1", "--judge", judge)
    lines = [json.loads(line) for line in (tmp_path / "base.history.jsonl").read_text().splitlines()]
    assert [[card["judge"] for card in line["cards"].values()] for line in lines] == [["a"], ["b"]]
    assert [line["run"] for line in lines] == ["n1", "n1"]


def test_checks_under_one_name_share_the_level(written, tmp_path):
    """The second check of a run has the level of a second check, and its interval is wider than that of a first one."""
    base = written("base.json", reads(0))
    check(written("today.json", reads(1)), base, "--run", "nightly")
    today, widths = written("today.json", reads(2)), []
    for file in ("base.history.jsonl", "new.history.jsonl"):
        found = check(today, base, "--run", "nightly", "--history", tmp_path / file)[1]["no change: mean score"][
            "found"
        ]
        assert "this run and the baseline" in found
        low, high = map(float, re.search(r"\[(\S+), (\S+)\]", found).groups())
        widths.append(high - low)
    assert widths[0] > 1.05 * widths[1]


def test_two_checks_at_once_both_stay_in_the_history(written, tmp_path, monkeypatch):
    """The second check comes while the first has read the history and not written it yet."""
    base = written("base.json", reads(0))
    today, changed = written("today.json", reads(1)), written("changed.json", reads(2, shift=0.8))
    path, begun = tmp_path / "base.history.jsonl", threading.Event()
    compare, threads = gate.check, []

    def run(summary_file, name):
        command._compared(summary.read(summary_file), summary_file, base, path, name, None, False)
        begun.set()

    def interrupted(*words, **named):
        checked = compare(*words, **named)
        if not threads:
            threads.append(threading.Thread(target=run, args=(changed, "second"), daemon=True))
            threads[0].start()
            begun.wait()  # until the second one is done, or waits for the first
        return checked

    sleep = locks.time.sleep
    monkeypatch.setattr(locks.time, "sleep", lambda seconds: (begun.set(), sleep(seconds)))
    monkeypatch.setattr(gate, "check", interrupted)
    run(today, "first")
    threads[0].join()
    assert {json.loads(line)["run"] for line in path.read_text().splitlines()} == {"first", "second"}
    status, findings, _ = check(written("next.json", reads(3)), base)
    assert status == 1
    assert findings["no change in earlier runs"]["found"].startswith("run second found one")


def test_a_run_without_a_history_is_said_to_be_the_first(written, tmp_path):
    base, markdown = written("base.json", reads(0)), tmp_path / "step.md"
    for day, words in enumerate(["No history: ", ""], start=1):
        *_, output = check(written("today.json", reads(day)), base, "--markdown", markdown)
        assert ("this is the first run after the baseline" in output) == bool(words)
        assert ("\nNo history: " in markdown.read_text()) == bool(words)


def test_a_change_that_was_found_stays_found_until_there_is_a_new_baseline(written):
    base = written("base.json", reads(0))
    assert check(written("today.json", reads(1, shift=0.8)), base, "--run", "first")[0] == 1
    status, findings, _ = check(written("today.json", reads(2)), base, "--run", "second")
    assert status == 1
    assert findings["no change in earlier runs"]["found"].startswith("run first found one: mean score")
    base = written("base.json", reads(5))
    with pytest.raises(InputError, match="is another baseline than this one") as error:
        check(written("today.json", reads(4)), base)
    command = error.value.args[0].partition("move the file away: ")[2]
    subprocess.run(shlex.split(command), check=True)
    assert check(written("today.json", reads(4)), base)[0] == 0


def test_a_failure_says_how_to_go_on_and_its_command_begins_anew(written, tmp_path):
    base, markdown = written("base.json", reads(0)), tmp_path / "step.md"
    before = base.read_bytes()
    today = written("to day.json", reads(1, shift=0.8))
    status, _, output = check(today, base, "--markdown", markdown)
    assert status == 1
    assert "a changed text or prompt looks like a changed judge" in output
    assert "a changed text or prompt looks like a changed judge" in markdown.read_text()
    command = shlex.split(re.search(r"new baseline: (rubric-order .*)\. Until then", output)[1])
    assert command[0] == "rubric-order"
    done = CliRunner().invoke(app, command[1:])
    assert done.exit_code == 0, done.output
    assert base.read_bytes() == today.read_bytes()
    kept = sorted(path.name for path in tmp_path.glob("base.*") if path != base)
    assert [re.sub(r"\d{8}T\d{6}Z", "TIME", name) for name in kept] == ["base.TIME.json", "base.history.jsonl.TIME"]
    assert (tmp_path / kept[0]).read_bytes() == before
    assert check(written("today.json", reads(2, shift=0.8)), base)[0] == 0


def test_a_pass_says_nothing_of_next_steps(written):
    assert "To take these reads" not in check(written("today.json", reads(1)), written("base.json", reads(0)))[2]


@pytest.mark.parametrize(
    "words", [["--once"], ["--max-v", "1"], ["--judge", "j"], ["--run", "x"], ["--max-drift", "1"]]
)
def test_a_new_baseline_is_accepted_without_a_comparison(written, words):
    path = str(written("today.json", reads(0)))
    done = CliRunner().invoke(app, ["check", path, "--baseline", path, "--accept", *words])
    assert done.exit_code == 2
    assert "--accept compares nothing" in done.output


def test_a_summary_that_cannot_be_compared_is_no_baseline(written, tmp_path):
    base, today = written("base.json", reads(0)), written("today.json", reads(1))
    cards, before = json.loads(today.read_text()), base.read_bytes()
    del cards[0]["anchors"]
    for text, message in ((json.dumps(cards), "has no anchors"), ("{", "malformed JSON")):
        today.write_text(text)
        with pytest.raises(InputError, match=message) as error:
            CliRunner().invoke(app, ["check", str(today), "--baseline", str(base), "--accept"], catch_exceptions=False)
        assert error.value.status == 2
        assert base.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.json", "today.json"]


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (
            reads(1, groups=29),
            "29 groups, 58 items, 6 orderings, 348 reads, there 30 .*; missing items .2.: i29-0, i29-1$",
        ),
        (reads(1).assign(group="one"), "1 group, .*; items in another group .60.: i0-0, i0-1, i1-0, ..."),
        (reads(1).replace({"item": {"i3-1": "new"}}), "; new items .1.: new; missing items .1.: i3-1"),
        (
            pd.concat([reads(1), reads(1)]),
            "720 reads, .* 360 reads; the items are the same, so that their orderings or",
        ),
        (
            reads(1)[lambda table: table["ordering"].map(tuple) != (1, 2, 3)],
            "strategy 'recorded', there 'balanced'; .* 5 orderings, 300 reads, .* 6 orderings",
        ),
    ],
    ids=["fewer groups", "other groups", "another item", "repeats", "an ordering less"],
)
def test_another_suite_is_refused_in_one_line_and_is_not_kept(written, tmp_path, other, difference):
    base = written("base.json", reads(0))
    with pytest.raises(InputError, match=r"another suite than in .*base\.json, which cannot be compared") as error:
        check(written("today.json", other), base)
    assert re.search(difference, error.value.args[0])
    assert error.value.status == 2
    assert not (tmp_path / "base.history.jsonl").exists()


def test_a_baseline_of_other_levels_is_named(written):
    five = reads(0).assign(ordering=[[*order, 4] for order in reads(0)["ordering"]])
    with pytest.raises(InputError, match=r"another suite than in .* n_levels 3, there 4; 30 groups"):
        check(written("today.json", reads(1)), written("base.json", five))


def test_a_summary_without_names_has_its_suite_told_by_numbers(written):
    base = written("base.json", reads(0))
    cards = json.loads(base.read_text())
    del cards[0]["anchors"]["names"]
    base.write_text(json.dumps(cards))
    assert check(written("today.json", reads(1)), base)[0] == 0
    with pytest.raises(InputError, match=r"29 groups, .* there 30 groups.*names of items are not known"):
        check(written("today.json", reads(1, groups=29)), base)


def test_a_change_names_the_groups_that_moved_most(written):
    before, after = reads(0, noise=0), reads(5, noise=0, shift=0.5, part=0.5)
    moved = after.groupby("group")["score"].mean() - before.groupby("group")["score"].mean()
    base, today = written("base.json", before), written("today.json", after)
    _, findings, output = check(today, base, "--once")
    most = moved.abs().sort_values(ascending=False, kind="stable").index[:3]
    listed = ", ".join(f"{group} ({moved[group]:+.2f})" for group in most)
    expected = f"; most in {listed}; {(moved > 0).sum()} groups up, {(moved < 0).sum()} down of 30"
    assert findings["no change: mean score"]["found"].endswith(expected)
    assert output.count("; most in ") == sum(finding["outcome"] == FAILED for finding in findings.values())


def test_groups_moved_by_the_last_runs_against_those_before():
    values = np.array([[1.0, 2.0, np.nan], [1.0, np.nan, np.nan], [2.0, 4.0, 3.0], [3.0, 4.0, np.nan]])
    runs = [Anchors("s", np.ones(3, dtype=int), {("hard", "score"): row}) for row in values]
    change = drift.drifts(runs[0], runs[1:])[0]._replace(latest=2)
    assert drift.moved(runs[0], runs[1:], change) == pytest.approx([1.5, 2.0, np.nan], nan_ok=True)
    assert drift.moved(runs[0], runs[1:], change._replace(quantity="distance"))[0] == 1.5


def test_the_digest_does_not_depend_on_the_order_of_reads_nor_on_the_judge():
    shuffled = reads(0).sample(frac=1, random_state=3)
    one, other = (ro.bias_card(table)[0].anchors for table in (reads(0), shuffled.assign(judge="k")))
    assert one.suite == other.suite
    assert one.to_dict() == other.to_dict()


def test_values_are_means_of_groups_over_items():
    table = reads(0, groups=20, fail=0.1)
    anchors = ro.bias_card(table)[0].anchors
    item = table.groupby(["group", "item"])["score"].mean().groupby("group").mean()
    assert anchors.values["hard", "score"] == pytest.approx(item.to_numpy(), abs=1e-6)
    failed = table.assign(failed=table["score"].isna()).groupby("group")["failed"].mean()
    assert anchors.values["hard", "failed"] == pytest.approx(failed.to_numpy(), abs=1e-6)
    usual = table[table["ordering"].map(tuple) == (1, 2, 3)].set_index(["group", "item"])["score"]
    order = (usual - table.groupby(["group", "item"])["score"].mean()).groupby("group").mean()
    assert anchors.values["hard", "order"] == pytest.approx(order.to_numpy(), abs=1e-6, nan_ok=True)
    assert anchors.items.tolist() == [2] * 20


def test_probabilities_are_compared_too():
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([1, 1, 1], size=len(reads(0)))
    table = reads(0).assign(**{f"p_{k + 1}": shares[:, k] for k in range(3)})
    anchors = ro.bias_card(table)[0].anchors
    assert {key for key in anchors.values if key[0] == "soft"} == {("soft", q) for q in ("score", "order", "ends")}
    expected = (shares @ [1, 2, 3]).reshape(30, -1).mean(axis=1)
    assert anchors.values["soft", "score"] == pytest.approx(
        pd.Series(expected, index=[f"g{g}" for g in range(30)]).sort_index().to_numpy(), abs=1e-6
    )


def test_a_deterministic_judge_that_is_the_same_passes_and_one_that_changes_on_half_of_the_groups_fails(written):
    base = written("base.json", reads(0, noise=0))
    for day in range(3):
        status, findings, _ = check(written("today.json", reads(day, noise=0)), base, "--new-reads")
        assert status == 0
        assert findings["no change: mean score"]["found"] == f"the same in all {day + 2} runs"
    assert check(written("today.json", reads(9, noise=0)), base, "--max-drift", 0.1)[0] == 0
    assert check(written("today.json", reads(5, noise=0, shift=0.5, part=0.5)), base)[0] == 1


def test_two_versions_of_a_judge_are_compared_once_with_the_whole_level(written, tmp_path):
    base = written("base.json", reads(0, judge="old"))
    new = written("new.json", reads(1, judge="new", shift=0.22))
    status, findings, output = check(new, base, "--once")
    assert status == 1, findings
    assert "new, balanced, 3 levels, baseline old" in output
    assert not (tmp_path / "base.history.jsonl").exists()
    whole = findings["no change: mean score"]["found"]
    daily = check(new, base)[1]["no change: mean score"]["found"]
    of_daily, of_whole = (float(re.search(r"p = ([\d.]+)", found)[1]) for found in (daily, whole))
    assert of_daily > of_whole


def test_a_largest_drift_is_a_limit_of_the_interval(written):
    base, other = written("base.json", reads(0)), written("today.json", reads(1, shift=0.3))
    outcomes = {
        limit: check(other, base, "--once", "--max-drift", limit)[1][f"drift of the mean score within {limit:g} points"]
        for limit in (0.02, 0.3, 1.0)
    }
    assert [found["outcome"] for found in outcomes.values()] == ["failed", "cannot tell", "passed"]


def test_a_largest_drift_that_the_suite_cannot_exclude_is_told_with_those_that_it_can(written):
    base, other = written("base.json", reads(0)), written("today.json", reads(1))

    def found(limit):
        findings = check(other, base, "--once", "--max-drift", limit)[1]
        return findings[f"drift of the mean score within {limit:g} points"]

    told = re.search(
        r"drifts above (\S+) points are excluded, and 30 groups in 2 runs exclude none below (\S+)$",
        found(0.02)["found"],
    )
    enough, least = map(float, told.groups())
    assert 0.02 < least <= enough
    assert found(enough)["outcome"] == PASSED
    assert found(enough - 0.002)["outcome"] == CANNOT_TELL
    between = found((enough + least) / 2)
    assert between["found"].endswith(f"drifts above {enough:.3f} points are excluded")


def test_a_change_of_the_distance_says_nearer_or_farther(written):
    growing = drift.Drift("distance", "hard", 1, 4, 0.047, 0.01, 0.08, 0.2, 30, True)
    assert growing.words.startswith("farther than before, +0.047 [+0.010, +0.080] points, this run and the 3 runs")
    assert growing._replace(estimate=-0.047).words.startswith("nearer than before, -0.047 [")
    assert growing._replace(quantity="score").words.startswith("+0.047 [")


def test_reads_that_are_not_new_find_no_change_and_leave_none_behind(written, tmp_path, monkeypatch):
    monkeypatch.setattr(drift, "reused", lambda *_: True)
    status, findings, _ = check(written("today.json", reads(1, shift=0.8)), written("base.json", reads(0)))
    assert status == 2
    assert findings["no change: mean score"]["outcome"] == findings["reads are new"]["outcome"] == CANNOT_TELL
    assert "these are not new reads" in findings["reads are new"]["found"]
    (line,) = (tmp_path / "base.history.jsonl").read_text().splitlines()
    assert [card["failed"] for card in json.loads(line)["cards"].values()] == [[]]


def test_a_change_that_is_shown_to_be_smaller_than_the_margin_passes():
    small = drift.Drift("score", "hard", 1, 4, 0.006, 0.003, 0.009, 0.001, 900, True, 0.01)
    assert not small.changed
    assert small.words.endswith("p = 0.001, smaller than the margin of 0.01")
    assert small._replace(high=0.011).changed


def test_too_few_groups_cannot_tell(written):
    base = written("base.json", reads(0, groups=4))
    status, findings, _ = check(written("today.json", reads(1, groups=4)), base)
    assert status == 2
    assert findings["no change: mean score"]["found"].endswith("4 groups in so few runs cannot show a change")


def test_several_judges_share_the_level_and_find_their_own_card(written):
    both = [reads(0, judge="a"), reads(1, judge="b")]
    base = written("base.json", *both)
    status, _, output = check(written("today.json", reads(2, judge="b", shift=0.8), reads(3, judge="a")), base)
    assert status == 1
    findings = json.loads(output[: output.rindex("]") + 1])
    assert {finding["card"] for finding in findings if finding["outcome"] == "failed"} == {"b, balanced, 3 levels"}
    with pytest.raises(Exception, match=r"several cards of .* have its suite: a, b; expected one of the same judge"):
        check(written("today.json", reads(2, judge="c")), base)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"line 1.*malformed JSON"),
        ("[]", "line 1: the whole"),
        ('{"format": "x"}', "line 1: format"),
        (
            '{"format": "rubric-order run 1", "run": "", "time": "", "baseline": "b", "cards": {}}',
            "line 1: run: String should have at least 1 character",
        ),
    ],
)
def test_a_history_that_cannot_be_read_is_one_line(written, tmp_path, line, message):
    base = written("base.json", reads(0))
    (tmp_path / "base.history.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=f"{message}.*; restore the file, or take that line out") as error:
        check(written("today.json", reads(1)), base)
    assert error.value.status == 2


def test_a_baseline_of_an_earlier_version_is_named(written, tmp_path):
    base, today = written("base.json", reads(0)), written("today.json", reads(1))
    cards = json.loads(base.read_text())
    del cards[0]["anchors"]
    base.write_text(json.dumps(cards))
    with pytest.raises(Exception, match=r"base\.json: card 'j, balanced, 3 levels' has no anchors"):
        check(today, base)
    cards = json.loads(today.read_text())
    cards[0]["anchors"]["values"]["hard"]["score"].pop()
    today.write_text(json.dumps(cards))
    with pytest.raises(Exception, match=r"hard: score: 29 values; expected one for each of 30 groups"):
        check(today, written("base.json", reads(0)))


@pytest.mark.parametrize(
    "words", [["--max-drift", "1"], ["--run", "x"], ["--once"], ["--history", "h.jsonl"], ["--new-reads"], ["--accept"]]
)
def test_options_of_a_baseline_need_one(written, words):
    path = str(written("today.json", reads(0)))
    done = CliRunner().invoke(app, ["check", path, "--max-v", "1", *words])
    assert done.exit_code == 2
    assert f"{words[0]} needs --baseline" in done.output


def test_pipelines_read_markdown_and_junit(written, tmp_path):
    base, today = written("base.json", reads(0)), written("today.json", reads(1, shift=0.8))
    markdown, junit = tmp_path / "step.md", tmp_path / "junit.xml"
    check(today, base, "--min-groups", 99, "--markdown", markdown, "--junit", junit)
    text = markdown.read_text()
    assert text.startswith("## ❌ Judge gate: failed\n\nFailed: at least one limit is broken (")
    assert text.index("❌ failed |") < text.index("⚠️ cannot tell |") < text.index("✅ passed |")
    suites = ET.parse(junit).getroot()  # noqa: S314 - written above
    cases = suites.findall("testsuite/testcase")
    assert int(suites.get("tests")) == len(cases) == text.count("| j, balanced")
    assert int(suites.get("failures")) == len(suites.findall(".//failure")) > 0
    assert int(suites.get("errors")) == len(suites.findall(".//error")) == 1
    named = {case.get("name"): case for case in cases}
    assert "p < 0.001" in named["no change: mean score"].find("failure").get("message")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: (folder / "today.json").write_text("{"), "today.json: line 1, column 2: malformed JSON"),
        (lambda folder: (folder / "base.json").unlink(), "base.json: no such file"),
        (lambda folder: (folder / "base.history.jsonl").write_text("[]\n"), "base.history.jsonl: line 1: the whole"),
        (lambda folder: (folder / "base.history.jsonl").mkdir(), "base.history.jsonl: cannot be read"),
    ],
)
def test_a_refusal_replaces_the_reports_of_an_earlier_check(written, tmp_path, change, reason):
    base, today = written("base.json", reads(0)), written("today.json", reads(1))
    reports = tmp_path / "step.md", tmp_path / "gate.xml"
    for report in reports:
        report.write_text("passed")
    change(tmp_path)
    with pytest.raises(InputError, match=re.escape(reason)) as error:
        check(today, base, "--markdown", reports[0], "--junit", reports[1])
    assert error.value.status == 2
    text = reports[0].read_text()
    assert text.startswith("## ⚠️ Judge gate: cannot tell\n\nNothing was compared: ")
    assert reason.partition(":")[0] in text
    suites = ET.parse(reports[1]).getroot()  # noqa: S314 - written above
    assert (suites.get("tests"), suites.get("errors"), suites.get("failures")) == ("1", "1", "0")
    assert reason in suites.find("testsuite/testcase/error").get("message")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_report_that_cannot_be_written_is_no_change_of_the_judge(written, tmp_path):
    base, today = written("base.json", reads(0)), written("today.json", reads(1))
    with pytest.raises(InputError, match="Is a directory") as error:
        check(today, base, "--markdown", tmp_path)
    assert error.value.status == 2


def test_names_of_judges_are_no_markup():
    evil = Finding("<img src=x>|[a](http://b) @all `#1`\x1b[31m\n", "]]>&\"'", FAILED, "www.b.org \x00\ufffe")
    text = outcome.markdown([evil], FAILED)
    assert len([line for line in text.splitlines() if "img" in line]) == 1
    (row,) = (line for line in text.splitlines() if "img" in line)
    assert row.count("|") == 5
    for markup in ("<img", "[a]", "://", "@all", "`", "www.", "\x1b"):
        assert markup not in row
    case = ET.fromstring(outcome.junit([evil])).find("testsuite/testcase")  # noqa: S314 - ours
    assert case.get("name") == "]]>&\"'"


def test_a_headline_counts_outcomes():
    findings = [Finding("c", "l", word, "") for word in (PASSED, PASSED, CANNOT_TELL)]
    assert outcome.headline(findings, CANNOT_TELL) == (
        "Cannot tell: no limit is broken, and at least one is undecided (1 cannot tell, 2 passed)."
    )


def test_a_history_lies_beside_its_baseline(tmp_path):
    assert history.beside(tmp_path / "base.json") == tmp_path / "base.history.jsonl"
    assert history.beside(tmp_path / "base") == tmp_path / "base.history.jsonl"
