"""Ask a judge a sample of its requests, before all other requests."""

from rubric_order.base import command_line
from rubric_order.jobs.pilot_judge import pilot_judge

if __name__ == "__main__":  # vLLM starts processes that import this file
    command_line.run(pilot_judge)
