"""Estimate one statistic of the catalogue."""

from rubric_order.base import command_line
from rubric_order.jobs.estimate_statistic import estimate_statistic

if __name__ == "__main__":
    command_line.run(estimate_statistic)
