"""Scores, made from reads and responses."""
