"""Report the cost of judging before it begins: requests, tokens, hours and money."""

from rubric_order.base import command_line
from rubric_order.jobs.plan_cost import plan_cost

if __name__ == "__main__":
    command_line.run(plan_cost)
