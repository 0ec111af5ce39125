from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Reading until it is enough",
    category="Calibration",
    order=220,
    statistic=Statistic(
        question="How many reads are spared if each item is read only until its mean is known well enough?",
        read="the number of reads; the share of intervals that contain the mean; the error, beside the error of as many"
        " reads in all, with every item read equally often",
        cannot="whether the mean is right; what repeats would add",
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
        " orderings was narrow enough, by confidence sequences for sampling without replacement and by conformal risk"
        " control over groups, with an estimate of what a further group adds [@waudbysmith2024; @angelopoulos2024].",
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.OF_ONE_SET_OR_RECORDED, "n": v.N},
        caption="Number of reads of an item until reading stops, in a replay of complete reads (strategy {strategy}) in"
        " random order, with {bootstrap[confidence]:.0%} intervals over groups. The target is the item's mean over its"
        " orderings, as the judge answered them, not the mean over repeats.",
        notes="Sequence is a confidence sequence, valid for each item and any judge. Learnt is calibrated on other"
        " groups, whose calls are not counted, and valid on average over items of such groups. An item stops by width"
        " (interval at most the target) or by place (no overlap with another candidate's interval). Held: coverage of"
        " the intervals, nominally {adaptive_budget[level]:.0%}; early: coverage among items stopped early. Error is"
        " the root mean square error in points; times, that error divided by the error of as many reads of every item."
        " Beyond: share of items that err by more than half of the target, in brackets with as many reads of every"
        " item. Saved: calls saved against equally many reads of every item with the same error.",
    ),
    figure=Shown(
        block={**v.strategy_rows(v.OF_ONE_SET_OR_RECORDED), "readout": v.READOUT_OF_SCORES, **v.panels(2.4)},
        caption="Error of an item's estimate, in points, against its mean over all of its orderings (strategy"
        " {strategy}), by the mean number of reads per item. Complete reads are replayed in random order. Lines are for"
        " the same number of reads of every item: as they are, and without what each ordering adds in other groups.",
        notes="Points are items stopped one by one, once the interval is as narrow as the target beside the point, by a"
        " confidence sequence or by what was learnt on other groups, whose calls are not counted. A point below the"
        " line of its colour has less error at the same calls. Bars are {bootstrap[confidence]:.0%} intervals over"
        " groups.",
    ),
)
