from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
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
        ("rank_reversal",),
        "Ranking",
        "Rank reversal",
        block={
            **v.ROWS,
            "strategy": v.TO_COMPARE.but(description="First of the two strategies that are compared."),
            "other": v.TO_COMPARE.but("fixed", "Second of the two strategies that are compared."),
            "n": v.N,
        },
        caption="How much the ranking of a prompt's candidates changes from {strategy} to {other}, with the columns"
        " of Xu et al. (2026), Table 7: Kendall's tau-b and flips. Flips is the share of prompts in which no"
        " candidate is among the best of both rankings. A tie is no flip.",
        notes="Ties is what breaking ties at random would add to the flips. With ties is the sum: the flips if one"
        " best candidate has to be chosen (the paper does not say how it breaks ties). Intervals are"
        " {bootstrap[confidence]:.0%} jackknife intervals over groups. Rankings from few reads differ also by"
        " chance. Noise is tau or flips between two halves of the reads of one strategy. Excess is the"
        " reversal between halves of the two strategies beyond what the noises of both explain. It assumes"
        " that both strategies are noise around one ranking of normal scores (the expected agreement is the"
        " geometric mean of their agreements on Greiner's scale). The excess is 0 on average if the order of"
        " the options has no effect. * marks an excess above 0: significant at 5%, one-sided, after Holm's"
        " adjustment for all judges, profiles, datasets and scales of the study. Tau also falls where one"
        " strategy ties candidates that the other distinguishes, so its p is not less than that of reversed"
        " pairs. Unequal noise means that the two noises differ (p below .05, of tau or of flips). The excess"
        " then depends on the assumption of one ranking of normal scores. It includes effects of scores that"
        " are not normal, and of one order being surer in some prompts only. Real reversals are then found"
        " less often. Intervals, and p of ties, are two-sided. So a star can stand beside a 95% interval that"
        " contains 0, with a p from .025 to .05. Excess at least means that the halves of a strategy have no"
        " ordering in common, so the noise is too large and the excess too small. Few clusters: one of the"
        " numbers comes from fewer than 30 groups. With 18, intervals of flips and of their excess contain"
        " the truth in 88% to 90% of simulated studies. The CSV file has the shares of pairs that are"
        " reversed and tied.",
    ),
)
