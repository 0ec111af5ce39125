"""The measure of growth that other tests rely on."""

import re

from growth import is_linear


def test_a_pattern_that_starts_anew_at_each_character_is_not_linear():
    assert not is_linear(lambda text: re.search("a*b", text), "a", length=20_000)


def test_a_pattern_that_reads_each_character_once_is_linear():
    assert is_linear(lambda text: re.search("b", text), "a", length=2_000_000)
