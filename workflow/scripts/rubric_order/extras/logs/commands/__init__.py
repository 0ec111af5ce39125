"""The command of logs."""
