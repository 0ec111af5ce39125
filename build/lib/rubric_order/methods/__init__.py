"""Statistical machinery that knows of no study."""
