"""Reading of an item until its score is known well enough: valid intervals at each read, and rules when to stop."""
