"""Plan the reads of one study, dataset and judge."""

from rubric_order.base import command_line
from rubric_order.jobs.plan_reads import plan_reads

if __name__ == "__main__":
    command_line.run(plan_reads)
