"""Measure how the order of things in a prompt moves the scores of an LLM judge.

The names in `__all__` are public and stay. Everything else may change. A name is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rubric_order.base.errors import InputError
    from rubric_order.cards.card import Card
    from rubric_order.extras.one_read.library.advice import Advice, advise
    from rubric_order.extras.one_read.library.calibration import Calibrations, calibrate, load_calibration
    from rubric_order.extras.one_read.library.means import corrected_mean
    from rubric_order.judging.engines.python.answers import Answer
    from rubric_order.library.prompts import orderings, parse, render
    from rubric_order.library.results import (
        BiasCards,
        Result,
        agreement,
        bias_card,
        budget_curve,
        position_bias,
        score_effects,
    )
    from rubric_order.library.study import study

__version__ = "0.1.0"
__all__ = [
    "Advice",
    "Answer",
    "BiasCards",
    "Calibrations",
    "Card",
    "InputError",
    "Result",
    "advise",
    "agreement",
    "bias_card",
    "budget_curve",
    "calibrate",
    "corrected_mean",
    "load_calibration",
    "orderings",
    "parse",
    "position_bias",
    "render",
    "score_effects",
    "study",
]
_MODULES = {
    "base.errors": ("InputError",),
    "cards.card": ("Card",),
    "extras.one_read.library.advice": ("Advice", "advise"),
    "extras.one_read.library.calibration": ("Calibrations", "calibrate", "load_calibration"),
    "extras.one_read.library.means": ("corrected_mean",),
    "judging.engines.python.answers": ("Answer",),
    "library.prompts": ("orderings", "parse", "render"),
    "library.results": (
        "BiasCards",
        "Result",
        "agreement",
        "bias_card",
        "budget_curve",
        "position_bias",
        "score_effects",
    ),
    "library.study": ("study",),
}
_HOME = {name: module for module, exported in _MODULES.items() for name in exported}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
