"""Write one table of the catalogue."""

from rubric_order.base import command_line
from rubric_order.jobs.render_table import render_table

if __name__ == "__main__":
    command_line.run(render_table)
