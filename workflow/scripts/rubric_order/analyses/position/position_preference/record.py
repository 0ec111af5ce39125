from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence",),
        derived=("sampling_temperatures",),
        methods="What each position adds to the log-odds of the score that stands there was estimated by a"
        " conditional logit of pairs of reads of an item and, where option probabilities were known, by least"
        " squares of logarithms, with standard errors that are robust to groups.",
    ),
    table=Shown(
        ("position_preference", "order_tests"),
        "Position bias",
        "Position preference, table",
        block=v.EFFECTS,
        caption="Position preference: what each position of the prompt adds to the log-odds of the score that stands"
        " there, with {bootstrap[confidence]:.0%} intervals over {cluster}s; the positions sum to 0. It"
        " compares the reads of one item with each other, so what the judge thinks of the item cancels.",
        notes="Unlike the shares of positions, it does not depend on how decisive the judge is, and is comparable"
        " across judges and numbers of levels at one temperature. p tests whether all positions are worth the"
        " same (Hotelling's T-squared, {cluster}s as the sample). * means a p of at most 3% after Holm's"
        " adjustment for the tests that decide the judge's bias card; tests that do not decide it have no"
        " mark. The CSV file also has Holm's adjustment for all judges, datasets and scales of the study."
        " Selected options give log-odds of an answer. At temperature T these are 1/T of the model's own"
        " log-odds, which option probabilities give. At temperature 0 nothing is drawn: the unit is then"
        " whatever else differs between the prompts of an item, and has nothing to do with probabilities."
        " Where items or {cluster}s prefer different positions, option probabilities give the mean of their"
        " preferences, and selected options the preference of all together, which is smaller. Where some"
        " prefer the first positions and others the last, selected options can show a preference for both"
        " ends (a U) that no item has. Where a position is worth more to some scores than to others, the"
        " number is an average over the scores that the judge wavers between. p of interaction tests this, by"
        " what the highest score gains at the last position and the lowest at the first. Differing is the"
        " share of the pairs of reads of an item that are informative; a judge is saturated where it is below"
        " 5%. Estimates from selected options use Firth's penalised likelihood: where few pairs are"
        " informative, maximum likelihood would put them too far from 0. Separated means that only the"
        " penalty keeps estimates finite. Their intervals are then too wide at both ends and say too little"
        " about which position is preferred; p is then that of the score test of no preference.",
    ),
    figure=Shown(
        ("position_preference",),
        "Position bias",
        "Position preference, figure",
        block=v.BY_POSITION,
        caption="Position preference: what each position of the prompt adds to the log-odds of the score that stands"
        " there, under strategy {strategy} with {n} score levels; the positions sum to 0. There is one panel"
        " for each judge and readout, and one line for each dataset. Bars are {bootstrap[confidence]:.0%}"
        " intervals over {cluster}s; the dotted line is a judge without position preference.",
        notes="What the judge thinks of an item cancels, so judges and scales can be compared at one temperature."
        " At temperature 0 the unit of selected options is whatever else differs between the prompts of an"
        " item. Selected options and option probabilities have vertical axes of their own: compare their"
        " numbers, not their heights. Hollow points are separated: one position was always selected, so the"
        " data alone give no finite value. Where there are other points, the intervals of hollow points do"
        " not set the length of the axis; an arrow marks an interval that continues beyond the axis.",
    ),
)
