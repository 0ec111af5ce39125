"""Effect of the lengths of texts on the verdicts of judges that compare pairs."""

from rubric_order.base.keys import EVERY
from rubric_order.tables.columns import Estimated, Text, estimates, texts
from rubric_order.tables.spec import Rows, Table, Value, taken

CAPTION = (
    "Length of texts and the verdicts of judges that compare pairs, with {bootstrap[confidence]:.0%} intervals over "
    "groups. Length is the log-odds that the longer text gains where it is longer by far (tanh of the standardised "
    "difference, as in AlpacaEval's length control). The model also has strengths of candidates and difficulties of "
    "questions where the study can estimate them; where it cannot, the flag says so. A longer text can be a better "
    "one: given people is the same log-odds in a model that also has the difference of human scores. That term "
    "corrects for as much of the quality as human scores see. This was simulated with a judge that looks at quality "
    "alone, and with length and quality correlated by .6. The interval left out 0 in 10% of the studies where people "
    "see quality without error, in 38% where their error has half the standard deviation of quality, and in all "
    "where it has as much (40 studies each, 80 questions, four candidates). Doubling is the log-odds for twice the "
    "length. Column r is the correlation of the difference of lengths with the verdict. Longer wins is how often the "
    "judge prefers the longer text; of people is how often people do. Lengths are those of the texts themselves, "
    "also where the prompt cuts them to one length: an effect that remains there is not one of length. Padding is "
    "what a text gains from sentences that say nothing and make it half as long again: in log-odds (padding) and as "
    "a difference of the share of wins, which runs from 0 to 1 (padding, share). Padding alone is an effect of "
    "length with the content kept. With option probabilities, reads in which an option has none are left out. These "
    "are the surest reads; the flag says how many there are. A flag `separated` marks a judge whose verdicts give no "
    "finite estimate."
)
KEYS = ["judge", "profile", "dataset", "benchmark", "strategy", "varied", "readout"]
VALUES: list[Value] = ["length", "length_two_steps", "length_given_people", "length_doubling"]
VALUES += ["first_place", "correlation", "longer_wins", "longer_wins_of_people", "padding", "padding_share"]
VALUES += [taken({"quantity": ["length", "padding"]}, n_pairs="n_pairs", n_clusters="n_groups", flag="flag")]

TABLE = Table(
    rows=Rows("length_control", "study", where={"candidate": EVERY}, keys=KEYS, values=VALUES),
    columns=[
        *texts("judge", "benchmark"),
        Text("varied", name="condition", spaced=True),
        *texts("readout"),
        *estimates("+.2f", "length", length_given_people="given people", length_doubling="doubling", missing=""),
        Estimated("correlation", "+.2f", name="r", missing=""),
        *estimates(".2f", longer_wins="longer wins", longer_wins_of_people="of people", missing=""),
        Estimated("padding", "+.2f", missing=""),
        Estimated("padding_share", "+.3f", name="padding, share", missing=""),
        *texts(n_pairs="pairs", flag="flag"),
    ],
)
