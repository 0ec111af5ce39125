"""Write the summary of a run: the page and its data."""

from rubric_order.base import command_line
from rubric_order.jobs.render_summary import render_summary

if __name__ == "__main__":
    command_line.run(render_summary)
