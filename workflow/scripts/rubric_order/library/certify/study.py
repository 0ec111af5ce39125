"""A study of one judge in a folder: planned, asked, scored and estimated as the workflow does it, without Snakemake.

Config (``certify.yaml``) and response store lie where the workflow looks for them, so Snakemake can go on there. Folder
``data`` has the tables of the stages, named as under ``results``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from rubric_order import probes, registry
from rubric_order.base import files, locks
from rubric_order.base.errors import InputError
from rubric_order.base.labels import Labels
from rubric_order.base.readouts import READ, Readout
from rubric_order.cards.card import Card
from rubric_order.contracts.contract import Contract
from rubric_order.contracts.items import ITEMS, PAIRS, RUBRICS
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.contracts.responses import RESPONSES, failures
from rubric_order.contracts.scores import SCORES
from rubric_order.figures import output
from rubric_order.jobs.collect_requests import collect_requests
from rubric_order.jobs.draw_figure import draw_figure
from rubric_order.jobs.estimate_statistic import estimate_statistic
from rubric_order.jobs.judge_shard import judge_shard
from rubric_order.jobs.parse_scores import write_scores
from rubric_order.jobs.plan_reads import plan_reads
from rubric_order.jobs.prepare_items import prepare_items
from rubric_order.jobs.render_summary import render_summary
from rubric_order.jobs.render_table import render_table
from rubric_order.judging import costs, jobs, pilot, shard
from rubric_order.judging.engines import Resources
from rubric_order.judging.progress import progress
from rubric_order.judging.store import Store
from rubric_order.library import prompts
from rubric_order.library.certify import folders
from rubric_order.library.certify.folders import ADAPTIVE, CONFIG, PAGE, READS, STRATEGIES, STUDY, SUMMARY
from rubric_order.library.certify.inputs import SAMPLE, SAMPLE_NOTE, Inputs
from rubric_order.library.certify.judges import judge_id
from rubric_order.library.study import as_reads
from rubric_order.run.core import Run
from rubric_order.run.pages import CARDS, Pages
from rubric_order.run.results import Shown, Statistics, labels_of
from rubric_order.run.stages import Planning, Scores
from rubric_order.scoring.scores import read_requested
from rubric_order.settings.base import plain
from rubric_order.settings.judges.judge import Judge
from rubric_order.settings.judges.over_http import Addressed
from rubric_order.settings.studies import Study

STATISTICS = "results/statistics/"
STYLE = Path(output.__file__).with_name("rubric_order.mplstyle")
CLIENT = "openai"  # the package that asks endpoints; it comes with an extra
HEADER = """\
# The study of `rubric-order certify`. In a clone of rubric-order, Snakemake runs it too, and asks nothing again:
#   snakemake all results/summary.html --cores all --directory {folder} --configfile {folder}/certify.yaml
"""
NOT_ALL_ASKED = "# Texts were read until they were known well enough: Snakemake would ask the reads that were spared.\n"


@dataclass(frozen=True)
class Certification:
    """A study of one judge, by its id: its folder, its complete config, its items."""

    folder: Path
    run: Run
    inputs: Inputs
    name: str

    @property
    def judge(self) -> Judge:
        return self.run.config.judges[self.name]

    @property
    def store(self) -> Store:
        return Store(self.folder / "results/store" / self.name)

    @property
    def study(self) -> Study:
        return self.run.config.studies[STUDY]

    def _path(self, of_workflow: str) -> Path:
        return self.folder / "data" / Path(of_workflow).relative_to("results")

    def file(self, contract: Contract) -> Path:
        about = {"study": STUDY, "dataset": self.inputs.dataset, "judge": self.name, "shard": 1}
        return self._path(contract.path.format(**about))

    def plan(self) -> None:
        """Write the reads of the study and its distinct requests."""
        texts: dict[str, Any] = {contract.name: self.file(contract) for contract in (ITEMS, RUBRICS, PAIRS)}
        copies = {name: self.folder / copied for name, copied in self.inputs.copied_as().items()}
        prepare_items(self.inputs.dataset, copies, self.inputs.settings, **texts)
        shared: dict[str, Any] = {"template": self._template(), "judge": self.judge, "probe": self.study.probe}
        plan_reads(
            **texts,
            **shared,
            references=None,
            study=STUDY,
            judge_id=self.name,
            weights=None,
            profiles=self.judge.profiles_of(self.study.profiles),
            design=Planning(self.run).design_of(self.study),
            output=self.file(PLAN),
        )
        lists: dict[str, Any] = {kind: [path] for kind, path in texts.items()} | {"references": [], "earlier": []}
        collect_requests([self.file(PLAN)], **lists, **shared, comparisons={}, output=self.file(REQUESTS))

    def _template(self) -> Path:
        """The judge's own template, or the template that the study's probe has for the judge."""
        if isinstance(self.judge.template, str):
            return self.folder / folders.prompt_copy(self.judge.template)
        if self.judge.template is not None:
            path = self._path(f"results/prompts/{self.name}.json")
            files.write_text(json.dumps(plain(self.judge.template)), path)
            return path
        probe = probes.load(self.study.probe)
        return prompts.TEMPLATES / f"{probe.template(self.judge, self.study.prompt)}.jinja"

    def cost(self) -> pd.Series:
        """Cost of the requests that the store does not answer yet, see `costs.judge_costs`."""
        reads = {STUDY: len(PLAN.read(self.file(PLAN), columns=["request_id"]))}
        return costs.judge_costs(self.judge, {STUDY: self.file(REQUESTS)}, reads, self.store, encode=None).iloc[0]

    def pilot(self, watch: shard.Watch = progress) -> tuple[int, str]:
        """Ask a sample of the requests, see `pilot.sample`; returns their number, and how many answers were read."""
        asked, _ = pilot.sample([self.file(REQUESTS)], [self.study.probe])
        with self.asking(watch) as ask:
            return len(asked), str(pilot.read(asked, ask(asked), self.judge))

    def ask(self, watch: shard.Watch = progress) -> None:
        """Ask the requests that the store does not answer, and write all responses and their scores."""
        where = {"store": self.store.folder, "output": self.file(RESPONSES)}
        judge_shard([self.file(REQUESTS)], [self.study.probe], 1, 1, self.judge, None, None, 0, **where, watch=watch)
        self.score(PLAN.read(self.file(PLAN)))

    def score(self, reads: pd.DataFrame) -> None:
        """Write the scores of reads, also as a plain table for people."""
        answer = Scores(self.run).answer_settings(self.judge)
        scores = write_scores(reads, [self.file(RESPONSES)], self.file(SCORES), probe=self.study.probe, answer=answer)
        answered = read_requested([self.file(RESPONSES)], reads["request_id"])
        table = as_reads(scores[scores["strategy"] == STRATEGIES[0]], answered, self.inputs.n)
        table["ordering"] = [" ".join(map(str, ordering)) for ordering in table["ordering"]]
        files.write_csv(table, self.folder / READS)

    @contextlib.contextmanager
    def asking(self, watch: shard.Watch) -> Iterator[Callable[[pd.DataFrame], pd.DataFrame]]:
        """Several calls of the function use one engine."""
        files.remove_leftovers(self.store.folder)
        with jobs.open_rounds(self.judge, self.store, Resources(), second_requests=True, watch=watch) as ask:
            yield ask

    def written(self) -> list[str]:
        """Names of the files in the folder that people read."""
        return [name for name in (PAGE, SUMMARY, READS, ADAPTIVE, CONFIG) if (self.folder / name).exists()]

    def _estimated(self, names: Iterable[str], estimates: dict[str, Path]) -> dict[str, Path]:
        """File of each statistic, computed after those that it reads, unless `estimates` has it, which gets all."""
        stage = Statistics(self.run)
        for name in names:
            if name not in estimates:
                inputs = stage.inputs(name)
                behind = [Path(path).stem for paths in inputs.values() for path in paths if path.startswith(STATISTICS)]
                self._estimated(behind, estimates)
                estimates[name] = self._path(f"{STATISTICS}{name}.parquet")
                files_read = {argument: [*map(self._path, paths)] for argument, paths in inputs.items()}
                settings = stage.arguments(name)
                estimate_statistic(registry.module("statistics", name), files_read, settings, estimates[name])
        return {name: estimates[name] for name in names}

    def cards(self) -> list[Card]:
        """The bias cards of the judge, which are also written as ``summary.json`` and as a page."""
        labels, estimates = Labels(**labels_of(self.run)), dict[str, Path]()
        tables, figures = Shown(self.run, "tables"), Shown(self.run, "figures")
        for name in self.run.config.tables:
            statistics, path = self._estimated(tables.statistics_of(name), estimates), f"results/tables/{name}.csv"
            about = registry.module("tables", name), statistics, tables.arguments(name), labels
            render_table(*about, tables.caption_of(name), self._path(path))
        for name in self.run.config.figures:
            statistics, path = self._estimated(figures.statistics_of(name), estimates), f"results/figures/{name}.svg"
            about = registry.module("figures", name), statistics, figures.arguments(name), labels
            draw_figure(*about, STYLE, [self._path(path)])
        facts = Pages(self.run).run_facts()
        # No path of this machine is sent with the page.
        facts["datasets"][self.inputs.dataset]["files"] = self.inputs.block()["files"]
        if isinstance(self.judge.template, str):
            facts["judges"][self.name]["template"] = Path(self.judge.template).name
        prices, notes = self.judge.capabilities.prices, self.notes
        if failed := failures(pd.read_parquet(self.file(RESPONSES), columns=["error"])["error"]):
            notes.append(f"Failed requests, for each reason their number and the first message: {failed}.")
        return render_summary(
            self._estimated(CARDS, estimates),
            {results.kind: results.listed(self.folder / "data") for results in (tables, figures)},
            labels,
            facts,
            {},
            self.folder / SUMMARY,
            self.folder / PAGE,
            scores=[self.file(SCORES)],
            prices={} if prices is None else {self.name: prices.block()},
            notes=notes,
            table_folder="data/tables",
        )

    @property
    def notes(self) -> list[str]:
        """Sentences about the texts, which a reader of the card should know."""
        return [SAMPLE_NOTE] if self.inputs.dataset == SAMPLE else []


@contextlib.contextmanager
def prepare(
    folder: Path, block: Mapping[str, Any], inputs: Inputs, *, in_rounds: bool = False
) -> Iterator[Certification]:
    """Context with a study in a folder, new or continued; other processes that prepare one there wait until it ends.

    With `in_rounds`, the config says that only some reads are asked.
    """
    folder = folder.absolute()
    name = judge_id(str(block.get("label", "")))
    written_alone = block["engine"] != "decisions" and block.get("answer_format", "feedback") == "feedback"
    readouts = [str(readout) for readout in ([Readout.HARD] if written_alone else READ)]
    scale = {"study": STUDY, "n": inputs.n}
    balanced = scale | {"strategy": STRATEGIES[0]}
    selection = balanced | {"readouts": readouts}
    study = {"datasets": [inputs.dataset], "judges": [name], "scales": [inputs.n], "strategies": STRATEGIES}
    written: dict[str, Any] = {
        "datasets": {inputs.dataset: inputs.block()},
        "judges": {name: dict(block)},
        "studies": {STUDY: study},
        "figures": {"position_selection": selection, "score_effects": balanced},
        "tables": {
            "position_selection": {**scale},
            "human_agreement": {**scale},
            "score_effects": {"study": STUDY},
            "parse_failures": {"study": STUDY},
        },
    }
    run = Run.load(written | {"datasets": {inputs.dataset: inputs.block(folder)}}, folder, dry=True)
    _check_engine(run.config.judges[name])
    if (folder / CONFIG).exists():  # then another study need not wait to be refused
        folders.check(folder, block, inputs)
    with locks.only_writer(folder / STUDY):
        folders.check(folder, block, inputs)
        if isinstance(template := block.get("template"), str):
            written["judges"][name]["template"] = folders.prompt_copy(template).as_posix()
        text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True, width=120)
        files.write_text(
            HEADER.format(folder=folder) + NOT_ALL_ASKED * in_rounds + text, folder / CONFIG
        )  # written first: it marks the folder as a study
        inputs.copy_to(folder)
        if isinstance(template, str):
            files.copy(template, folder / folders.prompt_copy(template))
        yield Certification(folder, run, inputs, name)


def _check_engine(judge: Judge) -> None:
    if judge.LOADED or not judge.ASKED:
        expected = "expected an endpoint, a decision model or a function; others take a clone and a config (make run)"
        raise InputError(f"engine {judge.engine!r}: {expected}")
    if isinstance(judge, Addressed) and importlib.util.find_spec(CLIENT) is None:
        raise InputError(f"package {CLIENT!r} is missing; expected pip install 'rubric-order[endpoint]'")
