"""Print the findings of a run: the first lines of its bias cards."""

from rubric_order.base import command_line
from rubric_order.jobs.show_cards import show_cards

if __name__ == "__main__":
    command_line.run(show_cards)
