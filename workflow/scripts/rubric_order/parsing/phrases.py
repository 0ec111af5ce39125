"""Words around a score, as judges write them; pieces of regular expressions that ignore case."""

import regex as re

WORDS = {
    word: str(value)
    for value, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
WORD = rf"\b(?:{'|'.join(WORDS)})\b"

# Text after a number that counts only the score: `a 4 for style`, not `a 4 page story` or `3 of the 5 requirements`.
ALONE = (
    r"(?!-(?!stars?\b|points?\b)\w)(?![^\S\n]*+(?!(?:stars?|points?)\b[^\S\n]*+(?:[^\w\s]|$|for\b|overall\b)"
    r"|(?:is|was|seems|would\sbe)\s(?:\w+ly\s|most\s)?(?:appropriate|assigned|deserved|fair|fitting|given|justified"
    r"|merited|reasonable|suitable|warranted)\b"
    r"|(?:according|although|and|as|at|based|because|but|considering|due|for|from|given|here|if|in|instead|not|on|or"
    r"|overall|rather|rating|score|since|so|though|to|when|where|while|with)\b)[^\W\d_])"
)

# Ornament between a label and its value: brackets, quotes, colons, arrows.
MARKS = r"(?:[\s\"'“”‘’(\[{<:=~#>|→]|-(?=[\s>]))*+"
RESULT = r"(?:\[\s*RESULTS?\b\s*\]?|(?-i:\bRESULTS?\b))"
LABEL = r"(?:score|rating|grade)"
IS = r"(?:is|was|(?:would|will|should)\sbe)\b"
OTHER_WORD = rf"(?:(?!out\b|{WORD})[^\W\d]+\s)"
ARTICLES = rf"(?:(?:only|just|as|at|with|out|the)\s){{0,3}}(?:an?\s{OTHER_WORD}?)?"
VERB = (
    r"(?:(?:scor|rat|grad|receiv|deserv|achiev|giv)(?:e|es|ed|en|ing)|(?:award|assign|earn|merit|warrant|obtain)(?:s|ed|ing)?"
    r"|gave|gets?|getting)"
)
OBJECT = rf"(?:(?:it|this|that|them|him|her|the|its)\s{OTHER_WORD}{{0,4}}?)?"


def single_spaced(text: str) -> str:
    """Text with each run of blank space as one line end, if it holds one, else as one space."""
    return re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] else " ", text).strip()
