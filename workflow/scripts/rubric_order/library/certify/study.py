"""A study of one judge in a folder: planned, asked, scored and estimated as the workflow does it, without Snakemake.

Config (``certify.yaml``) and response store lie where the workflow looks for them, so Snakemake can go on there. Folder
``data`` has the tables of the stages, named as under ``results``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import yaml

from rubric_order import probes, registry, tables
from rubric_order.base import files, locks, parquet
from rubric_order.base.errors import InputError
from rubric_order.base.labels import Labels, order_by_labels
from rubric_order.base.readouts import READ, Readout
from rubric_order.cards import summary
from rubric_order.cards.card import Card
from rubric_order.contracts import inputs as contract_inputs
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.contracts.items import ITEMS, PAIRS, RUBRICS
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.contracts.responses import failures
from rubric_order.contracts.scores import SCORES
from rubric_order.figures import drawing, output
from rubric_order.judging import answers, costs, jobs, pilot, shard
from rubric_order.judging.engines import Resources
from rubric_order.judging.progress import progress
from rubric_order.judging.store import Store
from rubric_order.library import prompts
from rubric_order.library.certify import adaptive, folders
from rubric_order.library.certify.adaptive import Adaptive
from rubric_order.library.certify.folders import ADAPTIVE, CONFIG, PAGE, READS, STUDY, SUMMARY
from rubric_order.library.certify.inputs import SAMPLE, SAMPLE_NOTE, Inputs
from rubric_order.library.certify.judges import judge_id
from rubric_order.library.study import as_reads
from rubric_order.planning import requests as planned
from rubric_order.planning.reads import Design, plan_reads
from rubric_order.prompts import frames
from rubric_order.run.core import Run
from rubric_order.run.pages import CARDS, Pages
from rubric_order.run.results import Shown, Statistics, labels_of
from rubric_order.run.stages import Planning, Scores
from rubric_order.scoring import usage
from rubric_order.scoring.scores import RESPONSES, read_requested, score_reads
from rubric_order.settings.base import plain
from rubric_order.settings.judges import Addressed, Judge
from rubric_order.tables import rendering

# `balanced` shows each score equally often in every position. `single` is the usual ordering, which `balanced` has too.
STRATEGIES = ["balanced", "single"]
STATISTICS = "results/statistics/"
KINDS: tuple[registry.Kind, ...] = ("tables", "figures")
STYLE = Path(output.__file__).with_name("rubric_order.mplstyle")
CLIENT = "openai"  # the package that asks endpoints; it comes with an extra
HEADER = """\
# The study of `rubric-order certify`. In a clone of rubric-order, Snakemake runs it too, and asks nothing again:
#   snakemake all results/summary.html --cores all --directory {folder} --configfile {folder}/certify.yaml
"""
NOT_ALL_ASKED = "# Texts were read until they were known well enough: Snakemake would ask the reads that were spared.\n"


@dataclass(frozen=True)
class Certification:
    """A study of one judge: its folder, its complete config, its items."""

    folder: Path
    run: Run
    inputs: Inputs

    @property
    def name(self) -> str:
        (name,) = self.run.used_judges
        return name

    @property
    def judge(self) -> Judge:
        return self.run.config.judges[self.name]

    @property
    def store(self) -> Store:
        return Store(self.folder / "results/store" / self.name)

    def _path(self, of_workflow: str) -> Path:
        return self.folder / "data" / Path(of_workflow).relative_to("results")

    @property
    def _plan(self) -> Path:
        return self._path(f"results/plan/{STUDY}/{self.inputs.dataset}/{self.name}.parquet")

    @property
    def _requests(self) -> Path:
        return self._path(f"results/requests/{STUDY}/{self.name}.parquet")

    @property
    def _responses(self) -> Path:
        return self._path(f"results/responses/{self.name}/1.parquet")

    @property
    def _scores(self) -> Path:
        return self._path(f"results/scores/{STUDY}/{self.inputs.dataset}/{self.name}.parquet")

    @property
    def _probe(self) -> str:
        return self.run.config.studies[STUDY].probe

    def plan(self) -> int:
        """Write the reads of the study and its distinct requests; returns the number of requests."""
        study, dataset = self.run.config.studies[STUDY], self.inputs.dataset
        paths = [self._path(f"results/{kind}/{dataset}.parquet") for kind in ("items", "rubrics", "pairs")]
        inputs = self.inputs.tables
        for contract, table, path in zip(
            (ITEMS, RUBRICS, PAIRS), (inputs.items, inputs.rubrics, inputs.pairs), paths, strict=True
        ):
            contract.write(table, path, dataset=dataset)
        texts = ITEMS.read(paths[0]), RUBRICS.read(paths[1]), PAIRS.read(paths[2])
        template = frames.load_template(self._template())
        design = Design(**Planning(self.run).design_of(study))
        reads = plan_reads(
            *texts,
            study=STUDY,
            judge_id=self.name,
            judge=self.judge,
            template=template,
            design=design,
            probe=self._probe,
        )
        PLAN.write(reads, self._plan, study=STUDY, judge=self.name, probe=self._probe)
        greedy = self.judge.greedy_profiles(reads["profile"].unique())
        requests = planned.render_reads(PLAN.read(self._plan), *texts, template, probe=self._probe, greedy=greedy)
        REQUESTS.write(parquet.split_row_groups(REQUESTS.table(requests)), self._requests)
        return len(requests)

    def _template(self) -> Path:
        """The judge's own template, or the template that the study's probe has for the judge."""
        if isinstance(self.judge.template, str):
            return self.folder / folders.prompt_copy(self.judge.template)
        if self.judge.template is not None:
            path = self._path(f"results/prompts/{self.name}.json")
            files.write_text(json.dumps(plain(self.judge.template)), path)
            return path
        probe = probes.load(self._probe)
        return prompts.TEMPLATES / f"{probe.template(self.judge, self.run.config.studies[STUDY].prompt)}.jinja"

    def cost(self) -> pd.Series:
        """Cost of the requests that the store does not answer yet, see `costs.judge_costs`."""
        reads = {STUDY: len(PLAN.read(self._plan, columns=["request_id"]))}
        return costs.judge_costs(self.judge, {STUDY: self._requests}, reads, self.store, encode=None).iloc[0]

    def pilot(self, watch: shard.Watch = progress) -> tuple[int, str]:
        """Ask a sample of the requests, see `pilot.sample`; returns their number, and how many answers were read."""
        asked, _ = pilot.sample([self._requests], [self._probe])
        return len(asked), str(pilot.read(asked, self._ask(asked, watch), self.judge))

    def ask(self, watch: shard.Watch = progress) -> None:
        """Ask the requests that the store does not answer, and write all responses and their scores."""
        asked, studies = planned.read_studies([self._requests], [self._probe], 1, 1)
        self._keep(self._ask(asked, watch), studies, PLAN.read(self._plan))

    def ask_in_rounds(self, setting: Adaptive, watch: shard.Watch = progress) -> pd.DataFrame:
        """Ask until the score of each text is known well enough; returns `adaptive.described` with ``probe``, as in
        `ADAPTIVE`.

        Responses and scores of the probe groups alone are written: how often others are read depends on their answers,
        so their reads are no sample for a bias.
        """
        plan = PLAN.read(self._plan)
        texts = adaptive.laid_out(plan, STRATEGIES[0])
        requests, studies = planned.read_studies([self._requests], [self._probe], 1, 1)
        settings = Scores(self.run).answer_settings(self.judge)

        def asked(reads: pd.DataFrame) -> pd.DataFrame:
            return requests[requests["request_id"].isin(reads["request_id"])]

        def scored(reads: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
            return score_reads(reads, responses, probe=self._probe, **settings)

        chosen = adaptive.probes(texts, setting.probe_groups)
        parts, rule = [], None
        with self._asking(watch) as ask:
            if chosen.any():
                of_probes = texts.only(chosen)
                reads = plan[plan["unit_id"].isin(of_probes.firsts["unit_id"])]
                responses = ask(asked(reads))
                self._keep(responses, [studies[place] for place in asked(reads).index], reads)
                scores = scored(of_probes.reads, responses)["score"].to_numpy(dtype=float, na_value=np.nan)
                scores = scores.reshape(-1, texts.scale.size)
                rule = adaptive.learnt(of_probes, scores, setting)
                parts.append(adaptive.complete(of_probes, scores).assign(probe=True))
            if not chosen.all():
                others = texts.only(~chosen)
                table = adaptive.in_rounds(others, rule, setting, lambda reads: scored(reads, ask(asked(reads))))
                parts.append(table.assign(probe=False))
        table = pd.concat(parts, ignore_index=True).sort_values("item_id", ignore_index=True)
        files.write_csv(table, self.folder / ADAPTIVE)
        return table

    def _keep(self, responses: pd.DataFrame, studies: list[str], reads: pd.DataFrame) -> None:
        """Write responses, with the study of each, and the scores of the reads that they answer."""
        judge = self.judge
        answers.write(responses, self._responses, studies=studies, judge=judge, names=judge.accepted_names)
        answered = read_requested([self._responses], reads["request_id"], [*RESPONSES, *usage.TOKENS])
        tokens = {usage.METADATA: usage.tokens(reads, answered)}
        answered = answered.drop(columns=[*usage.TOKENS], errors="ignore")
        settings = Scores(self.run).answer_settings(judge)
        scores = score_reads(reads, answered, probe=self._probe, **settings)
        SCORES.write(scores, self._scores, **tokens)
        plain = as_reads(scores[scores["strategy"] == STRATEGIES[0]], answered, self.inputs.n)
        plain["ordering"] = [" ".join(map(str, ordering)) for ordering in plain["ordering"]]
        files.write_csv(plain, self.folder / READS)

    def _ask(self, requests: pd.DataFrame, watch: shard.Watch) -> pd.DataFrame:
        files.remove_leftovers(self.store.folder)
        return jobs.respond(requests, self.judge, self.store, Resources(), second_requests=True, watch=watch)

    @contextlib.contextmanager
    def _asking(self, watch: shard.Watch) -> Iterator[Callable[[pd.DataFrame], pd.DataFrame]]:
        """Several calls of the function use one engine."""
        files.remove_leftovers(self.store.folder)
        with jobs.open_rounds(self.judge, self.store, Resources(), second_requests=True, watch=watch) as ask:
            yield ask

    def written(self) -> list[str]:
        """Names of the files in the folder that people read."""
        return [name for name in (PAGE, SUMMARY, READS, ADAPTIVE, CONFIG) if (self.folder / name).exists()]

    def statistics(self, names: Iterable[str] = CARDS) -> dict[str, pd.DataFrame]:
        """Dictionary from each statistic to its estimates, computed once; by default the statistics of cards."""
        labels, paths = Labels(**labels_of(self.run)), dict[str, Path]()
        return {name: order_by_labels(ESTIMATES.read(self._estimated(name, paths)), labels) for name in names}

    def _estimated(self, name: str, made: dict[str, Path]) -> Path:
        """File of one statistic, which is computed after those that it reads, unless `made` has it; `made` gets all of
        them.
        """
        if name in made:
            return made[name]
        stages = Statistics(self.run)
        module = importlib.import_module(registry.module("statistics", name))

        def there(path: str) -> Path:
            return self._estimated(Path(path).stem, made) if path.startswith(STATISTICS) else self._path(path)

        paths = {argument: [*map(there, listed)] for argument, listed in stages.inputs(name).items()}
        tables = contract_inputs.read(module.COLUMNS, paths)
        settings = stages.arguments(name)
        output = self._path(f"results/statistics/{name}.parquet")
        ESTIMATES.write(module.estimate(**tables, **settings), output, **settings)
        made[name] = output
        return output

    def cards(self) -> list[Card]:
        """The bias cards of the judge, which are also written as ``summary.json`` and as a page."""
        drawings = {kind: Shown(self.run, kind) for kind in KINDS}
        behind = {name for kind in KINDS for name in drawings[kind].statistics}
        statistics = self.statistics(dict.fromkeys([*CARDS, *sorted(behind)]))
        prices = self.judge.capabilities.prices
        key = {"study": STUDY, "judge": self.name, "dataset": self.inputs.dataset}
        parts = parquet.read_metadata(self._scores).get(usage.METADATA, [])
        costs = usage.costs(parts, None if prices is None else prices.block(), key)
        cards = summary.made({name: statistics[name] for name in CARDS}, costs=costs)
        facts = Pages(self.run).run_facts()
        # No path of this machine is sent with the page.
        facts["datasets"][self.inputs.dataset]["files"] = self.inputs.block()["files"]
        if isinstance(self.judge.template, str):
            facts["judges"][self.name]["template"] = Path(self.judge.template).name
        content = summary.content(cards, facts)
        data = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        files.write_text(data, self.folder / SUMMARY)
        labels, notes = Labels(**labels_of(self.run)), self.notes
        if failed := failures(pd.read_parquet(self._responses, columns=["error"])["error"]):
            notes.append(f"Failed requests, for each reason their number and the first message: {failed}.")
        page = summary.page(
            [dataclasses.replace(card, notes=(*card.notes, *notes)) for card in cards],
            content,
            tables=[self._table(drawings["tables"], name, statistics, labels) for name in self.run.config.tables],
            figures=[self._figure(drawings["figures"], name, statistics, labels) for name in self.run.config.figures],
            labels=labels,
            reads={},
            table_folder="data/tables",
        )
        files.write_text(page, self.folder / PAGE)
        return cards

    @property
    def notes(self) -> list[str]:
        """Sentences about the texts, which a reader of the card should know."""
        return [SAMPLE_NOTE] if self.inputs.dataset == SAMPLE else []

    def _table(self, shown: Shown, name: str, statistics: Mapping[str, pd.DataFrame], labels: Labels) -> summary.Shown:
        module = importlib.import_module(registry.module("tables", name))
        wanted = {statistic: statistics[statistic] for statistic in shown.statistics_of(name)}
        rows, printed = rendering.rendered(module.TABLE, wanted, shown.arguments(name), labels)
        stem, caption = self._path(f"results/tables/{name}"), shown.caption_of(name)
        stem.parent.mkdir(parents=True, exist_ok=True)
        tables.write(rows, printed, stem, caption)
        return summary.Shown(shown.title_of(name), caption, stem.with_suffix(".html"))

    def _figure(self, shown: Shown, name: str, statistics: Mapping[str, pd.DataFrame], labels: Labels) -> summary.Shown:
        module = importlib.import_module(registry.module("figures", name))
        wanted = {statistic: statistics[statistic] for statistic in shown.statistics_of(name)}
        path = self._path(f"results/figures/{name}.svg")
        with plt.rc_context():
            figure = drawing.drawn(module, wanted, shown.arguments(name), labels, style=STYLE)
            output.save(figure, [path])
        plt.close(figure)
        return summary.Shown(shown.title_of(name), shown.caption_of(name), path)


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
    written: dict[str, Any] = {
        "datasets": {inputs.dataset: inputs.block()},
        "judges": {name: dict(block)},
        "studies": {
            STUDY: {
                "datasets": [inputs.dataset],
                "judges": [name],
                "scales": [inputs.n],
                "strategies": STRATEGIES,
            }
        },
        "figures": {"position_selection": selection, "score_effects": balanced},
        "tables": {
            "position_selection": {**scale},
            "human_agreement": {**scale},
            "score_effects": {"study": STUDY},
            "parse_failures": {"study": STUDY},
        },
    }
    run = Run.load(_absolute_paths(folder, written), folder, dry=True)
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
        yield Certification(folder, run, inputs)


def _absolute_paths(folder: Path, written: Mapping[str, Any]) -> dict[str, Any]:
    blocks = {
        name: block
        | {"files": {key: {"path": str((folder / file["path"]).absolute())} for key, file in block["files"].items()}}
        for name, block in written["datasets"].items()
    }
    return {**written, "datasets": blocks}


def _check_engine(judge: Judge) -> None:
    if judge.LOADED or not judge.ASKED:
        expected = "expected an endpoint, a decision model or a function; others take a clone and a config (make run)"
        raise InputError(f"engine {judge.engine!r}: {expected}")
    if isinstance(judge, Addressed) and importlib.util.find_spec(CLIENT) is None:
        raise InputError(f"package {CLIENT!r} is missing; expected pip install 'rubric-order[endpoint]'")
