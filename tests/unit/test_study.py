"""`rubric_order.study`: a function asked without Snakemake."""

import asyncio
import functools
import importlib
import os
import sys

import numpy as np
import pandas as pd
import pytest

import rubric_order as ro
from rubric_order.jobs.collect_requests import collect_requests
from rubric_order.jobs.plan_reads import plan_reads
from rubric_order.jobs.prepare_items import prepare_items
from rubric_order.judging.engines.python import functions
from rubric_order.judging.store import Store
from rubric_order.settings import judges

LEVELS = ["Rude.", "Cold.", "Correct.", "Friendly.", "Warm."]
RUBRIC = {"question": "Is it polite?", "levels": LEVELS}
ITEMS = [
    {"item": "a", "text": "Dear you.", "group": "letter", "instruction": "Write a letter.", "human_score": 2},
    {"item": "b", "text": "Dear Ms Okafor.", "group": "letter", "instruction": "Write a letter.", "human_score": 4},
    {"item": "c", "text": "Sorry.", "group": "note", "instruction": "Apologise.", "human_score": 3},
]
MODULE = """
import re

asked = []


def judge(prompt):
    asked.append(prompt)
    first = int(re.findall(r"^Score ([1-5]):", prompt, re.MULTILINE)[0])
    shares = {k: 0.6 if k == first else 0.1 for k in range(1, 6)}
    return {"text": f"So be it. [RESULT] {first}", "probabilities": shares}
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module with a function that chooses what stands first, and lists what it was asked."""
    (tmp_path / "first_judge.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("first_judge")
    del sys.modules["first_judge"]


def study(judge, folder, items=ITEMS, **others):
    return ro.study(judge, items, **{"rubric": RUBRIC, "folder": folder / "store"} | others)


def test_requests_and_names_are_those_of_the_workflow(module, tmp_path, root):
    """Its entry scripts, over the same items as a table of adapter `custom`."""
    table = pd.DataFrame(ITEMS).rename(columns={"item": "item_id", "text": "response", "group": "group_id"})
    levels = {f"level_{k}": text for k, text in enumerate(LEVELS, start=1)}
    table.assign(question=RUBRIC["question"], **levels).to_csv(tmp_path / "items.csv", index=False)
    paths = {name: tmp_path / f"items.{name}.parquet" for name in ("items", "rubrics", "pairs")}
    settings = {"adapter": "custom", "limit": None, "options": {}}
    prepare_items("items", {"items": tmp_path / "items.csv"}, settings, **paths)
    read = judges.read({"engine": "python", "function": "first_judge:judge", "folder": str(tmp_path)})
    judge = functions.resolved(read, functions.find(read))
    design = {"scales": [5], "strategies": ["random"], "budget": 6, "seed": 3}
    shared = {"template": root / "resources/templates/feedback.jinja", "judge": judge, "probe": "score_order"}
    plan, requests = tmp_path / "plan.parquet", tmp_path / "requests.parquet"
    names = {"study": "study", "judge_id": "mine", "profiles": ["default"]}
    plan_reads(**paths, **shared, **names, references=None, weights=None, design=design, output=plan)
    lists = {name: [path] for name, path in paths.items()}
    # A dataset's files are called by its id.
    lists["items"] = [paths["items"].rename(tmp_path / "items.parquet")]
    others = {"plans": [plan], "references": [], "earlier": [], "comparisons": {}, "output": requests}
    collect_requests(**lists, **shared, **others)

    reads = study(module.judge, tmp_path, strategy="random", budget=6, seed=3, name="mine")
    planned, asked = pd.read_parquet(plan), pd.read_parquet(requests)
    assert reads["request_id"].tolist() == planned["request_id"].tolist()
    assert reads["item"].tolist() == planned["item_id"].tolist()
    assert reads["ordering"].tolist() == [list(row) for row in planned["ordering"]]
    assert sorted(module.asked) == sorted(asked["prompt"])
    assert set(Store(tmp_path / "store").read()["request_id"]) == set(asked["request_id"])


def test_reads_are_what_audit_takes_and_a_card_follows(module, tmp_path):
    reads = study(module.judge, tmp_path)
    assert len(reads) == 30
    assert reads["score"].tolist() == [ordering[0] for ordering in reads["ordering"]]
    shares = reads[[f"p_{k}" for k in range(1, 6)]].to_numpy()
    assert (np.argmax(shares, axis=1) + 1 == reads["score"]).all()
    assert reads["answer"].str.startswith("So be it.").all()
    assert reads["failure"].isna().all()
    (card,) = ro.bias_card(reads)
    assert (card.judge, card.evidence.n_reads, card.evidence.n_groups) == ("judge", 30, 2)
    selection = ro.position_bias(reads).table
    assert len(selection)


def test_a_field_that_names_the_one_rubric_is_no_mistake(module, tmp_path):
    assert len(study(module.judge, tmp_path, [{**ITEMS[0], "criterion": "tone"}])) == 10


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ instruction.index('Apol') }}", "substring not found"),
        ("{{ instruction.split('A')[1] }}", "list object has no element 1"),
    ],
)
def test_a_template_that_cannot_show_a_text_is_one_line_that_names_the_text(module, tmp_path, template, message):
    path = tmp_path / "mine.jinja"
    path.write_text(template + "{{ response }}{% for option in options %}{{ option }}{% endfor %}")
    with pytest.raises(ro.InputError, match=r"^study study: unit 'a") as error:
        study(module.judge, tmp_path, template=path)
    assert message in str(error.value)


