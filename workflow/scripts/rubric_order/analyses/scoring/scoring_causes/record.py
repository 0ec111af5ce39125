from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Position, ID and reference answer apart",
    order=480,
    statistic=Statistic(
        question="What moves scores: the position, the ID or the reference answer?",
        read="the log-odds of each term",
        cannot="terms that the design does not identify",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence",),
        derived=("conditions",),
    ),
    table=Shown(
        block=v.SCORING_ESTIMATES,
        caption="What moves the scores of the same items: causes beside each other in one model of pairs of reads of an"
        " item (selected options with Firth's penalty). The first effects are in log-odds. Position: what a position"
        " adds to the score there, less the mean of all positions.",
        notes="Id: what an ID adds, compared with the one that stands for its level when IDs are reversed. Presence:"
        " what showing a reference answer adds to a score, less the mean of all scores. Number: what a score gains by"
        " being a level nearer to the number shown with the reference; text: nearer to the level that the text was"
        " written for. Effects in points: slope of the score on the number with one text, with a text that fits it, and"
        " their difference. The {bootstrap[confidence]:.0%} intervals take {cluster}s as the sample (* significant"
        " after Holm's adjustment). Not identified: the design does not determine the effect. A reversed ID also breaks"
        " a convention (A is best). Log-odds of selected options are those of the average pair of reads, at temperature"
        " 0 in units of what else differs between prompts.",
    ),
)
