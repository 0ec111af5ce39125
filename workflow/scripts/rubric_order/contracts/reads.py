"""Reads that a study plans, and the requests that answer them."""

from dataclasses import replace

from rubric_order.contracts.contract import Column, Contract
from rubric_order.contracts.items import DATASET, GROUP, HUMAN

REQUEST = Column("request_id", "string", meaning="Name of the request: a hash of all that determines its answer.")

PLAN = Contract(
    "plan",
    "results/plan/{study}/{dataset}/{judge}.parquet",
    (
        Column("study", "string", meaning="Id of the study."),
        Column("judge", "string", meaning="Id of the judge."),
        Column("profile", "string", meaning="Profile of the judge's settings; `default` is the judge as it stands."),
        DATASET,
        Column(
            "unit_id",
            "string",
            meaning="Subject of the prompt (an item, a text, a pair, a list); unique in the dataset.",
        ),
        GROUP,
        Column("candidate", "string", nullable=True, meaning="System that wrote the response; null of several."),
        Column("criterion", "string", nullable=True, meaning="Id of what is judged; null of several."),
        HUMAN,
        Column("probe", "string", meaning="Probe of the study: what is permuted."),
        Column("condition", "string", meaning="What is varied beside the order; `baseline` where nothing is."),
        Column("strategy", "string", meaning="Way in which the orderings of the unit were chosen."),
        Column("n", "int64", unit="from 2", meaning="Number of score levels; of comparisons, of candidates."),
        Column("read_index", "int64", unit="from 0", meaning="Number of the read in its unit, condition and strategy."),
        Column("ordering", "list<int64>", unit="from 1", meaning="Option at each position of the prompt."),
        Column(
            "levels",
            "list<int64>",
            unit="from 1",
            meaning="Score level at each position, if crossed; under condition `together` all orderings of the request,"
            " one after the other; else empty.",
        ),
        Column("repeat", "int64", unit="from 0", meaning="How often the same prompt came before in unit and strategy."),
        REQUEST,
    ),
    meaning="One row per read. What the probe says of its units (`Unit.about`), such as `item_id`, follows.",
    open=True,
)

PLANNED = {column.name: column for column in PLAN.columns}

REQUESTS = Contract(
    "requests",
    "results/requests/{study}/{judge}.parquet",
    (
        REQUEST,
        *(PLANNED[name] for name in ("profile", "dataset", "unit_id")),
        replace(PLANNED["n"], type="int8"),
        PLANNED["condition"],
        *(replace(PLANNED[name], type="list<int8>") for name in ("ordering", "levels")),
        replace(PLANNED["repeat"], type="int16"),
        Column(
            "prompt",
            "string",
            meaning="Message of the user; of a decision model its text, question and options, as JSON.",
        ),
        Column("options", "list<string>", meaning="Ids of what is permuted, in canonical order."),
        Column(
            "questions",
            "list<struct>",
            meaning="What the answer must say, in the order of the prompt.",
            fields=(
                Column("name", "string", meaning="Name in the prompt; empty where an answer says one thing."),
                Column("labels", "list<string>", meaning="Labels that may be written, in canonical order."),
                Column("names", "string", meaning="Kind of thing that a label stands for, see `probes.Question`."),
            ),
        ),
    ),
    meaning="One row a distinct request, item by item. Reads that need it can differ in study, strategy and index.",
    exact=True,
)
