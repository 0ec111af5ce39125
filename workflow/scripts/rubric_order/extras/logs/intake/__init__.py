"""Reading the logs of other programs that asked a judge, into prompts, answers and scores."""
