from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    statistic=Statistic(
        probes=SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
        derived=("human_scales", "prompt_styles"),
    ),
    table=Shown(
        ("prompt_styles",),
        "Scoring bias",
        "Two prompts of one recorded judge",
        block={"study": v.STUDY, "also": v.ALSO, "profile": v.PROFILE, "cluster": v.CLUSTER},
        caption="Two prompts in which one judge was asked about the same items, from recorded answers: the first"
        " prompt, the other one, people's mean score, and the difference of the two prompts on the items that"
        " have a score from both.",
        notes="The prompts can differ in anything: in their task, their score IDs, how levels are described,"
        " whether a reason is asked for. So a difference is one between two whole prompts, and no estimate of"
        " what one part of them does. Scores are an item's first reads. The difference of the mean score is"
        " the mean shift in points; its round brackets give the ends that it could have if answers without a"
        " score had any score. Mean change is the mean size of the difference; changed is the share of items"
        " with another score; total variation is half the summed differences between the shares of scores."
        " Agreement with people's mean score is measured by ρ, r, kappa (quadratic weights) and mean absolute"
        " error (MAE). The {bootstrap[confidence]:.0%} intervals and p come from leaving out {cluster}s,"
        " with Student's t (* significant after Holm's adjustment). Repeats gives the floor: the size of the"
        " same quantity between two reads of one prompt, against that between the two prompts on those items"
        " alone. A correlation does not see a shift of all scores; the error does.",
    ),
)
