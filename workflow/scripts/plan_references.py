"""Collect the requests of one step of making reference answers."""

from rubric_order.base import command_line
from rubric_order.jobs.references import plan_references

if __name__ == "__main__":
    command_line.run(plan_references)
