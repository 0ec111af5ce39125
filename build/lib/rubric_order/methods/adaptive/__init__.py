"""Reading an item until it is known well enough: valid intervals at each read, and rules that stop by them."""
