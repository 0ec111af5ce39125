"""Turn statistics into sentences: how a judge responds to the order, and how sure this finding is."""
