"""From the config that a user wrote to the one that the rules read: one call, `complete`."""

from collections.abc import Mapping
from pathlib import Path

import yaml

from rubric_order.base.errors import InputError
from rubric_order.config import checks, rehearsal, schema
from rubric_order.figures import presets
from rubric_order.recorded import discovery

# Where a folder of the project has what belongs to a config.
SCHEMA = "workflow/schemas/config.schema.yaml"
READY = "config"  # with the folders `datasets` and `judges`
OPTIONAL = ("studies", "figures", "tables")  # blocks in which null takes out what another file names


def complete(config: dict, *, folder: Path) -> None:
    """Complete a config in place, and check it.

    1. A text stands for what it says where the schema wants no text (`read_texts`). A study, figure or table that is
       null is taken out: so a file takes out what a file before it names.
    2. The datasets that we know, and the ready-made judges that are named, come under what the config says of them.
    3. The judges of `recorded_dir` join the studies of strategy `recorded`.
    4. The shape is checked, figures get the sizes of their presets, defaults are filled in, and the meaning is checked.
    5. A dataset or judge without a label gets its id as one. Paths are found (`locate`). A chat template becomes its
       text, and prompt templates of the user are checked.
    6. A rehearsal gets simulated judges and a few groups of each dataset (`rehearsal.apply`).

    Args:
        config: as YAML files and the command line have it.
        folder: the project: its schema, and its ready-made datasets and judges are used.

    Raises:
        InputError: one line for each thing that is wrong.
    """
    shape = schema.load(folder / SCHEMA)
    read_texts(config, shape)
    checks.check_values(config)
    for block in OPTIONAL:
        if isinstance(named := config.get(block), Mapping):
            config[block] = {name: value for name, value in named.items() if value is not None}
    _add_ready_made(config, folder / READY)
    if _names_a_folder(config):
        config["recorded_dir"] = locate(config["recorded_dir"], folder)
        try:
            discovery.add_judges(config)
        except InputError as error:
            raise InputError(f"config: recorded_dir: {' '.join(str(error).split())}") from None
    elif config.get("rehearse"):
        rehearsal.add_recorded_judges(config)
    _check_recorded(config)
    checks.check_shape(config, shape)
    _size_figures(config, shape)
    schema.fill_defaults(config, shape)
    checks.check_meaning(config, ready_judges(folder / READY))
    _add_labels(config)
    _locate_files(config, folder)
    _read_chat_templates(config)
    checks.check_templates(config)
    if config["rehearse"]:
        rehearsal.apply(config)


def read_texts(config: dict, shape: Mapping) -> None:
    """Read the texts of a config as YAML where the schema wants no text, in place.

    Snakemake hands on the values of ``--config 'datasets={"hanna": {"limit": 2}}'`` as texts. What does not become
    what the schema wants is left as it is, for the check of the shape to name.
    """
    for key, value in config.items():
        part = schema.part_of(shape, key)
        if isinstance(value, dict):
            read_texts(value, part)
        elif isinstance(value, str):
            config[key] = _read_text(value, part)


def _read_text(text: str, part: Mapping) -> object:
    kinds = part.get("type", "string" if "enum" in part else None)
    if kinds is None or "string" in kinds:
        return text
    try:
        value = schema.parse(text)
    except yaml.YAMLError:
        return text
    return value if checks.is_of_type(value, kinds) else text


def ready_judges(folder: Path) -> dict[str, Path]:
    """The judges that a study may name without defining them: a file ``judges/X.yaml`` of `folder` defines judge X."""
    return {path.stem: path for path in sorted((folder / "judges").glob("*.yaml"))}


