"""Stages from datasets to scores: inputs, arguments and tracked settings of their rules."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rubric_order import datasets, probes
from rubric_order.intake.recorded import discovery, formats
from rubric_order.intake.recorded.importers import RECORDED
from rubric_order.judging import answers, engines, weights
from rubric_order.run.core import Params, Stage, Wildcards, untracked
from rubric_order.settings.base import plain
from rubric_order.settings.judges import Decisions, Judge, Loaded, Recorded, tracked
from rubric_order.settings.studies import Dataset, File, Study


class Datasets(Stage):
    """Stage from a dataset's files to its items."""

    def adapter_module(self, wildcards: Wildcards) -> str:
        return datasets.REGISTRY.module(self._source(wildcards)["adapter"])

    def file_source(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self._dataset(wildcards).files[wildcards.file].block())

    @untracked
    def mirror(self, wildcards: Wildcards) -> str:
        """Folder that replaces the network; untracked, since a file is identified by its checksum alone."""
        return self.config.dataset_mirror

    def files(self, wildcards: Wildcards) -> list[str]:
        """Files of a dataset where config has them, or where they are fetched to."""
        return [
            os.path.relpath(file.path) if file.path is not None else f"results/data/{wildcards.dataset}/{name}"
            for name, file in self._files(wildcards).items()
        ]

    def named_files(self, wildcards: Wildcards) -> list[str]:
        return [f"{name}={path}" for name, path in zip(self._files(wildcards), self.files(wildcards), strict=True)]

    def settings(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self._source(wildcards))

    def _dataset(self, wildcards: Wildcards) -> Dataset:
        return self.config.datasets[wildcards.dataset]

    def _source(self, wildcards: Wildcards) -> dict[str, Any]:
        """Adapter, limit and options of a dataset, or of the simulated data that replace it in a rehearsal."""
        dataset = self._dataset(wildcards)
        if self.config.rehearse and dataset.stand_in is not None:
            return {"adapter": "simulated", "limit": dataset.limit, "options": dataset.stand_in}
        return {"adapter": dataset.adapter, "limit": dataset.limit, "options": dataset.options}

    def _files(self, wildcards: Wildcards) -> dict[str, File]:
        simulated = self._source(wildcards)["adapter"] == "simulated"
        return {} if simulated else self._dataset(wildcards).files


class Models(Stage):
    """Weights of judges."""

    def source(self, wildcards: Wildcards) -> str:
        """Model and revision of a judge; for local weights also sizes and times of files, so that unchanged weights are
        read once.
        """
        judge = self.run.judge(wildcards)
        settings: dict[str, Any] = {"model": judge.model, "revision": judge.revision}
        return self.run.settings_file(settings | ({"files": weights.state(judge.model)} if judge.is_local else {}))

    def gguf(self, wildcards: Wildcards) -> str:
        loaded = [judge for judge in self.config.judges.values() if isinstance(judge, Loaded) and judge.gguf]
        judge = next(judge for judge in loaded if judge.folder_name == wildcards.model)
        return self.run.settings_file({**plain(judge.gguf), "dtype": judge.dtype})

    def weights(self, wildcards: Wildcards) -> list[str]:
        return self.run.weights(wildcards.judge)

    def folder(self, wildcards: Wildcards) -> list[str]:
        """Folder of weights that the workflow converts itself from a GGUF file."""
        judge = self.run.judge(wildcards)
        return [f"results/models/{judge.folder_name}"] if judge.needs_conversion else []


