"""Write the records of a recorded judge for a rehearsal."""

from rubric_order.base import command_line
from rubric_order.jobs.rehearse_records import rehearse_records

if __name__ == "__main__":
    command_line.run(rehearse_records)
