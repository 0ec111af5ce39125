"""Settings that a user may write, as models: types, ranges, defaults, descriptions, and of each field its role."""
