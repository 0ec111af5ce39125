"""The orderings in which the options of a prompt are shown.

An ordering is a permutation of 1..n written as the option that stands at each position: entry p - 1 is the option at
position p. Functions return integer arrays with one ordering a row.
"""

import itertools

import numpy as np

from rubric_order.prompts import limits

STRATEGIES: tuple[str, ...] = ("balanced", "random", "fixed", "single", "descending", "all", "balanced_williams")
STRATEGIES += ("repeated_rotations",)


def rotations(n: int) -> np.ndarray:
    """Cyclic rotations of the canonical ordering.

    Returns:
        Shape (n, n): row r is ``[r+1, ..., n, 1, ..., r]``, so every option stands once in every position.

    Raises:
        ValueError: n is below 2.
    """
    if n < 2:
        raise ValueError(f"an ordering needs at least 2 options, got {n}")
    return (np.arange(n)[:, None] + np.arange(n)) % n + 1


def balanced(n: int) -> np.ndarray:
    """Forward rotations, then rotations of the reversed ordering.

    Returns:
        Shape (2n, n): every option stands exactly twice in every position. For n = 2 the rows of the second half
        repeat those of the first.

    Source: Xu et al. (2026), Section 3.1, in the order given there.
    """
    return np.vstack([rotations(n), n + 1 - rotations(n)])


