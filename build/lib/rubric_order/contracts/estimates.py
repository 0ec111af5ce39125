"""Estimates: the columns that statistics share."""

from dataclasses import replace

from rubric_order.contracts.contract import Column, Contract
from rubric_order.contracts.reads import PLANNED

COLUMNS = (
    *(PLANNED[name] for name in ("study", "judge", "profile", "condition")),
    Column("dataset", "string", meaning="Id of the dataset; `all` of all together, `mean` of their mean."),
    *(PLANNED[name] for name in ("strategy", "n")),
    Column(
        "readout",
        "string",
        unit="hard, soft, calibrated",
        meaning="The option that was written, all probabilities, or a calibrated score.",
    ),
    Column("cluster", "string", unit="group, item", meaning="What counts as the sample."),
    Column("quantity", "string", meaning="Name of what is estimated, one of those that the statistic lists."),
    Column("estimate", "double", unit="by quantity", meaning="The estimate."),
    Column("ci_low", "double", unit="by quantity", meaning="Lower end of its interval."),
    Column("ci_high", "double", unit="by quantity", meaning="Upper end of its interval."),
    Column("confidence", "double", unit="0 to 1", meaning="Nominal coverage of the interval."),
    Column("p", "double", unit="0 to 1", meaning="p-value of the test that the statistic names."),
    Column("p_holm", "double", unit="0 to 1", meaning="p-value, adjusted for any false rejection in the family."),
    Column("p_bh", "double", unit="0 to 1", meaning="p-value, adjusted for the share of false rejections."),
    Column("n_tests", "int64", unit="from 1", meaning="Size of the family of tests."),
    Column("n_clusters", "int64", unit="from 0", meaning="Clusters that are used."),
    Column("n_groups", "int64", unit="from 0", meaning="Groups that are used."),
    Column("n_items", "int64", unit="from 0", meaning="Items that are used."),
    Column("n_reads", "int64", unit="from 0", meaning="Reads that are used."),
    Column("n_failed", "int64", unit="from 0", meaning="Reads that have no score and are left out."),
    Column("flag", "string", meaning="What limits the estimate, in words; empty where nothing does."),
    Column("method", "string", meaning="How estimate, interval and p-value came about, in words."),
    Column("seed", "int64", meaning="Seed of what is drawn."),
)

ESTIMATES = Contract(
    "estimates",
    "results/statistics/{statistic}.parquet",
    tuple(replace(column, nullable=True, optional=True) for column in COLUMNS),
    meaning="One row an estimate. A statistic has those of these columns that apply to it, and others of its own.",
    open=True,
    ordered=False,
)
