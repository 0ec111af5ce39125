"""Read a dataset into its tables of items, rubrics and pairs."""

from rubric_order.base import command_line
from rubric_order.jobs.prepare_items import prepare_items

if __name__ == "__main__":
    command_line.run(prepare_items)
