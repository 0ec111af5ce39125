from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    table=Shown(
        ("position_consistency",),
        "Comparisons",
        "Position bias of lists",
        block=v.COMPARING,
        caption="Position bias of judges that choose the best of a list, with {bootstrap[confidence]:.0%} intervals"
        " over questions. PC is position consistency: the share of lists with one winner in all orders, or a"
        " tie in all, of those with a verdict in each order.",
        notes="Chance is the PC of a judge that draws a position in each order and calls as many ties, equally"
        " often in all lists. Where ties gather in some lists, chance alone gives a higher PC. PF is"
        " preference fairness: the share of lists that are inconsistent and count for another position than"
        " the first, less the share of those that count for the first. A list counts for its most chosen"
        " position. Several positions stand against the first, so a judge without a preferred position does"
        " not have a PF of 0: column even gives its PF. Two winners is the share of lists in which two"
        " candidates win; the other inconsistent lists have one winner and ties. Positions shows what each"
        " position adds to a candidate's log-odds, from the first to the last; these values sum to 0. Beta is"
        " the value of the first position less that of the last (conditional logit, Firth's penalty). Errors"
        " is the share of answers without a verdict. RS is repetition stability: the share of the commonest"
        " verdict among reads of one prompt. The flag marks a beta that is separated: only the penalty keeps"
        " it finite, so read its sign and not its size.",
    )
)
