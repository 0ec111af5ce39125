from rubric_order import vocabulary as v
from rubric_order.catalogue import SCORE_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Averaging over prompts at equal calls",
    order=420,
    statistic=Statistic(
        question="Is averaging over orders and IDs better than repeats?",
        read="the paired difference at equal calls",
        cannot="how much comes from averaging and how much from balancing",
        probes=SCORE_ORDER,
        reads=("items", "golden_scores"),
        settings=("bootstrap/confidence",),
        derived=("bases", "human_scales", "sampling_temperatures"),
    ),
    table=Shown(
        block=v.SEVERAL_STUDIES | {"studies": v.PLAIN_STUDIES},
        caption="Agreement with golden scores of the mean over orders and IDs (averaged), against the mean of as many"
        " reads of the base (repeated), at equal calls. Averaged takes one read each of the base and of every variant"
        " that changes its order or IDs alone.",
        notes="Difference is averaged less repeated on the same items, with {bootstrap[confidence]:.0%} intervals and p"
        " from leaving out {cluster}s (* significant after Holm's adjustment). At temperature 0 all reads of one prompt"
        " are one read. A gain mixes averaging over independent errors with balance of biases. Li et al. (2025) propose"
        " to average and do not test it.",
    ),
)
