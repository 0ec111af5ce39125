"""A whole config as a model, and messages about a config that does not fit the model."""

from __future__ import annotations

import contextlib
import functools
import typing
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from typing import Annotated, Any, Literal, Self

import yaml
from annotated_types import Ge, Len
from pydantic import GetCoreSchemaHandler, StringConstraints, ValidationError, create_model
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from rubric_order import registry
from rubric_order.base.errors import InputError, nearest
from rubric_order.settings import judges, results, statistics
from rubric_order.settings.base import (
    ID,
    TAG,
    Chosen,
    EitherOr,
    Id,
    MisfitError,
    Settings,
    SomeTexts,
    extra,
    kinds_of,
    parse,
    setting,
)
from rubric_order.settings.judges import AnyJudge
from rubric_order.settings.judges.judge import EndpointProfile, Profile
from rubric_order.settings.statistics import Reads, Statistics
from rubric_order.settings.studies import Dataset, References, Study

OUTPUT = r"^results(/[A-Za-z0-9][A-Za-z0-9_-]*)?$"
READ = "`plan_reads` and below; judges answer new prompts only"


class Blocks:
    """Marker of the blocks of figures, or of tables. The name of a block decides its model."""

    kinds = frozenset({"object"})

    def __init__(self, kind: registry.Kind) -> None:
        self.kind = kind

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A schema of a mapping whose keys are names of results."""
        names = registry.names(self.kind)
        fields = {name: core_schema.typed_dict_field(self._block(name), required=False) for name in names}
        return core_schema.typed_dict_schema(fields, extra_behavior="forbid", strict=True)

    def _block(self, name: str) -> CoreSchema:
        chosen = Chosen(lambda block: (self._model(name), block))
        return core_schema.no_info_plain_validator_function(chosen.check)

    def _model(self, name: str) -> type[Settings]:
        try:
            return results.model(self.kind, name)
        except InputError as error:
            raise PydanticCustomError("package", "{problem}", {"problem": str(error)}) from None


class Config(Settings):
    """A whole config, with all defaults."""

    dataset_mirror: str = setting(
        "",
        "Folder from which the files of datasets are read, instead of from the network. The same checksums apply.",
        reruns="nothing: a file is known by its checksum",
    )
    recorded_dir: str = setting(
        "",
        "Folder with answers that judges have already given. Each judge in it joins the studies with strategy"
        " `recorded`.",
        reruns="what joins or leaves the studies",
    )
    output: Annotated[str, StringConstraints(pattern=OUTPUT)] = setting(
        "results",
        "Folder for the results of the run: `results`, or a folder in it, such as `results/gpt_4o`. Runs with"
        " different folders keep separate results. They share `results/data/`, `results/models/` and `results/store/`;"
        " the store ensures that no question is asked twice.",
        reruns="all but the judges' answers, into the new folder",
    )
    rehearse: Annotated[int, Ge(2)] | None = setting(
        None,
        "Number of groups, the first ones, that each dataset keeps in a rehearsal of the run; null: no rehearsal. In a"
        " rehearsal each judge is simulated under its own name, and all results are written below `rehearsal/`.",
        reruns="nothing of the run; a rehearsal has results of its own",
    )
    only_judges: SomeTexts | None = setting(
        None,
        "Ids of the judges to which all studies are restricted, such as one judge for a first try; null: no"
        " restriction. A study without any of these judges is left out. So is each figure or table that shows no other"
        " study. Stored answers of the other judges stay where they are.",
        reruns="what these judges' studies show; no judge is asked again",
    )
    cards_by_criterion: bool = setting(
        False,
        "Whether `summary.html` has a bias card for each criterion beside the card for all criteria. It matters only"
        " for datasets with several criteria.",
        reruns="the summary, and the statistics of these cards",
    )
    datasets: Annotated[dict[Id, Dataset], Len(1)] = setting(
        ..., reruns="`prepare_items` and below; judges answer new prompts only"
    )
    judges: dict[Id, AnyJudge] = setting(..., reruns="`plan_reads` and below; every prompt is a new request")
    references: dict[Id, References] = setting(
        {},
        "How reference answers at every score are made, by dataset, for conditions `reference_1` to `reference_5`."
        " Either judges write and review them, or they are read from a file of your own.",
        reruns="`plan_references` and below; judges answer new prompts only",
    )
    studies: dict[Id, Study] = setting(..., reruns=READ)
    statistics: Statistics = setting(factory=Statistics, reruns="that statistic and what shows it")
    reads: Reads = setting(factory=Reads, reruns="`choose_reads` and the pages of reads")
    figure_preset: Literal["page", "column", "slide"] = setting(
        "page",
        "Where figures will be placed that have no `preset` of their own: on a page, in a column of a paper or on a"
        " slide. The place sets their width (6.5, 3.4 or 12 inches), the size of letters (8, 7 or 14 points), the"
        " width of lines, the panels in a row, and the resolution of PNG files in dots per inch. Sizes and columns"
        " that a figure sets itself stay. The defaults below are those of a page.",
        reruns="these figures",
    )
    figures: Annotated[dict[str, Settings], Blocks("figures")] = setting({}, reruns="that figure")
    tables: Annotated[dict[str, Settings], Blocks("tables")] = setting({}, reruns="that table")

    @classmethod
    def read(cls, config: Mapping[str, object]) -> Self:
        """The config as a model; an InputError has one line, with path, found and expected, for each thing that does
        not fit.
        """
        model = cls._extended_model(config)
        try:
            return model.model_validate(config)
        except ValidationError as error:
            raise InputError("config: " + "\nconfig: ".join(dict.fromkeys(messages(error, model)))) from None

    @classmethod
    def _extended_model(cls, config: Mapping[str, object]) -> type[Self]:
        """The model with the settings of other packages' statistics, if a config names or shows such statistics."""
        drawings = [(kind, name) for kind in OF_RESULTS for name in _names(config.get(kind))]
        named = {name: None for name in _names(config.get("statistics")) if registry.is_other(name)}
        for kind, name in drawings:
            with contextlib.suppress(InputError):  # the check of the result's block reports it
                statistics_behind = registry.behind(registry.shown(kind, name).statistics)
                named |= {statistic: None for statistic in statistics_behind if registry.is_other(statistic)}
        if not named and not any(registry.is_other(name) for _, name in drawings):
            return cls
        try:
            model = statistics.registered_statistics(named)
        except InputError as error:
            raise InputError(f"config: statistics: {error}") from None
        field = setting(factory=model, reruns=extra(cls.model_fields["statistics"], "reruns"))
        return create_model("Config", __base__=cls, statistics=(model, field))


