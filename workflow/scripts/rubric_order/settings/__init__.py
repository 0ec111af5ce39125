"""Models of the settings that a user may write: types, ranges, defaults, descriptions, and the role of each field."""
