"""Read a recorded judge's answers as responses."""

from rubric_order.base import command_line
from rubric_order.jobs.recorded import read_recorded

if __name__ == "__main__":
    command_line.run(read_recorded)
