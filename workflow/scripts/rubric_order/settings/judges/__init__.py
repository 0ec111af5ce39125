"""Settings of judges. `engine` chooses the model, and each setting says how a judge's answers depend on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from rubric_order.base.errors import InputError
from rubric_order.base.plugins import Plugins
from rubric_order.settings.base import Chosen, Role, extra, plain
from rubric_order.settings.judges.chat import Chat
from rubric_order.settings.judges.decisions import Decisions
from rubric_order.settings.judges.endpoint import Endpoint
from rubric_order.settings.judges.judge import ENTRY_POINTS, FORMATS, Capabilities, Engine, Judge, SamplingChange
from rubric_order.settings.judges.loaded import SPEED, Loaded
from rubric_order.settings.judges.metered import Metered
from rubric_order.settings.judges.over_http import Addressed, OverHttp
from rubric_order.settings.judges.python_functions import PythonCallable
from rubric_order.settings.judges.recorded import Recorded, Rehearsed
from rubric_order.settings.judges.server import Server
from rubric_order.settings.judges.simulated import Simulated
from rubric_order.settings.judges.vllm import Vllm

__all__ = ["FORMATS", "SPEED", "Addressed", "Capabilities", "Chat", "Decisions", "Endpoint", "Judge", "Loaded"]
__all__ += ["Metered", "OverHttp", "PythonCallable", "Recorded", "Rehearsed", "Server", "Simulated", "Vllm"]

KINDS: tuple[type[Judge], ...] = (Vllm, Endpoint, Server, Decisions, PythonCallable, Simulated, Recorded)  # ours
ENGINES = tuple(dict.fromkeys(kind.KIND for kind in KINDS))

_REGISTRY: Plugins[Engine] = Plugins(ENTRY_POINTS, Engine)


def engines() -> tuple[str, ...]:
    """The engines that a judge may name: our engines, and the engines of other packages."""
    registered = {model.ENGINE or model.KIND for model in KINDS}
    return (*ENGINES, *(name for name in _REGISTRY.names() if name not in registered))


def kind(block: object) -> type[Judge] | None:
    """Model of a judge's block of config; None if no model has its engine."""
    engine = block.get("engine") if isinstance(block, Mapping) else None
    if engine == "openai" and isinstance(block, Mapping):
        return Server if block.get("serve") is not None else Endpoint
    ours = next((model for model in KINDS if engine == model.KIND), None)
    if ours is not None or not isinstance(engine, str) or engine not in engines():
        return ours
    model = _REGISTRY.load(engine).JUDGE
    if not (isinstance(model, type) and issubclass(model, Judge) and getattr(model, "KIND", None) == engine):
        expected = f"a subclass of Judge whose KIND is {engine!r}"
        raise InputError(f"engine {engine!r}: expected as its JUDGE {expected}, found {model!r:.80}")
    return model


def _chosen(block: object) -> tuple[type[Judge], object]:
    """Model of a judge's block, and the block without keys of other kinds of judges that are null or have their
    default.
    """
    if not isinstance(block, Mapping):
        raise PydanticCustomError("dict_type", "expected a mapping")
    if "engine" not in block:
        raise PydanticCustomError("missing_key", "key 'engine' is missing")
    model = kind(block)
    if model is None:
        raise PydanticCustomError("engine", "unknown engine")
    settings = {}
    for key, value in block.items():
        others = [other for other in KINDS if key in other.model_fields]
        if key in model.model_fields or not others:
            settings[key] = value
        elif value is not None and value != _usual(others[0], key):
            raise _wrong_key(key, _wrong_kind(key, model, others))
    if model is Endpoint and settings.get("base_url") is None:
        raise _wrong_key("base_url", f"engine 'openai' {NEEDS_ADDRESS}")
    return model, settings


def _wrong_key(key: str, problem: str) -> PydanticCustomError:
    return PydanticCustomError("wrong_key", "{problem}", {"key": key, "problem": problem})


NEEDS_ADDRESS = "needs either base_url, or serve for a server of its own"


def _usual(model: type[Judge], key: str) -> object:
    field = model.model_fields[key]
    return None if field.is_required() else plain(field.get_default(call_default_factory=True))


def _wrong_kind(key: str, model: type[Judge], others: list[type[Judge]]) -> str:
    """Message about a key that judges of another kind have."""
    if model is Server:
        return {
            "base_url": f"engine 'openai' {NEEDS_ADDRESS}",
            "api_key_env": "the server of serve has a key of its own",
        }.get(key, _REASONING if key == "reasoning_end" else f"it is for engine {others[0].KIND!r}")
    if model is Endpoint and key in Loaded.model_fields:
        return "it is for a model that is loaded here, by engine 'vllm' or with serve"
    if model is Endpoint and key == "reasoning_end":
        return _REASONING
    detail = "" if others[0].KIND == "openai" else f", found engine {model.KIND!r}"
    return f"it is for engine {others[0].KIND!r}{detail}"


_REASONING = "over an endpoint the server parts reasoning from answer; expected null"
AnyJudge = Annotated[Judge, Chosen(_chosen)]


def read(block: Mapping[str, Any]) -> Judge:
    """Judge from the block that a job gets; ``roles`` has the sampling of those that write and review reference
    answers.
    """
    block = dict(block)
    roles = block.pop("roles", None)
    rehearsed = block.get("engine") == Recorded.KIND and "simulation" in block
    model, checked = (Rehearsed, block) if rehearsed else _chosen(block)
    judge = model.model_validate(checked)
    if roles is None:
        return judge
    return judge.add_roles(**{role: SamplingChange.model_validate(sampling) for role, sampling in roles.items()})


def tracked(judge: Judge) -> dict[str, Any]:
    """The settings on which a file of a judge's answers depends, without its profiles."""
    block, fields = judge.block(), type(judge).model_fields
    unused = {
        name for name, field in fields.items() if extra(field, "tracked") is False or extra(field, "role") is Role.LABEL
    }
    return {name: value for name, value in block.items() if name not in unused}
