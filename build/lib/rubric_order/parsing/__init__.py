"""Parsing of a judge's answers into choices."""
