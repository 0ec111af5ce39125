"""Factors that consistency and fairness of comparisons depend on: Shi et al.'s Table 1."""

import pandas as pd

from rubric_order.base.keys import EVERY

CAPTION = (
    "Factors of position bias in comparisons, after Shi et al. (Judging the Judges, Table 1), and at which level each "
    "is one: of the judge, the candidate or the task (yes). Marked with * where the stepwise search of the table of "
    "bias factors keeps the factor, for consistency or for fairness, in every dataset; beside it by how much AIC rises "
    "without the factor in the model of each. Not known: the study has no such term; recorded answers have no texts. A "
    "factor is kept where AIC falls at all, and cells of one question set count as independent, so that a mark says "
    "little; arithmetic alone marks the quality gap, unless it is that of other judges."
)
LEVELS = ("judge", "candidate", "task")
# By factor of the paper: the levels that it belongs to, and its term in the regression.
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


def table(bias_factors: pd.DataFrame, *, study: str, gap: str, profile: str = "default") -> pd.DataFrame:
    """One row a factor of each strategy and number of options: the paper's five, then candidate and task themselves.

    Args:
        bias_factors: see `bias_factors.estimate`.
        study: whose reads. profile: of the judges. gap: which quality gap, ``own`` or ``others``.

    Returns:
        `strategy`, `n`, `factor`; for each of `LEVELS` ``yes``, ``yes*`` or ``no``; `significant`; and for each dataset
        and outcome `aic_DATASET_OUTCOME`, how much AIC rises without it: 0 where the search left it out, missing where
        it was no term. The familial property is the judge: recorded and simulated judges are not of several series.
    """
    chosen = bias_factors[
        (bias_factors["study"] == study) & (bias_factors["gap"] == gap) & (bias_factors["profile"] == profile)
    ]
    rows = [
        dict(zip(SETTING, key, strict=True)) | row
        for key, part in chosen.groupby(SETTING, sort=False)
        for row in _factors(part)
    ]
    return pd.DataFrame(rows, columns=None if rows else [*SETTING, "factor", *LEVELS, "significant"])


def _factors(chosen: pd.DataFrame) -> list[dict]:
    """The factors of one strategy and number of options."""
    single = chosen[chosen["dataset"] != EVERY]
    datasets = sorted(single["dataset"].unique())
    rises = {}
    for (dataset, outcome), block in single.groupby(["dataset", "outcome"]):
        aic = block.set_index("removed")["aic"].astype(float)
        rises[dataset, outcome] = aic.drop("none") - aic["none"]
    offered = set(chosen["offered"].str.split(" ").explode())
    rows = []
    for factor, (levels, term) in FACTORS.items():
        is_offered = term in offered
        gains = {
            f"aic_{dataset}_{short}": float(rises[dataset, outcome].get(term, 0.0)) if is_offered else float("nan")
            for dataset in datasets
            for outcome, short in OUTCOMES.items()
            if (dataset, outcome) in rises
        }
        kept = [any(gains.get(f"aic_{name}_{short}", 0) > 0 for short in OUTCOMES.values()) for name in datasets]
        marked = is_offered and bool(datasets) and all(kept)
        mark = {level: ("yes*" if marked else "yes") if level in levels else "no" for level in LEVELS}
        rows.append({"factor": factor, **mark, "significant": _word(is_offered, marked)} | gains)
    return rows


def _word(known: bool, marked: bool) -> str:
    return ("yes" if marked else "no") if known else "not known"


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    printed = rows[[*SETTING, "factor", *LEVELS, "significant"]]
    printed = printed.replace({"factor": {"familial_property": "judge (family)"}})
    printed["factor"] = printed["factor"].str.replace("_", " ")
    for name in rows.columns[rows.columns.str.startswith("aic_")]:
        dataset, _, outcome = name.removeprefix("aic_").rpartition("_")
        values = rows[name]
        printed[f"{dataset}, {outcome}"] = [f"{value:+.1f}" if pd.notna(value) else "" for value in values]
    return printed
