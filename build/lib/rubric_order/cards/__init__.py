"""From statistics to sentences: what a judge does with the order, and whether that is known."""
