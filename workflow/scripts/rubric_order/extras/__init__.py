"""Parts that the rest of the library never imports: it finds their commands, results and adapters by registration."""
