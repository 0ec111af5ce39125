"""Results that are used only for the tables of papers."""
