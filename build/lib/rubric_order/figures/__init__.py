"""Shared parts of figures: style, presets, formats. The module `figure` of a result draws it from statistics alone."""
