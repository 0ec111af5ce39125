from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence", "bootstrap/seed", "adaptive_budget"),
        block={
            "targets": v.Key(
                "Annotated[list[Positive], Len(1), Unique]",
                [0.5, 1.0, 1.5],
                "Widths of an item's interval at which its reading stops, in points.",
            ),
            "level": v.Key(
                "Annotated[float, Numeric(ge=0.5, lt=1)]",
                0.95,
                "Share of the items' intervals that should contain the item's mean over all orderings.",
            ),
            "folds": v.Key(
                "Annotated[int, Ge(2)]",
                5,
                "Number of folds into which the groups are divided. The rule that stops the reading of items in each"
                " fold is learnt on the other folds.",
            ),
            "draws": v.Key(
                "Count",
                8,
                "Number of random orders in which each item is replayed when the rule is learnt. It is reduced where"
                " there are many items.",
            ),
        },
        methods="Complete reads of items were replayed in random order until the interval of an item's mean over its"
        " orderings was narrow enough, by confidence sequences for sampling without replacement and by"
        " conformal risk control over groups, with an estimate of what a further group adds"
        " [@waudbysmith2024; @angelopoulos2024].",
    ),
    table=Shown(
        ("adaptive_budget",),
        "Calibration",
        "Reading until it is enough, table",
        block={**v.ROWS, "strategy": v.OF_ONE_SET_OR_RECORDED, "n": v.N},
        caption="Number of reads of an item until reading stops, in a replay of complete reads ({strategy}) in"
        " random order. Intervals are {bootstrap[confidence]:.0%} intervals over groups. What is estimated is"
        " the item's mean over its orderings, as the judge answered them. This mean is certain once all"
        " orderings are read. It is not the mean over repeats.",
        notes="Sequence is a confidence sequence for reads in random order without replacement, valid for each"
        " item and any judge. Learnt removes what orderings add. Half of its interval is a factor times the"
        " standard error; this factor would have made {adaptive_budget[level]:.0%} of the claims right in"
        " other groups. Learnt is valid on average over items of groups like these. An item stops by width if"
        " its interval is at most as wide as the target, and by place if its interval overlaps with that of"
        " no other candidate. Held is the share of intervals that contain the mean; early is that share of"
        " items that were not read to their end. Error is the root mean square error, in points. Times is the"
        " error divided by that of as many reads of every item. Beyond is the share of items that err by"
        " more than half of the target; in brackets, that share with as many reads of every item. Saved is"
        " the share of calls saved against a number of reads that is the same for all items and has the same"
        " error. It is below 0 where that number takes fewer calls. Calls of the groups that were learnt on"
        " are not counted. Few reads are also enough if a judge writes the same score in all of them,"
        " whatever the order does. Column times shows what stopping items one by one gains.",
    ),
    figure=Shown(
        ("adaptive_budget",),
        "Calibration",
        "Reading until it is enough, figure",
        block={**v.by_strategy(v.OF_ONE_SET_OR_RECORDED), "readout": v.READOUT_OF_SCORES, **v.panels(2.4)},
        caption="Error of an item's estimate, in points, against its mean over all of its orderings ({strategy}), by"
        " the mean number of reads per item. Complete reads are replayed in random order. Lines are for the"
        " same number of reads of every item: as they are, and without what each ordering adds in other"
        " groups.",
        notes="Points are for items that are stopped one by one, when the interval is as narrow as the target that"
        " stands beside the point. They are stopped by a confidence sequence, or by what was learnt on other"
        " groups, whose calls are not counted. A point below the line of its colour has less error at the"
        " same calls. Bars are {bootstrap[confidence]:.0%} intervals over groups, of reads and of errors.",
    ),
)
