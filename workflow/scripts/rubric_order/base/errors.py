"""The one kind of error that a user can cause."""


class InputError(Exception):
    """Something in the user's files or config is wrong.

    The message names the place (file, row, field), what was found and what was expected. Entry scripts print it
    as one line and exit with status 1; a traceback is kept for defects of the program.
    """
