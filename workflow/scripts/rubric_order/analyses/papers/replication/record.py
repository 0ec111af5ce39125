from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        reads=(
            "published",
            "position_selection",
            "human_agreement",
            "strategy_comparison",
            "rank_reversal",
            "within_item_deviation",
            "canonical_rank",
            "score_position",
            "bias_cost",
            "criterion_order",
            "criteria_agreement",
            "rerun",
            "scoring_accuracy",
            "golden_alignment",
            "position_consistency",
        ),
        settings=("replication/studies", "replication/judges"),
        block={
            "paper": v.Key("Literal['xu2026', 'xu2026_v1', 'li2025', 'shi2025']", "xu2026", "Paper to compare with."),
            "studies": v.Key(
                "SomeTexts",
                ["position_bias"],
                "Studies to compare. If several studies have the same estimate, that of the first study is taken.",
            ),
            "judges": v.Key(
                "dict[str, str]",
                {},
                "Judge of the paper to which each judge corresponds, as judge or judge/profile on both sides. A"
                " judge that is not listed corresponds to the paper's judge of the same id.",
            ),
        },
    ),
    table=Shown(
        ("replication",),
        "Replication",
        "Published numbers beside ours",
        caption="Published numbers beside ours, for the same judge, dataset, strategy and scale. Other items is the"
        " {bootstrap[confidence]:.0%} interval over groups of items. It shows how far ours would move with"
        " other items.",
        notes="Another run is the range in which at least {bootstrap[confidence]:.0%} of the runs of the same"
        " judge on the same items would lie, computed from how the reads of an item vary. It is missing if no"
        " item was read twice, and for numbers for which it is not computed: shares within one score,"
        " correlations by criterion or with golden scores, and counts of significant tests (which have no"
        " error of their own). If each order is read once per item, the effect of the order on single items"
        " counts as chance of reads. Ranges are then too wide. The range of one order alone (canonical, rank)"
        " takes a share of the chance of the others (with two orders, half). It is too narrow if the reads"
        " of this order vary by far the most. Outside names the ranges that do not reach the published"
        " number, allowing for its rounding. If a number is outside of another run, prompts, settings, items,"
        " or the version of the judge differ. A number inside both ranges is no proof of agreement: with few"
        " items a worse judge is inside as well. Top1_flip breaks ties of the best candidates at random, and"
        " top1_flip_strict counts them as no flip. The paper does not say what it does, so both stand beside"
        " its number. Not computed means that no statistic of ours is that quantity. No estimate means that"
        " this run has no reads for the quantity. The CSV file has all numbers of the paper, also those of"
        " judges that were not run.",
    ),
)
