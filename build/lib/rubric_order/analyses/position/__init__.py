"""Position bias: how the order of options moves selections and scores."""
