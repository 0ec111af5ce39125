"""The summary in a browser: rows are sorted and found, and what is closed opens for print."""

import json
import os
import re
import shutil
import subprocess

import pandas as pd
import pytest
from factories import simulated_reads

from rubric_order.base.labels import Labels
from rubric_order.cards import summary
from rubric_order.library import estimates

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
JUDGES = {"Zed": [0, 0, 0, 0, 0], "amy": [2, 0, 0, 0, 0], "Bob": [0, 0, 0, 0, 1]}


@pytest.fixture(scope="module")
def page():
    """A summary of three judges, of which the last has no human scores."""
    reads = [
        simulated_reads(
            groups=30, candidates=1, strategies=("balanced",), judge=judge, preference=p, human=judge != "Bob"
        )
        for judge, p in JUDGES.items()
    ]
    cards = summary.made(estimates.card_statistics(pd.concat(reads, ignore_index=True)))
    labels = Labels(dict(zip(JUDGES, JUDGES, strict=True)), {"d": "Data"})
    return summary.page(cards, summary.content(cards, {}), tables=[], figures=[], labels=labels, reads={})


def after(page, folder, script):
    """Value of an expression of JavaScript, once a script has run in the page behind the page's own."""
    assert page.count("Content-Security-Policy") == 1
    page = re.sub(r"<meta http-equiv=.Content-Security-Policy[^>]*>", "", page)
    script = f"document.body.dataset.value = JSON.stringify((() => {{ {script} }})());"
    path = folder / "page.html"
    path.write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", path.as_uri()]
    run = subprocess.run(command, env={**os.environ, "HOME": str(folder)}, capture_output=True, text=True, check=True)
    value = re.search(r'<body data-value="([^"]*)"', run.stdout)[1]
    return json.loads(value.replace("&quot;", '"'))


ROWS = "const rows = () => [...document.querySelectorAll('.judges tbody tr')];"
NAMES = "rows().filter((row) => !row.hidden).map((row) => row.cells[0].textContent)"
CLICK = "const click = (k) => document.querySelectorAll('.judges button')[k].click();"


def test_rows_are_sorted_by_name_and_by_number_and_what_is_not_known_is_last(page, tmp_path):
    script = f"{ROWS}{CLICK} const all = [{NAMES}];"
    for column in (0, 0, 2, 4, 4):
        script += f"click({column}); all.push({NAMES});"
    script += "return [all, document.querySelector('[aria-sort]').getAttribute('aria-sort')];"
    (start, up, down, by_points, by_r, by_r_down), sort = after(page, tmp_path, script)
    assert start == ["Bob, Data", "Zed, Data", "amy, Data"]
    assert up == ["amy, Data", "Bob, Data", "Zed, Data"]
    assert down == up[::-1]
    assert by_points[0] == "amy, Data"  # its usual ordering gives the lowest scores
    assert by_r[-1] == by_r_down[-1] == "Bob, Data"
    assert sort == "descending"


def test_words_find_rows_and_their_cards(page, tmp_path):
    script = f"""{ROWS} const search = document.getElementById('search'); const all = [];
    for (const words of ['biased', 'AMY biased', 'nobody', '']) {{
      search.value = words; search.dispatchEvent(new Event('input'));
      all.push([{NAMES}, [...document.querySelectorAll('article')].filter((card) => !card.hidden).length,
        document.getElementById('count').textContent]);
    }}
    return [document.getElementById('find').hidden, all];"""
    hidden, (biased, one, none, everything) = after(page, tmp_path, script)
    assert hidden is False
    assert "amy, Data" in biased[0]
    assert "Zed, Data" not in biased[0]
    assert one == [["amy, Data"], 1, "1 of 3"]
    assert none == [[], 0, "0 of 3"]
    assert everything == [["Bob, Data", "Zed, Data", "amy, Data"], 3, "3 of 3"]


def test_details_are_open_in_print_and_closed_again(page, tmp_path):
    script = """const open = () => document.querySelectorAll('details[open]').length;
    const before = open(); window.dispatchEvent(new Event('beforeprint')); const during = open();
    window.dispatchEvent(new Event('afterprint'));
    return [before, during, open(), document.querySelectorAll('details').length];"""
    before, during, later, number = after(page, tmp_path, script)
    assert before == later < during == number


def test_one_card_needs_no_table(page, tmp_path):
    reads = simulated_reads(groups=30, candidates=1, strategies=("balanced",), judge="one")
    cards = summary.made(estimates.card_statistics(reads))
    alone = summary.page(cards, summary.content(cards, {}), tables=[], figures=[], labels=Labels({}, {}), reads={})
    assert after(alone, tmp_path, "return document.querySelectorAll('.judges, #find').length;") == 0


@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_is_wider_than_the_screen(page, tmp_path, width):
    framed = tmp_path / "framed.html"
    framed.write_text(re.sub(r"<meta http-equiv=.Content-Security-Policy[^>]*>", "", page), encoding="utf-8")
    outer = f"""<!doctype html><body><iframe src="framed.html" width="{width}" height="900"></iframe><script>
    document.querySelector('iframe').addEventListener('load', (event) => {{
      const inner = event.target.contentDocument.documentElement;
      document.body.dataset.value = JSON.stringify([inner.clientWidth, inner.scrollWidth]);
    }});</script></body>"""
    (tmp_path / "outer.html").write_text(outer)
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [
        "--allow-file-access-from-files",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--virtual-time-budget=5000",
    ]
    command += ["--dump-dom", (tmp_path / "outer.html").as_uri()]
    run = subprocess.run(command, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=True)
    inner, scrolled = json.loads(re.search(r'data-value="([^"]*)"', run.stdout)[1])
    assert inner > width - 40
    assert scrolled == inner
