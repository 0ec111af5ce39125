"""Scores: reads with the choices of their answers."""

from rubric_order.contracts.contract import Column, Contract
from rubric_order.contracts.reads import PLAN

CONSTRAINED = "constrained"  # pattern of a label that only a second, constrained request gave

SCORES = Contract(
    "scores",
    "results/scores/{study}/{dataset}/{judge}.parquet",
    (
        *PLAN.columns,
        Column("item_id", "string", meaning="Id of the item that the score is of; of comparisons, of the unit."),
        Column("question", "string", meaning="Name of the question; empty where a prompt asks one thing."),
        Column("score", "int8", nullable=True, unit="from 1; 0 for a tie", meaning="Number of the chosen option."),
        Column("position", "int8", nullable=True, unit="from 1; 0 for a tie", meaning="Position of that option."),
        Column("pattern", "string", nullable=True, meaning="Form in which the parser found the choice."),
        Column("failure", "string", nullable=True, meaning="Reason why there is no score."),
        Column("expected_score", "double", nullable=True, unit="1 to n", meaning="Mean score by option probabilities."),
        Column("option_mass", "double", nullable=True, unit="0 to 1", meaning="Probability that any label is written."),
    ),
    meaning="One row per read and question: the columns of the plan, then those of the probe (`COLUMNS` of its class)."
    " A column that both have, such as `criterion`, stands with the latter.",
    open=True,
    ordered=False,
)
