from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.pages import reads


def render_reads(study: dict[str, Any], output: Path) -> None:
    """Write the page that shows the reads of `choose_reads`; `study` has the arguments of `reads.page_of`."""
    files.write_text(reads.page_of(**study), output)
