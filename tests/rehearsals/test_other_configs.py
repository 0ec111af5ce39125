"""Rehearsals of all other configs."""

import pytest

from .rehearsal import (
    configs,
    test_a_config_runs_to_its_end_and_says_on_every_page_that_it_was_rehearsed,
    test_every_read_of_a_config_is_shown_by_a_table_or_a_figure,
)

pytestmark = pytest.mark.slow
CONFIGS = [name for name in configs() if "/position_bias" not in name and "/scoring_bias" not in name]
__all__ = [
    "test_a_config_runs_to_its_end_and_says_on_every_page_that_it_was_rehearsed",
    "test_every_read_of_a_config_is_shown_by_a_table_or_a_figure",
]
