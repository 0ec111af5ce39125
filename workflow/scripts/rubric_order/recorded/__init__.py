"""Names under which packages of others import ``rubric_order.intake.recorded``."""
