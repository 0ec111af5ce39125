"""The command that gives advice."""
