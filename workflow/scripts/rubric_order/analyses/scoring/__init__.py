"""Scoring bias: effects of conditions of the prompt on scores and their accuracy."""
