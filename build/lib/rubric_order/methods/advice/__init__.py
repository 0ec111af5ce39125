"""Precision of studies that are not made yet, from a pilot."""