class Planning(Stage):
    """Stage from items to reads, and from reads to requests."""

    def probe_module(self, wildcards: Wildcards) -> str:
        return probes.REGISTRY.module(self.run.study(wildcards).probe)

    def probe(self, wildcards: Wildcards) -> str:
        return self.run.study(wildcards).probe

    def template(self, wildcards: Wildcards) -> str:
        """File of the judge's own template, or of the probe's template for the judge."""
        judge = self.run.judge(wildcards)
        if (path := self.run.own_template(wildcards.judge)) is not None:
            return path
        name = self.run.probe(wildcards).template(judge, self.run.study(wildcards).prompt)
        return self.run.source(Path("resources/templates", f"{name}.jinja"))

    def messages(self, wildcards: Wildcards) -> str:
        """Messages of a judge's own template, if config holds them itself."""
        return self.run.settings_file(plain(self.run.judge(wildcards).template))

    def references(self, wildcards: Wildcards) -> list[str]:
        return self._references([wildcards.dataset])

    def references_of_study(self, wildcards: Wildcards) -> list[str]:
        return self._references(self.run.study(wildcards).datasets)

    def _references(self, names: list[str]) -> list[str]:
        ready = [name for name in names if name in self.config.references and name not in self.run.unmade_references]
        return [f"{self.run.results}/references/{name}.parquet" for name in ready]

    def judge(self, wildcards: Wildcards) -> str:
        """Settings of a judge, tracked by those that answers depend on, the profiles that studies use, and reuse of
        greedy repeats.
        """
        judge = self.run.judge(wildcards)
        part = judge.identity(self.run.probe(wildcards).IDENTITY)
        if judge.greedy_repeats == "reuse":
            part["greedy_repeats"] = "reuse"
        return self.run.settings_file(judge.block(), tracked=self.add_profiles(part, wildcards))

    def add_profiles(self, part: dict[str, Any], wildcards: Wildcards) -> dict[str, Any]:
        profiles = self.run.judge(wildcards).profiles
        used = {name: profiles[name].block() for name in self.run.profiles_meant(wildcards) if name in profiles}
        return {**part, "profiles": used} if used else part

    def profiles(self, wildcards: Wildcards) -> list[str]:
        return self.run.profiles_meant(wildcards)

    def design(self, wildcards: Wildcards) -> str:
        design = self.design_of(self.run.study(wildcards))
        return self.run.settings_file(design | {"comparisons": self._comparisons(wildcards)})

    def design_of(self, study: Study) -> dict[str, Any]:
        """Reads that a study wants of each unit, as `Design` takes them, without pairs and lists."""
        keys = ("scales", "strategies", "budget", "seed", "conditions", "crossed")
        drawn = {"sample": study.sample} if study.sample is not None else {}
        return {key: getattr(study, key) for key in keys} | drawn

    def comparisons(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self._comparisons(wildcards))

    def _comparisons(self, wildcards: Wildcards) -> dict[str, Any]:
        """Pairs or lists that a study reads, and the name of the prompt; empty if its probe does not compare."""
        study, probe, judge = self.run.study(wildcards), self.run.probe(wildcards), self.run.judge(wildcards)
        if not probe.COMPARES:
            return {}
        prompt = "own" if judge.template is not None else probe.template(judge, study.prompt)
        return study.comparisons.block() | {"seed": study.seed, "prompt": prompt}

    def dataset_files(self, pattern: str) -> Params:
        """Input function: one kind of file for each dataset of a study."""

        def paths(wildcards: Any) -> list[str]:
            return [pattern.format(**{**wildcards, "dataset": name}) for name in self.run.study(wildcards).datasets]

        return paths

    def earlier_requests(self, wildcards: Wildcards) -> list[str]:
        """Requests that earlier studies send to the same judge, and that are not sent again."""
        *earlier, _ = self.run.studies_until(wildcards.study, wildcards.judge)
        return [f"{self.run.results}/requests/{study}/{wildcards.judge}.parquet" for study in earlier]

    def planned(self, pattern: str) -> Params:
        """Input function: one kind of planning file for every study, live judge and dataset."""

        def paths(wildcards: Wildcards) -> list[str]:
            named = (
                pattern.format(study=name, judge=judge, dataset=dataset)
                for name, study in self.config.studies.items()
                for judge in study.judges
                for dataset in study.datasets
                if judge in self.run.live
            )
            return list(dict.fromkeys(named))

        return paths


