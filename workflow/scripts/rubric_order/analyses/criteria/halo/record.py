from rubric_order import vocabulary as v
from rubric_order.catalogue import CRITERION_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Halo",
    order=570,
    statistic=Statistic(
        question="Are criteria more alike in one prompt than judged alone?",
        read="the difference of mean correlations",
        cannot="how much of the difference comes from the length and the format of the prompt",
        probes=CRITERION_ORDER,
        reads=("alone",),
        settings=("bootstrap/confidence",),
        block={
            "alone": v.Key(
                "Texts",
                [],
                "Studies of probe score_order that judge the same items one criterion at a time. Halo is measured by"
                " comparison with them.",
            )
        },
    ),
    table=Shown(
        block={**v.CRITERIA, "n": v.N, "readouts": v.READOUTS_OF_SCORES},
        caption="Halo: mean correlation between criteria across texts, for scores given in one prompt, for scores of"
        " the same items judged alone (where a study does that) and for people's scores. Differences between these are"
        " given too. All have {bootstrap[confidence]:.0%} intervals of a jackknife over groups of texts. Basis read"
        " correlates single reads.",
        notes="Basis mean correlates means over equally many reads in one prompt and alone. The difference of one"
        " prompt and alone is corrected for the noise of reads, where repeats of a prompt count as one read. With one"
        " prompt a text or two levels it has no interval. The noise of people's scores is unknown, so a"
        " difference from them has no interval. * significant at 5% after Holm's adjustment for all judges, profiles,"
        " datasets and scales of the study. Few clusters: a column from fewer than 30 groups.",
    ),
)
