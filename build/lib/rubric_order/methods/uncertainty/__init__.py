"""Intervals, tests and models in which clusters are the sample."""
