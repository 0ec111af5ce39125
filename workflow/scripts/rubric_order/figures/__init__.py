"""Shared parts of figures: style, presets, formats. A result's module `figure` draws from statistics alone."""
