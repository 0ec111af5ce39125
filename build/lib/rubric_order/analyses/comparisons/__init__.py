"""Pairs and lists of candidates: position bias of verdicts, and what goes with it."""
