"""Collect all attempts to write reference answers, or read the user's own reference answers."""

from rubric_order.base import command_line
from rubric_order.jobs.references import collect_references

if __name__ == "__main__":
    command_line.run(collect_references)
