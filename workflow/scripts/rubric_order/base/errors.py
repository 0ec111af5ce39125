"""The one kind of error that a user can cause, and text that is safe for a terminal."""

import unicodedata
from collections.abc import Collection

# Categories of characters that move the cursor, that colour, hide or reverse text, or that no terminal accepts.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


class InputError(Exception):
    """Error in the user's files or config.

    The message names the place (file, row, field), what was found and what was expected. Entry scripts print the
    message as one line and exit with status 1; only defects of the program show a traceback. Text that the message
    quotes is escaped.

    Attributes:
        status: exit status of the program.
    """

    status = 1

    def __init__(self, message: object) -> None:
        super().__init__(printable(str(message)))


class UnfitError(ValueError):
    """A user's setting or template that does not fit; a caller that knows its place makes an `InputError` of it."""


def printable(text: str) -> str:
    r"""Text with escapes for unseen characters, such as those that control a terminal; line ends and tabs stay.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(_escaped(character) if is_unseen(character) else character for character in text)


def is_unseen(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in UNSEEN


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def nearest(name: object, names: Collection[str]) -> str:
    """End of a message about an unknown name: the known name that is most similar; empty if none is similar enough."""
    import difflib  # every program imports this module, and few need it

    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
