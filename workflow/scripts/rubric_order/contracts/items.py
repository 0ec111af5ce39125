"""Datasets as tables: items, rubrics, pairs, and reference answers that were made for them."""

from rubric_order.contracts.contract import Column, Contract

DATASET = Column("dataset", "string", meaning="Id of the dataset.")
GROUP = Column("group_id", "string", meaning="Id of what competing candidates share: a prompt, an article, a story.")
CRITERION = Column("criterion", "string", meaning="Id of what is judged.")
HUMAN = Column("human_score", "double", nullable=True, unit="as people gave it", meaning="Mean of `human_scores`.")
CATEGORY = Column("category", "string", nullable=True, meaning="Kind of task, as the dataset has it.")

ITEMS = Contract(
    "items",
    "results/items/{dataset}.parquet",
    (
        DATASET,
        Column("item_id", "string", meaning="Id of the item, unique in the dataset."),
        GROUP,
        Column("candidate", "string", meaning="System or model that wrote the response."),
        CRITERION,
        Column("rubric_id", "string", nullable=True, meaning="Rubric of its score; null where it is only compared."),
        CATEGORY,
        Column("instruction", "string", meaning="What the response answers."),
        Column("response", "string", meaning="Text that is judged."),
        Column("reference", "string", nullable=True, meaning="Answer that deserves the highest score."),
        Column(
            "human_scores", "list<double>", unit="as people gave them", meaning="One score per rater; may be empty."
        ),
        HUMAN,
        Column(
            "reference_labels", "list<double>", meaning="Golden scores by other judges, such as GPT-4; may be empty."
        ),
        Column(
            "turns",
            "list<struct>",
            nullable=True,
            meaning="Turns of a conversation; instruction, response and reference have all of them as one text.",
            fields=(
                Column("user", "string", meaning="Question of the turn."),
                Column("assistant", "string", meaning="Answer; empty where the candidate said nothing."),
                Column("reference", "string", nullable=True, meaning="Reference answer."),
            ),
        ),
    ),
    meaning="One row per text and criterion.",
)

RUBRICS = Contract(
    "rubrics",
    "results/rubrics/{dataset}.parquet",
    (
        Column("rubric_id", "string", meaning="Id by which items name the rubric."),
        CRITERION,
        Column("name", "string", meaning="Name of the criterion in a prompt that asks for several."),
        Column("short", "string", meaning="The criterion in one sentence, for such a prompt."),
        Column("question", "string", meaning="The criterion as a prompt for one score words it."),
        Column("levels", "list<string>", unit="2 to 11 levels", meaning="Description of each score, the lowest first."),
        Column("lowest", "int8", unit="0 or 1", meaning="Score of the lowest level."),
    ),
    meaning="One row a rubric that items use.",
)

PAIRS = Contract(
    "pairs",
    "results/pairs/{dataset}.parquet",
    (
        DATASET,
        Column("pair_id", "string", meaning="Id of the pair, unique in the dataset."),
        GROUP,
        Column("criterion", "string", meaning="Id of what the items are compared by."),
        Column("item_a", "string", meaning="Id of the first item, in canonical order."),
        Column("item_b", "string", meaning="Id of the second item."),
        Column("preference", "string", nullable=True, unit="a, b, tie", meaning="Item that people prefer."),
        CATEGORY,
    ),
    meaning="One row per pair of items that is compared.",
)

REFERENCES = Contract(
    "references",
    "results/references/{dataset}.parquet",
    (
        DATASET,
        GROUP,
        CRITERION,
        Column("rubric_id", "string", meaning="Id of the rubric."),
        Column("level", "int64", unit="1 to n", meaning="Score that the text is written for."),
        Column("n", "int64", unit="from 2", meaning="Number of score levels."),
        Column("round", "int64", unit="from 1; 0 for a user's own", meaning="Round of writing and reviewing."),
        Column("writer", "string", meaning="Judge that wrote the text; `file` where the user brought it."),
        Column("reviewer", "string", nullable=True, meaning="Judge that reviewed it."),
        Column("text", "string", nullable=True, meaning="The reference answer; null where the writer gave none."),
        Column("failure", "string", nullable=True, meaning="Reason why there is no text."),
        Column("verdict", "string", nullable=True, unit="yes, no", meaning="Whether the text matches its score."),
        Column("review", "string", nullable=True, meaning="Raw answer of the reviewer."),
        Column("review_failure", "string", nullable=True, meaning="Reason why there is no verdict."),
        Column(
            "blind_score", "int64", nullable=True, unit="1 to n", meaning="Score by the reviewer, who did not know it."
        ),
        Column("blind_failure", "string", nullable=True, meaning="Reason why there is no blind score."),
        Column("accepted", "bool", meaning="Whether prompts show the text."),
    ),
    meaning="One row an attempt to write a reference answer.",
)
