"""A user's own prompt template: read, and refused where it cannot be used."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.prompts import frames

OTHER_FILES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
LOOKS = (nodes.Filter, nodes.Test, nodes.Compare)  # what would look at an option before it is filled in
PARTS = ("label", "description")


MAX_BYTES = 1_000_000  # of a template's file


def check(path: str | Path, fields: Collection[str], trials: Iterable[Callable[..., Any]]) -> None:
    """Check a template of a user.

    Args:
        path: its file.
        fields: the names that it may use.
        trials: functions that take the compiled template, and raise ValueError with what is wrong with it.

    Raises:
        InputError: with the file, the line where it is known, what was found and what was expected.
    """
    source = files.read_text(Path(path))
    if len(source) > MAX_BYTES:
        raise InputError(f"{path}: expected at most {MAX_BYTES:,} characters, found {len(source):,}")
    try:
        tree = frames.parsed(source)
        for node in tree.find_all(OTHER_FILES):
            raise InputError(f"{path}:{node.lineno}: found {type(node).__name__.lower()}; a template is one file")
        unknown = find_undeclared_variables(tree) - {*fields}
        template = frames.compile_template(source.removesuffix("\n"))
    except TemplateSyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: {error.message}; expected a Jinja template") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{path}: {error}") from None
    except (RecursionError, SyntaxError, MemoryError):  # the last two of the Python that Jinja makes of it
        raise InputError(f"{path}: nested too deeply; expected a Jinja template") from None
    for field in tree.find_all(nodes.Name):
        if field.name in unknown:
            raise InputError(f"{path}:{field.lineno}: no field is called {field.name!r}; expected {', '.join(fields)}")
    for look in tree.find_all(LOOKS) if "response" in fields else ():
        for part in look.find_all(nodes.Getattr):
            if part.attr in PARTS:
                raise InputError(
                    f"{path}:{part.lineno}: found a filter or comparison of an option's {part.attr}; options are"
                    " written as they are, since their order changes from read to read"
                )
    for trial in trials:
        try:
            trial(template)
        except RecursionError:
            raise InputError(f"{path}: a macro or block calls itself without end; expected one that ends") from None
        except (TemplateError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
            raise InputError(f"{path}: {' '.join(str(error).split())}") from None
