"""Base of the models of settings: fields with a description and a role, and types that several blocks share."""

from __future__ import annotations

import functools
import logging
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self, Union

import yaml
from annotated_types import Ge, Le, Len
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from rubric_order.base.readouts import Readout

log = logging.getLogger("rubric_order")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the loader in C reads ten times as fast


class Role(StrEnum):
    """Dependence of a judge's answers on a setting: part of request names always (IDENTITY) or for probes that depend
    on it (FORMAT); how requests are sent (WIRE); where and how the judge runs (RUN); a text for people (LABEL).
    """

    IDENTITY = "identity"
    FORMAT = "format"
    WIRE = "wire"
    RUN = "run"
    LABEL = "label"


def setting(
    default: Any = ...,
    description: str | None = None,
    *,
    reruns: str | None = None,
    role: Role | None = None,
    otherwise: str | None = None,
    tracked: bool = True,
    filled: bool = False,
    factory: Callable[[], Any] | None = None,
) -> Any:
    """Field of a model of settings; without a default the key is required, and `description` is its text in the
    reference.

    `reruns` holds for keys of a block without their own. `otherwise`: what holds for a key left out without a default;
    the block is filled in only if `filled`. `tracked`: whether another value reruns jobs. `factory` makes a block's
    default.
    """
    extra = {"reruns": reruns, "role": role, "otherwise": otherwise, "tracked": tracked, "filled": filled}
    marks: dict[str, Any] = {name: value for name, value in extra.items() if value is not None}
    if factory is not None:
        return Field(default_factory=factory, description=description, json_schema_extra=marks)
    return Field(default, description=description, json_schema_extra=marks)


def extra(field: FieldInfo, name: str) -> Any:
    """An attribute that `setting` gives a field; None if the field lacks it."""
    return field.json_schema_extra.get(name) if isinstance(field.json_schema_extra, dict) else None


def parse(text: str) -> object:
    """Content of a text in YAML."""
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader


class Settings(BaseModel):
    """A block of settings that refuses unknown keys; `RENAMED` keys are taken with a warning, `GONE` ones name their
    reason.

    If a field takes no text, a text is read as YAML: Snakemake passes ``--config 'datasets={...}'`` on as texts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True, protected_namespaces=())

    RENAMED: ClassVar[Mapping[str, str]] = {}
    GONE: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, block: object) -> object:
        """Replace old names of keys by current names, and read texts as YAML in fields that take no text."""
        if not isinstance(block, Mapping):
            return block
        current = {}
        for key, value in block.items():
            name = cls.RENAMED.get(key, key)
            if name != key:
                if name in block:
                    raise PydanticCustomError(
                        "twice", "keys {old} and {new} are one; leave out {old}", {"old": key, "new": name}
                    )
                _warn_of_renamed(key, name)
            field = cls.model_fields.get(name) if isinstance(name, str) else None
            current[name] = value if field is None else _read_texts(value, field.annotation)
        return current

    def block(self) -> dict[str, Any]:
        """The block as plain values, with all defaults. Keys that are left out and have no default are absent."""
        return {
            name: plain(getattr(self, name))
            for name, field in type(self).model_fields.items()
            if self._has(name, field)
        }

    def _has(self, name: str, field: FieldInfo) -> bool:
        return extra(field, "otherwise") is None or extra(field, "filled") or name in self.model_fields_set

    def changed(self, **values: object) -> Self:
        """A copy of the block with some values replaced. The new values are not checked."""
        return self.model_copy(update=values)


class Change(Settings):
    """A block that changes some settings of another block. Only keys that are written count."""

    def block(self) -> dict[str, Any]:
        """The keys that are written, as plain values."""
        return {name: plain(getattr(self, name)) for name in type(self).model_fields if name in self.model_fields_set}


def plain(value: object) -> Any:
    """Models as dictionaries, also within lists and mappings."""
    if isinstance(value, Settings):
        return value.block()
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def whole(value: object) -> Any:
    """The value of a setting, with floats that are whole numbers as integers."""
    if isinstance(value, Mapping):
        return {key: whole(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [whole(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@functools.cache
def _warn_of_renamed(old: str, new: str) -> None:
    log.warning("config: key %r is called %r now; the old name is still taken", old, new)


def _read_texts(value: object, annotation: Any) -> object:
    """Content of a text in YAML, also within mappings, if the type takes this content but no text; else the value as it
    is.
    """
    kinds = kinds_of(annotation)
    if isinstance(value, str) and not kinds & {"string", "any"}:
        try:
            content = parse(value)
        except yaml.YAMLError:
            return value
        return content if kind_of(content) in kinds or (kind_of(content) == "integer" and "number" in kinds) else value
    if isinstance(value, Mapping) and (inner := _values_of_mapping(annotation)) is not None:
        return {key: _read_texts(entry, inner) for key, entry in value.items()}
    return value


def kind_of(value: object) -> str:
    """The kind of a plain value, as JSON Schema names it."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", type(None): "null"}
    return "object" if isinstance(value, Mapping) else kinds.get(type(value), "any")


