"""Scoring bias: what conditions of the prompt do to scores and their accuracy."""
