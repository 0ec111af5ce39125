from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Judges, profiles, scales and datasets compared",
    order=110,
    statistic=Statistic(
        question="Do judges, profiles, scales or datasets differ?",
        read="first the difference of preferences, then those of shifts of the mean score and of V",
        cannot="why two judges differ",
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
        block=v.EFFECTS,
        caption="Differences in position bias between two judges, two profiles of a judge, two scales or two datasets,"
        " all else being equal, and slopes over a sweep (trend), with {bootstrap[confidence]:.0%} intervals.",
        notes="Judges, profiles and scales are compared on the same {cluster}s. first_last and ends_middle are"
        " contrasts of position preference in log-odds: compare them at one temperature. cramers_v_squared, less what"
        " chance adds, also depends on decisiveness and on the number of levels; its p assumes equal V, so a mark can"
        " disagree with its interval. † not significant at 5%, ‡ not significant after Holm's adjustment for all"
        " comparisons of its kind.",
    ),
)
