"""From reads and responses to scores."""
