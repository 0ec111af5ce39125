"""Single reads: which items are shown, and that prompts, answers and scores stand there as they are."""

import html.parser
import json

import numpy as np
import pandas as pd
import pytest
from factories import comparison_table, criteria_table, score_table

from rubric_order.contracts.responses import RESPONSES
from rubric_order.jobs.choose_reads import CALL, choose_reads
from rubric_order.jobs.render_reads import render_reads
from rubric_order.pages import page, reads

ORDERS = [[1, 2, 3], [3, 2, 1]]
EVIL = "</script><script>alert(1)</script>\u2028<b>{{ 7*7 }}"
ABOUT = {"study": "s", "dataset": "d", "judge": "j"}
CAPS = reads.Caps(moved=2, failed=1, drawn=1, reads=4, characters=1000, seed=0)


def numbered(table, pattern="own_line"):
    names = [f"r{place}" for place in range(len(table))]
    return table.assign(request_id=names, pattern=np.where(table["failure"].isna(), pattern, None))


def levels(selected, **options):
    return numbered(score_table(selected, n=3, shown=ORDERS, **options))


def responses(table, text=lambda name: f"answer of {name}", **columns):
    found = pd.DataFrame({"request_id": table["request_id"].unique(), "error": None, "finish_reason": "stop"})
    return found.assign(text=[text(name) for name in found["request_id"]], option_logprobs=None, **columns)


def write_responses(table, folder, **options):
    """A file of responses as a job writes it, with all columns."""
    folder.mkdir()
    found = responses(table, **options)
    lacking = [name for name in RESPONSES.names if name not in found]
    found.assign(**dict.fromkeys(lacking)).to_parquet(folder / "1.parquet")


def prompts(table):
    pieces = zip(table["request_id"], table["unit_id"], table["ordering"], strict=True)
    texts = {name: f"Judge {unit}.\n{' '.join(map(str, shown))}\nEnd of {unit}." for name, unit, shown in pieces}
    return pd.DataFrame({"request_id": [*texts], "prompt": [*texts.values()]})


def content(table, caps=CAPS, raters=None, **options):
    choice = reads.choose(table, caps, ABOUT)
    given = {"prompts": prompts(table), "responses": responses(table)} | options
    return reads.content(choice, raters=raters or {}, caps=caps, about=ABOUT, **given)


def test_an_item_is_moved_by_the_greatest_difference_between_the_means_of_two_orders():
    # Means of the orders: 1.5 and 3; 2 and 2; one order alone has scores; none has.
    table = levels([[1, 3, 2, 3], [2, 2, 2, None], [1, None, 2, None], [None] * 4])
    found = reads.measured(table)
    assert found["moved"].tolist() == pytest.approx([1.5, 0, np.nan, np.nan], nan_ok=True)
    assert found["n_failed"].tolist() == [0, 1, 2, 4]
    assert found["n_orders"].tolist() == [2] * 4
    assert found["mean"].tolist() == pytest.approx([2.25, 2, 1.5, np.nan], nan_ok=True)


def test_expected_scores_move_where_no_score_does():
    table = levels([[2, 2]], expected=[[1.75, 2.25]])
    (found,) = reads.measured(table).to_dict("records")
    assert (found["moved"], found["moved_soft"]) == (0, 0.5)


def test_verdicts_are_moved_by_the_share_that_is_not_the_commonest():
    # Of the first pair both orders choose one candidate, of the second the first place: two verdicts.
    table = numbered(comparison_table([[1, 2], [1, 1], [1, None]]))
    assert reads.measured(table)["moved"].tolist() == pytest.approx([0, 0.5, np.nan], nan_ok=True)


def test_items_are_chosen_by_movement_then_failures_then_at_random_up_to_the_caps():
    rows = [[1, 1], [1, 2], [1, 3], [2, 3], [None, 2], [None, None], [2, 2], [3, 3]]
    shown = reads.choose(levels(rows), CAPS, ABOUT).shown
    why = dict(zip(shown["unit_id"], shown["why"], strict=True))
    assert [why.pop(name) for name in ("i0002", "i0001", "i0005")] == ["moved most"] * 2 + ["no score most often"]
    assert why.popitem()[0] in ("i0000", "i0003", "i0004", "i0006", "i0007")
    assert shown["why"].value_counts().to_dict() == {"moved most": 2, "no score most often": 1, "drawn at random": 1}
    assert not len(reads.choose(levels(rows), CAPS._replace(moved=0, failed=0, drawn=0), ABOUT).shown)


def test_what_is_shown_is_what_was_asked_and_answered():
    table = levels([[1, 3], [None, 2]], human=[2.0, 3.0], probabilities=[[[0.5, 0.25, 0.25]] * 2] * 2)
    found = json.loads(json.dumps(content(table, raters={"i0000": [1.0, 3.0]}), allow_nan=False))
    texts = prompts(table).set_index("request_id")["prompt"]
    for item in found["items"]:
        for read in item["reads"]:
            frame, middle = read["prompt"]
            first, last = found["frames"][frame]
            assert first + middle + last == texts[read["request"]]
            assert read["text"] == f"answer of {read['request']}"
    moved, failed = found["items"]
    assert [read["score"] for read in moved["reads"]] == [1, 3]
    assert [read["probabilities"] for read in moved["reads"]] == [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]
    assert (moved["raters"], moved["human"], moved["moved"]) == ([1, 3], 2, 2)
    assert (failed["reads"][0]["failure"], failed["reads"][0]["pattern"], failed["n_failed"]) == ("no_score", None, 1)
    assert found["blocks"][0]["n_reads"] == 4