OF_RESULTS: tuple[registry.Kind, ...] = ("tables", "figures")


def _names(block: object) -> list[str]:
    """A text, as from a command line, is read as YAML."""
    if isinstance(block, str):
        with contextlib.suppress(yaml.YAMLError):
            block = parse(block)
    return [name for name in block if isinstance(name, str)] if isinstance(block, Mapping) else []


def messages(error: ValidationError, model: type[Settings]) -> Iterator[str]:
    """One line for each thing that does not fit a model."""
    yield from _messages(error, model, ())


def _messages(error: ValidationError, model: type[Settings], within: tuple[str | int, ...]) -> Iterator[str]:
    for detail in error.errors(include_url=False):
        place = tuple(part for part in detail["loc"] if not str(part).startswith(TAG))
        inner = detail.get("ctx", {}).get("error")
        if isinstance(inner, MisfitError):
            yield from _messages(inner.error, inner.model, (*within, *place))
        else:
            yield _message(detail, model, within, place)


# pydantic's name of an error to the message about a value; `value` is the value found.
_OF_VALUES = {
    "greater_than_equal": "{value} is less than the minimum of {ge:g}",
    "less_than_equal": "{value} is greater than the maximum of {le:g}",
    "greater_than": "{value} is less than or equal to the minimum of {gt:g}",
    "less_than": "{value} is greater than or equal to the maximum of {lt:g}",
    "string_pattern_mismatch": "{value} does not match {pattern!r}",
    "too_short": "{value} has too few entries; expected at least {min_length}",
    "too_long": "{value} has too many entries; expected at most {max_length}",
    "string_too_short": "{value} is too short; expected at least {min_length} character",
}


