"""Studies of scores: reads as arrays, how often positions are selected, and how the order changes scores."""
