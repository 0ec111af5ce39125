from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "judge_comparison"),
        derived=("sampling_temperatures",),
        block={
            "sweeps": v.Key(
                "dict[str, dict[str, Number]]",
                {},
                "Sweeps over which trends are estimated, in addition to temperature. Each sweep has a name and gives"
                " the value of each judge, or judge/profile, such as the logarithm of its size.",
            )
        },
    ),
    table=Shown(
        ("judge_comparison",),
        "Position bias",
        "Judges, profiles, scales and datasets compared",
        block=v.EFFECTS,
        caption="Differences in position bias between two judges, two profiles of a judge, two scales or two"
        " datasets, all else being equal, and slopes over a sweep (trend), with {bootstrap[confidence]:.0%}"
        " intervals.",
        notes="Judges, profiles and scales read the same items, so each {cluster} is compared with itself."
        " first_last and ends_middle are contrasts of position preference in log-odds: compare them at one"
        " temperature. cramers_v_squared is the squared V of position selection. It also depends on how"
        " decisive a judge is and on the number of levels. What chance adds to it is subtracted, so it is 0"
        " on average where there is no bias, and can be below 0. Its p assumes that both V are equal, and its"
        " interval takes them as estimated, so a mark can disagree with the interval. A point is one score"
        " level. † means not significant at 5%, ‡ not significant after Holm's adjustment for all comparisons"
        " of its kind.",
    ),
)
