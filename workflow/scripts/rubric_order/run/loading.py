"""From the config that a user wrote to the config that the rules read."""

import contextlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from rubric_order import catalogue, registry
from rubric_order.base.errors import InputError
from rubric_order.figures import presets
from rubric_order.intake.recorded import discovery
from rubric_order.run import checks, rehearsal, restriction
from rubric_order.settings import results, values
from rubric_order.settings.base import Settings, parse
from rubric_order.settings.config import Config
from rubric_order.settings.judges.python_functions import PythonCallable
from rubric_order.settings.statistics import Statistics
from rubric_order.settings.studies import Study

READY = "config"  # folder of the project with the folders `datasets` and `judges`
SCALES = Study.model_fields["scales"].get_default(call_default_factory=True)
OPTIONAL = ("studies", *registry.SHOWN)  # blocks in which null removes an entry of another file


def complete(written: Mapping[str, Any], *, folder: Path) -> Config:
    """Complete and check a config; `written` (from files and command line) is not changed.

    Order matters: removals by null, ready-made blocks, recorded judges, presets, studies and scales of results, shape,
    meaning, labels, paths, templates, functions; then `only_judges` and the rehearsal, which need all of it.
    """
    config = add_ready_made(written, folder / READY)
    values.check(config)
    if _names_a_folder(config):
        config["recorded_dir"] = locate(config["recorded_dir"], folder)
        try:
            discovery.add_judges(config)
        except InputError as error:
            raise InputError(f"config: recorded_dir: {' '.join(str(error).split())}") from None
    elif config.get("rehearse"):
        rehearsal.add_recorded_judges(config)
    _check_recorded(config)
    size_figures(config)
    name_studies(config)
    follow_scales(config)
    values.check(config)
    checked = Config.read(config)
    checks.check_meaning(checked, ready_judges(folder / READY))
    config_read = bind_functions(read_templates(located(fill_labels(checked), folder)))
    checks.check_templates(config_read)
    restricted = restriction.apply(config_read) if config_read.only_judges else config_read
    return rehearsal.apply(restricted) if restricted.rehearse else restricted


