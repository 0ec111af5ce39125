"""From the config that a user wrote to the config that the rules read, by one call of `complete`."""

import contextlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from rubric_order import catalogue, registry
from rubric_order.base.errors import InputError
from rubric_order.figures import presets
from rubric_order.recorded import discovery
from rubric_order.run import checks, rehearsal, restriction
from rubric_order.settings import results, values
from rubric_order.settings.base import Settings, parse
from rubric_order.settings.config import Config
from rubric_order.settings.judges import PythonCallable
from rubric_order.settings.statistics import Statistics
from rubric_order.settings.studies import Study

READY = "config"  # folder of the project with the folders `datasets` and `judges`
SCALES = Study.model_fields["scales"].get_default(call_default_factory=True)
OPTIONAL = ("studies", *registry.SHOWN)  # blocks in which null removes an entry of another file


def complete(written: Mapping[str, Any], *, folder: Path) -> Config:
    """Complete a config, and check it.

    1. A study, figure or table that is null is removed. So a file can remove an entry of an earlier file.
    2. The ready-made datasets are added, and so are the ready-made judges that the config names. The config's own
       settings of these datasets and judges take precedence.
    3. The judges of `recorded_dir` join the studies of strategy `recorded`.
    4. Figures get the sizes of their presets. Results that name no study get a study that fits (`name_studies`).
       Figures and tables get the scale of their study (`follow_scales`). Then the shape is checked, defaults are filled
       in, and the meaning is checked.
    5. A dataset or judge without a label gets its id as label. Paths are found (`locate`). A chat template becomes its
       text, and prompt templates of the user are checked. Functions that judge are imported.
    6. If there is `only_judges`, studies keep only these judges (`restriction.apply`).
    7. A rehearsal gets simulated judges and a few groups of each dataset (`rehearsal.apply`).

    Args:
        written: the config as read from YAML files and the command line. It is not changed.
        folder: folder of the project, which has the ready-made datasets and judges.

    Raises:
        InputError: one line for each thing that is wrong.
    """
    config = with_ready_made(written, folder / READY)
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
    config_read = with_functions(with_templates_read(located(with_labels(checked), folder)))
    checks.check_templates(config_read)
    restricted = restriction.apply(config_read) if config_read.only_judges else config_read
    return rehearsal.apply(restricted) if restricted.rehearse else restricted


