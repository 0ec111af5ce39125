from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "equivalence/level", "order_spread"),
        derived=("temperatures",),
        block={
            "margin": v.Key(
                "Positive",
                0.1,
                "Equivalence margin of an ordering's effect on single items, as a standard deviation in points. A"
                " card calls a judge equivalent only if this standard deviation is shown to be smaller. The default"
                " of 0.1 is also the margin of the mean score: an ordering that moves some items up and others down"
                " may move single items no further than it may move the mean of all items. A card also says how many"
                " randomly drawn orderings have a mean within this margin of the mean over all orderings.",
            )
        },
    ),
    table=Shown(
        ("order_spread",),
        "Position bias",
        "Effect on single items, table",
        block=v.EFFECTS,
        caption="What an ordering does to single items, beyond what it does to all of them alike: the standard"
        " deviation of this effect between items, in points, with {bootstrap[confidence]:.0%} jackknife"
        " intervals over {cluster}s. A mean over items does not show the effect where some items gain what"
        " others lose.",
        notes="At most is the upper end, at level {equivalence[level]:g}, that is compared with the margin of"
        " {order_spread[margin]:g} points; if it is below the margin, the spread is shown to be small. With"
        " option probabilities, repetition is no part of the spread where the answer begins with the score."
        " Where a text stands before the score, chance in this text counts as an effect of the order, unless"
        " orderings were read several times. For selected options, the spread is known from repeats of every"
        " ordering, or from the probabilities of a judge whose score is one draw from them. Otherwise the"
        " effect of the order on an item cannot be told from chance, and only both together (SD of reads of"
        " an item) are known. The spread does not show why an item is moved. Three causes give the same"
        " number: a preference for positions that differs from item to item, one preference that meets items"
        " with different scores, and a judge that is unstable under any change of the prompt. Scores changed"
        " %: share of the items whose score changes under another ordering than the usual one. By option"
        " probabilities, these are the changes that must happen whatever is drawn; by repeats, those beyond"
        " chance, which are at most as many. Best changed %: share of the prompts whose best candidate"
        " changes; by option probabilities, the best is that by expected scores, however little they differ.",
    ),
)
