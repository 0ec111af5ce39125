from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    title="Length and verdicts",
    order=730,
    statistic=Statistic(
        question="How much does length count in a comparison?",
        read="`padding`; win rates at equal lengths",
        cannot="that the term `length` alone is a bias",
        probes=COMPARING,
        settings=("bootstrap/confidence",),
    ),
    table=Shown(
        block={"study": v.COMPARING["study"], "also": v.ALSO},
        caption="Length of texts and the verdicts of judges that compare pairs, with {bootstrap[confidence]:.0%}"
        " intervals over groups. Length is the log-odds that the longer text gains where it is longer by far (tanh of"
        " the standardised difference, as in AlpacaEval's length control).",
        notes="Given people: the same log-odds with the difference of human scores in the model; where human scores"
        " have noise, quality remains in it. Doubling: log-odds for twice the length. Column r: correlation of the"
        " difference of lengths with the verdict. Longer wins: how often the judge prefers the longer text; of people:"
        " how often people do. Padding: gain from sentences that say nothing and make the text half as long again, in"
        " log-odds and in share of wins; it alone is an effect of length at equal content. Flags name missing terms,"
        " separated models, and reads left out for an option without probability.",
    ),
)
