"""Tables and logs of others, as scores, comparisons, recorded answers and prompts of judges."""
