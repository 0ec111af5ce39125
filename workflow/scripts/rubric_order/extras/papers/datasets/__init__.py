"""Adapters of published datasets, one a module."""
