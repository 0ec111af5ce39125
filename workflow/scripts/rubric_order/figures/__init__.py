"""Figures: each module draws one, from statistics alone."""
