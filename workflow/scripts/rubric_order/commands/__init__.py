"""The command line ``rubric-order``: one module a command, and `app` that has them all."""
