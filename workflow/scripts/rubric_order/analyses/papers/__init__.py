"""What serves the tables of papers alone."""