@dataclass(frozen=True)
class Judging(Stage):
    """Asking the judges; `containerizes`: Snakemake lists the environments of an image (``--containerize``)."""

    containerizes: bool = False

    def engine_module(self, wildcards: Wildcards) -> str:
        return engines.module(self.run.judge(wildcards))

    def reader_modules(self, wildcards: Wildcards) -> str | list[str]:
        """Modules of the probes that read first answers, to decide on second requests; else the package alone."""
        if not self.run.judge(wildcards).second_request:
            return "probes/__init__.py"
        return sorted(map(probes.REGISTRY.module, {*self.run.probes_meant(wildcards)}))

    def requests(self, wildcards: Wildcards) -> list[str]:
        return [
            f"{self.run.results}/requests/{study}/{wildcards.judge}.parquet"
            for study in self.run.studies_of(wildcards.judge)
        ]

    def probes(self, wildcards: Wildcards) -> list[str]:
        """Probes of the studies of a judge; refused in a run of costs that plans without its revision or without
        reference answers.
        """
        if wildcards.judge in self.run.unpinned:
            raise self.run.refuse(
                f"plan_cost plans with judge {wildcards.judge!r} under a revision that the hub has not been asked for,"
                " so that it cannot be asked in the same run; expected plan_cost alone"
            )
        if self.run.unmade_references:
            raise self.run.refuse(
                "plan_cost plans without the reference answers that are not there yet, so that no judge can be asked in"
                " the same run; expected plan_cost alone"
            )
        return self.run.probes_meant(wildcards)

    def judge(self, wildcards: Wildcards) -> str:
        """Settings of a judge, tracked by those that answers depend on and the profiles that studies use."""
        judge = self.run.judge(wildcards)
        part = tracked(judge)
        if not any("criteria_format" in probes.load(probe).IDENTITY for probe in self.run.probes_meant(wildcards)):
            del part["criteria_format"]
        part = Planning(self.run).add_profiles(part, wildcards)
        return self.run.settings_file(judge.block(), tracked=part)

    def environment(self, *, in_image: str) -> str | Callable[[Wildcards], str]:
        """Environment of a judge's job; `in_image` while an image is described, which needs all environments and none
        by job.
        """
        return f"../../envs/{in_image}.yaml" if self.containerizes else self.environment_of

    def environment_of(self, wildcards: Wildcards) -> str:
        """The environment of a judge: where it runs decides which build of vLLM it needs, if any."""
        judge = self.run.judge(wildcards)
        name = "endpoint" if judge.CALLED else "analysis" if not judge.LOADED else "judge" if judge.gpu else "judge_cpu"
        return f"../../envs/{name}.yaml"

    def threads(self, wildcards: Wildcards) -> int:
        """All cores for a model on the CPU, 4 for a model on a GPU, 1 without a model."""
        judge = self.run.judge(wildcards)
        if not judge.LOADED:
            return 1
        return 4 if judge.gpu else self.run.cores() or 1

    @property
    def resources(self) -> dict[str, Callable[[Wildcards], object]]:
        return {
            "gpu": lambda wildcards: self.run.judge(wildcards).gpu,
            "mem": lambda wildcards: self.run.judge(wildcards).mem,
            "runtime": lambda wildcards: self.run.judge(wildcards).runtime,
        }

    def shards(self, wildcards: Wildcards) -> int:
        return self.run.judge(wildcards).shards


class Records(Stage):
    """Judges whose answers exist already, in files."""

    def importer_modules(self, wildcards: Wildcards) -> list[str]:
        """All modules that read recorded answers, since each file says which of them reads it."""
        return sorted({formats.REGISTRY.module(name) for name in formats.REGISTRY.names()})

    def files(self, wildcards: Wildcards) -> list[str]:
        judge = self.run.judge(wildcards)
        return judge.files if isinstance(judge, Recorded) else []

    def items(self, wildcards: Wildcards) -> list[str]:
        """Items that recorded answers score; none if the answers compare items, which need not exist."""
        compared = self.run.study(wildcards).probe in discovery.COMPARING
        return [] if compared else [f"{self.run.results}/items/{wildcards.dataset}.parquet"]

    def dataset(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self._named(wildcards))

    def compared(self, wildcards: Wildcards) -> str:
        probe = self.run.study(wildcards).probe
        return self.run.settings_file(self._named(wildcards) | ({"probe": probe} if probe == discovery.LISTS else {}))

    def _named(self, wildcards: Wildcards) -> dict[str, Any]:
        dataset = self.config.datasets[wildcards.dataset]
        named = {"name": wildcards.dataset, "adapter": dataset.adapter}
        benchmark = dataset.block()["options"].get("benchmark") if dataset.adapter == RECORDED else None
        return named if benchmark is None else named | {"benchmark": benchmark}

    def judge(self, wildcards: Wildcards) -> str:
        judge = self.run.judge(wildcards)
        return self.run.settings_file(judge.block(), tracked=tracked(judge))


