"""Write the methods of a run in words, with their references."""

from rubric_order.base import command_line
from rubric_order.jobs.describe_methods import describe_methods

if __name__ == "__main__":
    command_line.run(describe_methods)
