"""Model of an engine's prefix cache. It counts a prompt's leading tokens that were computed for an earlier prompt."""

from collections.abc import Sequence

from rubric_order.settings.judges import Judge


class PrefixCache:
    """A prefix cache like vLLM's: it keeps whole blocks of tokens, and a block matches only after the same prefix.

    This model never evicts a block. That is close to the truth if all prompts about one item follow each other: a
    prompt then shares its prefix with the prompts right before it. In another order the model overestimates the hits.
    """

    def __init__(self, block_size: int, *, least: int = 0) -> None:
        """An empty cache.

        Args:
            block_size: tokens per block.
            least: number of tokens of the shortest shared prefix that is reused.
        """
        self.block_size, self.least = block_size, least
        self._blocks: set[int] = set()

    def ask(self, tokens: Sequence[object]) -> int:
        """Number of leading tokens of a prompt that are in the cache. Adds the whole prompt to the cache.

        The last token of a prompt is always computed, since the first token of the answer follows from it.
        """
        size, block, hits = self.block_size, 0, None
        for end in range(size, len(tokens) + 1, size):
            block = hash((block, tuple(tokens[end - size : end])))
            if hits is None and (block not in self._blocks or end == len(tokens)):
                hits = end - size
            self._blocks.add(block)
        if hits is None:
            hits = len(tokens) - len(tokens) % size
        return hits if hits >= self.least else 0


def of_judge(judge: Judge) -> PrefixCache | None:
    """An empty cache like the cache of a judge's engine; None where the engine has no cache."""
    blocks = judge.capabilities.prefix_cache
    return None if blocks is None else PrefixCache(blocks.size, least=blocks.least)
