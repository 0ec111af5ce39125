from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Effect on single items, table",
    order=40,
    statistic=Statistic(
        question="How far does an ordering move single items?",
        read="the standard deviation, between items, of an ordering's effect, beside its margin; shares of scores and"
        " best candidates that change; the number of reads, in random orderings, whose mean is typically within the"
        " margin of the mean over all orderings",
        cannot="why items move; which orderings are best (see `ordering_subsets`)",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/level", "order_spread"),
        derived=("temperatures",),
        block={
            "margin": v.Key(
                "Positive",
                0.1,
                "Equivalence margin of an ordering's effect on single items, as a standard deviation in points. A card"
                " calls a judge equivalent only if this standard deviation is shown to be smaller. The default of 0.1"
                " is also the margin of the mean score: an ordering that moves some items up and others down may move"
                " single items no further than it may move the mean of all items. A card also says how many randomly"
                " drawn orderings have a mean within this margin of the mean over all orderings.",
            )
        },
    ),
    table=Shown(
        block=v.EFFECTS,
        caption="What an ordering does to single items, beyond what it does to all of them alike: the standard"
        " deviation of this effect between items, in points, with {bootstrap[confidence]:.0%} jackknife intervals over"
        " {cluster}s. A mean over items does not show the effect where some items gain what others lose.",
        notes="At most: upper end, at level {equivalence[level]:g}, that is compared with the margin of"
        " {order_spread[margin]:g} points. For selected options the spread is known from repeats of every ordering or"
        " from option probabilities; otherwise order and chance are one number (SD of reads of an item). Three causes"
        " give the same spread: preferences that differ between items, one preference that meets different scores, and"
        " a judge that any change of the prompt moves. Scores changed %: share of items whose score changes under"
        " another ordering than the usual one; best changed %: share of prompts whose best candidate changes.",
    ),
)
