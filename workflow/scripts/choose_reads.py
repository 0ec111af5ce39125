"""Choose reads of one judge and dataset for the page on which a reader can look at single reads."""

from rubric_order.base import command_line
from rubric_order.jobs.choose_reads import choose_reads

if __name__ == "__main__":
    command_line.run(choose_reads)
