from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Position preference",
    order=60,
    statistic=Statistic(
        question="How much does a position add to the score that stands there?",
        read="log-odds of each position, first minus last, ends minus middle, the test of no preference",
        cannot="by how many points scores move; anything about a judge that never changes its score",
        probes=SCORE_ORDER,
        settings=("bootstrap/confidence",),
        derived=("sampling_temperatures",),
        methods="What each position adds to the log-odds of the score that stands there was estimated by a conditional"
        " logit of pairs of reads of an item and, where option probabilities were known, by least squares of"
        " logarithms, with standard errors that are robust to groups.",
    ),
    table=Shown(
        ("position_preference", "order_tests"),
        block=v.EFFECTS,
        caption="Position preference: what each position of the prompt adds to the log-odds of the score that stands"
        " there, with {bootstrap[confidence]:.0%} intervals over {cluster}s; the positions sum to 0. It compares the"
        " reads of one item with each other, so what the judge thinks of the item cancels.",
        notes="p tests whether all positions are worth the same (Hotelling's T-squared, {cluster}s as the sample). *"
        " means a p of at most 3% after Holm's adjustment for the tests that decide the judge's bias card; other tests"
        " have no mark. Selected options give log-odds of an answer: at temperature T, 1/T of the model's own, which"
        " option probabilities give; at temperature 0 their unit is whatever else differs between prompts. p of"
        " interaction tests whether a position is worth more to some scores than to others. Differing: share of pairs"
        " of reads of an item that are informative; a judge is saturated where it is below 5%. Separated: only Firth's"
        " penalty keeps estimates finite; read their signs and not their sizes. The CSV file also has Holm's adjustment"
        " for the whole study.",
    ),
    figure=Shown(
        block=v.BY_POSITION,
        caption="Position preference: what each position of the prompt adds to the log-odds of the score that stands"
        " there, under strategy {strategy} with {n} score levels; the positions sum to 0. There is one panel for each"
        " judge and readout, and one line for each dataset. Bars are {bootstrap[confidence]:.0%} intervals over"
        " {cluster}s; the dotted line is a judge without position preference.",
        notes="Judges and scales can be compared at one temperature; at temperature 0 the unit of selected options is"
        " whatever else differs between prompts. The two readouts have axes of their own. Hollow points are separated:"
        " one position was always selected, so the data alone give no finite value. An arrow marks an interval that"
        " continues beyond the axis.",
    ),
)
