"""Pages of cards in a browser: axe-core finds nothing, in light and in dark, on a wide and on a narrow screen."""

import html
import json
import os
import re
import shutil
import subprocess

import pandas as pd
import pytest
from endpoint import running
from factories import simulated_reads
from installed import installed
from test_certify import first_shown, run

from rubric_order.base.labels import Labels
from rubric_order.cards import summary
from rubric_order.library import estimates

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]
WIDTHS = (1400, 390)  # of a screen, in pixels
SCHEMES = {"light": 1, "dark": 0}  # as Chromium counts them
HEAD = "<thead><tr><th scope='col'>judge</th><th scope='col'>V</th></tr></thead>"
TABLE = f"<table><caption>Own</caption>{HEAD}<tr><th scope='row'>a</th><td>0.1</td></tr></table>"
CHECK = """
const message = (node) => (node.any[0] || node.all[0] || node.none[0] || {}).message || "";
const told = (run, kind, chosen = () => true) => run[kind].flatMap((rule) => rule.nodes
  .filter((node) => chosen(rule, node))
  .map((node) => [kind, rule.id, node.html.slice(0, 160), message(node)]));
window.addEventListener("load", async () => {
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  const kinds = ["violations", "incomplete"], contrast = "color-contrast";
  const run = await axe.run(document, { resultTypes: kinds, elementRef: true });
  // A wide table has cells out of sight, whose contrast is decided below.
  const inSight = (rule, node) => rule.id !== contrast || !node.element.closest(".wide");
  const first = told(run, "incomplete", inSight);
  const result = { passed: run.passes.length, width: innerWidth };
  const all = document.createElement("style");
  const wide = "overflow: visible !important; max-width: none !important; width: max-content !important;";
  const still = ".wide :is(th, td):first-child { position: static !important; }";
  all.textContent = `body { min-width: 4000px; } .wide { ${wide} } ${still}`;
  document.head.append(all);
  const tables = document.querySelector(".wide") ? ".wide" : "h1";
  const seen = await axe.run(tables, { resultTypes: kinds, runOnly: [contrast] });
  result.found = [...told(run, "violations"), ...first, ...told(seen, "violations"), ...told(seen, "incomplete")];
  result.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  parent.postMessage(result, "*");
});
"""
OUTER = """<!doctype html><title>frames</title><body>{frames}<script>
const results = [];
addEventListener("message", (event) => {{
  results.push(event.data);
  document.body.dataset.value = JSON.stringify(results);
}});</script></body>"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The script of axe-core."""
    (path,) = installed(tmp_path_factory, "axe").glob("*/axe.min.js")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A summary of two judges with a table and a figure, one of a judge alone, and the page that certify writes."""
    folder = tmp_path_factory.mktemp("pages")
    reads = [
        simulated_reads(groups=30, candidates=2, strategies=("balanced",), judge=judge, preference=preference)
        for judge, preference in {"b": None, "a": [2, 0, 0, 0, 0]}.items()
    ]
    cards = summary.made(estimates.card_statistics(pd.concat(reads, ignore_index=True)))
    (folder / "t.html").write_text(TABLE)
    (folder / "f.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' width='900' height='90'/>")
    shown = {
        "tables": [summary.Shown("A table", "Its caption.", folder / "t.html")],
        "figures": [summary.Shown("A figure", "Its caption.", folder / "f.svg")],
    }
    labels = Labels({"a": "Ay", "b": "Bee"}, {"d": "Data"})
    content = summary.content(cards, {"judges": {}})
    reads_page = {"s": "reads/s/index.html"}
    made = {"summary": summary.page(cards, content, labels=labels, reads=reads_page, **shown)}
    with running(first_shown) as server:
        done = run(server.base_url, "--model", "m", "--groups", 2, "--folder", folder / "study")
        assert done.exit_code == 0, done.exception
    return made | {"certify": (folder / "study/card.html").read_text(encoding="utf-8")}


def found_in(pages, axe, folder, scheme):
    """Findings of axe on each page, at each width."""
    frames = ""
    for name, page in pages.items():
        page = re.sub(r"<meta http-equiv=.Content-Security-Policy[^>]*>", "", page)
        assert page.count("</body>") == 1
        path = folder / f"{name}.html"
        path.write_text(page.replace("</body>", f"<script>{axe}</script><script>{CHECK}</script></body>"), "utf-8")
        frames += "".join(f'<iframe src="{path.name}" width="{width}" height="900"></iframe>' for width in WIDTHS)
    (folder / "outer.html").write_text(OUTER.format(frames=frames), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}", "--window-size=1500,1000"]
    command += [f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", "--virtual-time-budget=60000"]
    command += ["--dump-dom", (folder / "outer.html").as_uri()]
    done = subprocess.run(command, env={**os.environ, "HOME": str(folder)}, capture_output=True, text=True, check=True)
    return json.loads(html.unescape(re.search(r'<body data-value="([^"]*)"', done.stdout)[1]))


@pytest.mark.parametrize("scheme", [*SCHEMES])
def test_axe_finds_nothing(pages, axe, tmp_path, scheme):
    results = found_in(pages, axe, tmp_path, scheme)
    assert sorted(result["width"] for result in results) == sorted([*WIDTHS] * len(pages))
    assert {result["dark"] for result in results} == {scheme == "dark"}
    assert all(result["passed"] > 15 for result in results)  # rules that had something to look at
    assert [finding for result in results for finding in result["found"]] == []


def test_a_text_without_contrast_is_found(axe, tmp_path):
    page = '<!doctype html><html lang="en"><title>t</title><body><main><h1 style="color: #aaa">Pale</h1></main>'
    page += "</body></html>"
    (wide, narrow) = found_in({"pale": page}, axe, tmp_path, "light")
    assert (
        {finding[1] for finding in wide["found"]} == {finding[1] for finding in narrow["found"]} == {"color-contrast"}
    )
