from rubric_order import vocabulary as v
from rubric_order.catalogue import CRITERION_ORDER, Result, Shown, Statistic

RESULT = Result(
    title="Agreement by strategy",
    order=550,
    statistic=Statistic(
        question="Does one strategy agree better with people than another, criterion by criterion?",
        read="the difference of mean r",
        cannot="whether the difference comes from the order or from averaging",
        probes=CRITERION_ORDER,
        settings=("bootstrap", "paired"),
    ),
    table=Shown(
        block={
            **v.CRITERIA,
            "n": v.N,
            "cluster": v.CLUSTER.but(
                description="Unit that the bootstrap draws: groups of texts (`group`), or single texts (`item`), as in"
                " the paper."
            ),
            "readouts": v.READOUTS_OF_SCORES,
        },
        caption="Mean over criteria of Pearson's r with people by how the criteria were ordered, at the same number of"
        " reads. The columns are those of Xu et al. (2026), Table 6, and differences with {bootstrap[confidence]:.0%}"
        " intervals of a paired bootstrap.",
        notes="The bootstrap draws {cluster}s, the same for both strategies: an item is one text, a group the texts"
        " that belong together. * means that the interval does not contain 0, ** that p < 0.05 also after Holm's"
        " adjustment for all judges, profiles, datasets and scales of the study. Few clusters: fewer than 30.",
    ),
)
