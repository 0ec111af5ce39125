"""Less than every ordering of each item: calibrated single reads, adaptive reads, corrected means, and advice."""
