"""Turn statistics into sentences: how a judge responds to the order, and whether that is known."""
