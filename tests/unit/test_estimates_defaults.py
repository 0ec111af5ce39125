"""Settings of statistics outside the workflow: those of a config that sets nothing, except for the seed."""

from rubric_order import catalogue
from rubric_order.base import of_cards
from rubric_order.extras.one_read.agreement.corrected_means import estimate as corrected_means
from rubric_order.extras.one_read.library import means
from rubric_order.library import estimates
from rubric_order.settings.statistics import Statistics

USUAL = Statistics()


def test_defaults_are_those_of_the_workflow():
    own = estimates.POINTS, estimates.LOG_ODDS, estimates.R, estimates.LEVEL
    equivalence = USUAL.equivalence
    assert own == (equivalence.points, equivalence.log_odds, equivalence.r, equivalence.level)
    bootstrap = USUAL.bootstrap
    assert (bootstrap.resamples, bootstrap.confidence) == (estimates.RESAMPLES, estimates.CONFIDENCE)
    assert USUAL.score_effects.sign_changes == estimates.SIGN_CHANGES
    assert USUAL.order_spread.margin == estimates.SPREAD
    margins = tuple(USUAL.corrected_means.margins)
    assert margins == means.MARGINS == corrected_means.MARGINS


def test_statistics_of_cards_are_in_the_catalogue():
    assert {*of_cards.REQUIRED, *of_cards.OPTIONAL, of_cards.ANCHORS} <= {*catalogue.STATISTICS}
