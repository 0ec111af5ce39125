"""A rehearsal: a config's reads, tables and figures by simulated judges on a few groups, in a folder of its own,
without any request or download.
"""

import itertools
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rubric_order.base.conditions import split
from rubric_order.base.errors import InputError
from rubric_order.intake.recorded import discovery, importers
from rubric_order.prompts.conditions import TOGETHER
from rubric_order.settings.judges.judge import Judge, Profile, Sampling
from rubric_order.settings.judges.recorded import Recorded, Rehearsed
from rubric_order.settings.judges.simulated import Simulated, Simulation
from rubric_order.settings.studies import Dataset, File

if TYPE_CHECKING:
    from rubric_order.settings.config import Config

FOLDER = "rehearsal"  # where it runs, below the folder in which the workflow was started
FETCHED = "results/data"  # files that the workflow has fetched and checked
RECORDS = "recorded"  # folder in the results: answers of simulated judges in place of records
SCALED = ("mcq", "rts")  # prompt styles of the two judges that replace recorded judges

# Parameters of the judges that answer in a rehearsal. Each judge has all biases, so that no table lacks an effect.
BIAS = {
    "preference_strength": 0.6,
    "decisiveness": 0.8,
    "item_error": 0.6,
    "item_positions": 0.3,
    "prompts": 0.4,
    "criterion_position": 0.3,
    "carry_over": 0.1,
    "number_attraction": 0.2,
    "text_attraction": 0.1,
    "length": 0.2,
    "tie": -0.5,
    "writing_error": 0.4,
    "reviewing_error": 0.2,
    "failure_rate": 0.02,
}
SHAPES = ("first", "last", "u_shaped")

# Settings that say where a simulated judge runs.
_NO_MODEL = {"gpu": 0, "shards": 1, "throughput": None, "mem": "2GB", "runtime": "1h", "second_request": False}
_DEFAULTS = {"temperature": 1}  # for sampling settings that are left to an endpoint, if `Sampling` has another default


def add_recorded_judges(config: dict[str, Any]) -> None:
    """Name judges, in place, in the studies of recorded answers of an unchecked config that have none: for scores one
    model under both prompt styles of `SCALED`, for comparisons the judges that `statistics` names, or two.
    """
    studies = config.get("studies")
    comparing = _recorded_names(config) or [f"stand_in_{number}" for number, _ in enumerate(SCALED, start=1)]
    for study in studies.values() if isinstance(studies, Mapping) else ():
        if not isinstance(study, dict) or study.get("strategies") != [discovery.STRATEGY] or study.get("judges") != []:
            continue
        compares = study.get("probe") in discovery.COMPARING
        styles = dict.fromkeys(comparing) if compares else {f"stand_in_scores_{style}": style for style in SCALED}
        for name, style in styles.items():
            config.setdefault("judges", {})[name] = {
                "engine": discovery.STRATEGY,
                "model": name if compares else "stand_in",
                "label": f"Stand-in ({style or name})",
                "prompt_style": style,
                "compares": compares,
                "adapters": None,
                "files": [name],
            }
            study["judges"] = [*study["judges"], name]


def _recorded_names(config: Mapping[str, Any]) -> list[str]:
    """Judges that the statistics of comparisons name and the config does not define."""
    statistics = config.get("statistics")
    statistics = statistics if isinstance(statistics, Mapping) else {}
    recorded = []
    for block, key in (("replication", "judges"), ("judges_compared", "families")):
        settings = statistics.get(block)
        of_block = settings.get(key) if isinstance(settings, Mapping) else None
        recorded += [str(name).partition("/")[0] for name in of_block] if isinstance(of_block, Mapping) else []
    return [name for name in dict.fromkeys(recorded) if name not in config.get("judges", {})]


def apply(config: "Config") -> "Config":
    """Turn a complete config into its rehearsal. Paths become absolute, since it runs in another folder. A dataset
    keeps `stand_in` (options of adapter ``simulated``) if it has no texts, names no files, or lacks one on this
    machine.
    """
    for name, study in config.studies.items():
        for condition in study.conditions:
            if TOGETHER in split(condition):
                raise InputError(
                    f"config: studies/{name}/conditions: {condition!r} cannot be rehearsed, since a simulated judge"
                    " answers one ordering per request; expected a rehearsal without it"
                )
    mirror = os.path.abspath(config.dataset_mirror) if config.dataset_mirror else ""
    config = config.changed(
        dataset_mirror=mirror,
        datasets={name: _cut(name, dataset, config.rehearse or 0, mirror) for name, dataset in config.datasets.items()},
    )
    records = f"{config.output}/{RECORDS}"
    judges = {
        name: _simulated(
            name, judge, [f"{records}/{name}/{dataset}.jsonl" for dataset in _datasets_of(name, judge, config)]
        )
        for name, judge in config.judges.items()
    }
    config = config.changed(judges=judges)
    references = dict(config.references)
    for name, block in references.items():
        if block.file is not None:
            references[name] = block.changed(file=None, judges=[_first_judge(config, name)])
    return config.changed(references=references)


