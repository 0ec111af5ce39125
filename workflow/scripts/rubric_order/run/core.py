"""A run: its config, and the facts about it that all stages need."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rubric_order import probes
from rubric_order.base import files
from rubric_order.base.code_hash import code_version
from rubric_order.base.errors import InputError
from rubric_order.probes import Probe
from rubric_order.run import loading
from rubric_order.settings.config import Config
from rubric_order.settings.judges import Judge, Recorded
from rubric_order.settings.studies import Study


class Wildcards(Protocol):
    """Wildcards of a job, as Snakemake hands them on."""

    study: str
    dataset: str
    judge: str
    file: str
    model: str
    statistic: str
    table: str
    figure: str

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a wildcard that a rule may lack."""


Params = Callable[[Wildcards], Any]
_version = functools.cache(code_version)


@dataclass(frozen=True)
class Run:
    """A run of the workflow.

    Attributes:
        config: the complete and checked config.
        project: folder of the project; paths of its files are given relative to the working directory.
        refuse: function that makes the error that ends Snakemake with one line.
        dry: whether the files of settings are left unwritten, as in a dry run.
        cores: function that returns the number of cores that Snakemake may use. It is called only for a job that takes
            all cores.
        tells_costs: whether the run only tells what judging will cost.
    """

    config: Config
    project: Path
    refuse: Callable[[str], Exception] = ValueError
    dry: bool = False
    cores: Callable[[], int | None] = lambda: None
    tells_costs: bool = False
    _written: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def load(cls, config: Mapping[str, Any], project: Path, **others: Any) -> Run:
        """A run of a config as the user wrote it, see `loading.complete`.

        Raises:
            InputError: one line for each thing that is wrong.
        """
        return cls(loading.complete(config, folder=project), project, **others)

    def check_paths(self) -> None:
        """Check that the files of the run have paths that Snakemake can take.

        Raises:
            InputError: a path has braces, which Snakemake reads as wildcards.
        """
        config = self.config
        named: list[str | None] = [file.path for entry in config.datasets.values() for file in entry.files.values()]
        named += [entry.file for entry in config.references.values()]
        named += [judge.template for judge in config.judges.values() if isinstance(judge.template, str)]
        recorded = [path for judge in config.judges.values() if isinstance(judge, Recorded) for path in judge.files]
        for path in (str(self.project.absolute()), *(os.path.relpath(path) for path in named if path), *recorded):
            if {"{", "}"} & {*path}:
                raise InputError(f"{path}: Snakemake reads braces in a path as wildcards; expected another path")

    @property
    def results(self) -> str:
        """Folder of the run's results.

        Stored answers, fetched files and converted weights are elsewhere, since all runs share them.
        """
        return self.config.output

    @functools.cached_property
    def live(self) -> list[str]:
        """The judges that are asked."""
        return [name for name, judge in self.config.judges.items() if judge.ASKED]

    @functools.cached_property
    def recorded(self) -> list[str]:
        """The judges whose answers exist already."""
        return [name for name in self.config.judges if name not in self.live]

    @functools.cached_property
    def used_judges(self) -> list[str]:
        """The judges that studies use, in the order of the studies."""
        return list(dict.fromkeys(judge for study in self.config.studies.values() for judge in study.judges))

    @functools.cached_property
    def used_datasets(self) -> list[str]:
        """The datasets about which judges of studies have answers, in the order of the studies."""
        return list(dict.fromkeys(dataset for study in self.config.studies for dataset, _ in self.judged(study)))

    @functools.cached_property
    def unmade_references(self) -> list[str]:
        """Used datasets whose reference answers judges have yet to write; empty unless the run only tells the costs."""
        if not self.tells_costs:
            return []
        made_by_judges = [name for name, block in self.config.references.items() if block.judges]
        used = [name for name in self.used_datasets if name in made_by_judges]
        return [name for name in used if not Path(f"{self.results}/references/{name}.parquet").exists()]

    def weights(self, judge: str) -> list[str]:
        """File that names a judge's weights; no file if config names the weights.

        A run that only tells the costs does not ask the hub. It plans with the revision of config, see `unpinned`.
        """
        if not self.config.judges[judge].has_open_weights or judge in self.unpinned:
            return []
        return [self._weights(judge)]

    @functools.cached_property
    def unpinned(self) -> list[str]:
        """The judges whose revision the hub has not been asked for yet, in a run that only tells the costs."""
        if not self.tells_costs:
            return []
        of_hub = [name for name in self.live if self.config.judges[name].has_moving_revision]
        return [name for name in of_hub if not Path(self._weights(name)).exists()]

    def _weights(self, judge: str) -> str:
        return f"{self.results}/weights/{judge}.json"

    def judge(self, wildcards: Wildcards) -> Judge:
        """The judge of a job."""
        return self.config.judges[wildcards.judge]

    def own_template(self, judge: str) -> str | None:
        """File of a judge's own template; None without one. The workflow writes the file if config holds messages."""
        template = self.config.judges[judge].template
        if template is None or isinstance(template, str):
            return os.path.relpath(template) if template else None
        return f"{self.results}/prompts/{judge}.json"

    def study(self, wildcards: Wildcards) -> Study:
        """The study of a job."""
        return self.config.studies[wildcards.study]

    def probe(self, wildcards: Wildcards) -> Probe:
        """The probe of a job's study."""
        return probes.load(self.study(wildcards).probe)

    def judged(self, study: str) -> Iterator[tuple[str, str]]:
        """Pairs of a dataset of a study and a judge of the study that has answers about the dataset."""
        block = self.config.studies[study]
        for dataset in block.datasets:
            for judge in block.judges:
                if self.config.judges[judge].is_about(self.config.datasets[dataset]):
                    yield dataset, judge

    def studies_of(self, judge: str) -> dict[str, list[str]]:
        """The studies that use a judge, with their datasets, in the order of config."""
        return {name: study.datasets for name, study in self.config.studies.items() if judge in study.judges}

    def studies_until(self, study: str, judge: str) -> list[str]:
        """The studies that use a judge, in the order of config, up to and including the given one."""
        study_ids = list(self.studies_of(judge))
        return study_ids[: study_ids.index(study) + 1]

    def studies_meant(self, wildcards: Wildcards) -> list[str]:
        """The study of a job. For a job that has a judge but no study, the studies that use the judge."""
        study = wildcards.get("study")
        return [study] if study else list(self.studies_of(wildcards.judge))

    def probes_meant(self, wildcards: Wildcards) -> list[str]:
        """The probes of `studies_meant`."""
        return [self.config.studies[study].probe for study in self.studies_meant(wildcards)]

    def profiles_meant(self, wildcards: Wildcards) -> list[str]:
        """The profiles of a judge that `studies_meant` use."""
        wanted = (name for study in self.studies_meant(wildcards) for name in self.config.studies[study].profiles)
        return self.judge(wildcards).profiles_of(wanted)

    def score_files(self, studies: Iterator[str] | list[str]) -> list[str]:
        """Files of the scores of some studies, for all of their datasets and judges."""
        return [
            f"{self.results}/scores/{study}/{dataset}/{judge}.parquet"
            for study in studies
            for dataset, judge in self.judged(study)
        ]

    def source(self, path: str | Path) -> str:
        """Path of a file of the project, relative to the working directory."""
        return os.path.relpath(self.project / path)

    def entry(self, script: str) -> str:
        """Path of an entry script."""
        return self.source(f"workflow/scripts/{script}")

    def script(self, name: str, *modules: str | Callable[[Wildcards], str | list[str]]) -> dict[str, Params | str]:
        """The params of a rule that runs an entry script: the path of the script, and a hash of the code behind it."""
        return {"code": self.code(name, *modules), "entry": self.entry(name)}

    def code(self, script: str, *modules: str | Callable[[Wildcards], str | list[str]]) -> Params:
        """Make a params function: a hash of the code of an entry script and of the library modules behind it.

        Args:
            script: the entry script.
            modules: modules that the script loads by name: paths in the library, dotted names, or functions that
                return such paths or names.
        """

        def version(wildcards: Wildcards) -> str:
            given = (module(wildcards) if callable(module) else module for module in modules)
            paths = [path for group in given for path in ([group] if isinstance(group, str) else group)]
            return _version(self.project / "workflow/scripts" / script, tuple(paths))

        return version

    def in_file(self, value: object, *, tracked: object = None, sort_keys: bool = True) -> str:
        """Write settings to a file, and return its path for a command line.

        The file is named by a hash of the settings, or of the part on which outputs depend. So command lines,
        Snakemake's records and the report hold a path, and other settings have another path. A dry run writes no file.

        Args:
            value: the settings.
            tracked: part of the settings whose hash names the file; None for all of the settings.
            sort_keys: False if the order of keys matters.
        """
        text = json.dumps(value, sort_keys=sort_keys)
        naming = text if tracked is None else json.dumps(tracked, sort_keys=sort_keys)
        path = f"{self.results}/settings/{hashlib.blake2b(naming.encode(), digest_size=16).hexdigest()}.json"
        if not self.dry and path not in self._written:
            # Finished results may be on a disk that cannot be written to.
            if not Path(path).exists() or Path(path).read_text(encoding="utf-8") != text:
                files.write_text(text, path)
            self._written.add(path)
        return path


def untracked(function: Callable[[Any, Wildcards], Any]) -> Callable[[Any, Wildcards, Any], Any]:
    """Hide a params function of a stage from Snakemake's tracking, since no output depends on its value.

    Snakemake does not track a params function that takes `output`.
    """

    @functools.wraps(function)
    def call(stage: Any, wildcards: Wildcards, output: Any) -> Any:
        return function(stage, wildcards)

    del call.__wrapped__  # Snakemake would read the signature of the wrapped function
    return call


@dataclass(frozen=True)
class Stage:
    """Functions of one stage's rules: input and params functions, which take the wildcards of a job."""

    run: Run

    @property
    def config(self) -> Config:
        """The run's config."""
        return self.run.config
