from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=SCORE_ORDER, reads=("items",), settings=("bootstrap/confidence",)),
    table=Shown(
        ("length_scores",),
        "Scoring bias",
        "Length and scores",
        block={"cluster": v.CLUSTER},
        caption="Correlation of a text's length (characters) with the mean score that the judge gives it, with"
        " {bootstrap[confidence]:.0%} intervals from leaving out {cluster}s. Longer texts are often better"
        " ones, so the correlation is no bias by itself. People is the same correlation with human scores.",
        notes="Difference is the judge's less people's, on the items that people have rated; p tests that there is"
        " none (* significant at 5% after Holm's adjustment for all judges, profiles, datasets and scales of"
        " the study). The difference is also more than 0 where people's scores are noisier than the judge's,"
        " because noise makes people's correlation smaller. The correlation is a textbook's metric for"
        " verbosity bias; the table Win rates without length has such win rates. Few clusters are fewer than"
        " 30.",
    ),
)
