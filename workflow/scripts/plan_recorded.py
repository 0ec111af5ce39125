"""Make the plan of a recorded judge: one read for each of its answers."""

from rubric_order.base import command_line
from rubric_order.jobs.recorded import plan_recorded

if __name__ == "__main__":
    command_line.run(plan_recorded)
