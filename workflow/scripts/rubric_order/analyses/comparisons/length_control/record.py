from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=COMPARING, settings=("bootstrap/confidence",)),
    table=Shown(
        ("length_control",),
        "Comparisons",
        "Length and verdicts",
        block={"study": v.COMPARING["study"], "also": v.ALSO},
        caption="Length of texts and the verdicts of judges that compare pairs, with {bootstrap[confidence]:.0%}"
        " intervals over groups. Length is the log-odds that the longer text gains where it is longer by far"
        " (tanh of the standardised difference, as in AlpacaEval's length control).",
        notes="The model also has strengths of candidates and difficulties of questions where the study can"
        " estimate them; where it cannot, the flag says so. A longer text can be a better one: given people"
        " is the same log-odds in a model that also has the difference of human scores. That term corrects"
        " for as much of the quality as human scores see. This was simulated with a judge that looks at"
        " quality alone, and with length and quality correlated by .6. The interval left out 0 in 10% of the"
        " studies where people see quality without error, in 38% where their error has half the standard"
        " deviation of quality, and in all where it has as much (40 studies each, 80 questions, four"
        " candidates). Doubling is the log-odds for twice the length. Column r is the correlation of the"
        " difference of lengths with the verdict. Longer wins is how often the judge prefers the longer text;"
        " of people is how often people do. Lengths are those of the texts themselves, also where the prompt"
        " cuts them to one length: an effect that remains there is not one of length. Padding is what a text"
        " gains from sentences that say nothing and make it half as long again: in log-odds (padding) and as"
        " a difference of the share of wins, which runs from 0 to 1 (padding, share). Padding alone is an"
        " effect of length with the content kept. With option probabilities, reads in which an option has"
        " none are left out. These are the surest reads; the flag says how many there are. A flag `separated`"
        " marks a judge whose verdicts give no finite estimate.",
    ),
)
