"""Rehearsals of configs that come with the project: they run to their end, and every read is shown.

They need no data, no model and no network. Processes are forked (`forks.py`); all else is as for a user.
The test files of this folder share the configs, so that processes can share the time.
"""

import json
import subprocess
from pathlib import Path

import forks
import yaml

from rubric_order import catalogue

HERE = Path(__file__).parents[1] / "workflow"
ROOT = HERE.parents[1]
GROUPS = 3  # fewer leave some numbers undefined
FAST = {
    "rehearse": GROUPS,
    "statistics": {"bootstrap": {"resamples": 100}},
    "reads": {"moved": 1, "failed": 1, "drawn": 1},
}
# Studies that ask whether answers can be read: what they show is the table of parse failures.
OF_FAILURES = ("criterion_order_free",)
SENTENCE = "Rehearsal with simulated judges"


def printed(ran: subprocess.CompletedProcess[str]) -> str:
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return ran.stdout


def configs() -> list[str]:
    """All configs of papers and examples, as paths in the project."""
    folders = [ROOT / "config" / name for name in ("papers", "examples")]
    return sorted(str(path.relative_to(ROOT)) for folder in folders for path in folder.glob("*.yaml"))


def rehearse(config: str, folder: Path) -> None:
    """Rehearse a config in a folder, where the words of all jobs are kept."""
    (folder / "fast.yaml").write_text(yaml.safe_dump(FAST))
    files = ["--configfile", str(ROOT / config), "fast.yaml", "--"]
    targets = ["all", "results/summary.html", "results/methods.md"]
    options = ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2", "--nocolor"]
    kept = forks.environment() | {forks.WORDS: str(folder / "words")}
    printed(forks.snakemake([*options, *files, *targets], folder, kept, forked_jobs=True))


def test_a_config_runs_to_its_end_and_says_on_every_page_that_it_was_rehearsed(rehearsed):
    config, folder = rehearsed
    assert {path.name for path in folder.iterdir()} == {"fast.yaml", "words", "rehearsal", ".snakemake"}
    results = folder / "rehearsal/results"
    for name in config.get("tables", {}):
        for suffix in ("md", "tex", "html"):
            assert SENTENCE in (results / f"tables/{name}.{suffix}").read_text(encoding="utf-8")
    for name in config.get("figures", {}):
        assert (results / f"figures/{name}.svg").stat().st_size > 1000
    pages = [results / "summary.html", results / "methods.md", *results.glob("reads/*/index.html")]
    assert len(pages) == 2 + len(config.get("studies", {}))
    assert all(SENTENCE in page.read_text(encoding="utf-8") for page in pages)
    summary = json.loads((results / "summary.json").read_text(encoding="utf-8"))
    assert all(SENTENCE in card["notes"][0] for card in summary["cards"])


def test_every_read_of_a_config_is_shown_by_a_table_or_a_figure(rehearsed):
    config, folder = rehearsed
    if not config.get("studies"):  # it describes datasets, and plans no read
        assert not (folder / "rehearsal/results/plan").exists()
        return
    named = {name: config.get("statistics", {}).get(name, {}).get("studies", []) for name in ("scales", "replication")}
    golden = config.get("statistics", {}).get("golden_scores", {}).get("studies", [])
    named |= {name: golden for name, one in catalogue.STATISTICS.items() if "golden_scores" in one.reads}
    words, settings = folder / "words", json.dumps(named)
    unread = _unread(words, folder, settings)
    failures = config["tables"].get("parse_failures", {}).get("study")
    assert unread == {failures} & {*OF_FAILURES}
    if "mtbench_lists" in config["studies"]:  # the same without what shows lists: the check finds that
        jobs = words.read_text().splitlines(keepends=True)
        lists = ("results/tables/list_position_bias.csv", "results/figures/quality_gap_of_lists.svg")
        (folder / "fewer").write_text("".join(job for job in jobs if not {*lists} & {*json.loads(job)}))
        assert _unread(folder / "fewer", folder, settings) == {"mtbench_lists"}


def _unread(words: Path, folder: Path, settings: str) -> set[str]:
    """Studies with a read that no table and no figure shows."""
    ran = forks.script([HERE / "unread.py", words, folder / "rehearsal", settings], folder, forks.environment())
    return {cell["study"] for cell in json.loads(printed(ran))}
