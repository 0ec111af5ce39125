"""Names of the statistics that bias cards are made from, for all code that estimates or reads them."""

# The statistics of each card. The first has one row per card. All of them are also estimated for single criteria.
REQUIRED = (
    *("decisiveness", "position_selection", "position_preference", "score_effects", "equivalence", "order_spread"),
)
# Statistics that a card reads if there are human scores, or competing candidates. No verdict depends on them.
OPTIONAL = ("human_agreement", "strategy_comparison", "rank_reversal")
ANCHORS = "anchors"  # the statistic by which a card is compared with a later run
