"""A run: its config, and the facts about it that all stages need."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rubric_order import probes
from rubric_order.base import files
from rubric_order.base.code_hash import code_version
from rubric_order.base.errors import InputError
from rubric_order.probes import Probe
from rubric_order.run import loading
from rubric_order.settings.config import Config
from rubric_order.settings.judges.judge import Judge
from rubric_order.settings.judges.recorded import Recorded
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
Found = TypeVar("Found")
_version = functools.cache(code_version)


@dataclass(frozen=True)
class Run:
    """One run of the workflow.

    Attributes:
        config: complete and checked.
        project: folder to which paths of the project's files are relative.
        refuse: makes the error that ends Snakemake with one line.
        dry: settings are not written to files.
        cores: number of cores that Snakemake may use; asked only for a job that takes all of them.
        tells_costs: the run only reports the cost of judging.
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
        """Complete and check a config as the user wrote it, see `loading.complete`."""
        return cls(loading.complete(config, folder=project), project, **others)

    def check_paths(self) -> None:
        """Refuse paths with braces, which Snakemake would read as wildcards."""
        config = self.config
        named: list[str | None] = [file.path for entry in config.datasets.values() for file in entry.files.values()]
        named += [entry.file for entry in config.references.values()]
        named += [judge.template for judge in config.judges.values() if isinstance(judge.template, str)]
        recorded = [path for judge in config.judges.values() if isinstance(judge, Recorded) for path in judge.files]
        for path in (str(self.project.absolute()), *(os.path.relpath(path) for path in named if path), *recorded):
            if {"{", "}"} & {*path}:
                raise InputError(f"{path}: Snakemake reads braces in a path as wildcards; expected another path")

    def look_up(self, find: Callable[..., Found], *names: str) -> Found:
        """Result of `find`; where it finds nothing, its message ends Snakemake."""
        try:
            return find(*names)
        except InputError as error:
            raise self.refuse(str(error)) from None

    @property
    def results(self) -> str:
        """Folder of the run's results; all runs share stored answers, fetched files and converted weights."""
        return self.config.output

    @functools.cached_property
    def live(self) -> list[str]:
        return [name for name, judge in self.config.judges.items() if judge.ASKED]

    @functools.cached_property
    def recorded(self) -> list[str]:
        return [name for name in self.config.judges if name not in self.live]

    @functools.cached_property
    def used_judges(self) -> list[str]:
        """Judges of studies, in the order of the studies."""
        return list(dict.fromkeys(judge for study in self.config.studies.values() for judge in study.judges))

    @functools.cached_property
    def used_datasets(self) -> list[str]:
        """Datasets about which judges of studies have answers, in the order of the studies."""
        return list(dict.fromkeys(dataset for study in self.config.studies for dataset, _ in self.judged(study)))

    @functools.cached_property
    def unmade_references(self) -> list[str]:
        """Used datasets whose reference answers judges have yet to write; empty unless the run only reports costs."""
        if not self.tells_costs:
            return []
        made_by_judges = [name for name, block in self.config.references.items() if block.judges]
        used = [name for name in self.used_datasets if name in made_by_judges]
        return [name for name in used if not Path(f"{self.results}/references/{name}.parquet").exists()]

    def weights(self, judge: str) -> list[str]:
        """File with a judge's weights; none if config names them, or if a report of costs plans with the revision of
        config (`unpinned`).
        """
        if not self.config.judges[judge].has_open_weights or judge in self.unpinned:
            return []
        return [self._weights(judge)]

    @functools.cached_property
    def unpinned(self) -> list[str]:
        """Judges whose revision the hub has not been asked for; empty unless the run only reports costs."""
        if not self.tells_costs:
            return []
        of_hub = [name for name in self.live if self.config.judges[name].has_moving_revision]
        return [name for name in of_hub if not Path(self._weights(name)).exists()]

    def _weights(self, judge: str) -> str:
        return f"{self.results}/weights/{judge}.json"

    def judge(self, wildcards: Wildcards) -> Judge:
        return self.config.judges[wildcards.judge]

    def own_template(self, judge: str) -> str | None:
        """File of a judge's own template, which the workflow writes if config holds messages."""
        template = self.config.judges[judge].template
        if template is None or isinstance(template, str):
            return os.path.relpath(template) if template else None
        return f"{self.results}/prompts/{judge}.json"

    def study(self, wildcards: Wildcards) -> Study:
        return self.config.studies[wildcards.study]

    def probe(self, wildcards: Wildcards) -> Probe:
        return probes.load(self.study(wildcards).probe)

    def judged(self, study: str) -> Iterator[tuple[str, str]]:
        """Pairs of dataset and judge of a study, where the judge has answers about the dataset."""
        block = self.config.studies[study]
        for dataset in block.datasets:
            for judge in block.judges:
                if self.config.judges[judge].is_about(self.config.datasets[dataset]):
                    yield dataset, judge

    def studies_of(self, judge: str) -> dict[str, list[str]]:
        """Datasets of each study that uses a judge, in the order of config."""
        return {name: study.datasets for name, study in self.config.studies.items() if judge in study.judges}

    def studies_until(self, study: str, judge: str) -> list[str]:
        """Studies that use a judge, in the order of config, up to and including `study`."""
        study_ids = list(self.studies_of(judge))
        return study_ids[: study_ids.index(study) + 1]

    def studies_meant(self, wildcards: Wildcards) -> list[str]:
        """The job's study; without one, all studies of its judge."""
        study = wildcards.get("study")
        return [study] if study else list(self.studies_of(wildcards.judge))

    def probes_meant(self, wildcards: Wildcards) -> list[str]:
        return [self.config.studies[study].probe for study in self.studies_meant(wildcards)]

    def profiles_meant(self, wildcards: Wildcards) -> list[str]:
        """Profiles of the job's judge that `studies_meant` use."""
        wanted = (name for study in self.studies_meant(wildcards) for name in self.config.studies[study].profiles)
        return self.judge(wildcards).profiles_of(wanted)

    def score_files(self, studies: Iterator[str] | list[str]) -> list[str]:
        return [
            f"{self.results}/scores/{study}/{dataset}/{judge}.parquet"
            for study in studies
            for dataset, judge in self.judged(study)
        ]

    def source(self, path: str | Path) -> str:
        return os.path.relpath(self.project / path)

    def entry(self, script: str) -> str:
        return self.source(f"workflow/scripts/{script}")

    def script(self, name: str, *modules: str | Callable[[Wildcards], str | list[str]]) -> dict[str, Params | str]:
        """Params of a rule that runs an entry script: its path, and a hash of the code behind it."""
        return {"code": self.code(name, *modules), "entry": self.entry(name)}

    def code(self, script: str, *modules: str | Callable[[Wildcards], str | list[str]]) -> Params:
        """Params function for a hash of an entry script and of the library behind it; `modules` are loaded by name (see
        `code_version`).
        """

        def version(wildcards: Wildcards) -> str:
            groups = (module(wildcards) if callable(module) else module for module in modules)
            paths = [path for group in groups for path in ([group] if isinstance(group, str) else group)]
            return _version(self.project / "workflow/scripts" / script, tuple(paths))

        return version

    def settings_file(self, value: object, *, tracked: object = None, sort_keys: bool = True) -> str:
        """Write settings to a file named by the hash of `tracked` (default: of all), and return its path for a command
        line. So other tracked settings have another path. A dry run writes nothing.
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
    """Hide a params function from Snakemake's tracking, which leaves out functions that take `output`: no output
    depends on its value.
    """

    @functools.wraps(function)
    def call(stage: Any, wildcards: Wildcards, output: Any) -> Any:
        return function(stage, wildcards)

    del call.__wrapped__  # Snakemake would read the signature of the wrapped function
    return call


@dataclass(frozen=True)
class Stage:
    """Input and params functions of one stage's rules."""

    run: Run

    @property
    def config(self) -> Config:
        return self.run.config
