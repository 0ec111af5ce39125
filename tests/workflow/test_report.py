"""Text of a config in the pages that a run writes: it is shown, and never runs as a script."""

import html
import html.parser
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import copy_project

MARK = "data-has-run"
SCRIPT = f"document.documentElement.setAttribute('{MARK}','1')"
HOSTILE = f"A</script><script>{SCRIPT}</script><img src=x onerror={SCRIPT}>"
STUDY = {
    "datasets": ["demo"],
    "judges": ["planted"],
    "strategies": ["balanced", "single"],
    "profiles": ["default", "other"],
}
CONFIG = {
    "datasets": {"demo": {"limit": 1, "label": f"{HOSTILE} dataset", "license": HOSTILE, "citation": HOSTILE}},
    "judges": {
        "planted": {
            "engine": "simulated",
            "model": HOSTILE.replace("/", "|"),
            "label": f"{HOSTILE} judge",
            "system_prompt": HOSTILE,
            "answer_format": "score",
            "answer_prefix": HOSTILE,
            "sampling": {"temperature": 0, "stop": [HOSTILE]},
            "profiles": {"other": {"system_prompt": f"Other: {HOSTILE}"}},
            "simulation": {"preference": "first"},
        }
    },
    "studies": {"position_bias": STUDY},
    "statistics": {"bootstrap": {"resamples": 100}},
    "figures": {"position_selection": {"strategy": "balanced"}},
    "tables": {"parse_failures": {}, "position_selection": {"strategy": "balanced"}},
}
TARGETS = ("all", "results/summary.html")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The report and the other pages of a run of which every text is hostile."""
    project = copy_project(tmp_path_factory.mktemp("hostile") / "project")
    arguments = project.own(CONFIG)
    for options in ((), ("--report", "report.html")):
        run = project.snakemake(*TARGETS, *options, *arguments)
        assert run.returncode == 0, run.stdout + run.stderr
    found = [project.file("report.html"), *sorted(project.file("results").rglob("*.html"))]
    assert len(found) >= 5
    return found


class _Elements(html.parser.HTMLParser):
    """Parts of a page by which a text of the config would run: scripts that are it, and attributes of elements."""

    def __init__(self) -> None:
        super().__init__()
        self.in_script = False
        self.injected: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.in_script = tag == "script"
        self.injected += [
            f"<{tag} {name}>" for name, value in attributes if SCRIPT in (value or "") and name[:2] == "on"
        ]

    def handle_data(self, data):
        if self.in_script and data.strip() == SCRIPT:
            self.injected.append(f"<script>{data}")


@pytest.mark.slow
def test_no_text_of_a_config_becomes_an_element_that_runs(pages):
    for page in pages:
        elements = _Elements()
        elements.feed(page.read_text(encoding="utf-8"))
        assert elements.injected == [], page


@pytest.mark.slow
def test_the_report_begins_with_what_was_found(pages):
    report, results = pages[0].read_text(encoding="utf-8"), pages[0].parent / "results"
    front = json.loads(re.search(r'var workflow_desc = (".*?");\n', report, re.DOTALL)[1])
    (card, *_) = json.loads((results / "summary.json").read_text(encoding="utf-8"))["cards"]
    begin = " ".join(html.unescape(re.sub("<[^>]*>", "", front)).split())
    assert begin.startswith(f"planted, demo, position_bias, balanced, 5 levels: {card['headline']} {card['advice']}")


@pytest.mark.slow
def test_no_text_of_a_config_runs_in_a_browser(pages, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium is installed")
    assert MARK in shown(browser, tmp_path, page_with(tmp_path, HOSTILE))  # so this way of looking sees it
    for page in pages:
        assert f"{MARK}=" not in shown(browser, tmp_path, page), page


def page_with(folder: Path, text: str) -> Path:
    page = folder / "page.html"
    page.write_text(f"<!doctype html><script>var text = {json.dumps(text)};</script>", encoding="utf-8")
    return page


def shown(browser: str, folder: Path, page: Path) -> str:
    """The first element of a page in a browser, after its scripts have run."""
    text = elements(browser, folder, page)
    start = text.index("<html")
    return text[start : text.index(">", start) + 1]


def elements(browser: str, folder: Path, page: Path) -> str:
    """A page as a browser has it, after its scripts have run."""
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000", "--dump-dom", page.as_uri()]
    run = subprocess.run(command, env={**os.environ, "HOME": str(folder)}, capture_output=True, text=True, check=True)
    return run.stdout
