"""Most orderings that a study may ask for. Checks of a config read it, so it imports nothing that is slow to import."""

import math

MAX_ORDERINGS = 5040  # 7!: beyond it, `all` is a mistake rather than a plan


def check_all(n: int) -> None:
    """Check that strategy `all` is possible with n options.

    Raises:
        ValueError: there are more than ``MAX_ORDERINGS`` orderings of them.
    """
    if math.factorial(n) > MAX_ORDERINGS:
        raise ValueError(f"strategy 'all' with {n} options has {math.factorial(n)} orderings; use 'random' instead")
