"""Fetch one file of a dataset and check it."""

from rubric_order.base import command_line
from rubric_order.jobs.fetch_dataset import fetch_dataset

if __name__ == "__main__":
    command_line.run(fetch_dataset)
