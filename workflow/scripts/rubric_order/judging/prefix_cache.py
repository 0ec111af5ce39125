"""Model of an engine's prefix cache: counts a prompt's leading tokens that were computed for an earlier prompt."""

from collections.abc import Sequence

from rubric_order.settings.judges.judge import Judge


class PrefixCache:
    """A prefix cache like vLLM's, of whole blocks that match only after the same prefix. It never evicts: close to the
    truth if prompts about one item follow each other, too many hits in another order.
    """

    def __init__(self, block_size: int, *, least: int = 0) -> None:
        """An empty cache; prefixes shorter than `least` tokens are not reused."""
        self.block_size, self.least = block_size, least
        self._blocks: set[int] = set()

    def ask(self, tokens: Sequence[object]) -> int:
        """Number of leading tokens of a prompt in the cache, to which it is added; the last token is always computed,
        since the answer follows from it.
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


def judge_cache(judge: Judge) -> PrefixCache | None:
    blocks = judge.capabilities.prefix_cache
    return None if blocks is None else PrefixCache(blocks.size, least=blocks.least)
