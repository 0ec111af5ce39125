"""Factors that consistency and fairness of comparisons depend on: Shi et al.'s Table 1."""

import pandas as pd

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Number, Row, Text, texts
from rubric_order.tables.spec import Rows, Table

LEVELS = ("judge", "candidate", "task")
# For each factor of Shi et al.: the levels that it belongs to, and its term in the regression.
FACTORS = {
    "familial_property": (("judge",), "judge"),
    "answer_quality_gap": (("candidate",), "quality_gap"),
    "task_input_length": (("task",), "input_length"),
    "task_output_length": (("candidate", "task"), "output_length"),
    "prompt_length": (("candidate", "task"), "prompt_length"),
    "candidate": (("candidate",), "candidate"),
    "task": (("task",), "task"),
}
OUTCOMES = {"position_consistency": "PC", "preference_fairness": "PF"}
SETTING = ["strategy", "n"]


def _rows(bias_factors: pd.DataFrame) -> pd.DataFrame:
    settings = bias_factors.groupby(SETTING, sort=False)
    rows = [dict(zip(SETTING, key, strict=True)) | dict(row) for key, part in settings for row in _factors(part)]
    return pd.DataFrame(rows, columns=None if rows else [*SETTING, "factor", *LEVELS, "significant", "datasets"])


def _factors(chosen: pd.DataFrame) -> list[Row]:
    """The factors of one strategy and number of options."""
    single = chosen[chosen["dataset"] != EVERY]
    datasets = sorted(single["dataset"].unique())
    rises = {}
    for (dataset, outcome), block in single.groupby(["dataset", "outcome"]):
        aic = block.set_index("removed")["aic"].astype(float)
        rises[dataset, outcome] = aic.drop("none") - aic["none"]
    offered = set(chosen["offered"].str.split(" ").explode())
    rows: list[Row] = []
    for factor, (levels, term) in FACTORS.items():
        gains = {of: float(rise.get(term, 0.0)) if term in offered else float("nan") for of, rise in rises.items()}
        in_model = [any(gains.get((name, outcome), 0) > 0 for outcome in OUTCOMES) for name in datasets]
        marked = term in offered and bool(datasets) and all(in_model)
        mark = {level: ("yes*" if marked else "yes") if level in levels else "no" for level in LEVELS}
        significant = ("yes" if marked else "no") if term in offered else "not known"
        row = {"factor": factor, **mark, "significant": significant, "datasets": datasets}
        rows.append(row | {_rise(*of): gain for of, gain in gains.items()})
    return rows


def _rise(dataset: str, outcome: str) -> str:
    return f"aic_{dataset}_{OUTCOMES[outcome]}"


def _rises(rows: pd.DataFrame) -> list[Number]:
    of = [(dataset, outcome) for dataset in rows["datasets"].explode().dropna().unique() for outcome in OUTCOMES]
    heads = {_rise(dataset, outcome): f"{dataset}, {OUTCOMES[outcome]}" for dataset, outcome in of}
    return [Number(name, "+.1f", name=head, missing="") for name, head in heads.items() if name in rows]


TABLE = Table(
    rows=Rows(_rows, "study", "gap", "profile"),
    columns=[
        *texts(*SETTING),
        Text("factor", names={"familial_property": "judge (family)"}, spaced=True),
        *texts(*LEVELS, "significant"),
        _rises,
    ],
    hidden=["datasets"],
)
