"""Comparisons of candidates: series of judgments, strengths, and what decides besides quality."""
