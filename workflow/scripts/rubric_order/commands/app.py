"""The program ``rubric-order``."""

import os
import sys
from typing import Annotated

import typer

from rubric_order import __version__
from rubric_order.base import command_line, plugins, signals
from rubric_order.base.errors import InputError

app = typer.Typer(
    help="Measure how the order of things in a prompt moves the scores of an LLM judge.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for name, entry in plugins.ours("rubric_order.commands").items():
    command = entry.load()
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Measure how the order of things in a prompt moves the scores of an LLM judge."""


def main() -> None:
    """Run the program. A user's mistake gives a one-line message and status 1, or another status of the command."""
    signals.end_once()
    try:
        app()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(getattr(error, "status", 1))
    except BrokenPipeError:  # such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # such as a page whose path is a folder
        if error.errno not in command_line.OF_THE_DISK | command_line.OF_A_PATH:
            raise
        print(f"error: {command_line.told(error)}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
