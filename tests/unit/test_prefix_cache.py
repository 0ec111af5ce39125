import numpy as np
import pytest
from factories import changed
from hypothesis import given
from hypothesis import strategies as st

from rubric_order.judging import prefix_cache
from rubric_order.judging.prefix_cache import PrefixCache


def test_cached_tokens_by_hand():
    """Blocks of 4 tokens. The second prompt shares 9 tokens with the first: two blocks; the third one only 3: none."""
    first = list(range(12))
    prompts = [first, [*first[:9], 90, 91, 92], [0, 1, 2, 99, 4, 5, 6, 7], first]
    assert [*map(PrefixCache(4).ask, prompts)] == [0, 8, 0, 8]


def test_the_last_token_is_computed_although_all_of_a_prompt_is_known():
    cache = PrefixCache(4)
    assert [cache.ask(list(range(length))) for length in (8, 8, 9, 10, 4)] == [0, 4, 8, 8, 0]


def test_a_block_is_known_only_after_the_same_beginning():
    cache = PrefixCache(2)
    cache.ask([1, 2, 3, 4, 5])
    assert cache.ask([9, 9, 3, 4, 5]) == 0
    assert cache.ask([1, 2, 9, 9, 5]) == 2


def test_prompts_of_less_than_a_block_are_never_cached():
    assert [*map(PrefixCache(4).ask, [[1, 2, 3]] * 3)] == [0, 0, 0]
    assert [*map(PrefixCache(4).ask, [[]])] == [0]


def test_short_prefixes_do_not_count_where_there_is_a_least_length():
    cache = PrefixCache(2, least=6)
    assert [*map(cache.ask, [range(9), [0, 1, 2, 3, 4, 9, 9], range(9)])] == [0, 0, 8]


@given(st.lists(st.lists(st.integers(0, 2), max_size=20), max_size=12), st.integers(1, 6))
def test_what_is_cached_is_the_longest_common_prefix_with_any_earlier_prompt_in_whole_blocks(prompts, size):
    """Against a search through all earlier prompts."""
    found = [*map(PrefixCache(size).ask, prompts)]
    for place, prompt in enumerate(prompts):
        common = [0]
        for earlier in prompts[:place]:
            differs = [a != b for a, b in zip(prompt, earlier, strict=False)]
            common.append(differs.index(True) if any(differs) else len(differs))
        most = max(common) // size * size
        assert found[place] == min(most, max(len(prompt) - 1, 0) // size * size)


def test_orderings_of_an_item_side_by_side_are_cached_as_well_as_apart_where_nothing_is_thrown_out():
    rng = np.random.default_rng(1)
    items = [[*rng.integers(0, 99, 40), *order] for _ in range(5) for order in ([1, 2, 3, 4], [4, 3, 2, 1])]
    apart = [*items[::2], *items[1::2]]
    assert sum([*map(PrefixCache(8).ask, items)]) == sum([*map(PrefixCache(8).ask, apart)])


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({"engine": "vllm", "gpu": 1}, 16),
        ({"engine": "vllm", "gpu": 0}, 128),
        ({"engine": "vllm", "engine_args": {"block_size": 32}}, 32),
        ({"engine": "openai", "serve": {"arguments": {}}, "gpu": 1}, 16),
        ({"engine": "openai"}, 128),
    ],
)
def test_a_judge_has_the_blocks_of_its_engine(judge, changes, size):
    assert prefix_cache.judge_cache(changed(judge, **changes)).block_size == size


def test_a_judge_without_prefix_caching_has_no_cache(judge):
    assert prefix_cache.judge_cache(changed(judge, engine="simulated")) is None
    assert prefix_cache.judge_cache(changed(judge, engine_args={"enable_prefix_caching": False})) is None
