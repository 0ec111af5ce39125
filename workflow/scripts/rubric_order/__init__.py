"""Measure how the order of things in a prompt moves the scores of an LLM judge."""

__version__ = "0.1.0"
