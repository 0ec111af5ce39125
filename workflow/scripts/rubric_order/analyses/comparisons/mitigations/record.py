from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    title="Mitigations of position bias",
    order=630,
    statistic=Statistic(
        question="What do swaps and averages bring?",
        read="accuracy with a tie as half right, beside the calls",
        cannot="how large the gain would be if other candidates were listed first",
        probes=COMPARING,
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block=v.COMPARING,
        caption="Mitigations of position bias beside human scores, over pairs that people tell apart and that have a"
        " verdict in both orders, with {bootstrap[confidence]:.0%} intervals over groups. Calls is the number of reads"
        " of a pair. Decided is the share of pairs with a winner.",
        notes="Judge majority: commonest verdict of all judges; all, drawn: that of one judge at random. Criteria,"
        " combined: verdict of most single criteria. Right: share of decided pairs whose winner is that of people;"
        " right, a tie as half, is over all pairs. Column r: correlation of the verdict with the difference of human"
        " scores. Win rates: mean absolute error of candidates' win rates, in brackets the error by chance alone."
        " Consistent: how often the other order gives the same verdict. First position: share of pairs that it wins"
        " less that of the second. Gain: what a policy adds to right, a tie as half, over one order, over a judge drawn"
        " from those who vote, or over as many overall verdicts; for a random order and for both orders it also depends"
        " on which candidates are listed first. Like overall: share of pairs decided as by one overall verdict. Column"
        " r with length: correlation of the verdict with the difference of lengths.",
    ),
)
