"""Tokens that write a label, and a check that a judge's next token distinguishes labels."""

from collections.abc import Sequence

Spellings = Sequence[Sequence[int]]  # the tokens of one label in each of its spellings: alone, and after a space


def single_tokens(spellings: Sequence[Spellings]) -> list[list[int]]:
    return [sorted({tokens[0] for tokens in of_label if len(tokens) == 1}) for of_label in spellings]


def problem(labels: Sequence[str], spellings: Sequence[Spellings]) -> str | None:
    """Reason why the next token's probabilities are not the labels'; None where they are. `1` and `10`, or `i` and
    `iv`, can begin with the same token, whose probability is then not that of `1` or `i`.
    """
    singles = single_tokens(spellings)
    for label, tokens in zip(labels, singles, strict=True):
        if not tokens:
            return f"the tokenizer has no single token for score {label}"
    for label, tokens in zip(labels, singles, strict=True):
        for other, of_other in zip(labels, spellings, strict=True):
            if other != label and any(len(spelling) > 1 and spelling[0] in tokens for spelling in of_other):
                return f"scores {label} and {other} begin with the same token"
    return None


def shared_beginning(labels: Sequence[str]) -> str | None:
    """Reason why the next token's probabilities may not be the labels', without a tokenizer; None where no label begins
    another.
    """
    for label in labels:
        for other in labels:
            if other != label and other.startswith(label):
                return f"scores {label} and {other} can begin with the same token"
    return None