def add_ready_made(written: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Add ready-made settings below those of an unchecked config, and remove null studies, figures and tables."""
    config: dict[str, Any] = {}
    named = {key: _drop_nulls(value) if key in OPTIONAL else value for key, value in written.items()}
    for path in ready_made(folder, named):
        content = parse(path.read_text(encoding="utf-8"))
        merge(config, content if isinstance(content, Mapping) else {})
    merge(config, named)
    return config


def _drop_nulls(block: object) -> object:
    return {key: value for key, value in block.items() if value is not None} if isinstance(block, Mapping) else block


def ready_judges(folder: Path) -> dict[str, Path]:
    """Judges that a study may name without defining them: ``judges/X.yaml`` of `folder` defines X."""
    return {path.stem: path for path in sorted((folder / "judges").glob("*.yaml"))}


def ready_made(folder: Path, config: Mapping[str, Any]) -> list[Path]:
    """Ready-made files below an unchecked config: all datasets, and the judges that it names or changes (others cost
    time).
    """
    named = set(_block(config, "judges"))
    for block in [*_block(config, "studies").values(), *_block(config, "references").values()]:
        listed = block.get("judges") if isinstance(block, Mapping) else None
        listed = _parsed(listed) if isinstance(listed, str) else listed  # a text from the command line
        named |= {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    judge_files = [path for name, path in ready_judges(folder).items() if name in named]
    return [*sorted((folder / "datasets").glob("*.yaml")), *judge_files]


def _parsed(text: str) -> object:
    try:
        return parse(text)
    except yaml.YAMLError:
        return text


def _block(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    block = config.get(key)
    return block if isinstance(block, Mapping) else {}


def merge(config: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Merge one config over another, in place: mappings key by key, other values whole."""
    for key, value in over.items():
        if isinstance(value, Mapping):
            block = config.get(key)
            config[key] = block if isinstance(block, dict) else {}
            merge(config[key], value)
        else:
            config[key] = value


def _names_a_folder(config: Mapping[str, Any]) -> bool:
    folder = config.get("recorded_dir")
    return isinstance(folder, str) and folder != "" and isinstance(config.get("studies"), Mapping)


def _check_recorded(config: Mapping[str, Any]) -> None:
    """Refuse studies of recorded answers without judges; blocks of another shape are left to the later check."""
    for name, study in _block(config, "studies").items():
        strategies, judges = (
            (study if isinstance(study, Mapping) else {}).get(key) for key in ("strategies", "judges")
        )
        if strategies == [discovery.STRATEGY] and judges == []:
            expected = "--config recorded_dir=PATH, a folder with answers of the kind that the study is about"
            raise InputError(f"config: studies/{name}/judges: no recorded answers; expected {expected}")


def size_figures(config: Mapping[str, Any]) -> None:
    """Give each figure the sizes of its preset, in place; blocks of another shape are left to the later check."""
    usual = config.get("figure_preset", Config.model_fields["figure_preset"].default)
    for name, block in _block(config, "figures").items():
        sized = isinstance(block, dict) and name in registry.names("figures")
        if sized and isinstance(preset := block.get("preset", usual), str) and preset in presets.PRESETS:
            with contextlib.suppress(InputError):  # faulty package: the check of the shape reports it
                presets.fill(block, results.defaults("figures", name), usual)


def follow_scales(config: Mapping[str, Any]) -> None:
    """Set the scale of figures and tables that name none to the first of their studies, in place, if these lack the
    default scale.
    """
    studies = _block(config, "studies")
    for kind in registry.SHOWN:
        for name, block in _block(config, kind).items():
            if not isinstance(block, dict) or "n" in block or name not in registry.names(kind):
                continue
            with contextlib.suppress(InputError):  # faulty package: the check of the shape reports it
                usual = results.defaults(kind, name)
                scales = _scales(studies, usual | block) if "n" in usual else []
                if scales and usual["n"] not in scales:
                    block["n"] = scales[0]


def _scales(studies: Mapping[str, Any], block: Mapping[str, Any]) -> list[Any]:
    """Scales of the studies that a figure or table shows, in their order."""
    main, also = block.get("studies", [block.get("study")]), block.get("also", [])
    named = [
        name
        for studies_shown in (main, also)
        if isinstance(studies_shown, list)
        for name in studies_shown
        if isinstance(name, str)
    ]
    listed = (studies[name].get("scales", SCALES) for name in named if isinstance(studies.get(name), Mapping))
    return [n for scales in listed if isinstance(scales, list) for n in scales]


def name_studies(config: Mapping[str, Any]) -> None:
    """Name studies, in place, for results that name none and whose default study does not exist, so that a study may
    have any name. The first that fits, or all that fit where a result shows several.
    """
    studies = {name: block for name, block in _block(config, "studies").items() if isinstance(block, Mapping)}
    for kind in registry.SHOWN:
        for name, block in _block(config, kind).items():
            if isinstance(block, dict) and name in registry.names(kind):
                with contextlib.suppress(InputError):  # faulty package: the check of the shape reports it
                    of_probes = registry.probes(registry.shown(kind, name).statistics)
                    _name_studies(block, results.model(kind, name), studies, of_probes)
    statistics = _block(config, "statistics")
    for name in ("scales", "replication"):
        block = statistics.get(name, {})
        if isinstance(block, dict) and isinstance(config, dict) and (name in statistics or _shows(config, name)):
            _name_studies(block, type(getattr(Statistics(), name)), studies, registry.probes((name,)))
            if block:
                config.setdefault("statistics", {})[name] = block


def _shows(config: Mapping[str, Any], statistic: str) -> bool:
    return any(statistic in _block(config, kind) for kind in registry.SHOWN)


def _name_studies(
    block: dict[str, Any], model: type[Settings], studies: Mapping[str, Mapping[str, Any]], of_probes: Collection[str]
) -> None:
    """Fill in `study` or `studies` of a block that leaves it out, if the default names a study that does not exist."""
    fitting = [
        name
        for name, study in studies.items()
        if catalogue.fits(study.get("probe", Study.model_fields["probe"].default), of_probes)
    ]
    for key, value in (("study", fitting[0] if fitting else None), ("studies", fitting)):
        usual = model.model_fields[key].get_default(call_default_factory=True) if key in model.model_fields else None
        usual_studies = [usual] if isinstance(usual, str) else usual
        if value and key not in block and usual_studies and not set(usual_studies) <= set(studies):
            block[key] = value


def fill_labels(config: Config) -> Config:
    """Label datasets and judges without a label by their id."""
    return config.changed(
        datasets={name: entry.changed(label=entry.label or name) for name, entry in config.datasets.items()},
        judges={name: entry.changed(label=entry.label or name) for name, entry in config.judges.items()},
    )


def locate(path: str, folder: Path) -> str:
    """Path of a file or folder that config names: relative to the working directory or, if nothing is there, to the
    project. A path that is nowhere is returned as it is, for the error of its reader. An unknown ``~user`` is an
    `InputError`.
    """
    try:
        there = Path(path).expanduser()
        in_project = folder / there
        return str(in_project) if not there.exists() and in_project.exists() else str(there)
    except RuntimeError:
        raise InputError(f"config: {path!r:.80}: no home folder is known of that user") from None
    except OSError as error:
        raise InputError(f"config: {path!r:.80}: {error.strerror}; expected the path of a file or a folder") from None


def located(config: Config, folder: Path) -> Config:
    def place(path: str | None) -> str | None:
        return locate(path, folder) if path else path

    datasets = {}
    for name, dataset in config.datasets.items():
        files = {key: file.changed(path=place(file.path)) if file.path else file for key, file in dataset.files.items()}
        datasets[name] = dataset.changed(files=files)
    judges = {}
    for name, judge in config.judges.items():
        paths = [key for key in ("chat_template", "template", "folder") if isinstance(getattr(judge, key, None), str)]
        judges[name] = judge.changed(**{key: place(getattr(judge, key)) for key in paths})
    return config.changed(
        dataset_mirror=place(config.dataset_mirror),
        datasets=datasets,
        references={name: entry.changed(file=place(entry.file)) for name, entry in config.references.items()},
        judges=judges,
    )


def read_templates(config: Config) -> Config:
    """Replace the path of each chat template by its text, which is part of a prompt."""
    judges = dict(config.judges)
    for name, judge in config.judges.items():
        path = getattr(judge, "chat_template", None)
        if path is not None:
            from rubric_order.base import files  # imports pandas

            try:
                text = files.read_text(path)
            except InputError as error:
                raise InputError(f"config: judges/{name}/chat_template: {error}") from None
            judges[name] = judge.changed(chat_template=text.replace("\r\n", "\n").replace("\r", "\n"))
    return config.changed(judges=judges)


def bind_functions(config: Config) -> Config:
    """Add the facts that functions of judges give about themselves, see `functions.resolved`; one line of the error per
    function.
    """
    judges, problems = dict(config.judges), []
    for name, judge in config.judges.items():
        if isinstance(judge, PythonCallable):
            from rubric_order.judging.engines.python import functions

            try:
                bound = functions.resolved(judge, functions.find(judge)).changed(folder=os.path.abspath(judge.folder))
            except InputError as error:
                problems.append(f"judges/{name}/{error}")
                continue
            problems += (f"judges/{name}/{problem}" for problem in bound.problems())
            judges[name] = bound
    if problems:
        raise InputError("config: " + "\nconfig: ".join(problems))
    return config.changed(judges=judges)
