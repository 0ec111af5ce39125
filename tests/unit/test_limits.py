"""The gate: every outcome of every limit, of summaries made by hand."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.cards import summary
from rubric_order.commands.app import app
from rubric_order.extras.gate import limits

CARD = {
    "judge": "j",
    "verdict": "biased",
    "reasons": [],
    "v": 0.1,
    "v_low": 0.05,
    "v_high": 0.15,
    "preference": [0.3, -0.3],
    "usual_minus_balanced": -0.2,
    "usual_minus_balanced_low": -0.3,
    "usual_minus_balanced_high": -0.1,
    "n_groups": 40,
    "n_reads": 90,
    "n_failed": 10,
    "saturated": False,
    "agreement": {"mean": 0.6, "mean_low": 0.5, "mean_high": 0.7},
    "readouts": {
        "hard": {
            "preference": [
                {"log_odds": 0.3, "log_odds_low": 0.2, "log_odds_high": 0.4},
                {"log_odds": -0.3, "log_odds_low": -0.4, "log_odds_high": -0.2},
            ]
        }
    },
}


def written(folder, *cards, **others):
    path = folder / "summary.json"
    path.write_text(json.dumps({"format": summary.FORMAT, "version": 1, "cards": list(cards)} | others))
    return path


@pytest.mark.parametrize(
    ("options", "change", "status"),
    [
        (["--max-v", 0.15], {}, 0),
        (["--max-v", 0.1], {}, 2),
        (["--max-v", 0.05], {}, 2),  # the interval touches the limit
        (["--max-v", 0.04], {}, 1),
        (["--max-v", 0.15], {"v_low": None, "v_high": None}, 2),
        (["--max-v", 0.15], {"v": 0.0, "v_low": 0.0, "v_high": 0.0, "saturated": True}, 2),
        (["--max-v", 0.04], {"saturated": True}, 1),  # what is found is found
        (["--max-points", 0.3], {}, 0),
        (["--max-points", 0.2], {}, 2),
        (["--max-points", 0.09], {}, 1),
        (["--max-points", 0.3], {"usual_minus_balanced": None, "usual_minus_balanced_low": None}, 2),
        (["--max-log-odds", 0.4], {}, 0),
        (["--max-log-odds", 0.3], {}, 2),
        (["--max-log-odds", 0.1], {}, 1),
        (["--max-log-odds", 0.4], {"readouts": {}}, 2),
        (["--max-failed", 0.1], {}, 0),
        (["--max-failed", 0.05], {}, 1),
        (["--max-failed", 0.05], {"n_reads": 0, "n_failed": 0}, 2),
        (["--min-agreement", 0.5], {}, 0),
        (["--min-agreement", 0.6], {}, 2),
        (["--min-agreement", 0.7], {}, 2),  # the interval touches the limit
        (["--min-agreement", 0.71], {}, 1),
        (["--min-agreement", 0.5], {"saturated": True}, 0),  # how it agrees can be told all the same
        (["--min-agreement", 0.5], {"agreement": {"mean": 0.6, "mean_low": None, "mean_high": None}}, 2),
        (["--min-agreement", 0.5], {"agreement": None}, 2),
        (["--min-agreement", -0.1], {"agreement": {"mean": -0.3, "mean_low": -0.5, "mean_high": -0.2}}, 1),
        (["--min-agreement", 0.5, "--min-groups", 41], {}, 2),
        (["--min-agreement", 0.5, "--max-v", 0.04], {}, 1),
        (["--min-groups", 40], {}, 0),
        (["--min-groups", 41], {}, 2),
        (["--max-v", 0.04, "--min-groups", 41], {}, 2),
        (["--max-v", 0.15, "--max-points", 0.09], {}, 1),
        (["--max-v", 0.1, "--max-points", 0.3], {}, 2),
    ],
)
def test_the_status_is_that_of_the_interval(tmp_path, options, change, status):
    path = written(tmp_path, CARD | change)
    done = CliRunner().invoke(app, ["check", str(path), *map(str, options)])
    assert done.exit_code == status, done.output
    assert {0: "passed", 1: "failed", 2: "cannot tell"}[status] in done.output.splitlines()[-1]


def test_one_judge_that_fails_is_enough_and_a_judge_can_be_chosen(tmp_path):
    path = str(written(tmp_path, CARD, CARD | {"judge": "k", "v_high": 0.05, "v_low": 0.01}))
    done = CliRunner().invoke(app, ["check", path, "--max-v", "0.05", "--json"])
    assert done.exit_code == 2
    assert [each["outcome"] for each in json.loads(done.stdout)] == ["cannot tell", "passed"]
    assert CliRunner().invoke(app, ["check", path, "--max-v", "0.05", "--judge", "k"]).exit_code == 0


def test_no_card_is_no_pass():
    assert limits.status([]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "malformed JSON"),
        ("{}", "expected a summary.json"),
        ('{"format": "rubric-order summary", "version": 2, "cards": []}', "field 'version': expected 1, found 2"),
        ('{"format": "rubric-order summary", "version": 1, "cards": [{}]}', "cards/0"),
        ('{"format": "rubric-order summary", "version": 1, "cards": []}', "no card"),
        ("[]", "no card"),
        ('[{"item": "a", "score": 3}]', "found a list of other objects; reads become a summary by: rubric-order audit"),
        ("", "the file is empty: see what the command said that should have written it"),
    ],
)
def test_a_summary_that_cannot_be_read_is_one_line_and_no_pass(tmp_path, text, message):
    path = tmp_path / "summary.json"
    path.write_text(text)
    program = [sys.executable, "-m", "rubric_order.commands.app", "check", path, "--max-v", "0.1"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["day 1.csv", "reads.jsonl.gz"])
def test_reads_in_place_of_a_summary_are_told_how_they_become_one(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"item,score\na,\xff\n")
    with pytest.raises(
        InputError, match=r"; reads become a summary by: rubric-order audit '?.*'? --json > summary.json"
    ):
        summary.read(path)
    with pytest.raises(InputError, match=r"no such file$"):
        summary.read(tmp_path / "nowhere.csv")


def test_a_limit_must_be_named(tmp_path):
    assert CliRunner().invoke(app, ["check", str(written(tmp_path, CARD))]).exit_code == 2
