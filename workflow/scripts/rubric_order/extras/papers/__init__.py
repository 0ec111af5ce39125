"""Replications of papers: results beside published numbers, and adapters of the datasets that papers used."""
