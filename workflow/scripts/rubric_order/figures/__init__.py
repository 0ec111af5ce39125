"""What figures share: style, presets and formats. The module `figure` of a result draws it, from statistics alone."""
