"""Prompts that a judge reads: orderings of options, and frames with gaps for the options."""
