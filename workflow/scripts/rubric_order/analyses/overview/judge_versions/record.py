from rubric_order.catalogue import Result, Shown, Statistic

RESULT = Result(
    title="Versions behind the answers",
    category="Judges",
    order=510,
    statistic=Statistic(
        question="Which versions gave the answers?",
        read="counts by version",
        cannot="whether an endpoint changed without notice",
        reads=("answers",),
        settings=(),
    ),
    table=Shown(
        caption="Versions behind the judges' answers, each with the number of answers that it gave. Versions are those"
        " of the engine, the weights, the server, its address, or the model that an endpoint names. Several versions of"
        " one kind can be several judges. Such a mix is refused unless config accepts it (accept_mixed), and is marked"
        " here.",
        notes="An endpoint can say anything about itself. Counts are of distinct requests of all studies; failed"
        " requests do not count.",
    ),
)
