from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Single reads corrected",
    category="Calibration",
    order=190,
    statistic=Statistic(
        question="How much nearer to a balanced mean does a correction for positions bring a single read?",
        read="the error and the calls, beside those of other choices of reads; *times* (the error divided by the error"
        " without calibration); for written scores also the error of a correction that uses the score and no position",
        cannot="whether the mean is right; what a calibration does to other kinds of items",
        probes=SCORE_ORDER,
        settings=(
            *("bootstrap/confidence", "bootstrap/seed"),
            *("calibration/folds", "calibration/groups", "calibration/draws", "calibration/interactions"),
        ),
        block={
            "folds": v.Key(
                "Annotated[int, Ge(2)]",
                5,
                "Number of folds into which the groups are divided. The reads of each fold are corrected by a"
                " calibration learnt on the other folds.",
            ),
            "groups": v.Key(
                "Annotated[list[Annotated[int, Ge(2)]], Unique]",
                [5, 10, 20, 50],
                "Numbers of groups on which further calibrations are learnt, to show how many groups suffice. Numbers"
                " above half of the groups of a dataset are left out.",
            ),
            "draws": v.Key(
                "Count",
                20,
                "Number of random draws of groups for each entry of `groups`. Errors are averaged over the draws.",
            ),
            "interactions": v.Key(
                "bool",
                True,
                "Whether a calibration also learns how much more a position is worth to some scores than to others, as"
                " far as the reads support it.",
            ),
            "as_readout": v.Key(
                "bool",
                False,
                "Whether statistics of agreement show calibrated scores, as readout `calibrated`, beside written and"
                " expected scores. The reads of each group are corrected by a calibration learnt on the balanced reads"
                " of other groups.",
                reruns="`human_agreement`, `strategy_comparison`, `budget_curve`, `generalisability`, `rank_reversal`,"
                " `canonical_rank` and what shows them",
            ),
        },
        methods="Errors of calibrated single reads were estimated by one half of the orderings against the other half,"
        " with calibrations that were learnt on other groups: option probabilities were divided by the effects of"
        " positions, and the effect of the order was removed from written scores.",
    ),
    table=Shown(
        block={**v.ROWS, "strategy": v.OF_ONE_SET_OR_RECORDED, "n": v.N},
        caption="Error of few reads of an item, in points, with and without calibration (strategy {strategy}), with"
        " {bootstrap[confidence]:.0%} jackknife intervals over groups. Orderings are divided into halves. Target: the"
        " item's mean over the half that its reads are not in, adjusted for that half's effect in other groups"
        " (cross-fitted).",
        notes="Usual is one read in the ordering 1 to n; random, one in any ordering; rotated, one with orderings taken"
        " in turn; opposite, an ordering and its reverse; balanced, all orderings of a half. Calibrated scores are"
        " corrected by the balanced reads of other groups. Regressed replaces a written score by the mean of items of"
        " other groups with this score at this position; by score alone, wherever the score stood. Both shrink"
        " differences. Calls include the reads that the calibration took, divided among the items. Own error leaves out"
        " the error of the target. Times: error over that without calibration. Shift is the mean error, slope the"
        " difference of scores for one point between items or systems, pass the error of the share of scores that round"
        " to the second highest level or more. Intervals take calibrations as learnt.",
    ),
    figure=Shown(
        block={**v.strategy_rows(v.OF_ONE_SET_OR_RECORDED), "readout": v.READOUT_OF_SCORES, **v.panels(2.2)},
        caption="Error of an item's score, in points, by calls per item, with and without calibration (strategy"
        " {strategy}). Target: the item's mean over the half of its orderings that the score has no part in, adjusted"
        " for that half's effect in other groups (cross-fitted). Bars are {bootstrap[confidence]:.0%} jackknife"
        " intervals over groups.",
        notes="Random orders: means of 1, 2, ... reads in different orderings; the last point is a balanced half."
        " Opposite orders: an ordering and its reverse. Usual order: one read. Calibrated: one read, corrected by"
        " balanced reads of other groups; from left to right, of more groups. The calls of these reads are divided"
        " among the items. The dotted line is the error of the target itself. Intervals take calibrations as learnt.",
    ),
)
