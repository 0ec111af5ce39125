"""Say which weights a judge has: a digest of local files, or the commit on the hub."""

from rubric_order.base import command_line
from rubric_order.jobs.weights import describe_weights

if __name__ == "__main__":
    command_line.run(describe_weights)
