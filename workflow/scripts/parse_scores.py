"""Parse every answer, and join the scores with the reads that the answers belong to."""

from rubric_order.base import command_line
from rubric_order.jobs.parse_scores import parse_scores

if __name__ == "__main__":
    command_line.run(parse_scores)