def _cut(name: str, dataset: Dataset, groups: int, mirror: str) -> Dataset:
    """Limit a dataset to `groups` groups, simulated if it has no texts or a file is not at hand."""
    from rubric_order.simulation.judge import HIGH, LOW  # imports scipy

    limit = min(groups, dataset.limit or groups)
    files = {key: _local_file(name, key, file, mirror) for key, file in dataset.files.items()}
    at_hand = None not in files.values() and (files or not dataset.stand_in)
    if at_hand and dataset.adapter != importers.RECORDED:
        return dataset.changed(limit=limit, files=files, stand_in=None)
    stand_in = {**(dataset.stand_in or {}), "n_groups": limit}
    return dataset.changed(limit=limit, stand_in=stand_in, human_scale=[int(LOW), int(HIGH)])


def _local_file(dataset: str, name: str, file: File, mirror: str) -> File | None:
    """A file as it is read without the network; None if it would have to be downloaded."""
    fetched = Path(FETCHED, dataset, name)
    if file.path is not None:
        return file.changed(path=os.path.abspath(file.path))
    if mirror and file.mirror is not None and Path(mirror, file.mirror).exists():
        return file
    return File(path=str(fetched.absolute())) if fetched.exists() else None


def _datasets_of(name: str, judge: Judge, config: "Config") -> list[str]:
    lists = (study.datasets for study in config.studies.values() if name in study.judges)
    return [dataset for dataset in dict.fromkeys(itertools.chain(*lists)) if judge.is_about(config.datasets[dataset])]


def _simulated(name: str, judge: Judge, files: list[str]) -> Judge:
    """The simulated judge that replaces a judge, and writes its answers to `files` in place of records; simulated
    judges stay.
    """
    if isinstance(judge.template, str):
        judge = judge.changed(template=os.path.abspath(judge.template))
    if isinstance(judge, Simulated):
        return judge
    seed = zlib.crc32(name.encode())
    simulation = Simulation.model_validate({"seed": seed, "preference": SHAPES[seed % len(SHAPES)], **BIAS})
    if isinstance(judge, Recorded):
        changes = {"simulation": simulation, "files": files, "unknown": "skip"}
        return Rehearsed.model_construct(_fields_set={*judge.model_fields_set, *changes}, **{**dict(judge), **changes})
    shared = {key: value for key, value in judge if key in Simulated.model_fields}
    shared |= {
        "engine": Simulated.KIND,
        "simulation": simulation,
        "sampling": _own_sampling(judge.sampling),
        **_NO_MODEL,
    }
    if not judge.capabilities.writes:  # option probabilities replace the probabilities of a decision
        shared["answer_format"] = "score"
    shared["profiles"] = {name: _own_profile(profile) for name, profile in judge.profiles.items()}
    return Simulated.model_construct(_fields_set=set(shared), **shared)


def _own_sampling(sampling: Sampling) -> Sampling:
    usual = Sampling().block() | _DEFAULTS
    return sampling.changed(**{key: usual[key] for key, value in sampling if value is None})


def _own_profile(profile: Profile) -> Profile:
    """A profile without fields of requests, and with sampling that leaves nothing to an endpoint."""
    changes = profile.block()
    changes.pop("extra_body", None)
    usual = Sampling().block() | _DEFAULTS
    if "sampling" in changes:
        changes["sampling"] = {
            key: usual[key] if value is None else value for key, value in changes["sampling"].items()
        }
    return Profile.model_validate(changes)


def _first_judge(config: "Config", dataset: str) -> str:
    every_study = config.studies.values()
    studies = [*(study for study in every_study if dataset in study.datasets), *every_study]
    named = (judge for study in studies for judge in study.judges)
    return next(judge for judge in named if isinstance(config.judges[judge], Simulated))


def folder(config: "Config") -> str:
    """Folder of a rehearsal below the one in which the workflow was started; empty in any other run."""
    return FOLDER if config.rehearse else ""


def note(config: "Config") -> str:
    """One or two sentences for every page of a rehearsal; empty in any other run."""
    if not config.rehearse:
        return ""
    missing = stand_ins(config)
    data = f" Simulated data stand in for {', '.join(missing)}." if missing else ""
    groups = f"{config.rehearse} groups of each dataset"
    return f"Rehearsal with simulated judges on {groups}: no number here is a finding.{data}"


def stand_ins(config: "Config") -> list[str]:
    """Labels of used datasets that are simulated since their files are not at hand."""
    studies = [study.datasets for study in config.studies.values()]
    used = dict.fromkeys(itertools.chain(*studies, config.statistics.datasets.datasets or ()))
    return [config.datasets[name].label for name in used if config.datasets[name].stand_in is not None]
