"""Data and judges of a run: datasets, versions, failures, reference answers."""
