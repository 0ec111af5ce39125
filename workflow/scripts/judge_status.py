"""Report the progress of the judges."""

from rubric_order.base import command_line
from rubric_order.jobs.judge_status import judge_status

if __name__ == "__main__":
    command_line.run(judge_status)
