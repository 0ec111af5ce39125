from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=SCORE_ORDER, settings=("bootstrap/confidence",), derived=("conditions",)),
    table=Shown(
        ("scoring_causes",),
        "Scoring bias",
        "Position, ID and reference answer apart",
        block=v.SCORING_ESTIMATES,
        caption="What moves the scores of the same items: causes beside each other in one model of pairs of reads of"
        " an item (selected options with Firth's penalty). Effects in log-odds are as follows. Position is"
        " what a position adds to the score there, less the mean of all positions.",
        notes="Id is what one ID adds, compared with the ID that stands for its level when IDs are reversed."
        " Presence is what showing a reference answer, whatever its number and text, adds to a score, less"
        " the mean of all scores. Number is what a score gains by being a level nearer to the number shown"
        " with the reference answer. Text is what it gains by being a level nearer to the level that the text"
        " was written for. Effects in points are the slope of the score on the number with one text, the"
        " slope with a text that fits the number, and their difference. The {bootstrap[confidence]:.0%}"
        " intervals take {cluster}s as the sample; * means significant after Holm's adjustment. Not"
        " identified means that the design does not determine the effect. An ID that always stands for one"
        " level cannot be told from that level. A text cannot be told from the presence of a reference answer"
        " where all texts are written for one level. A reversed ID also breaks a convention (A is best),"
        " which no design separates from the ID itself. At temperature 0, log-odds of selected options are in"
        " units of what else differs between prompts. Log-odds of selected options are those of the average"
        " pair of reads. Where groups differ in an effect, they are nearer to 0 than the mean of the groups'"
        " log-odds, which option probabilities give.",
    ),
)
