"""Reading of an item until its interval is narrow enough: valid intervals at each read, and rules when to stop."""