def test_it_asks_what_is_missing_alone(module, tmp_path):
    study(module.judge, tmp_path, ITEMS[:2])
    assert len(module.asked) == 20
    reads = study(module.judge, tmp_path, pd.DataFrame(ITEMS))
    assert (len(reads), len(module.asked)) == (30, 30)
    study("first_judge:judge", tmp_path)
    assert len(module.asked) == 30


def test_a_function_that_changes_the_working_directory_changes_no_folder(module, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()

    def judge(prompt):
        os.chdir(tmp_path / "elsewhere")
        return module.judge(prompt)

    def asked():
        monkeypatch.chdir(tmp_path)
        return ro.study(judge, ITEMS, rubric=RUBRIC, folder="store", version="1")

    asked()
    assert not any((tmp_path / "elsewhere").iterdir())
    assert not [*tmp_path.glob("store/.*.lock")]  # the next call would wait for its own process
    assert len(Store(tmp_path / "store").read()) == 30
    asked()
    assert len(module.asked) == 30


def test_what_fails_is_kept_and_is_no_score(tmp_path):
    calls = []

    def judge(prompt):
        calls.append(prompt)
        if "Sorry." in prompt and sum("Sorry." in call for call in calls) % 2:
            return None
        return 9 if "Ms Okafor" in prompt else 4

    reads = study(judge, tmp_path, version="1")
    assert reads.groupby("item")["score"].count().to_dict() == {"a": 10, "b": 0, "c": 5}
    assert reads["failure"][reads["item"] == "c"].dropna().tolist() == ["wrong_answer"] * 5
    of_b = reads[reads["item"] == "b"]
    assert set(of_b["answer"]) == {"9"}
    assert of_b["failure"].notna().all()
    study(judge, tmp_path, version="1")
    assert len(calls) == 30
    study(judge, tmp_path, version="1", retry_failed=True)
    assert len(calls) == 35


def test_a_card_of_a_study_says_why_reads_failed(tmp_path):
    calls = []

    def judge(prompt):
        calls.append(prompt)
        if "Sorry." in prompt and sum("Sorry." in call for call in calls) % 2:
            raise ValueError("no text")
        return "I cannot say." if "Ms Okafor" in prompt else 4

    reads = study(judge, tmp_path, version="1", concurrency=1)
    assert reads["error"].dropna().str.endswith("judge raised ValueError: no text").tolist() == [True] * 5
    assert reads["error"].notna().equals(reads["failure"] == "raised")
    (card,) = ro.bias_card(reads)
    assert card.to_dict()["failures"] == {"no_score": 10, "raised": 5}
    assert "15 with a score, 15 without (no_score 10, raised 5)" in repr(card)
    assert not [note for note in card.notes if "give no score" in note]  # of answers that a card has read itself


def test_an_async_function_is_asked_also_where_an_event_loop_runs(tmp_path):
    async def judge(messages):
        await asyncio.sleep(0)
        assert [message["role"] for message in messages] == ["system", "user"]
        return 3

    async def notebook():
        return study(judge, tmp_path, version="1", system_prompt="Be brief.")

    assert asyncio.run(notebook())["score"].eq(3).all()


class Caller:
    def __call__(self, prompt):
        return 4


def make(score):
    def judge(prompt):
        return score

    return judge


@pytest.mark.parametrize("judge", [make(4), lambda prompt: 4, Caller(), functools.partial(max, default=4)])
def test_what_is_more_than_the_source_of_its_module_needs_a_version(tmp_path, judge):
    with pytest.raises(ro.InputError, match=r"^version: .* is not known by the source of its module"):
        study(judge, tmp_path)
    if not isinstance(judge, functools.partial):
        assert study(judge, tmp_path, version="1")["score"].eq(4).all()
        before = len(Store(tmp_path / "store").read())
        study(judge, tmp_path, version="2")
        assert len(Store(tmp_path / "store").read()) == 2 * before


def test_a_file_that_has_changed_since_it_was_imported_is_not_taken_for_the_function(module, tmp_path):
    study(module.judge, tmp_path, ITEMS[:1])
    (tmp_path / "first_judge.py").write_text(MODULE.replace("So be it", "It is"))
    with pytest.raises(ro.InputError, match=r"^version: 'first_judge:judge': its code is not what the file"):
        study(module.judge, tmp_path)
    assert len(module.asked) == 10
    again = importlib.reload(module)
    assert study(again.judge, tmp_path)["answer"].str.startswith("It is").all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"items": []}, "items: no rows"),
        ({"items": [3]}, "items: row 1: expected a mapping, found 3"),
        ({"items": [{"item": "a"}]}, "items: row 1: field 'text' is missing; found item"),
        (
            {"items": [{"item": "a", "text": "b"}]},
            "items: row 1: field 'instruction' is missing; expected it, or instruc",
        ),
        ({"items": [{**ITEMS[0], "grup": 1}]}, "items: row 1: field 'grup' is not known; expected item, text, group, "),
        ({"items": [{**ITEMS[0], "human_score": "x"}]}, "items: row 1: field 'human_scores': expected numbers, found"),
        ({"items": [ITEMS[0], ITEMS[0]]}, "items: row 2: item id 'a' is already used by items: row 1"),
        ({"rubric": {"levels": LEVELS}}, "rubric: expected question and levels, found levels"),
        ({"rubric": {"question": "?", "levels": ["one"]}}, "rubric: levels: expected a mapping of at least 2 levels"),
        ({"rubric": LEVELS}, "rubric: expected a mapping with question and levels, or a file, found ['Rude.', 'Cold.'"),
        (
            {"items": [{**ITEMS[0], "rubric_id": "tone"}, {**ITEMS[1], "rubric_id": "style"}]},
            "items: field 'rubric_id': expected one rubric for all items, found style, tone; call study once for each",
        ),
        ({"rubric": "no_such.yaml"}, "no_such.yaml: no such file"),
        ({"strategy": "balancd"}, "strategy: expected one of balanced, "),
        ({"template": "no_such"}, "template: expected "),
        ({"concurency": 4}, "concurency: Extra inputs are not permitted, found 4; did you mean 'concurrency'?"),
        ({"concurrency": 0}, "concurrency: Input should be greater than or equal to 1, found 0"),
        ({"answer_format": "scores"}, "answer_format: Input should be 'feedback' or 'score', found 'scores'"),
        ({"system_prompt": "Be brief."}, "system_prompt: the function takes a prompt; expected takes: messages"),
        ({"judge": "no_module:judge"}, "function: 'no_module:judge': no module 'no_module', neither among"),
        ({"judge": "first_judge"}, "function: expected module:name, such as my_judges:judge, found 'first_judge'"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_asked(module, tmp_path, changes, message):
    given = {"judge": module.judge, "items": ITEMS, "folder": tmp_path, **changes}
    with pytest.raises(ro.InputError) as error:
        study(given.pop("judge"), given.pop("folder"), given.pop("items"), **given)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    assert module.asked == []


def test_ten_failures_in_a_row_end_it_with_one_line(tmp_path):
    def judge(prompt):
        raise KeyError("score")

    with pytest.raises(
        ro.InputError, match=r"10 requests in a row failed, the last as raised: .*judge raised KeyError"
    ):
        study(judge, tmp_path, version="1")
