"""Logs of other programs that hold what a judge was asked, read into prompts, answers and scores."""
