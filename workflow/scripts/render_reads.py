"""Write the page that shows single reads of a study."""

from rubric_order.base import command_line
from rubric_order.jobs.render_reads import render_reads

if __name__ == "__main__":
    command_line.run(render_reads)
