"""Names of the causes of `causes`, and the level and confidence of their tests."""

FAILURES, SCALE, ONE_ORDERING, COPIES = "failures", "scale", "one ordering", "copies"
WRITTEN, IMPOSSIBLE, GROUP, SATURATION, ROUNDING = "written", "impossible", "group", "saturation", "rounding"
LEVEL = 0.05  # of the test that a cause is there
CONFIDENCE = 0.95
