"""Comparisons of candidates: series of judgments, strengths, and effects other than quality."""
