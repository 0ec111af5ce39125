from rubric_order import vocabulary as v
from rubric_order.catalogue import COMPARING, Result, Shown, Statistic

RESULT = Result(
    order=650,
    statistic=Statistic(
        question="Do judges agree, and does a vote help?",
        read="kappa; consistency of the majority",
        cannot="who is right",
        probes=COMPARING,
        settings=("bootstrap/confidence", "position_consistency/forms"),
    ),
    table=Shown(
        title="Agreement of judges",
        block=v.COMPARING,
        caption="Pairs of judges that compare the same candidates, and their majority, with {bootstrap[confidence]:.0%}"
        " intervals over questions. Agreement is the share of prompts in which two judges make the same choice; decided"
        " is this share where neither calls a tie. Kappa (Cohen) is agreement beyond that of two judges who make each"
        " choice as often as these do, whatever the prompt.",
        notes="Two judges that prefer the same position agree for that reason as well. Row majority: consistency (PC),"
        " fairness (PF) and log-odds of the first position (beta) of the commonest choice, a tie where several are"
        " commonest; row all, mean: mean consistency of single judges. Separated: only Firth's penalty keeps beta"
        " finite, so read its sign and not its size. After Shi et al. (Judging the Judges), Appendix C.",
    ),
    figure=Shown(
        title="Agreement of judges, figure",
        block=v.OF_GAPS | {"columns": v.COLUMNS.but(4)},
        caption="Agreement of judges that compare the same candidates. The maps show the share of prompts with the same"
        " choice, of all prompts and of those in which neither judge calls a tie, and Cohen's kappa. Similar judges"
        " stand beside each other (average linkage of one less the agreement). With three judges or more there is a"
        " last panel.",
        notes="The last panel shows the share of prompts in which at most the given number of judges deviate from the"
        " commonest choice, with {bootstrap[confidence]:.0%} intervals over questions. After Shi et al. (Judging the"
        " Judges), Figures 3 and 4.",
    ),
)
