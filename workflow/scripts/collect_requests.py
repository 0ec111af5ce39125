"""Collect the distinct requests of a study and judge, in the order in which they are sent."""

from rubric_order.base import command_line
from rubric_order.jobs.collect_requests import collect_requests

if __name__ == "__main__":
    command_line.run(collect_requests)
