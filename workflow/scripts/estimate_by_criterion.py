"""Estimate one statistic of bias cards for each single criterion."""

from rubric_order.base import command_line
from rubric_order.jobs.estimate_by_criterion import estimate_by_criterion

if __name__ == "__main__":
    command_line.run(estimate_by_criterion)
