"""A judge whose bias is planted, and studies of it."""
