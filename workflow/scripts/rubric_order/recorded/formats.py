"""``rubric_order.intake.recorded.formats``, under the name that packages of others import."""

from rubric_order.intake.recorded.formats import *  # noqa: F403
