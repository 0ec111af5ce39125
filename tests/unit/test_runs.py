"""Runs side by side: names, rows, changes of the mean score, and the page."""

import html.parser
import json

import pytest
from test_gate import reads
from typer.testing import CliRunner

import rubric_order as ro
from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.extras.gate import runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three runs of judge `j`, the last one harsher and with another judge beside it, and a run of another suite."""
    folder = tmp_path_factory.mktemp("runs")
    tables = {
        "monday": [reads(0)],
        "tuesday": [reads(1)],
        "friday": [reads(2, shift=-0.6), reads(3, judge="<b>k")],
        "short": [reads(4, groups=22)],
    }
    for name, judges in tables.items():
        cards = [card for table in judges for card in ro.bias_card(table).to_dicts()]
        (folder / f"{name}.json").write_text(json.dumps(cards))
    return folder


def run(folder, *words):
    return CliRunner().invoke(
        app, ["runs", *(str(folder / word) if word.endswith(".json") else word for word in words)]
    )


def test_runs_of_a_judge_stand_together_with_the_change_of_the_mean_score(folder):
    done = run(folder, "monday.json", "tuesday.json", "friday.json", "--json")
    first, second = json.loads(done.stdout)
    assert [each["run"] for each in first["runs"]] == ["monday", "tuesday", "friday"]
    assert first["card"] == "j, balanced, 3 levels"
    assert first["change"].startswith("mean score -0.")
    assert first["change"].endswith("points, p < 0.001")
    assert (second["card"], second["change"]) == ("<b>k, balanced, 3 levels", "")
    card = json.loads((folder / "monday.json").read_text())[0]
    row = first["runs"][0]
    assert (row["points"], row["points_low"]) == (card["usual_minus_balanced"], card["usual_minus_balanced_low"])
    assert row["reads"] == card["n_reads"]
    assert row["r_with_people"] is None
    assert row["suite"] == card["anchors"]["suite"]


def test_other_suites_and_earlier_versions_are_listed_and_not_compared(folder, tmp_path):
    done = run(folder, "monday.json", "short.json", "--json")
    assert "the suites differ" in json.loads(done.stdout)[0]["change"]
    (card,) = json.loads((folder / "monday.json").read_text())
    del card["anchors"]
    (tmp_path / "old.json").write_text(json.dumps([card]))
    found = runs.histories(runs.read([tmp_path / "old.json", folder / "monday.json"]))
    assert "summary without anchors" in found[0].change


def test_the_terminal_has_a_table_a_card_and_a_judge_can_be_chosen(folder):
    done = run(folder, "monday.json", "friday.json", "--judge", "j")
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "j, balanced, 3 levels"
    assert any(line.startswith("monday") for line in lines)
    assert any(line.startswith("friday") for line in lines)
    assert "<b>k" not in done.output
    with pytest.raises(InputError, match="no card of judge 'nobody'"):
        raise run(folder, "monday.json", "--judge", "nobody").exception


def test_folders_of_runs_are_named_by_themselves(folder, tmp_path):
    text = (folder / "monday.json").read_text()
    for place in ("one/results/summary.json", "two/summary.json"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(text)
    found = runs.read([tmp_path / "one", tmp_path / "two", tmp_path / "one/results", folder / "monday.json"])
    paths = [tmp_path / "one", tmp_path / "two", tmp_path / "one/results", folder / "monday.json"]
    assert [each.run for each in found] == [str(path) for path in paths]  # two are alike
    assert [each.run for each in runs.read([tmp_path / "one", tmp_path / "two/summary.json"])] == ["one", "two"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: expected summary\.json or results/summary\.json in this folder"):
        runs.read([tmp_path / "empty"])


class Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_the_page_has_a_row_a_run_and_a_mark_a_shift_and_asks_for_nothing(folder, tmp_path):
    page = tmp_path / "runs.html"
    assert run(folder, "monday.json", "tuesday.json", "friday.json", "--page", str(page)).exit_code == 0
    text = page.read_text()
    parsed = Elements()
    parsed.feed(text)
    assert sum(tag == "tr" for tag, _ in parsed.tags) == 1 + 4
    assert sum(tag == "circle" for tag, _ in parsed.tags) == 3  # a judge of one run has no history
    assert not any(tag == "b" for tag, _ in parsed.tags)
    assert all(about["aria-label"] for tag, about in parsed.tags if tag == "svg")
    links = {link for _, about in parsed.tags for link in (about.get("src"), about.get("href")) if link}
    assert links == {"data:,"}  # the icon
    marks = [(float(about["cx"]), float(about["cy"])) for tag, about in parsed.tags if tag == "circle"]
    assert marks[0][0] < marks[1][0] < marks[2][0]
    assert all(0 <= y <= runs.HEIGHT for _, y in marks)