def with_ready_made(written: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A config with ready-made settings where it has none of its own, and without null studies, figures and tables.

    Args:
        written: the config as the user wrote it, unchecked.
        folder: folder that contains the folders ``datasets`` and ``judges``.
    """
    config: dict[str, Any] = {}
    named = {key: _without_null(value) if key in OPTIONAL else value for key, value in written.items()}
    for path in ready_made(folder, named):
        content = parse(path.read_text(encoding="utf-8"))
        merge(config, content if isinstance(content, Mapping) else {})
    merge(config, named)
    return config


def _without_null(block: object) -> object:
    return {key: value for key, value in block.items() if value is not None} if isinstance(block, Mapping) else block


def ready_judges(folder: Path) -> dict[str, Path]:
    """The judges that a study may name without defining them: a file ``judges/X.yaml`` of `folder` defines judge X."""
    return {path.stem: path for path in sorted((folder / "judges").glob("*.yaml"))}


def ready_made(folder: Path, config: Mapping[str, Any]) -> list[Path]:
    """Ready-made files whose settings a config builds on: every dataset, and the judges that the config names.

    A judge's file is included if a study or `references` names the judge, or if `config` has settings of the judge. So
    judges that the config does not use cost no time.

    Args:
        folder: folder that contains the folders ``datasets`` and ``judges``.
        config: the config as the user wrote it, unchecked.
    """
    named = set(_block(config, "judges"))
    for block in [*_block(config, "studies").values(), *_block(config, "references").values()]:
        listed = block.get("judges") if isinstance(block, Mapping) else None
        listed = _parsed(listed) if isinstance(listed, str) else listed  # a text from the command line
        named |= {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    judge_files = [path for name, path in ready_judges(folder).items() if name in named]
    return [*sorted((folder / "datasets").glob("*.yaml")), *judge_files]


def _parsed(text: str) -> object:
    """Content of a text in YAML; the text itself if it is no YAML."""
    try:
        return parse(text)
    except yaml.YAMLError:
        return text


def _block(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A block of a config that nobody has checked."""
    block = config.get(key)
    return block if isinstance(block, Mapping) else {}


def merge(config: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Merge one config over another, in place. Mappings are merged key by key; other values are replaced."""
    for key, value in over.items():
        if isinstance(value, Mapping):
            block = config.get(key)
            config[key] = block if isinstance(block, dict) else {}
            merge(config[key], value)
        else:
            config[key] = value


def _names_a_folder(config: Mapping[str, Any]) -> bool:
    """True if a config names a folder of recorded answers; False if it does not have the expected shape."""
    folder = config.get("recorded_dir")
    return isinstance(folder, str) and folder != "" and isinstance(config.get("studies"), Mapping)


def _check_recorded(config: Mapping[str, Any]) -> None:
    """Check that each study of recorded answers has judges. Blocks without the expected shape are skipped."""
    for name, study in _block(config, "studies").items():
        strategies, judges = (
            (study if isinstance(study, Mapping) else {}).get(key) for key in ("strategies", "judges")
        )
        if strategies == [discovery.STRATEGY] and judges == []:
            expected = "--config recorded_dir=PATH, a folder with answers of the kind that the study is about"
            raise InputError(f"config: studies/{name}/judges: no recorded answers; expected {expected}")


def size_figures(config: Mapping[str, Any]) -> None:
    """Give each figure of a config the sizes of its preset, in place. Blocks without the expected shape are skipped."""
    usual = config.get("figure_preset", Config.model_fields["figure_preset"].default)
    for name, block in _block(config, "figures").items():
        sized = isinstance(block, dict) and name in registry.names("figures")
        if sized and isinstance(preset := block.get("preset", usual), str) and preset in presets.PRESETS:
            with contextlib.suppress(InputError):  # faulty package: the check of the shape reports it
                presets.fill(block, results.defaults("figures", name), usual)


def follow_scales(config: Mapping[str, Any]) -> None:
    """Set, in place, the scale of figures and tables that name none, if their studies lack the default scale.

    A figure or table gets the first scale of the first study that it shows. Blocks without the expected shape are left
    as they are.
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
    """Scales of the studies that a figure or table shows, in the order of these studies."""
    shown, also = block.get("studies", [block.get("study")]), block.get("also", [])
    named = [
        name
        for studies_shown in (shown, also)
        if isinstance(studies_shown, list)
        for name in studies_shown
        if isinstance(name, str)
    ]
    listed = (studies[name].get("scales", SCALES) for name in named if isinstance(studies.get(name), Mapping))
    return [n for scales in listed if isinstance(scales, list) for n in scales]


def name_studies(config: Mapping[str, Any]) -> None:
    """Name studies, in place, for results that name no study and whose default study does not exist.

    So a user's study need not have the name of a study in a paper's config. A figure or table gets the first study that
    fits it. If it can show several studies, it gets all studies that fit. ``statistics/scales`` and
    ``statistics/replication`` get all studies that fit.
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
    """True if a config has a figure or table with the name of a statistic."""
    return any(statistic in _block(config, kind) for kind in registry.SHOWN)


def _name_studies(
    block: dict[str, Any], model: type[Settings], studies: Mapping[str, Mapping[str, Any]], of_probes: Collection[str]
) -> None:
    """Fill in `study` or `studies`, if a block leaves it out and the default names a study that does not exist."""
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


def with_labels(config: Config) -> Config:
    """A config in which each dataset and judge without a label has its id as label."""
    return config.changed(
        datasets={name: entry.changed(label=entry.label or name) for name, entry in config.datasets.items()},
        judges={name: entry.changed(label=entry.label or name) for name, entry in config.judges.items()},
    )


def locate(path: str, folder: Path) -> str:
    """Path of a file or folder that a config names.

    A relative path starts in the folder in which the workflow runs. If nothing is there, the project is searched.

    Args:
        path: the path as config has it; ``~`` is the user's home.
        folder: the project.

    Returns:
        The path that was found. If nothing was found, the path itself with ``~`` expanded, for the error of the
        function that reads it.

    Raises:
        InputError: the path begins with ``~`` and a name that no user here has, or the system accepts no such path.
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
    """A config with each file and folder that it names found, see `locate`."""

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


def with_templates_read(config: Config) -> Config:
    """A config with the text of each chat template instead of its path, because the text is part of a prompt.

    Raises:
        InputError: a file cannot be read.
    """
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


def with_functions(config: Config) -> Config:
    """A config with the facts that the functions of its judges give about themselves, see `functions.resolved`.

    Raises:
        InputError: one line for each function that cannot be imported or called, or has no version.
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
