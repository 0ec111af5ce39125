from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Published numbers beside ours",
    category="Replication",
    order=520,
    statistic=Statistic(
        question="Do our numbers agree with the published ones?",
        read="the difference, and both ranges",
        cannot="that a number is replicated, if it only lies in a wide range",
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
                "Judge of the paper to which each judge corresponds, as judge or judge/profile on both sides. A judge"
                " that is not listed corresponds to the paper's judge of the same id.",
            ),
        },
    ),
    table=Shown(
        caption="Published numbers beside ours, for the same judge, dataset, strategy and scale. Other items is the"
        " {bootstrap[confidence]:.0%} interval over groups of items. It shows how far ours would move with other"
        " items.",
        notes="Another run: range in which at least {bootstrap[confidence]:.0%} of the runs of the same judge on the"
        " same items would lie, from how the reads of an item vary; too wide if each order is read once, and missing"
        " where it is not computed. Outside names the ranges that do not reach the published number, allowing for its"
        " rounding. A number outside another run points to other prompts, settings, items or versions; a number inside"
        " both ranges is no proof of agreement. Top1_flip breaks ties of the best candidates at random,"
        " top1_flip_strict counts them as no flip; the paper does not name its rule. Not computed: no statistic of ours"
        " is that quantity. No estimate: this run has no reads for it.",
    ),
)