def test_long_texts_and_many_reads_are_cut_and_it_is_said():
    table = levels([[1, 3, 1, 3]])
    found = content(table, CAPS._replace(reads=3, characters=12))
    (item,) = found["items"]
    assert (len(item["reads"]), item["n_reads"]) == (3, 4)
    assert (item["reads"][0]["text"], item["reads"][0]["cut"]) == ("answer of r0", False)
    assert item["reads"][0]["prompt_cut"]
    assert "".join(found["frames"][0]) == "Judge i0000."
    assert content(table, CAPS._replace(characters=11))["items"][0]["reads"][0]["cut"]


def test_recorded_answers_have_no_prompt():
    table = levels([[1, 3]])
    empty = pd.DataFrame(columns=["request_id", "prompt"])
    assert content(table, prompts=empty)["items"][0]["reads"][0]["prompt"] is None


def test_a_criterion_has_the_probabilities_of_its_own_question():
    # Two texts of two criteria; the answer gives the probabilities of the criterion that is asked first, first.
    table = numbered(criteria_table([[[1, 2], [3, 1]]], [[1, 2], [2, 1]], n=3)).assign(candidate="c")
    table["request_id"] = [f"q{read}" for read in table["read_index"]]
    shares = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]  # of the first and the second question
    logprobs = [np.log(np.concatenate(shares))] * 2
    answers = responses(table).assign(option_logprobs=logprobs)
    found = content(table, responses=answers)
    assert found["kind"] == "criteria"
    by_name = {item["question"]: item for item in found["items"]}
    one, other = by_name[item_names(found)[0]], by_name[item_names(found)[1]]
    assert [read["probabilities"] for read in one["reads"]] == [shares[0], shares[1]]
    assert [read["probabilities"] for read in other["reads"]] == [shares[1], shares[0]]


def item_names(found):
    return found["items"][0]["options"]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]


def test_a_prompt_that_two_items_share_is_shown_with_both(tmp_path):
    table = levels([[1, 3], [2, 3]])
    table["request_id"] = table["request_id"].map({"r0": "r0", "r1": "r1", "r2": "r0", "r3": "r1"})
    write_responses(table, tmp_path / "responses")
    first = table.drop_duplicates("request_id")
    prompts(first).assign(unit_id=first["unit_id"]).to_parquet(tmp_path / "requests.parquet")
    out = tmp_path / "d.js"
    given = (tmp_path / "scores.parquet", [tmp_path / "requests.parquet"], [], tmp_path / "responses", 1)
    # The second item alone is shown, whose prompts stand under the first one.
    table[table["unit_id"] == "i0001"].to_parquet(tmp_path / "scores.parquet")
    choose_reads(*given, ABOUT, CAPS, out)
    items = shown_in(out)["items"]
    assert len(items) == 1
    assert all(read["prompt"] is not None for item in items for read in item["reads"])


def shown_in(script):
    written = script.read_text(encoding="utf-8")
    return json.loads(written.removeprefix(f"{CALL}(").removesuffix(");\n"))


def test_texts_end_neither_the_script_nor_the_page(tmp_path):
    table = levels([[1, 3]]).assign(candidate=EVIL)
    table.to_parquet(tmp_path / "scores.parquet")
    write_responses(table, tmp_path / "responses", text=lambda name: EVIL)
    requests = prompts(table).assign(unit_id=table["unit_id"], prompt=lambda each: each["prompt"] + EVIL)
    requests.to_parquet(tmp_path / "requests.parquet")
    out = tmp_path / "d.js"
    given = (tmp_path / "scores.parquet", [tmp_path / "requests.parquet"], [], tmp_path / "responses", 1)
    choose_reads(*given, ABOUT, CAPS, out)
    written = out.read_text(encoding="utf-8")
    assert written.count("\n") == 1
    assert not set("<>\u2028") & set(written)
    found = json.loads(written.removeprefix(f"{CALL}(").removesuffix(");\n"))
    (item,) = found["items"]
    assert {read["text"] for read in item["reads"]} == {item["candidate"]} == {EVIL}

    names = {"dataset": "d", "judge": "j", "dataset_label": EVIL, "judge_label": "J"}
    render_reads({"study": "s", "permutes": "the score levels", "sets": [names]}, tmp_path / "index.html")
    parsed = Page()
    parsed.feed((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert parsed.tags.count("script") == 1
    assert "b" not in parsed.tags
    assert all(link.startswith(("#", "data:", "../../summary.html")) for link in parsed.links)


def test_a_value_as_javascript_is_json():
    assert json.loads(page.script({"a": [EVIL, None, 1.5]})) == {"a": [EVIL, None, 1.5]}