@functools.cache
def kinds_of(annotation: Any) -> frozenset[str]:
    """The kinds of values that a type takes, as JSON Schema names them; ``any`` for all."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        markers = [kinds for marker in arguments[1:] if (kinds := getattr(marker, "kinds", None)) is not None]
        return markers[0] if markers else kinds_of(arguments[0])
    if origin in (Union, types.UnionType):
        return frozenset().union(*(kinds_of(argument) for argument in arguments))
    if origin is Literal:
        return frozenset(kind_of(argument) for argument in arguments)
    simple = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    simple |= {types.NoneType: "null"}
    kind = origin or annotation
    if kind in simple:
        return frozenset({simple[kind]})
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return frozenset({"object"})
    return frozenset({"any"})


def _values_of_mapping(annotation: Any) -> Any:
    """Type of a mapping's values; None if the type is no mapping, or takes values of any type."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _values_of_mapping(arguments[0])
    if origin in (Union, types.UnionType):
        inner = [values for argument in arguments if (values := _values_of_mapping(argument)) is not None]
        return inner[0] if inner else None
    return arguments[1] if origin is dict and arguments[1] is not Any else None


class Numeric:
    """Marker of numbers within bounds. A whole number stays an int, any other number a float, as written."""

    kinds = frozenset({"number", "integer"})

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A schema that checks a value as a float, and keeps it as written."""
        bounds: dict[str, Any] = self.bounds
        return core_schema.no_info_wrap_validator_function(_as_written, core_schema.float_schema(strict=True, **bounds))


def _as_written(value: Any, check: Callable[[Any], Any]) -> Any:
    check(value)
    return value


class EitherOr:
    """Marker of values that are single (type `single`), or are a list or a block (type `several`)."""

    kinds = frozenset({"any"})

    def __init__(self, single: Any, several: Any) -> None:
        self.single, self.several = single, several
        self.kinds = kinds_of(single) | kinds_of(several)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A union whose member is chosen by whether the value is a list or a mapping."""
        choices: dict[Any, Any] = {
            f"{TAG}single": handler.generate_schema(self.single),
            f"{TAG}several": handler.generate_schema(self.several),
        }
        return core_schema.tagged_union_schema(choices, discriminator=_single_or_not)


class MisfitError(ValueError):
    """Errors of a block whose model was chosen by the content of the block."""

    def __init__(self, model: type[Settings], error: ValidationError) -> None:
        super().__init__(str(error))
        self.model, self.error = model, error


class Chosen:
    """Marker of blocks whose model `choose` finds by their content, with the block to check; other models are not
    built.
    """

    kinds = frozenset({"object"})

    def __init__(self, choose: Callable[[object], tuple[type[Settings], object]]) -> None:
        self.choose = choose

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A schema that checks a block by the model that is chosen for it."""
        return core_schema.no_info_plain_validator_function(self.check)

    def check(self, block: object) -> Settings:
        """The block as a model; a MisfitError names the model that it does not fit."""
        if isinstance(block, Settings):
            return block
        model, checked = self.choose(block)
        try:
            return model.model_validate(checked)
        except ValidationError as error:
            raise MisfitError(model, error) from None


TAG = "as:"  # beginning of the parts of an error's place that only distinguish types


def _single_or_not(value: object) -> str:
    return f"{TAG}several" if isinstance(value, list | Mapping | Settings) else f"{TAG}single"


def _unique(values: list[Any]) -> list[Any]:
    if any(value in values[:number] for number, value in enumerate(values)):
        raise PydanticCustomError("unique", "{values} has non-unique elements", {"values": f"{values!r:.80}"})
    return values


MOST = 1_000_000_000  # upper bound of counts and lengths
ID = r"^[a-z0-9]+(_[a-z0-9]+)*$"

Id = Annotated[str, StringConstraints(pattern=ID)]
Text = Annotated[str, StringConstraints(min_length=1)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Ge(1), Le(MOST)]
Many = Annotated[int, Ge(0), Le(MOST)]
Seed = Annotated[int, Ge(0)]
Levels = Annotated[int, Ge(2), Le(11)]
Resamples = Annotated[int, Ge(100), Le(10_000_000)]
Number = Annotated[float, Numeric(ge=-MOST, le=MOST)]
From0 = Annotated[float, Numeric(ge=0, le=MOST)]
Positive = Annotated[float, Numeric(gt=0, le=MOST)]
Share = Annotated[float, Numeric(gt=0, lt=1)]
Probability = Annotated[float, Numeric(ge=0, le=1)]
Inches = Annotated[float, Numeric(gt=0, le=100)]
Unique = AfterValidator(_unique)
Texts = Annotated[list[str], Unique]
SomeTexts = Annotated[list[str], Len(1), Unique]
Arguments = dict[str, Any]
ReadoutName = Literal[Readout.HARD, Readout.SOFT]
Readouts = Annotated[list[ReadoutName], Len(1), Unique]


def fields(model: type[BaseModel], roles: Collection[Role]) -> Iterator[str]:
    """Names of a model's fields whose role is among some roles."""
    return (name for name, field in model.model_fields.items() if extra(field, "role") in roles)
