"""Agreement with human scores, and the effects of strategies and numbers of reads on it."""
