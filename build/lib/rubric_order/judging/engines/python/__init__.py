"""Functions of Python as judges: the engine, the function that a config names, and what it returns."""
