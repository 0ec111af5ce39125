"""Join the metadata of a judge's files of responses: digests of their answers, and versions that answered."""

from rubric_order.base import command_line
from rubric_order.jobs.list_responses import list_responses

if __name__ == "__main__":
    command_line.run(list_responses)
