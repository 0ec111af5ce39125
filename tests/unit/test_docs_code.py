"""Every code block of the documentation is run, or stands in a list here with the reason why it is not."""

import importlib.metadata
import importlib.util
import itertools
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import pandas as pd
import pytest
import typer
from factories import ROOT, demo_config
from factories import completed as complete
from markdown_it import MarkdownIt
from recorded_answers import RECORDS, write
from typer.testing import CliRunner

from rubric_order import datasets, probes
from rubric_order.base.labels import Labels
from rubric_order.commands.app import app
from rubric_order.jobs.render_summary import render_summary
from rubric_order.library import estimates
from rubric_order.prompts import own
from rubric_order.run import loading
from rubric_order.settings import schema
from rubric_order.settings.base import parse
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md")),
    *(page for folder in ("config", "docs", "resources") for page in sorted((ROOT / folder).glob("**/*.md"))),
]
PAGES = [page for page in PAGES if not {"_build", "_generated"} & set(page.parts)]
SHAPE = schema.schema()
# What stands for a name of the reader's choice, and what is tried in its place.
STANDS_FOR = {"FILE": "config/demo.yaml", "NAME": "position_selection", "PATH": "answers", "my_site": "site"}
SPHINX = "a directive of Sphinx: `make docs` runs it in CI, and a warning is an error"
# By page and beginning.
NOT_RUN = {
    ("README.md", "pip install"): "an endpoint and its key: tests/unit/test_certify.py asks servers of its own",
    ("docs/certify.md", "pip install"): "an endpoint and its key: tests/unit/test_certify.py asks servers of its own",
    ("docs/certify.md", "snakemake all"): "the folder of a study: tests/workflow/test_certify.py runs it so",
    ("docs/endpoints.md", "rubric-order batch export"): "files of a run: tests/unit/test_batch_command.py carries such",
    ("docs/relog.md", "from inspect_ai"): "needs Inspect: tests/unit/test_inspect.py runs the same with the package",
    ("docs/install.md", "docker build"): "no Docker here; tests/unit/test_packaging.py looks at the file",
    ("docs/install.md", "snakedeploy"): "tests/workflow/test_deployment.py runs the real one",
    ("docs/install.md", "sed"): "tests/workflow/test_deployment.py runs it",
    ("docs/install.md", "rubric-order --install"): "it edits the home: tests/unit/test_commands.py has one",
    ("docs/plugins.md", ""): "files of a package: tests/workflow/test_plugins.py installs it and runs its study",
    ("docs/simulated.md", "m_i = "): "a formula; tests/unit/test_simulation_judge.py has its numbers",
    ("docs/simulated.md", "w_sp = "): "a formula; tests/unit/test_simulation_judge.py has its numbers",
    ("docs/simulated.md", "decisiveness * m_i"): "a formula; tests/unit/test_simulated_comparisons.py has its numbers",
}


class Block(NamedTuple):
    """A code block: its page, relative to the project, its place among those of the page, language and text."""

    page: str
    number: int
    language: str
    code: str

    @property
    def reason(self) -> str | None:
        """Why it is not run by a test here; None where it is."""
        if self.language.startswith("{"):
            return SPHINX
        return next((why for (page, begin), why in NOT_RUN.items() if self.begins(page, begin)), None)

    def begins(self, page: str, begin: str) -> bool:
        return self.page == page and self.code.startswith(begin)


def blocks_of(page: str, text: str) -> list[Block]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    found = [(token.info.strip(), token.content) for token in tokens if token.type in {"fence", "code_block"}]
    return [Block(page, number, language, code) for number, (language, code) in enumerate(found)]


