"""Python functions as judges: the engine, the function that a config names, and its answers."""
