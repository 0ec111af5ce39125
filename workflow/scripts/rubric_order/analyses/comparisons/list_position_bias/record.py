from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Position bias of lists",
    order=600,
    table=Shown(
        ("position_consistency",),
        block=v.COMPARING,
        caption="Position bias of judges that choose the best of a list, with {bootstrap[confidence]:.0%} intervals"
        " over questions. PC is position consistency: the share of lists with one winner in all orders, or a tie in"
        " all, of those with a verdict in each order.",
        notes="Chance: PC of a judge that draws a position in each order and calls as many ties. PF is preference"
        " fairness: share of lists that are inconsistent and count for another position than the first, less the share"
        " that count for the first; even: PF of a judge without a preferred position. Two winners: share of lists in"
        " which two candidates win. Positions: what each adds to a candidate's log-odds; they sum to 0. Beta: first"
        " position less last (conditional logit, Firth's penalty; where separated, read its sign only). Errors: answers"
        " without a verdict. RS: share of the commonest verdict among reads of one prompt.",
    ),
)
