"""A judge whose bias is set by parameters, and studies of this judge."""