def _message(
    detail: ErrorDetails, model: type[Settings], within: tuple[str | int, ...], place: tuple[str | int, ...]
) -> str:
    kind, value = detail["type"], detail["input"]
    context: dict[str, Any] = detail.get("ctx", {})
    path = _path((*within, *place))
    parent, key = _path((*within, *place[:-1])), place[-1] if place else ""
    if kind == "extra_forbidden" and key in EndpointProfile.model_fields and _part(model, place[:-1]) is Profile:
        return f"{path}: it is for engine 'openai'"
    if kind == "extra_forbidden":
        return f"{parent}: {_unknown(str(key), _part(model, place[:-1]))}"
    if kind == "missing":
        return f"{parent}: key {key!r} is missing"
    if key == "[key]":
        return f"{_path((*within, *place[:-2]))}: unknown key {value!r:.60}; expected an id like {ID}"
    if kind == "package":
        return f"{path}: {context['problem']}"
    if kind == "missing_key":
        return f"{path}: {detail['msg']}"
    if kind == "wrong_key":
        return f"{path}/{context['key']}: {context['problem']}"
    if kind == "engine":
        engine = value["engine"] if isinstance(value, Mapping) else value
        names = judges.engines()
        return f"{path}/engine: {engine!r:.80} is not one of {_listed(names)}{nearest(engine, names)}"
    part = _part(model, place)
    if kind == "literal_error" and (choices := _choices(part)):
        close = nearest(value, [choice for choice in choices if isinstance(choice, str)])
        return f"{path}: {value!r:.80} is not one of {_listed(choices)}{close}"
    if kind in _OF_VALUES:
        return f"{path}: {_OF_VALUES[kind].format(value=f'{value!r:.80}', **context)}"
    if kind.endswith(("_type", "_parsing", "_from_float", "_attributes_type")):
        return f"{path}: expected {expected(part)}, found {value!r:.80}"
    return f"{path}: {detail['msg']:.300}"


def _path(parts: tuple[str | int, ...]) -> str:
    return "/".join(map(str, parts)) or "top level"


def _unknown(key: str, part: Any) -> str:
    several = [marker.several for marker in getattr(part, "__metadata__", ()) if isinstance(marker, EitherOr)]
    part = next((inner for inner in (*several, part, *typing.get_args(part)) if isinstance(inner, type)), part)
    if isinstance(part, type) and issubclass(part, Settings):
        if key in part.GONE:
            return f"key {key!r} is no longer there; leave it out: {part.GONE[key]}"
        names = list(part.model_fields)
    else:
        names = list(part or ())
    return f"unknown key {key!r:.60}; expected {', '.join(names)}{nearest(key, names)}"


def _listed(values: Collection[object]) -> str:
    return ", ".join(map(repr, values))


WORDS = {"array": "a list", "object": "a mapping", "string": "text", "integer": "a whole number", "number": "a number"}
WORDS |= {"boolean": "true or false", "null": "null"}


def expected(annotation: Any) -> str:
    """The values that a type takes, in words. The blocks of figures, or of tables, are a mapping."""
    kinds = {"object"} if isinstance(annotation, Mapping) else kinds_of(annotation)
    kinds -= {"integer"} if "number" in kinds else set()
    return " or ".join(word for kind, word in WORDS.items() if kind in kinds) or "another value"


def _part(model: Any, place: tuple[str | int, ...]) -> Any:
    """Type at a place; figures and tables are mappings keyed by block."""
    for key in place:
        model = _step(model, key)
    return model


def _step(annotation: Any, key: str | int) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        field = annotation.model_fields.get(str(key))
        if field is None:
            return None
        blocks = [marker for marker in field.metadata if isinstance(marker, Blocks)]
        return dict.fromkeys(registry.names(blocks[0].kind)) if blocks else _whole_annotation(field)
    for marker in getattr(annotation, "__metadata__", ()):
        if (several := getattr(marker, "several", None)) is not None:
            is_block = isinstance(several, type) and issubclass(several, Settings)
            return _step(several, key) if is_block or isinstance(key, int) else annotation
    inner = [argument for argument in typing.get_args(annotation) if argument is not type(None)]
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return _step(inner[0], key)
    if origin is list:
        return inner[0]
    if origin is dict:
        return inner[1]
    return next((step for argument in inner if (step := _step(argument, key)) is not None), None)


def _whole_annotation(field: Any) -> Any:
    return functools.reduce(lambda made, marker: Annotated[made, marker], field.metadata, field.annotation)


def _choices(annotation: Any) -> tuple[object, ...]:
    if typing.get_origin(annotation) is Literal:
        return tuple(choice.value if isinstance(choice, Enum) else choice for choice in typing.get_args(annotation))
    return next((choices for inner in typing.get_args(annotation) if (choices := _choices(inner))), ())
