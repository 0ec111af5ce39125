"""`rubric-order doctor`: what a file supports, and what cannot run and why."""

import json
import sys

import pandas as pd
import pytest

from rubric_order.base.errors import InputError
from rubric_order.commands import app
from rubric_order.library import audits, doctor
from rubric_order.prompts import orderings

FULL = [
    "Which positions are selected",
    "What a position adds, in log-odds",
    "Shift of the mean score by the usual ordering",
]


def reads(shown, items=40, **columns):
    rows = [
        {
            "item": f"i{item}",
            "ordering": " ".join(map(str, order)),
            "score": order[0] if item % 4 == 0 else 1 + item % 3,
        }
        for item in range(items)
        for order in shown
    ]
    return pd.DataFrame(rows).assign(**columns)


def diagnosed(folder, table, **options):
    path = folder / "reads.csv"
    table.to_csv(path, index=False)
    (diagnosis,) = doctor.diagnose(path, **options)
    return diagnosis, {check.name: check for check in diagnosis.checks}


def test_a_full_design_supports_the_card(tmp_path):
    diagnosis, checks = diagnosed(tmp_path, reads(orderings.balanced(3)))
    assert all(checks[name].runs for name in [*FULL, "Verdict"])
    assert not checks["Effect on single items, apart from chance"].runs
    assert "each ordering was read once" in checks["Effect on single items, apart from chance"].why
    assert checks["Option probabilities"].why == "no columns p_1 to p_n"
    assert not checks["Items that belong together"].runs
    assert dict(diagnosis.facts)["Items"] == "40 in 40 groups"


def test_one_ordering_supports_nothing_of_the_order(tmp_path):
    _, checks = diagnosed(tmp_path, reads([(1, 2, 3)]))
    assert not any(checks[name].runs for name in FULL)
    assert checks[FULL[0]].why == "all reads are in one ordering: position and score are one thing"


def test_two_orderings_do_not_cross_three_scores(tmp_path):
    _, checks = diagnosed(tmp_path, reads([(1, 2, 3), (3, 2, 1)]))
    assert [checks[name].runs for name in FULL] == [False, False, True]
    assert all("some score stands seldom or never in some position" in checks[name].why for name in FULL[:2])


def test_columns_and_repeats_add_checks(tmp_path):
    table = pd.concat([reads(orderings.balanced(3), human_score=2, p_1=0.5, p_2=0.3, p_3=0.2)] * 2)
    table["group"] = table["item"].str[1:].astype(int) // 2
    _, checks = diagnosed(tmp_path, table)
    assert not [check for check in checks.values() if not check.runs and check.name != "Verdict"]
    assert checks["Verdict"].why == "20 groups; with fewer than 30 a card cannot tell"


def test_what_the_doctor_denies_is_not_on_the_card(tmp_path):
    for shown in (orderings.balanced(3), [(1, 2, 3)], [(1, 2, 3), (3, 2, 1)]):
        _, checks = diagnosed(tmp_path, reads(shown))
        (card,) = audits.audit(tmp_path / "reads.csv").cards
        assert checks[FULL[0]].runs == (card.to_dict()["v"] is not None)
        assert checks[FULL[2]].runs == (card.to_dict()["usual_minus_balanced"] is not None)


def test_pairs(tmp_path):
    table = pd.DataFrame({"item": ["a", "a", "b"], "ordering": ["x,y", "y,x", "x,y"], "choice": ["A", "tie", "B"]})
    diagnosis, checks = diagnosed(tmp_path, table)
    assert dict(diagnosis.facts)["Reads"] == "3 with a choice (1 ties), 0 without"
    assert checks["Change of the winner with the order"].runs
    assert checks["Order apart from chance"].why == "no order was read twice"
    _, checks = diagnosed(tmp_path, table.iloc[[0, 2]].assign(gold="x"))
    assert "each comparison is read in one order" in checks["Change of the winner with the order"].why
    assert checks["Agreement with people"].runs


LOGS = {
    "recorded answers": {"item_id": "a", "response": "4"},
    "results of the OpenAI batch API": {"custom_id": "a", "response": {"body": {}}},
    "FastChat's judgments of single answers": {"question_id": 1, "model": "m", "score": 7, "judgment": "[[7]]"},
}


@pytest.mark.parametrize("form", LOGS)
def test_a_log_without_orderings_is_named(tmp_path, form):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(LOGS[form]))
    (diagnosis,) = doctor.diagnose(path)
    assert diagnosis.form == form
    assert not any(check.runs for check in diagnosis.checks)
    with pytest.raises(InputError, match=f"{form}: no ordering is recorded"):
        audits.audit(path)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("log.eval", "PK", "a log of Inspect: no ordering is recorded"),
        ("results.json", '{\n "results": {}\n}', "results of promptfoo: no ordering is recorded"),
    ],
)
def test_other_logs_are_errors_that_point_to_the_page(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        doctor.diagnose(tmp_path / name)
    assert message in str(error.value)
    assert "docs/audit.md" in str(error.value)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command(tmp_path, monkeypatch, capsys, options):
    path = tmp_path / "log.csv"
    reads(orderings.balanced(3)).rename(columns={"item": "id"}).to_csv(path, index=False)
    monkeypatch.setattr(sys, "argv", ["rubric-order", "doctor", str(path), "--columns", "item=id", *options])
    monkeypatch.setattr(app.signals, "end_once", lambda: None)
    with pytest.raises(SystemExit) as end:
        app.main()
    out = capsys.readouterr().out
    assert end.value.code == 0
    assert "Which positions are selected" in out
    if options:
        assert json.loads(out)[0]["checks"][0] == {"name": FULL[0], "runs": True, "why": "6 orderings"}
