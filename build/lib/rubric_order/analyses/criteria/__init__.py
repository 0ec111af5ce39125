"""Several criteria in one answer: their order, and what one does to the next."""
