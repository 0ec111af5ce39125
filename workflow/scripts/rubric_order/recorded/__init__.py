"""Names under which packages of others import `intake.recorded`."""
