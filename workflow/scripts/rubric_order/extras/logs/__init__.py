"""Logs of other programs that asked a judge: a study of its prompts in other orders, and scorers for Inspect."""
