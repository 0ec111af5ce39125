"""Prompts that a judge reads: orderings of options, and frames that text is filled into."""
