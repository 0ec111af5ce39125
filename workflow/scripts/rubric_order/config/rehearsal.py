"""A rehearsal: the run that a config describes, by simulated judges, on a few groups of each dataset.

It asks nobody, downloads nothing, and writes into a folder of its own. Judges keep their names, labels, profiles and
prompts, so that a rehearsal plans the reads of the run, and makes all of its tables and figures.
"""

import itertools
import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from rubric_order.recorded import discovery

FOLDER = "rehearsal"  # where it runs, below the folder in which the workflow was started
FETCHED = "results/data"  # files that the workflow has fetched and checked
RECORDS = "results/recorded"  # what simulated judges answer in the place of records
SCALED = ("mcq", "rts")  # prompt styles of the two judges that stand in for recorded ones

# What a judge's answers come from in a rehearsal. All have some bias, so that no table is empty for want of one.
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

# Settings of where and how a model runs: a simulated one has none of them.
_NO_MODEL = {
    **{"gguf": None, "serve": None, "gpu": 0, "shards": 1, "throughput": None, "prices": None, "mem": "2GB"},
    **{"runtime": "1h", "second_request": False},
}
_SIMULATED = "simulated"
# Of the settings of sampling that are left to an endpoint.
_DEFAULTS = {"temperature": 1, "top_p": 1, "max_tokens": 1024, "seed": 0, "stop": []}


def add_recorded_judges(config: dict) -> None:
    """Name judges in the studies of recorded answers that have none, in place.

    They are two, of one model under the prompt styles of `SCALED` where they score texts. Where they compare, they are
    those that `statistics` name, if it names some.

    Args:
        config: as the user wrote it, unchecked, without a `recorded_dir`.
    """
    studies = config.get("studies")
    comparing = _recorded_names(config) or [f"stand_in_{number}" for number, _ in enumerate(SCALED, start=1)]
    for study in studies.values() if isinstance(studies, Mapping) else ():
        if not isinstance(study, dict) or study.get("strategies") != [discovery.STRATEGY] or study.get("judges") != []:
            continue
        compares = study.get("probe") == discovery.COMPARES
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


def _recorded_names(config: Mapping) -> list[str]:
    """Names that statistics of comparisons give recorded judges, which are not among the judges of the config."""
    statistics = config.get("statistics")
    statistics = statistics if isinstance(statistics, Mapping) else {}
    recorded = []
    for block, key in (("replication", "judges"), ("judges_compared", "families")):
        settings = statistics.get(block)
        of_block = settings.get(key) if isinstance(settings, Mapping) else None
        recorded += [str(name).partition("/")[0] for name in of_block] if isinstance(of_block, Mapping) else []
    return [name for name in dict.fromkeys(recorded) if name not in config.get("judges", {})]


def apply(config: dict) -> None:
    """Make a config that is complete and checked that of its rehearsal, in place.

    Paths become absolute, since a rehearsal runs in another folder. A dataset keeps `stand_in` (options of adapter
    ``simulated``) where one of its files is neither the user's own, nor in `dataset_mirror`, nor fetched already;
    elsewhere `stand_in` becomes None.
    """
    from rubric_order.simulation.judge import HIGH, LOW  # imports scipy

    groups = config["rehearse"]
    if config["dataset_mirror"]:
        config["dataset_mirror"] = os.path.abspath(config["dataset_mirror"])
    for name, dataset in config["datasets"].items():
        dataset["limit"] = min(groups, dataset["limit"] or groups)
        if _find_files(name, dataset, config["dataset_mirror"]):
            dataset["stand_in"] = None
        else:
            dataset["stand_in"]["n_groups"] = dataset["limit"]
            dataset["human_scale"] = [int(LOW), int(HIGH)]
    for name, judge in config["judges"].items():
        _replace(name, judge, _datasets_of(name, judge, config))
    for name, block in config["references"].items():
        if block["file"] is not None:
            block |= {"file": None, "judges": [_first_judge(config, name)]}


def _find_files(name: str, dataset: dict, mirror: str) -> bool:
    """Find the files of a dataset, in place. False where one would have to be downloaded."""
    for file, source in dataset["files"].items():
        fetched = Path(FETCHED, name, file)
        if "path" in source:
            source["path"] = os.path.abspath(source["path"])
        elif mirror and "mirror" in source and Path(mirror, source["mirror"]).exists():
            continue
        elif fetched.exists():
            dataset["files"][file] = {"path": str(fetched.absolute())}
        else:
            return False
    return True


def _datasets_of(name: str, judge: Mapping, config: Mapping) -> list[str]:
    """The datasets that a judge reads in some study."""
    read = (study["datasets"] for study in config["studies"].values() if name in study["judges"])
    datasets = dict.fromkeys(itertools.chain(*read))
    adapters = judge["adapters"]
    return [name for name in datasets if adapters is None or config["datasets"][name]["adapter"] in adapters]


def _replace(name: str, judge: dict, datasets: list[str]) -> None:
    """Put a simulated judge in the place of one, in place; one that is simulated already stays as it is."""
    if judge["template"] is not None:
        judge["template"] = os.path.abspath(judge["template"])
    if judge["engine"] == _SIMULATED:
        return
    seed = zlib.crc32(name.encode())
    judge["simulation"] = {"seed": seed, "preference": SHAPES[seed % len(SHAPES)], **BIAS}
    if judge["engine"] == discovery.STRATEGY:
        judge |= {"files": [f"{RECORDS}/{name}/{dataset}.jsonl" for dataset in datasets], "unknown": "skip"}
        return
    judge |= {"engine": _SIMULATED, **_NO_MODEL}
    for settings in (judge, *judge["profiles"].values()):
        sampling = settings.get("sampling", {})
        settings |= {"sampling": {key: _DEFAULTS[key] if value is None else value for key, value in sampling.items()}}


def _first_judge(config: Mapping, dataset: str) -> str:
    """The first judge that can be asked of a study that reads a dataset, or of any study."""
    every_study = config["studies"].values()
    studies = [*(study for study in every_study if dataset in study["datasets"]), *every_study]
    named = (judge for study in studies for judge in study["judges"])
    return next(judge for judge in named if config["judges"][judge]["engine"] == _SIMULATED)


def note(config: Mapping) -> str:
    """One sentence or two for every page of a rehearsal; empty in any other run."""
    if not config["rehearse"]:
        return ""
    missing = stand_ins(config)
    data = f" Simulated data stand in for {', '.join(missing)}." if missing else ""
    groups = f"{config['rehearse']} groups of each dataset"
    return f"Rehearsal with simulated judges on {groups}: no number here is a finding.{data}"


def stand_ins(config: Mapping) -> list[str]:
    """Labels of the datasets that are read or described and simulated, since their files are not at hand."""
    studies = [study["datasets"] for study in config["studies"].values()]
    used = dict.fromkeys(itertools.chain(*studies, config["statistics"]["datasets"]["datasets"] or ()))
    return [config["datasets"][name]["label"] for name in used if config["datasets"][name]["stand_in"] is not None]
