from rubric_order import vocabulary as v
from rubric_order.catalogue import Result, Shown

RESULT = Result(
    title="Position bias of comparisons",
    order=590,
    table=Shown(
        ("position_consistency",),
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
        " {bootstrap[confidence]:.0%} intervals over questions. The CSV file also has intervals over what questions"
        " share, such as a project. RS is repetition stability: the share of the commonest verdict among reads of one"
        " prompt; a read without a verdict counts against it.",
        notes="PC is position consistency: share of comparisons with one winner in all orders, or a tie in all, of"
        " those with a verdict in each order. The columns with ± give the standard deviation over cells of candidate"
        " and task. PF is preference fairness: share inconsistent towards recency less share inconsistent towards"
        " primacy, at most 1 - PC in size; even: PF of a judge of lists without a preference. Beta: log-odds that the"
        " first position adds over the last (conditional logit, Firth's penalty, ties by Davidson's model; too large"
        " for a judge with a hard limit for ties). This table is by rules {position_consistency[rules]}; shi2025 are"
        " those of the paper's code. Excess: how much more often two orders disagree than two reads of one order;"
        " undefined where no order was read twice. The flag marks RS below {least_stability:g}, more than"
        " {most_errors:.0%} answers without a verdict, or a beta that is separated: read its sign only.",
    ),
)
