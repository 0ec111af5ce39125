from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Datasets of scoring bias",
    category="Scoring bias",
    order=440,
    statistic=Statistic(reads=("items", "published"), settings=()),
    table=Shown(
        caption="Items and groups of each dataset, and items with human scores, labels and a reference answer. A group"
        " is a prompt, article or story that items share. Labels came with the dataset. Reference answers are of the"
        " highest score. Published columns are from Li et al. (2025), Table 1.",
        notes="Their table says that MT-Bench and Vicuna have no reference answers; the published files have them.",
    ),
)
