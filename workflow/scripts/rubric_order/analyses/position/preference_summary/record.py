from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Position preference over judges and datasets",
    order=100,
    statistic=Statistic(
        question="How large is the preference over judges and datasets?",
        read="the mean with its interval; standard deviations between judges and datasets",
        cannot="the preference of judges in general",
        probes=SCORE_ORDER,
        reads=("position_preference",),
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block=v.EFFECTS,
        caption="Position preference over all judges and datasets of a study, in log-odds: the mean with its"
        " {bootstrap[confidence]:.0%} interval (random effects by REML, interval by Hartung and Knapp), and the"
        " standard deviations of the true values between judges, between datasets, and of the rest. The rest is"
        " particular to one judge on one dataset.",
        notes="The mean describes the judges and datasets of which these are a sample, and judges must be at one"
        " temperature. Where a deviation is missing, the study cannot separate it from the rest. r of errors: mean"
        " correlation of judges' sampling errors on one dataset, for which mean and deviations allow. The CSV file has"
        " each judge and dataset, shrunken towards the mean.",
    ),
)
