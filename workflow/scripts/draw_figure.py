"""Draw one figure of the catalogue."""

from rubric_order.base import command_line
from rubric_order.jobs.draw_figure import draw_figure

if __name__ == "__main__":
    command_line.run(draw_figure)
