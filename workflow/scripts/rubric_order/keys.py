"""What an estimate is about."""

# One group of reads: a study's reads of a dataset by a judge under a profile, one strategy and one number of levels.
KEYS = ["study", "judge", "profile", "dataset", "strategy", "n"]

# What resampling may draw: single items, or groups of items that share a prompt, an article or a story.
CLUSTERS = ("group", "item")

EVERY = "all"  # in place of a dataset: all of a study's
