from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Two prompts of one recorded judge",
    order=430,
    statistic=Statistic(
        question="Do two prompts of one judge give the same scores?",
        read="the shift beside the floor",
        cannot="which part of the prompt matters",
        probes=SCORE_ORDER,
        reads=("items",),
        settings=("bootstrap/confidence",),
        derived=("human_scales", "prompt_styles"),
    ),
    table=Shown(
        block={"study": v.STUDY, "also": v.ALSO, "profile": v.PROFILE, "cluster": v.CLUSTER},
        caption="Two prompts in which one judge was asked about the same items, from recorded answers: the first"
        " prompt, the other one, people's mean score, and the difference of the two prompts on the items that have a"
        " score from both.",
        notes="The prompts can differ in anything, so a difference is one between two whole prompts. Scores are an"
        " item's first reads. Mean shift is in points; its brackets are the ends that it could have if missing scores"
        " had any value. Mean change: mean size of the difference; changed: share of items with another score. Total"
        " variation: half the summed differences of the shares of scores. Agreement with people: ρ, r, kappa (quadratic"
        " weights) and mean absolute error (MAE). The {bootstrap[confidence]:.0%} intervals and p come from leaving out"
        " {cluster}s (* significant after Holm's adjustment). Repeats gives the floor: the same quantity between two"
        " reads of one prompt.",
    ),
)
