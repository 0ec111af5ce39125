"""Pairs and lists of candidates: position bias of verdicts, and related quantities."""
