"""Agreement of scores with other scores of the same items."""