def ready_made(folder: Path, config: Mapping) -> list[Path]:
    """Files of `folder` that belong under a config: every dataset that we know, and the judges that the config names.

    A judge's file is read where a study or `references` names the judge, or `config` has settings of it: what nobody
    uses costs nothing.

    Args:
        folder: with the folders ``datasets`` and ``judges``.
        config: as the user wrote it, unchecked.
    """
    named = set(_block(config, "judges"))
    for block in [*_block(config, "studies").values(), *_block(config, "references").values()]:
        listed = block.get("judges") if isinstance(block, Mapping) else None
        named |= {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    judge_files = [path for name, path in ready_judges(folder).items() if name in named]
    return [*sorted((folder / "datasets").glob("*.yaml")), *judge_files]


def _block(config: Mapping, key: str) -> Mapping:
    """A block of a config that nobody has checked."""
    block = config.get(key)
    return block if isinstance(block, Mapping) else {}


def _add_ready_made(config: dict, folder: Path) -> None:
    """Put what is ready-made under what a config says of it."""
    merged: dict = {}
    for path in ready_made(folder, config):
        merge(merged, schema.parse(path.read_text(encoding="utf-8")))
    merge(merged, config)
    config.update(merged)


def merge(config: dict, over: Mapping) -> None:
    """Put one config over another, in place: mappings key by key, all else as a whole."""
    for key, value in over.items():
        if isinstance(value, Mapping):
            block = config.get(key)
            config[key] = block if isinstance(block, dict) else {}
            merge(config[key], value)
        else:
            config[key] = value


def _names_a_folder(config: Mapping) -> bool:
    """Tell whether recorded answers are to be looked for; a config of another shape is not looked into."""
    folder = config.get("recorded_dir")
    return isinstance(folder, str) and folder != "" and isinstance(config.get("studies"), Mapping)


def _check_recorded(config: Mapping) -> None:
    """Check that a study of recorded answers has some; a config of another shape is not looked into."""
    for name, study in _block(config, "studies").items():
        strategies, judges = (
            (study if isinstance(study, Mapping) else {}).get(key) for key in ("strategies", "judges")
        )
        if strategies == [discovery.STRATEGY] and judges == []:
            expected = "--config recorded_dir=PATH, a folder with answers of the kind that the study is about"
            raise InputError(f"config: studies/{name}/judges: no recorded answers; expected {expected}")


def _size_figures(config: Mapping, shape: Mapping) -> None:
    """Give each figure the sizes of its preset, in place of the defaults, which are those of a page."""
    usual = config.get("figure_preset", shape["properties"]["figure_preset"]["default"])
    figures = schema.part_of(shape, "figures")
    for name, block in _block(config, "figures").items():
        parts = schema.part_of(figures, name)["properties"]
        presets.fill(block, {key: part["default"] for key, part in parts.items() if "default" in part}, usual)


def _add_labels(config: Mapping) -> None:
    """Give each dataset and judge without a label its id as one."""
    for block in ("datasets", "judges"):
        for name, settings in config[block].items():
            settings.setdefault("label", name)


def locate(path: str, folder: Path) -> str:
    """Path of a file or folder that a config names.

    A relative path starts in the folder in which the workflow runs. What is not there is looked for in the project.

    Args:
        path: as config has it; ``~`` is the user's home.
        folder: the project.

    Returns:
        The path, unchanged where nothing is found, for what reads it to name.

    Raises:
        InputError: it begins with ``~`` and a name that no user here has, or the system takes no such path.
    """
    try:
        there = Path(path).expanduser()
        in_project = folder / there
        return str(in_project) if not there.exists() and in_project.exists() else str(there)
    except RuntimeError:
        raise InputError(f"config: {path!r:.80}: no home folder is known of that user") from None
    except OSError as error:
        raise InputError(f"config: {path!r:.80}: {error.strerror}; expected the path of a file or a folder") from None


def _locate_files(config: dict, folder: Path) -> None:
    """Find each file and folder that a config names (`locate`), in place."""
    if config["dataset_mirror"]:
        config["dataset_mirror"] = locate(config["dataset_mirror"], folder)
    for dataset in config["datasets"].values():
        for file in dataset["files"].values():
            if "path" in file:
                file["path"] = locate(file["path"], folder)
    for block in config["references"].values():
        if block["file"] is not None:
            block["file"] = locate(block["file"], folder)
    for judge in config["judges"].values():
        for key in ("chat_template", "template"):
            if judge[key] is not None:
                judge[key] = locate(judge[key], folder)


def _read_chat_templates(config: Mapping) -> None:
    """Put the text of each judge's chat template in the place of its path: it is part of a prompt, the path is not."""
    for name, judge in config["judges"].items():
        path = judge["chat_template"]
        if path is not None:
            from rubric_order.base import files  # imports pandas

            try:
                text = files.read_text(path)
            except InputError as error:
                raise InputError(f"config: judges/{name}/chat_template: {error}") from None
            judge["chat_template"] = text.replace("\r\n", "\n").replace("\r", "\n")
