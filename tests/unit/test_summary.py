"""The summary of a run: its data keep to their schema, its page escapes texts and asks for nothing else."""

import base64
import hashlib
import html
import html.parser
import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from factories import ROOT, criteria_table, simulated_reads

import rubric_order as ro
from rubric_order.base.labels import Labels
from rubric_order.cards import card, record, summary, unread
from rubric_order.jobs.render_summary import render_summary
from rubric_order.jobs.show_cards import show_cards
from rubric_order.library import estimates
from rubric_order.pages import page as pages
from rubric_order.run import loading, rehearsal

READS = {"s": "reads/s/index.html"}
EVIL = "<script>alert(1)</script>{{ 7*7 }}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A written summary of two judges and two strategies, one table and one figure."""
    folder = tmp_path_factory.mktemp("summary")
    reads = [
        simulated_reads(groups=40, candidates=1, strategies=("balanced", "fixed"), judge=judge, preference=preference)
        for judge, preference in {"b": None, "a": [2, 0, 0, 0, 0]}.items()
    ]
    files = {}
    for name, table in estimates.card_statistics(pd.concat(reads, ignore_index=True)).items():
        files[name] = folder / f"{name}.parquet"
        table.to_parquet(files[name])
    (folder / "t.html").write_text(
        "<!doctype html>\n<table><caption>own caption</caption><tr><td>cell</td></tr></table>\n</html>"
    )
    (folder / "f.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    shown = {
        "tables": [{"title": "A table", "caption": "Its caption.", "path": str(folder / "t.html")}],
        "figures": [{"title": "A figure", "caption": EVIL, "path": str(folder / "f.svg")}],
    }
    labels = Labels({"b": "Bee", "a": EVIL}, {"d": "Data"})
    data, page = folder / "summary.json", folder / "summary.html"
    render_summary(files, shown, labels, {"judges": {"a": {"model": EVIL}}}, READS, data, page)
    return data, page


