"""Answers that exist already, as reads and responses."""
