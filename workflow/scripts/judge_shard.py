"""Answer the requests of one shard of a judge."""

from rubric_order.base import command_line
from rubric_order.jobs.judge_shard import judge_shard

if __name__ == "__main__":  # vLLM starts processes that import this file
    command_line.run(judge_shard)
