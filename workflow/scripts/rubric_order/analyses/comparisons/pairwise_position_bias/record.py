from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    table=Shown(
        ("position_consistency",),
        "Comparisons",
        "Position bias of comparisons",
        derived=("judge_names",),
        block={
            **v.COMPARING,
            "judge_names": v.Key(
                "dict[str, str]",
                {},
                "Names of judges in the table and in its CSV file, by id. A judge that is not listed has its label.",
            ),
            "least_stability": v.Key(
                "Probability",
                0.85,
                "Repetition stability below which a judge is marked. Shi et al. give .85 as that of capable judges.",
            ),
            "most_errors": v.Key(
                "Probability", 0.1, "Share of answers without a verdict above which a judge is marked."
            ),
        },
        caption="Position bias of judges that compare answers, after Shi et al. (Judging the Judges, Table 2), with"
        " {bootstrap[confidence]:.0%} intervals over questions. The CSV file also has intervals over what"
        " questions share, such as a project. RS is repetition stability: the share of the commonest verdict"
        " among reads of one prompt; a read without a verdict counts against it.",
        notes="PC is position consistency: the share of comparisons with one winner in all orders, or a tie in"
        " all, of those with a verdict in each order. The columns with ± give the standard deviation over"
        " cells of candidate and task. It says how cells differ, not how sure an estimate is. PF is"
        " preference fairness: of the same comparisons, the share that are inconsistent and count for"
        " recency, less the share that are inconsistent and count for primacy. By arithmetic its size is at"
        " most 1 - PC. In lists, a judge without a preferred position does not have a PF of 0: column even"
        " gives its PF. Beta is how much more the first position adds to a candidate's log-odds than the last"
        " (conditional logit, Firth's penalty); unlike PF it does not shrink where a judge is decisive. Beta"
        " takes ties by Davidson's model. For a judge that calls a tie where two candidates are closer than"
        " some limit, beta comes out too large, by 13% with 12% of ties and by 24% with 24%. This table is by"
        " rules {position_consistency[rules]}. Rules shi2025 are those of the paper's code: the verdict is"
        " the answer's first [[A]] or Choice: A, PF is a share of all comparisons, and ± of RS is the mean"
        " over prompts of the standard deviation within a prompt. Two reads of one prompt also disagree by"
        " chance. Excess is how much more often two orders disagree than two reads of one order; it is"
        " undefined where no order was read twice, because noise and order are then not separated. The flag"
        " marks RS below {least_stability:g}, or more than {most_errors:.0%} answers without a verdict. It"
        " also marks a beta that is separated: only the penalty keeps it finite, so read its sign and not its"
        " size.",
    )
)
