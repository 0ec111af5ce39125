"""Several criteria in one answer: effects of their order, and of one criterion on the next."""
