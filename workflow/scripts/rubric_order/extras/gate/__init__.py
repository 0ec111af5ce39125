"""The gate of a judge: runs against limits, a baseline and the history of runs; and runs side by side."""
