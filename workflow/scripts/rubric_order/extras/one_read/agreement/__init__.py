"""Results on agreement with people, one folder each."""
