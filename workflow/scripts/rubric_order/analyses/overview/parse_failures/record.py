from rubric_order import vocabulary as v
from rubric_order.catalogue import ANY_PROBE, Result, Shown, Statistic

RESULT = Result(
    title="Parse failures",
    category="Answers without a score",
    order=160,
    statistic=Statistic(
        question="How many reads have no score, and where?",
        read="shares by reason, position and condition",
        cannot="what the judge would have answered",
        probes=ANY_PROBE,
        settings=(),
    ),
    table=Shown(
        block=v.ROWS,
        caption="Answers that give no score, by reason. They are never scored; the responses keep their raw text. If a"
        " prompt asks for several criteria, each criterion parses or fails by itself. The CSV file also has counts by"
        " option (score or criterion) and by the option's position in the prompt.",
    ),
)