BLOCKS = [block for path in PAGES for block in blocks_of(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A folder with the files that pages name: reads, cards, a summary, recorded answers, tables of items."""
    folder = tmp_path_factory.mktemp("there")
    for name, preference in {"old": "first", "new": "last"}.items():
        made = studies.read_items(
            Simulation(preference=preference), n=5, strategies=["balanced"], groups=30, candidates=1, seed=1
        )
        scores = studies.as_scores(made, candidates=1)
        table = scores.rename(columns={"item_id": "item", "group_id": "group"})
        table = table[["item", "group", "score", "human_score"]].assign(judge={"old": "gpt_5"}.get(name, name))
        table["ordering"] = [" ".join(map(str, row)) for row in scores["ordering"]]
        table.to_csv(folder / f"{name}_prompt.csv", index=False)
    shutil.copy(folder / "old_prompt.csv", folder / "reads.csv")
    shutil.copy(folder / "old_prompt.csv", folder / "scores.csv")
    both = [pd.read_csv(folder / f"{name}_prompt.csv") for name in ("old", "new")]
    pd.concat(both).to_csv(folder / "both_judges.csv", index=False)
    (folder / "results").mkdir()
    files = {}
    for name, found in estimates.card_statistics(estimates.scores_of(folder / "reads.csv")).items():
        files[name] = folder / f"{name}.parquet"
        found.to_parquet(files[name])
    labels = Labels({"gpt_5": "GPT-5"}, {})
    nothing = {"tables": [], "figures": []}
    data, page = (folder / f"results/summary.{kind}" for kind in ("json", "html"))
    render_summary(files, nothing, labels, {}, {}, data, page)
    run(["audit", str(folder / "reads.csv"), "--json"], to=folder / "cards.json")
    (folder / "answer.txt").write_text("It is clear. Score: 4\n")
    write(folder / "answers/general.jsonl", RECORDS["general"]())
    write(folder / "answers/pairs.jsonl", RECORDS["pairwise"]())
    write(folder / "answers.jsonl", RECORDS["general"]())
    logs_of_others(folder)
    shutil.copy(ROOT / "config/examples/my_items.csv", folder)
    shutil.copy(ROOT / "tests/data/logs/rubric.eval", folder / "judge.eval")
    rows = [
        {"item_id": f"i{k}", "instruction": "Write.", "response": "Dear you.", "criterion": "politeness"} for k in "ab"
    ]
    (folder / "my_items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copytree(ROOT / "workflow/profiles/slurm", folder / "site")
    for part in ("config", "workflow", "resources", "tests"):
        (folder / part).symlink_to(ROOT / part)
    return folder


def logs_of_others(folder: Path) -> None:
    """The files that the page on `audit` names as examples of other programs' logs."""
    reads = pd.read_csv(folder / "reads.csv")
    named = pd.DataFrame({"sample_id": reads["item"], "prompt": reads["group"], "shown": reads["ordering"]})
    named.assign(judge_score=reads["score"], judge_model="gpt_5").to_csv(folder / "log.csv", index=False)
    named["grading"] = [{"score": f"{score}/5"} for score in reads["score"]]
    named.to_json(folder / "log.jsonl.gz", orient="records", lines=True)
    places = [("llama", "gpt-4"), ("gpt-4", "llama")] * 4
    pairs = pd.DataFrame(places, columns=["model_a", "model_b"]).assign(id=["q1", "q1", "q2", "q2"] * 2)
    pairs.assign(winner=[0, 1, -1, 1] * 2).to_csv(folder / "pairs.csv", index=False)
    votes = {"item": ["a", "a", "b", "b"], "ordering": ["cat dog", "dog cat"] * 2, "score": ["cat", "dog"] * 2}
    pd.DataFrame(votes).to_csv(folder / "votes.csv", index=False)
    game = {"question_id": 1, "model_1": "m1", "model_2": "m2", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    game |= {"g1_winner": "model_1", "g2_winner": "tie", "g1_judgment": "[[A]]"}
    (folder / "model_judgment").mkdir()
    (folder / "model_judgment/gpt-4_pair.jsonl").write_text(json.dumps(game))
    annotation = {"instruction": "Write.", "generator_1": "a", "generator_2": "b", "annotator": "x", "preference": 1.0}
    (folder / "annotations.json").write_text(json.dumps([annotation]))


@pytest.fixture
def here(there, monkeypatch):
    """The same folder as the one in which commands are run."""
    monkeypatch.chdir(there)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    mpl.use("agg")
    return there


# ---- yaml ----


def config_blocks(page: str) -> list[Block]:
    """The blocks of a page that are parts of a config."""
    return [each for each in BLOCKS if each.page == page and each.language == "yaml" and is_config(each.code)]


def is_config(code: str) -> bool:
    given = parse(code)
    return isinstance(given, dict) and set(given) <= set(SHAPE["properties"])


def completed(page: str, blocks: list[Block]) -> dict:
    """The config that these blocks of a page make together, complete and checked.

    A page leaves out what does not matter there: a judge that it does not define is any one, and what it says without a
    study goes over the demo's config.
    """
    config: dict = {}
    for block in blocks:
        loading.merge(config, parse(block.code))
    if "studies" not in config:
        config, own_part = demo_config(), config
        loading.merge(config, own_part)
    ready = loading.ready_judges(ROOT / loading.READY)
    for study in config["studies"].values():
        study.setdefault("datasets", ["demo"])
        for judge in study.setdefault("judges", ["smollm2_135m"]):
            if judge not in ready:
                judges = config.setdefault("judges", {})
                judges[judge] = {"engine": "vllm", "model": "org/model"} | judges.get(judge, {})
    for code in (each.code for each in BLOCKS if each.page == page and each.language == "jinja"):
        Path("my_prompt.jinja").write_text(code, encoding="utf-8")
    for code in (each.code for each in BLOCKS if each.page == page and each.code.startswith("# my_rubrics.yaml")):
        Path("my_rubrics.yaml").write_text(code, encoding="utf-8")
    config = complete(config)
    for name, dataset in config["datasets"].items():
        if dataset["adapter"] == "custom":
            paths = {key: Path(file["path"]) for key, file in dataset["files"].items()}
            made = datasets.prepare(name, datasets.read("custom", paths, dataset["options"], dataset=name))
            assert len(made.items)
    return config


def run_workflow(block: Block) -> None:
    """Check that a workflow of GitHub uses our Action with inputs that it has; `test_action.py` runs the Action."""
    steps = [step for job in parse(block.code)["jobs"].values() for step in job["steps"]]
    (ours,) = (step for step in steps if "rubric-order/" in step.get("uses", ""))
    folder = ROOT / ours["uses"].partition("rubric-order/")[2].partition("@")[0]
    assert set(ours["with"]) <= set(parse((folder / "action.yml").read_text(encoding="utf-8"))["inputs"])


def run_yaml(block: Block) -> None:
    if "jobs" in parse(block.code):
        run_workflow(block)
    elif is_config(block.code):
        before = [each for each in config_blocks(block.page) if each.number < block.number]
        completed(block.page, [*before, block])
    elif block.code.startswith("# my_rubrics.yaml"):
        later = next(each for each in config_blocks(block.page) if "my_rubrics.yaml" in each.code)
        completed(block.page, [config_blocks(block.page)[0], later])  # its items are read with these rubrics
    else:  # settings of the judge of the page
        (name,) = parse(config_blocks(block.page)[0].code)["judges"]
        settings = Block(block.page, block.number, "yaml", f"judges:\n  {name}:\n{block.code}")
        completed(block.page, [config_blocks(block.page)[0], settings])


# ---- commands ----


def run(words: list[str], *, to: Path | None = None) -> None:
    """Run a command of `rubric-order`; a status of 0, 1 or 2 is an answer, an exception is none."""
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0 or (words[0] == "check" and result.exit_code in {1, 2}), result.output
    assert result.output
    assert "Usage:" not in result.output, result.output
    if to is not None:
        to.write_text(result.stdout, encoding="utf-8")


def run_snakemake(words: list[str], page: str) -> None:
    """Parse a command of Snakemake as it does, with its profile, and complete the config that it names."""
    from snakemake import cli

    _, told = cli.parse_args(words)
    targets = {target for target in told.targets or () if "/" not in target}
    rules = "".join(
        path.read_text(encoding="utf-8") for path in [ROOT / "Snakefile", *ROOT.glob("workflow/rules/*.smk")]
    )
    assert targets <= set(re.findall(r"^rule (\w+):", rules, re.MULTILINE)), targets
    if told.unlock:
        return
    for path in map(str, told.configfile or ["config/demo.yaml"]):
        if path == "my_study.yaml":
            example = re.search(r"config/examples/\w+\.yaml", (ROOT / page).read_text(encoding="utf-8"))
            own_blocks = config_blocks(page)
            assert own_blocks or example, f"{page} says nothing of what stands in my_study.yaml"
            if own_blocks:
                config = completed(page, own_blocks[:1])
            else:
                config = parse((ROOT / example[0]).read_text(encoding="utf-8"))
                config = complete(config)
        else:
            config = parse(Path(path).read_text(encoding="utf-8"))
            config |= dict(each.split("=") for each in told.config or ())
            config = complete(config)
        assert config["studies"] or config["tables"]
        for target in map(Path, set(told.targets or ()) - targets):
            if target.parts[:2] in {("results", "tables"), ("results", "figures")}:
                assert target.stem in config[target.parts[1]]


def run_make(words: list[str], page: str) -> None:
    """Let make say what it would run; the commands of Snakemake among that are tried."""
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", "-C", ROOT, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.replace("\\\n", " ").splitlines():
        command = shlex.split(line, comments=True)
        if command[:1] == [".venv/bin/snakemake"] and "--rulegraph" not in command and "--lint" not in command:
            run_snakemake(command[1:], page)


@pytest.mark.parametrize(("options", "commands"), [("", 2), ("-np", 1), ("--dry-run", 1), ("--nolock", 2)])
def test_a_dry_run_prints_one_plan(options, commands):
    words = ["make", "-n", "--no-print-directory", "-C", ROOT, "run", "CONFIG=config/demo.yaml", f"ARGS={options}"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert sum(line.startswith(".venv/bin/snakemake ") for line in printed.splitlines()) == commands


def run_shell(block: Block) -> None:
    subprocess.run(["bash", "-n"], input=block.code, text=True, check=True)
    for line in re.sub(r"\\\n", " ", block.code).splitlines():
        run_line(line, block.page)


def run_line(line: str, page: str) -> None:
    for name, value in STANDS_FOR.items():
        line = re.sub(rf"\b{name}\b", value, line)
    words = shlex.split(line, comments=True)
    settings = list(itertools.takewhile(lambda word: re.fullmatch(r"[A-Z_]+=\S+", word), words))
    match words[len(settings) :]:
        case ["make", *words]:
            run_make(words, page)
        case ["rubric-order", *words, ">", file]:
            run(words, to=Path(file))
        case ["rubric-order", *words]:
            run(words)
        case [".venv/bin/snakemake", *words]:
            run_snakemake(words, page)
        case [".venv/bin/python", "-m", module, *words] if module.startswith("vllm.entrypoints."):  # not started here
            package = Path(importlib.util.find_spec("vllm").origin).parent
            assert package.joinpath(*module.split(".")[1:]).with_suffix(".py").is_file()
            assert all(re.fullmatch(r"-i|-o|--[a-z-]+", word) for word in words if word.startswith("-"))
        case [".venv/bin/python", "-m", "pip", "install", *_, "-r", file]:
            assert (ROOT / file).is_file()
        case [".venv/bin/python", "-m", "uvicorn", server, *_]:  # this test starts it
            assert server in (ROOT / "tests/workflow/test_foreign_decisions.py").read_text(encoding="utf-8")
        case ["pip", "install", "."]:  # the program that it installs is there, and is this one
            listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
            (program,) = importlib.metadata.entry_points(group="console_scripts", name="rubric-order")
            assert {program.name: program.value} == listed
            assert callable(program.load())
        case ["export", setting]:
            assert re.fullmatch(r"[A-Z_]+=\S+", setting)
        case []:
            pass
        case words:
            raise AssertionError(f"{words[0]}: expected a command that this test knows how to try")


# ---- the others ----


def run_python(block: Block) -> None:
    exec(compile(block.code, f"{block.page}-{block.number}", "exec"), {})  # noqa: S102


def run_jinja(block: Block) -> None:
    path = Path("my_prompt.jinja")
    path.write_text(block.code, encoding="utf-8")
    probe = probes.load("score_order")
    own.check(path, probe.FIELDS, [lambda template: probe.try_template(template, 5)])


def run_tree(block: Block) -> None:
    """A list of files and what they are for: all are there."""
    for line in block.code.splitlines():
        names, about = re.split(r"\s{2,}", line, maxsplit=1)
        first, *others = names.split(", ")
        for name in (first, *(each if "/" in each else f"{Path(first).parent}/{each}" for each in others)):
            assert about
            assert list(ROOT.glob(name)), name


def run_output(block: Block) -> None:
    """Output of the command in the block before it."""
    (command,) = (each.code for each in BLOCKS if (each.page, each.number) == (block.page, block.number - 1))
    _, *words = shlex.split(command)
    assert block.code in CliRunner().invoke(app, words, catch_exceptions=False).output


RUN = {
    "text": run_output,
    "yaml": run_yaml,
    "": run_shell,
    "bash": run_shell,
    "sh": run_shell,
    "python": run_python,
    "jinja": run_jinja,
}


def runner(block: Block):
    return run_tree if block.begins("docs/architecture.md", "Snakefile, workflow/rules") else RUN.get(block.language)


def try_out(block: Block) -> None:
    """Run a block unless there is a reason why not."""
    if block.reason is None:
        how = runner(block)
        assert how, f"{block.page}: no test runs a block of {block.language!r}; add a runner, or a reason to NOT_RUN"
        how(block)


def test_no_page_is_left_out():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*.md"], capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    left_out = set(listed.stdout.split()) - {str(page.relative_to(ROOT)) for page in PAGES}
    # The frame that docs/recovery.md is made from, and what a package index shows: commands of the README.
    assert left_out == {"tests/recovery/page.md", "workflow/scripts/README.md"}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}-{block.number}")
def test_every_block_is_run_or_has_a_reason(block, here):
    try_out(block)


def test_what_is_not_run_is_there_and_short():
    for page, begin in NOT_RUN:
        assert [block for block in BLOCKS if block.begins(page, begin)], (page, begin)
    assert len(NOT_RUN) <= 13


def test_sphinx_runs_its_directives_in_ci():
    assert "make docs; }" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "--fail-on-warning" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\nnb_execution_raise_on_error = True\n" in (ROOT / "docs/conf.py").read_text(encoding="utf-8")


WRONG = {
    "a language that nothing runs": "```rust\nfn main() {}\n```",
    "a key that config does not have": "```yaml\nstudies:\n  s: {probes: score_order}\n```",
    "a name that Python does not find": "```python\nimport rubric_order as ro\nro.no_such\n```",
    "an option that the program does not have": "```\nrubric-order audit reads.csv --loud\n```",
    "a file that is not there": "```\nrubric-order audit other.csv\n```",
    "a target that make does not have": "```\nmake coffee\n```",
    "an option that Snakemake does not have": "```\n.venv/bin/snakemake --coffee --configfile config/demo.yaml\n```",
    "a target behind --configfile": "```\n.venv/bin/snakemake --configfile config/demo.yaml results/tables/x.csv\n```",
    "a command that nobody knows": "```\ncurl -O x\n```",
    "an indented block": "text\n\n    make coffee\n",
    "a template without options": "```jinja\n{{ response }}\n```",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_block_that_cannot_be_run_is_found(text, here):
    (block,) = blocks_of("README.md", text)
    with pytest.raises((Exception, SystemExit)):
        try_out(block)


def inline_commands() -> list[tuple[str, str]]:
    """Commands that stand in a sentence or a table, with the pages that say them."""
    found = {}
    for page in PAGES:
        for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
            for child in token.children or ():
                if child.type == "code_inline" and re.match(
                    r"(make|rubric-order|\.venv/bin/snakemake) \S", child.content
                ):
                    found[child.content] = str(page.relative_to(ROOT))
    return sorted(found.items())


@pytest.mark.parametrize(("command", "page"), inline_commands())
def test_commands_in_sentences_exist(command, page, here):
    match shlex.split(command):
        case ["make", target]:  # what it needs besides, the sentence says
            run_make([target, "CONFIG=config/demo.yaml"], page)
        case ["rubric-order", "--install-completion" | "--show-completion"]:
            pass  # tests/unit/test_commands.py runs it
        case ["rubric-order", name]:
            assert name in typer.main.get_command(app).commands
        case ["rubric-order", name, *words]:  # its arguments and options are read; it does not start
            typer.main.get_command(app).commands[name].make_context(name, words)
        case _:
            run_line(command.replace("my_study.yaml", "config/demo.yaml"), page)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 500