class Scores(Stage):
    """Stage from raw answers to scores."""

    def folder(self, wildcards: Wildcards) -> str:
        return f"{self.run.results}/responses/{wildcards.judge}"

    def responses(self, wildcards: Wildcards) -> list[str]:
        """Responses of a judge, one file per shard, for all studies."""
        shards = range(1, self.run.judge(wildcards).shards + 1)
        return [f"{self.run.results}/responses/{wildcards.judge}/{shard}.parquet" for shard in shards]

    def judge(self, wildcards: Wildcards) -> str:
        """Settings of a judge, tracked by its name and `accept_mixed`, on which the list of its answers depends."""
        judge = self.run.judge(wildcards)
        part = {"judge": wildcards.judge, "accept_mixed": judge.accept_mixed}
        return self.run.settings_file(judge.block(), tracked=part)

    def answer(self, wildcards: Wildcards) -> str:
        return self.run.settings_file(self.answer_settings(self.run.judge(wildcards)))

    def answer_settings(self, judge: Judge) -> dict[str, Any]:
        """Settings that the parsing of a judge's answers depends on, as `score_reads` takes them."""
        settings: dict[str, Any] = {"answer_prefix": judge.answer_prefix, "labels": judge.option_letters}
        if isinstance(judge, Decisions):
            settings["form"] = [judge.dialect, judge.question]
        return settings

    def code(self, wildcards: Wildcards) -> str:
        version: str = self.run.code("parse_scores.py", Planning(self.run).probe_module)(wildcards)
        return version

    @untracked
    def studies(self, wildcards: Wildcards) -> list[str]:
        """Studies up to the job's, each of which sends the requests that no earlier one needs; untracked, since answers
        are tracked.
        """
        return self.run.studies_until(wildcards.study, wildcards.judge)

    @untracked
    def shards(self, wildcards: Wildcards) -> int:
        return self.run.judge(wildcards).shards

    def second_request(self, wildcards: Wildcards) -> bool:
        """True if a judge gets second requests, which change the answers to the same first requests."""
        return self.run.judge(wildcards).second_request

    @untracked
    def made_by(self, wildcards: Wildcards) -> str:
        """Hash of the code and settings that make scores; untracked, since both are tracked."""
        return self._made_by(wildcards)

    def _made_by(self, wildcards: Wildcards) -> str:
        judge, probe = self.run.judge(wildcards), self.run.study(wildcards).probe
        makers = [self.code(wildcards), probe, self.answer_settings(judge), judge.second_request]
        return hashlib.blake2b(json.dumps(makers, sort_keys=True).encode(), digest_size=8).hexdigest()

    def answers(self, settled: Callable[[str], Any]) -> Params:
        """Input function: the file that describes a judge's answers, `settled` (as by Snakemake's `ancient`) where what
        this study's scores depend on is unchanged, so that a study added to a config makes no score anew.
        """

        def path(wildcards: Wildcards) -> Any:
            judge, listed = wildcards.judge, f"{self.run.results}/responses/{wildcards.judge}.json"
            place = f"{wildcards.study}/{wildcards.dataset}/{judge}.parquet"
            needed = self.run.studies_until(wildcards.study, judge) if judge in self.run.live else []
            same = needed and answers.unchanged(
                Path(listed),
                Path(f"{self.run.results}/scores/{place}"),
                Path(f"{self.run.results}/plan/{place}"),
                studies=needed,
                store=Path(f"results/store/{judge}"),
                made_by=self._made_by(wildcards),
            )
            return settled(listed) if same else listed

        return path
