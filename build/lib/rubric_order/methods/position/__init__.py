"""Studies of scores: reads as arrays, how their positions are selected, and what the order does to them."""
