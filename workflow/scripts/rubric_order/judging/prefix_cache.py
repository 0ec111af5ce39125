"""What a prefix cache saves: the tokens of a prompt that need no computing, since an earlier prompt begins the same."""

from collections.abc import Mapping, Sequence

GPU_BLOCK, CPU_BLOCK = 16, 128  # vLLM's own block sizes
ENDPOINT_BLOCK, ENDPOINT_LEAST = 128, 1024  # of OpenAI's prompt caching, as its guide says


class PrefixCache:
    """The prefix cache of an engine, as vLLM keeps it: whole blocks of tokens, each known by all that stands before it.

    Nothing is ever thrown out. With all prompts about one item asked one after the other that is near the truth, since
    what a prompt shares is what those right before it hold; with another order it is not.
    """

    def __init__(self, block_size: int, *, least: int = 0) -> None:
        """Blocks of so many tokens; prefixes of fewer than `least` tokens are not reused."""
        self.block_size, self.least = block_size, least
        self._blocks: set[int] = set()

    def ask(self, tokens: Sequence) -> int:
        """How many leading tokens of a prompt are known; all of it is known from now on.

        The last token of a prompt is always computed: its answer has to be.
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


def of_judge(judge: Mapping) -> PrefixCache | None:
    """An empty cache like that of a judge's engine, or None where it has none."""
    arguments = judge.get("engine_args", {})
    if judge["engine"] == "openai" and judge.get("serve") is None:
        return PrefixCache(ENDPOINT_BLOCK, least=ENDPOINT_LEAST)
    if judge["engine"] not in ("vllm", "openai") or arguments.get("enable_prefix_caching") is False:
        return None
    return PrefixCache(arguments.get("block_size") or (GPU_BLOCK if judge["gpu"] else CPU_BLOCK))
