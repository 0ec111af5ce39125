from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    category="Advice",
    order=230,
    statistic=Statistic(
        question="How many groups, items and reads does a further study need?",
        read="options with calls and predicted precision, and the interval of the prediction",
        cannot="whether scores are right; other items than the pilot's",
        probes=SCORE_ORDER,
        settings=(
            *("bootstrap/confidence", "bootstrap/seed", "equivalence/points", "equivalence/log_odds", "order_spread"),
            *("advice/goal", "advice/target", "advice/budget"),
        ),
        derived=("call_prices", "sampling_temperatures"),
        block={
            "goal": v.Key(
                "Literal['r', 'mean', 'preference', 'ranked', 'equivalent', 'bias', 'shift']",
                "r",
                "Quantity for which the further study is planned. `r`, `mean` and `preference` are half-widths of"
                " intervals: of r with people, of the mean score, and of the worth of a position. `ranked` is the share"
                " of pairs of items that are ranked right. `equivalent` is the share of studies in which the card of an"
                " unbiased judge is equivalent. `bias` and `shift` are the smallest effects that 80% of studies find:"
                " the worth of a position, and the shift by the usual ordering.",
            ),
            "target": v.Key("Positive | None", None, "Value that the goal should reach; null: no target."),
            "budget": v.Key(
                "Positive | None",
                None,
                "Largest number of calls of the further study; null: no limit. For a judge with `prices` it is an"
                " amount of money if `tokens` are given.",
            ),
            "tokens": v.Key(
                "Annotated[list[Count], Len(2, 2)] | None",
                None,
                "Tokens of the prompt and of the answer of one call. With the `prices` of a judge they give the price"
                " of a call; null: the price is not known.",
            ),
        },
        methods="The precision of further studies was predicted from the variance of what each item adds to an"
        " estimate, split into a part that the items of a group share and a part of each item; intervals come from"
        " resampled groups.",
    ),
    table=Shown(
        title="Options of a further study, table",
        block={**v.ROWS, "strategy": v.OF_PILOT, "n": v.N},
        caption="Options of a further study, predicted from the reads under strategy {strategy} (the pilot); goal:"
        " {advice[goal]}. Options that reach the target come first, cheapest first, each with the fewest groups that"
        " reach it at the worse end of their interval. Without a target, the most precise options that the budget pays"
        " for come first.",
        notes="The prediction depends on the goal. r, mean, preference: half-width of the interval that the study will"
        " report. Ranked: share of pairs of items in the order of the mean over all orderings. Equivalent: share of"
        " studies of an unbiased judge whose card is equivalent. Bias, shift: smallest bias that 80% of studies find."
        " In brackets is the {bootstrap[confidence]:.0%} interval by the pilot's own uncertainty. Column r or mean is"
        " the pilot's under this design. Config has the keys of a study, where sample counts groups; column items is"
        " the number of items in a group. Predictions hold for items and a judge like those of the pilot.",
    ),
    figure=Shown(
        title="Precision by calls, figure",
        block={**v.strategy_rows(v.OF_PILOT), "readout": v.READOUT_OF_SCORES, **v.panels(2.2)},
        caption="Precision of a further study by its calls, predicted from the reads under strategy {strategy} (the"
        " pilot). Groups are as large as those of the pilot. Curves start at the fewest groups with which errors are"
        " known well. Bands are {bootstrap[confidence]:.0%} intervals by the pilot's own uncertainty, over its groups."
        " Dotted lines are target and budget, if config has them.",
        notes="Half-widths are those of intervals over groups. The share of pairs ranked right depends on the reads of"
        " an item alone.",
    ),
)
