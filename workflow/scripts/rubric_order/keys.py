"""What an estimate is about."""

# One group of reads: a study's reads of a dataset by a judge under a profile, one strategy and one number of levels.
KEYS = ["study", "judge", "profile", "dataset", "strategy", "n"]
