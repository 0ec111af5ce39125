from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Rank reversal",
    category="Ranking",
    order=250,
    statistic=Statistic(
        question="Does the order change which candidate is best?",
        read="the excess of flips and reversed pairs over noise",
        cannot="why rankings change",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "rank_reversal"),
        calibrates=True,
        block={
            "halvings": v.Key(
                "Count", 50, "Number of random halvings of the reads. The noise of rankings is averaged over them."
            )
        },
    ),
    table=Shown(
        block={
            **v.ROWS,
            "strategy": v.TO_COMPARE.but(description="First of the two strategies that are compared."),
            "other": v.TO_COMPARE.but("fixed", "Second of the two strategies that are compared."),
            "n": v.N,
        },
        caption="How much the ranking of a prompt's candidates changes from strategy {strategy} to {other}, with the"
        " columns of Xu et al. (2026), Table 7: Kendall's tau-b and flips. Flips is the share of prompts in which no"
        " candidate is among the best of both rankings. A tie is no flip.",
        notes="Ties: what breaking ties at random would add to the flips; with ties: the sum. Intervals are"
        " {bootstrap[confidence]:.0%} jackknife intervals over groups. Noise: tau or flips between two halves of one"
        " strategy's reads. Excess: reversal between halves of the two strategies beyond both noises, which is 0 on"
        " average without an effect of the order; it assumes one ranking of normal scores. * excess above 0:"
        " significant at 5%, one-sided, after Holm's adjustment for all judges, profiles, datasets and scales of the"
        " study, so a star can stand beside a two-sided interval that contains 0. Unequal noise: the noises differ, and"
        " the excess depends on that assumption. Excess at least: halves of a strategy share no ordering, so their"
        " noise is too large and the excess too small. Few clusters: fewer than 30 groups. The CSV file has shares of"
        " pairs reversed and tied.",
    ),
)
