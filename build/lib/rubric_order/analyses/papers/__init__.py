"""Results that serve the tables of papers alone."""
