"""Precision of planned studies, predicted from a pilot."""
