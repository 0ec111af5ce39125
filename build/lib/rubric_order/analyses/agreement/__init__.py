"""Agreement with human scores, and what strategies and numbers of reads do to it."""
