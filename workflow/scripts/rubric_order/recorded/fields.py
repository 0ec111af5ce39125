"""``rubric_order.intake.recorded.fields``, under the name that packages of others import."""

from rubric_order.intake.recorded.fields import *  # noqa: F403
