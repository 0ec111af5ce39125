from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=COMPARING, settings=("bootstrap/confidence",)),
    table=Shown(
        ("mitigations",),
        "Comparisons",
        "Mitigations of position bias",
        block=v.COMPARING,
        caption="Mitigations of position bias beside human scores, over pairs that people tell apart and that have a"
        " verdict in both orders, with {bootstrap[confidence]:.0%} intervals over groups. Calls is the"
        " number of reads of a pair. Decided is the share of pairs with a winner.",
        notes="Right is the share of the decided pairs whose winner is that of people; a policy that decides less"
        " often can be right more often without knowing more. Right, a tie as half, is over all pairs; by"
        " arithmetic it is the same for the average of two orders as for a random order. Column r is the"
        " correlation of the verdict (1, a half, 0) with the difference of the human scores. Win rates is the"
        " mean absolute error of the candidates' win rates. The brackets give the error that chance alone"
        " makes for a judge whose win rates are those of people. Averaging makes that error smaller, and so"
        " looks better even where it judges no better. Consistent is how often the other order gives the same"
        " verdict, 1 by construction of two orders together. First position is the share of pairs that the"
        " first position wins, less that of the second; 0 by construction of two orders. Gain is what a"
        " policy adds to right, a tie as half, over the same pairs. It is the gain over one order; for a"
        " majority, it is the gain over a judge that is drawn from those who vote. For a random order and for"
        " both orders it also depends on which candidates are listed first, which is no merit. Both orders"
        " averaged gain nothing over a random order. Judge majority is the commonest verdict of all judges, a"
        " tie where several are commonest; all, drawn is one of them at random. More reads of one order take"
        " away noise, and leave what the position adds. Criteria, combined is what most verdicts under"
        " single criteria say, beside overall verdicts on the same pairs and people's overall scores. Its"
        " gain is over as many reads of the overall verdict or more, because both take away noise. Like"
        " overall is the share of pairs decided as by one overall verdict. Column r with length is the"
        " correlation of the verdict with the difference of the texts' lengths.",
    ),
)