def test_the_data_keep_to_the_schema_and_have_the_cards_in_the_order_of_config(made):
    content = json.loads(made[0].read_text())
    jsonschema.Draft202012Validator.check_schema(summary.schema())
    jsonschema.validate(content, summary.schema())
    assert [(each["judge"], each["strategy"]) for each in content["cards"]] == [("b", "balanced"), ("a", "balanced")]
    assert [each["judge"] for each in summary.read(made[0])] == ["b", "a"]
    assert content["cards"][1]["verdict"] == "biased"
    assert content["versions"]["rubric-order"]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_says_what_the_cards_say_and_asks_for_nothing_else(made):
    page = Page()
    page.feed(made[1].read_text())
    text = " ".join(" ".join(page.text).split())
    for each in json.loads(made[0].read_text())["cards"]:
        assert all(reason in text for reason in each["reasons"])
    assert "Bee, Data" in text
    assert f"{EVIL}, Data" in text
    (script,) = re.findall("<script>(.*?)</script>", made[1].read_text(), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert f"script-src 'sha256-{digest}'" in made[1].read_text()  # no other may run
    assert all(link.startswith(("#", "data:", "reads/s/index.html")) for link in page.links)
    assert "reads/s/index.html#d/b" in page.links
    assert all(about.get("alt") for tag, about in page.tags if tag == "img")
    assert "cell" in text
    assert "own caption" not in text


def test_shares_that_are_not_drawn_stand_among_the_numbers():
    """The bars are of the option probabilities, and the written scores have a row."""
    (one,) = ro.bias_card(ROOT / "docs/data/smollm2_demo.parquet")
    content = summary.content([one], {"judges": {}})
    text = summary.page([one], content, tables=[], figures=[], labels=Labels({}, {}), reads={})
    assert "Share of each position, first to last (written scores)" in text
    assert "Share of each position, first to last (option probabilities)" not in text
    assert "Share of each position among the option probabilities" in text


def test_bars_stand_before_the_reasons_beside_the_line_of_equal_shares(made):
    """On a narrow screen what is later is lower: seven reasons stood before the bars."""
    for article in made[1].read_text().split("<article")[1:]:
        assert article.index("What to do.") < article.index('class="bar"') < article.index('class="reasons"')
        scale = 1 / 5 / max(float(share) for share in re.findall(r"> ?(\d+\.\d)%", article)) * 100
        (line,) = set(re.findall(r'<b style="left: ([\d.]+)%"', article))
        assert float(line) == pytest.approx(100 * scale, abs=0.5)


def test_several_cards_are_listed_first_each_with_its_verdict(made):
    page = Page()
    page.feed(made[1].read_text())
    ids = [about["id"] for tag, about in page.tags if tag == "article"]
    assert len(ids) == 2
    assert [link for link in page.links if link.startswith("#card-")] == [f"#{name}" for name in ids]
    headlines = [card["headline"].partition(":")[0] for card in json.loads(made[0].read_text())["cards"]]
    text = " ".join("".join(page.text).split())
    assert f"Bee, Data{headlines[0]}" in text  # cells of a row
    assert f"{EVIL}, Data{headlines[1]}" in text


def test_a_card_says_its_headline_then_what_to_do_then_reasons(made):
    text = " ".join(" ".join(made[1].read_text().split("<article")[1:]).split())
    for number, each in enumerate(json.loads(made[0].read_text())["cards"], start=1):
        card = text[text.index(f'id="card-{number}"') :]
        verdict, _, size = each["headline"].removesuffix(".").partition(": ")
        places = [card.index(html.escape(words)) for words in (verdict, size, each["advice"], each["reasons"][0])]
        assert places == sorted(places)


def test_a_run_without_orders_of_score_levels_has_no_card(tmp_path):
    data, page = tmp_path / "summary.json", tmp_path / "summary.html"
    nothing = {"tables": [], "figures": []}
    render_summary({}, nothing, Labels({}, {}), {}, READS, data, page)
    assert json.loads(data.read_text())["cards"] == []
    assert "there is no card" in page.read_text()


def of_failures(folder, failures, answers):
    """Files of a study of criteria: its scores, and the reads that its page shows."""
    scores, chosen = folder / "scores/s/d/b.parquet", folder / "reads/s/d/b.js"
    table = criteria_table(np.full((4, 2, 2), np.nan), [[1, 2], [2, 1]])
    table = table.assign(failure=np.resize(np.array(failures, dtype=object), len(table)), expected_score=np.nan)
    scores.parent.mkdir(parents=True)
    table.to_parquet(scores)
    items = [{"reads": [{"failure": reason, "text": text} for reason, text in answers]}]
    chosen.parent.mkdir(parents=True)
    chosen.write_text(f"readsLoaded({pages.script({'items': items})});\n")
    return scores, chosen


def test_a_run_without_a_single_score_says_so_first_and_shows_an_answer(tmp_path, capsys):
    data, page = tmp_path / "summary.json", tmp_path / "summary.html"
    reasons = ["no_score", "no_score", "empty", "no_score"]
    answers = [("empty", ""), ("no_score", f"I\x1b[31m will not\n{EVIL} {'x' * 300}")]
    scores, chosen = of_failures(tmp_path, reasons, answers)
    labels = Labels({"b": "Bee"}, {"d": "Data"})
    nothing = {"tables": [], "figures": []}
    render_summary({}, nothing, labels, {}, READS, data, page, scores=[scores], chosen=[chosen])
    content = summary.read_whole(data)
    (note,) = content["notes"]
    assert content["cards"] == []
    assert (note["study"], note["dataset"], note["judge"]) == ("s", "d", "b")
    assert list(note["failures"]) == ["no_score", "empty"]
    assert sum(note["failures"].values()) == note["n_scores"]
    share = f"{note['failures']['no_score']} of {note['n_scores']}"
    assert (
        f"The commonest failure is no_score ({share}). One such answer: “I\\x1b[31m will not <script>"
        in note["sentence"]
    )
    assert note["example"].endswith("x …")
    shown = page.read_text()
    assert "there is no card" not in shown
    assert "<script>alert" not in shown
    assert html.escape(note["sentence"], quote=False) in shown
    assert shown.index("No read has a score") < shown.index("How to read a card")
    show_cards(data, page)
    name, finding, advice, *_ = capsys.readouterr().out.splitlines()
    assert name == "b, d, s"
    assert finding.strip() == note["sentence"]
    assert "single reads" in advice


def test_one_score_is_enough_for_no_note(tmp_path):
    data, page = tmp_path / "summary.json", tmp_path / "summary.html"
    scores, chosen = of_failures(tmp_path, ["no_score", None], [])
    labels = Labels({"b": "Bee"}, {"d": "Data"})
    nothing = {"tables": [], "figures": []}
    render_summary({}, nothing, labels, {}, READS, data, page, scores=[scores], chosen=[chosen])
    assert "notes" not in json.loads(data.read_text())
    assert "there is no card" in page.read_text()
    # Expected scores are scores, although nothing was written; and an answer that is not shown is not quoted.
    failed = pd.DataFrame({"failure": ["no_score"] * 2, "expected_score": [np.nan, 2.5]})
    about = {"study": "s", "dataset": "d", "judge": "b"}
    assert unread.note(failed, about) is None
    assert unread.note(failed.head(1), about)["example"] is None
    empty = {"items": [{"reads": [{"failure": "no_score", "text": "  "}]}]}
    assert unread.note(failed.head(1), about, empty)["sentence"].endswith("One such answer is empty.")
    broken = {"items": [{"reads": [{"failure": "no_score", "text": None, "error": "HTTP 500"}]}]}
    assert unread.note(failed.head(1), about, broken)["example"] == "HTTP 500"


def test_strategies_that_show_a_score_in_one_position_have_no_card():
    reads = simulated_reads(groups=3, candidates=1, strategies=("fixed",))
    statistics = estimates.card_statistics(reads)
    (made,) = card.cards(statistics)
    assert made.verdict.word == "cannot tell"
    assert summary.made(statistics) == []


def test_the_terminal_names_each_card_and_where_the_page_is(made, capsys):
    show_cards(made[0], Path("results/summary.html"))
    first, finding, advice, empty, *_, last = capsys.readouterr().out.splitlines()
    assert first == record.name(summary.read(made[0])[0])
    assert finding.startswith("  ")
    assert advice.startswith("  ")
    assert not empty
    assert last == "All cards, figures and tables: results/summary.html"


def test_each_card_of_a_rehearsal_says_so_on_the_terminal_and_the_page_has_its_folder(made, root, capsys):
    blocks = {"datasets": {}, "judges": {}, "studies": {}}
    usual, rehearsed = (loading.complete(blocks | more, folder=root) for more in ({}, {"rehearse": 3}))
    assert rehearsal.folder(usual) == ""
    show_cards(made[0], Path("results/summary.html"), rehearsal.folder(rehearsed))
    lines = capsys.readouterr().out.splitlines()
    names = [f"Rehearsal: {record.name(each)}" for each in summary.read(made[0])]
    assert [line for line in lines if line.startswith("Rehearsal")] == names
    assert lines[-1] == "All cards, figures and tables: rehearsal/results/summary.html"
