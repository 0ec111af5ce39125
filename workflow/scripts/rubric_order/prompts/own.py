"""Reading and checking a user's own prompt template."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.prompts import frames, messages

OTHER_FILES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
LOOKS = (nodes.Filter, nodes.Test, nodes.Compare)  # nodes that would inspect a gap instead of the option
PARTS = ("label", "description")
MAX_CHARACTERS = 1_000_000  # largest number of characters of a template

Messages = Sequence[tuple[str, str]]  # role and content of each message


def check(template: str | Path | Messages, fields: Collection[str], trials: Iterable[Callable[..., Any]]) -> None:
    """Check a user's template (a file, or messages) by the names it may use, and by trials that raise ValueError.

    InputError names file, message or line, what was found and expected.
    """
    if isinstance(template, str | Path):
        where = f"{template}: "
        of_messages = messages.is_file(template)
        source = "" if of_messages else files.read_text(template).removesuffix("\n")
        parts: Messages = messages.read(template) if of_messages else ()
    else:
        where, of_messages, source, parts = "", True, "", template
    if of_messages:
        try:
            messages.check(parts)
        except ValueError as error:
            raise InputError(f"{where}{error}") from None
        for number, (_, content) in enumerate(parts, start=1):
            _check_source(content, f"{where}message {number}", fields)
        source = messages.compose(parts)
    else:
        _check_source(source, str(template), fields)
    compiled = frames.compile_template(source)
    for trial in trials:
        try:
            trial(compiled)
        except RecursionError:
            raise InputError(f"{where}a macro or block calls itself without end; expected one that ends") from None
        except (TemplateError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
            raise InputError(f"{where}{' '.join(str(error).split())}") from None


def _check_source(source: str, where: str, fields: Collection[str]) -> None:
    """Check the text of a template, or of one of its messages, see `check`."""
    if len(source) > MAX_CHARACTERS:
        raise InputError(f"{where}: expected at most {MAX_CHARACTERS:,} characters, found {len(source):,}")
    if control := messages.MARKS.search(source):
        line = source.count("\n", 0, control.start()) + 1
        raise InputError(f"{where}:{line}: found control character {control[0]!r}, which would begin a message")
    try:
        tree = frames.parsed(source)
        for node in tree.find_all(OTHER_FILES):
            raise InputError(f"{where}:{node.lineno}: found {type(node).__name__.lower()}; a template is one file")
        unknown = find_undeclared_variables(tree) - {*fields}
        frames.compile_template(source.removesuffix("\n"))
    except TemplateSyntaxError as error:
        raise InputError(f"{where}:{error.lineno}: {error.message}; expected a Jinja template") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{where}: {error}") from None
    except (RecursionError, SyntaxError, MemoryError):  # the last two come from the Python code that Jinja makes
        raise InputError(f"{where}: nested too deeply; expected a Jinja template") from None
    for field in tree.find_all(nodes.Name):
        if field.name in unknown:
            raise InputError(f"{where}:{field.lineno}: no field is called {field.name!r}; expected {', '.join(fields)}")
    for look in tree.find_all(LOOKS) if "response" in fields else ():
        for part in look.find_all(nodes.Getattr):
            if part.attr in PARTS:
                raise InputError(
                    f"{where}:{part.lineno}: found a filter or comparison of an option's {part.attr}; options are"
                    " written as they are, since their order changes from read to read"
                )
