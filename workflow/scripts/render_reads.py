"""Write the page that shows single reads of a study. The reads themselves are written by ``choose_reads.py``."""

from pathlib import Path

from rubric_order.base import command_line, files
from rubric_order.pages import reads


def main(study: dict, output: Path) -> None:
    """Write the page; `study` has the arguments of `reads.page_of`."""
    files.write_text(reads.page_of(**study), output)


if __name__ == "__main__":
    command_line.run(main)