def balanced_williams(n: int) -> np.ndarray:
    """A Williams design with as many rows as `balanced`.

    Returns:
        Shape (2n, n): every option stands exactly twice in every position, and exactly twice right after every other
        option. For even n the two halves are different Williams squares; for n = 2 they are the same.

    Raises:
        ValueError: n is below 2.

    Source: Williams (1949), Section 2: rotations of the sequence 1, 2, n, 3, n - 1, ... and of its mirror image.
    """
    if n < 2:
        raise ValueError(f"an ordering needs at least 2 options, got {n}")
    # 0, 1, -1, 2, -2, ...: neighbours differ by 1, -2, 3, -4, ..., and in the mirror image by -1, 2, -3, 4, ...
    zigzag = np.array([(place + 1) // 2 * (1 if place % 2 else -1) for place in range(n)])
    turns = np.arange(n)[:, None]
    return np.vstack([(turns + zigzag) % n, (turns - zigzag) % n]) + 1


def random_orderings(n: int, reads: int, *, rng: np.random.Generator) -> np.ndarray:
    """Independent uniform draws, so that an ordering can come twice. Shape (reads, n)."""
    return rng.permuted(np.tile(np.arange(1, n + 1), (reads, 1)), axis=1)


def fixed(n: int, reads: int) -> np.ndarray:
    """The canonical ordering ``[1, ..., n]`` in every row. Shape (reads, n)."""
    return np.tile(np.arange(1, n + 1), (reads, 1))


def repeated_rotations(n: int, reads: int) -> np.ndarray:
    """Each rotation of the canonical ordering, over and over.

    Returns:
        Shape (reads, n): every option stands equally often in every position, and each ordering has ``reads / n``
        repeats, so that what repetition does is seen under every ordering.

    Raises:
        ValueError: not every rotation can be read equally often, and at least twice.
    """
    if reads % n or reads < 2 * n:
        wanted = f"at least {2 * n}, in steps of {n}"
        raise ValueError(f"strategy repeated_rotations reads {n} options in {n} orderings: {wanted}; got {reads}")
    return np.tile(rotations(n), (reads // n, 1))


def swap(n: int, reads: int) -> np.ndarray:
    """The two orders of a pair, in turn.

    Returns:
        Shape (reads, 2): rows ``[1, 2]`` and ``[2, 1]``, over and over.

    Raises:
        ValueError: there are not two options, or not as many reads of one order as of the other.
    """
    if n != 2 or reads % 2:
        raise ValueError(f"strategy swap reads 2 options an even number of times; got {n} options and {reads} reads")
    return np.tile([[1, 2], [2, 1]], (reads // 2, 1))


def cyclic(n: int, reads: int) -> np.ndarray:
    """The rotations of the canonical ordering: each option at each position once, or equally often.

    Returns:
        Shape (reads, n).

    Raises:
        ValueError: `reads` is not a multiple of n.
    """
    return np.tile(rotations(n), (_rounds("cyclic", n, reads), 1))


def latin(n: int, reads: int, *, rng: np.random.Generator) -> np.ndarray:
    """Rows of random Latin squares: each option at each position equally often, and what precedes it varies.

    Returns:
        Shape (reads, n): squares of n rows one after the other, each a cyclic square with its options and its columns
        shuffled.

    Raises:
        ValueError: `reads` is not a multiple of n.
    """
    squares = [
        rng.permutation(n)[(rotations(n) - 1)[:, rng.permutation(n)]] + 1 for _ in range(_rounds("latin", n, reads))
    ]
    return np.vstack(squares)


def _rounds(strategy: str, n: int, reads: int) -> int:
    if reads % n or not reads:
        raise ValueError(f"strategy {strategy} reads {n} options in steps of {n} reads; got {reads}")
    return reads // n


def all_orderings(n: int) -> np.ndarray:
    """Every permutation in lexicographic order. Shape (n!, n).

    Raises:
        ValueError: there are too many of them, see `limits.check_all`.
    """
    limits.check_all(n)
    return np.array(list(itertools.permutations(range(1, n + 1))))


def choose(strategy: str, n: int, *, budget: int | None = None, rng: np.random.Generator | None = None) -> np.ndarray:
    """The orderings that one item is read in.

    Args:
        strategy: one of ``STRATEGIES``.
        n: number of options, 2 to 9.
        budget: reads per item of `random`, `fixed` and `repeated_rotations`; by default 2n, the budget of `balanced`.
            The other strategies set their own.
        rng: generator that `random` draws from.

    Returns:
        Shape (reads, n).
    """
    reads = 2 * n if budget is None else budget
    match strategy:
        case "balanced":
            return balanced(n)
        case "random":
            return random_orderings(n, reads, rng=_given(rng))
        case "fixed":
            return fixed(n, reads)
        case "single":
            return fixed(n, 1)
        case "descending":
            return fixed(n, 1)[:, ::-1]
        case "all":
            return all_orderings(n)
        case "balanced_williams":
            return balanced_williams(n)
        case "repeated_rotations":
            return repeated_rotations(n, reads)
    raise ValueError(f"unknown strategy {strategy!r}; expected one of {', '.join(STRATEGIES)}")


def choose_candidates(
    strategy: str, n: int, *, budget: int | None = None, rng: np.random.Generator | None = None
) -> np.ndarray:
    """The orderings in which the candidates of one pair or list are shown.

    Args:
        strategy: `swap` (pairs), `cyclic` or `latin` (lists), `all`, `random`, `fixed` or `single`.
        n: number of candidates, 2 to 9.
        budget: reads of a unit; more than the strategy has orderings repeats them. By default each ordering once; n
            draws of `random`, n repeats of `fixed`.
        rng: generator that `random` and `latin` draw from.

    Returns:
        Shape (reads, n): the candidate at each position.

    Raises:
        ValueError: the strategy does not fit so many candidates or reads.
    """
    reads = n if budget is None else budget
    match strategy:
        case "swap":
            return swap(n, reads)
        case "cyclic":
            return cyclic(n, reads)
        case "latin":
            return latin(n, reads, rng=_given(rng))
        case "random":
            return random_orderings(n, reads, rng=_given(rng))
        case "fixed":
            return fixed(n, reads)
        case "single":
            return fixed(n, 1 if budget is None else budget)
        case "all":
            return all_orderings(n)
    raise ValueError(f"unknown strategy {strategy!r} of comparisons")


def levels_beside(strategy: str, reads: int, n: int, *, start: int, rng: np.random.Generator) -> np.ndarray:
    """Orderings of the score levels in a crossed design, beside those of a unit's options.

    Args:
        strategy: that chose the orderings of the options. `random` draws those of the levels too, `fixed` and `single`
            leave them canonical; under the others read i has row ``start + i`` of `balanced`, counted round. Over 2n
            units with `start` 0, 1, 2, ... each ordering of the options then meets each of the levels equally often.
        reads: of the unit.
        n: number of score levels.

    Returns:
        Shape (reads, n).
    """
    match strategy:
        case "random":
            return random_orderings(n, reads, rng=_given(rng))
        case "fixed" | "single":
            return fixed(n, reads)
    return balanced(n)[(start + np.arange(reads)) % (2 * n)]


def _given(rng: np.random.Generator | None) -> np.random.Generator:
    if rng is None:
        raise ValueError("orderings that are drawn need a generator")
    return rng
