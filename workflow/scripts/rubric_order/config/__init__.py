"""Loading, completing and checking a config; what a judge is."""
