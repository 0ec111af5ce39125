from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(probes=COMPARING, settings=("bootstrap", "position_consistency/forms")),
    table=Shown(
        ("strengths",),
        "Comparisons",
        "Strengths of candidates",
        block=v.COMPARING,
        caption="Strengths and ranks of the candidates that judges compare, with {bootstrap[confidence]:.0%}"
        " intervals over questions. Strength is in log-odds over the baseline (0), or over the candidates'"
        " mean where there is no baseline. The interval of a rank is the range of the ranks of strengths"
        " drawn from their errors.",
        notes="The model is Bradley and Terry's with a worth of each position and Davidson's ties; for lists it is"
        " Plackett and Luce's. Without positions has the same reads, without the worth of positions; where"
        " each pair is read in all orders, leaving it out changes little. First order and last order have the"
        " reads of one order alone. Their strengths contain what the position is worth: with a baseline, all"
        " other candidates lose or gain it. Reversed, in the row all, is the share of pairs of candidates"
        " whose order changes without positions, and then between the first order and the last (orders); some"
        " of that is chance. The flag not connected marks a candidate that nobody, or everybody, of the"
        " largest connected set beats; it has no estimate. The flag not identified means that the design does"
        " not determine the estimate, for example where the baseline always stands first. First position is"
        " its log-odds less those of the last; the CSV file also has it by Rao and Kupper's ties.",
    ),
)
