"""``rubric-order relog``: from the log of a judge to a study of its own prompts, and to a card."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rubric_order import commands
from rubric_order.base.errors import InputError
from rubric_order.commands import options

if TYPE_CHECKING:
    import pandas as pd

    from rubric_order.extras.logs.intake.levels import Rubric
    from rubric_order.extras.logs.relog import Log, Written

RUBRICS_SHOWN = 5  # largest number of candidate rubrics that are shown, first those in most prompts
EXAMPLES_SHOWN = 3  # largest number of wordings of one rubric that are shown


def relog(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...",
            help="Log of Inspect (.eval or .json), results of promptfoo (.json), or JSON Lines of chat completions.",
        ),
    ],
    write: Annotated[Path | None, typer.Option(help="Write the study into this folder and ask nothing.")] = None,
    folder: Annotated[Path, typer.Option(help="Folder of the study and of its answers, which are asked here.")] = Path(
        "relogged"
    ),
    yes: Annotated[bool, typer.Option("--yes", help="The levels that are shown are those of the rubric.")] = False,
    rubric: Annotated[int | None, typer.Option(min=1, help="Number of the rubric among those that are shown.")] = None,
    order: Annotated[
        str | None, typer.Option(help="Labels of the levels with commas, the lowest first, such as I,P,C.")
    ] = None,
    scorer: Annotated[str | None, typer.Option(help="Scorer or assertion, where the log has several.")] = None,
    judge: Annotated[str | None, typer.Option(help="Judge, where the log has several, as it is shown.")] = None,
    model: Annotated[str | None, typer.Option(help="What the endpoint calls the judge; by default as the log.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the judge's endpoint; else the log's, once confirmed.")
    ] = None,
    api_key_env: options.ApiKeyEnv = None,
    strategy: Annotated[str, typer.Option(help="Orderings of each prompt.")] = "balanced",
    limit: Annotated[int | None, typer.Option(min=1, help="Samples, from the first.")] = None,
    go_on: options.GoOn = False,
    promptfoo: Annotated[
        Path | None, typer.Option(help="With --write: also write promptfoo's tests into this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the card as a JSON list.")] = False,
) -> None:
    """Read the judge's prompts in a log, put their levels in other orders, ask the same judge, and print its card.

    The levels that are found in the prompts are shown first. The judge is not asked before you confirm them.
    An answer in the log counts as the answer to its own ordering, and is not asked again.
    Results of the tests that --promptfoo writes are reads already, so their card is printed at once.

    Examples: [green]rubric-order relog judge.eval[/], [green]rubric-order relog results.json --write study[/]
    """
    from rubric_order.extras.logs import promptfoo as tests
    from rubric_order.extras.logs import relog as library

    if promptfoo is not None and write is None:
        raise InputError("--promptfoo: expected --write FOLDER too, since tests are those of a study")
    if len(logs) == 1 and tests.has_reads(logs[0]):
        _print(tests.reads(logs[0]), as_json=as_json)
        return
    log = library.look(logs, scorer=scorer, judge=judge)
    for line in shown(log, logs):
        typer.echo(line, err=as_json)
    chosen = _confirmed(log, yes=yes, number=rubric)
    if write is None and base_url is None:
        _confirm_address(log.calls[0].asked.base_url)
    study = library.write(
        log,
        write or folder,
        rubric=chosen,
        order=library.order_of(chosen, order),
        settings={"model": model, "base_url": base_url, "api_key_env": api_key_env, "accept_unread": go_on or None},
        strategy=strategy,
        limit=limit,
    )
    for line in written(study):
        typer.echo(line, err=as_json)
    if write is not None:
        if promptfoo is not None:
            tests.write(study, promptfoo)
            typer.echo(f"Written: {promptfoo}. Run: promptfoo eval -c {promptfoo} -o results.json")
        config = write / library.CONFIG
        typer.echo(
            f"Written: {config}. Run: snakemake all results/summary.html --directory {write} --configfile {config}"
        )
        return
    _card(study, as_json=as_json)


def shown(log: "Log", paths: list[Path]) -> list[str]:
    """Lines that show what was found in a log."""
    from rubric_order.extras.logs.intake import levels

    first = log.calls[0]
    lines = [f"{', '.join(map(str, paths))}: {len(log.calls)} prompts of {first.grader}, judge {first.asked.name}", ""]
    for number, rubric in enumerate(log.rubrics[:RUBRICS_SHOWN], start=1):
        labels = levels.lowest_first(rubric.form.labels) or rubric.form.labels
        lines.append(f"{number}  {len(labels)} levels, in {rubric.prompts} of {len(log.calls)} prompts")
        for wording, count in rubric.wordings.most_common(EXAMPLES_SHOWN):
            by_label = dict(zip(rubric.form.labels, wording, strict=True))
            if len(rubric.wordings) > 1:
                lines.append(f"   in {count} of them")
            before, after = rubric.form.before.lstrip(), rubric.form.after.rstrip()
            lines += [f"     {before}{label}{after} {by_label[label]:.100}" for label in labels]
        if len(rubric.wordings) > EXAMPLES_SHOWN:
            lines.append(f"   and {len(rubric.wordings) - EXAMPLES_SHOWN} other wordings")
        orders = {block.labels for block in rubric.blocks if block is not None}
        lines += [f"   order in the prompts: {' '.join(one)}" for one in sorted(orders)[:EXAMPLES_SHOWN]]
        said = levels.lowest_first(rubric.form.labels)
        lines += [f"   lowest first: {' '.join(said)}" if said else "   lowest first: not known, give --order", ""]
    if others := log.rubrics[RUBRICS_SHOWN:]:
        lines += [f"and {len(others)} other lists, each in at most {others[0].prompts} prompts", ""]
    return [commands.escape_output(line) for line in lines]


def _confirmed(log: "Log", *, yes: bool, number: int | None) -> "Rubric":
    """The rubric that the user confirms; an InputError without."""
    most = min(len(log.rubrics), RUBRICS_SHOWN)
    if number is not None and number > most:
        raise InputError(f"--rubric: expected at most {most}, found {number}")
    chosen = log.rubrics[number - 1] if number is not None else log.certain
    if yes and chosen is not None:
        return chosen
    if not _is_terminal():
        wanted = "--yes" if chosen is not None else "--rubric NUMBER --yes"
        raise InputError(f"{wanted}: expected, since the levels are not confirmed at a terminal")
    if chosen is None:
        place: int = typer.prompt("Number of the rubric", type=int)
        return _confirmed(log, yes=True, number=max(place, 1))
    if not typer.confirm("Are these the levels of the rubric?"):
        raise InputError("--rubric: the levels were not confirmed; expected the number of others")
    return chosen


def _confirm_address(address: str | None) -> None:
    """Ask before prompts go to an address that the log's author chose."""
    if address is None:
        return
    text = commands.escape_output(address)
    if not (_is_terminal() and typer.confirm(f"Send the prompts to {text}, the address in the log?")):
        raise InputError(f"--base-url: the log names {text:.200}, which is not confirmed; expected --base-url ADDRESS")


def _is_terminal() -> bool:
    return sys.stdin.isatty()


def written(study: "Written") -> list[str]:
    """Lines that say how much a study takes from its log, and how much it asks."""
    total = len(study.requests)
    lines = [f"{study.reads['item_id'].nunique()} items, {len(study.reads)} reads, {total} requests."]
    lines.append(f"The log answers {len(study.answered)} of them; {total - len(study.answered)} are asked.")
    lines += [f"Not taken from the log: {number}, since {reason}." for reason, number in study.not_kept.items()]
    lines += [f"Left out: {number}, since {reason}." for reason, number in study.left_out.items()]
    if study.scored:
        lines.append(f"{study.agreeing} of {study.scored} recorded answers are read as the score in the log.")
    if not study.text_is_named:
        lines.append("The judged text is taken to be what differs from prompt to prompt.")
    return [*lines, commands.escape_output(f"Judge: {study.judge.model} at {study.judge.base_url}")]


def _card(study: "Written", *, as_json: bool) -> None:
    from rich.console import Console

    from rubric_order.base import files
    from rubric_order.commands import watching
    from rubric_order.extras.logs import relog as library

    reads = library.ask(study, watching.watch(study.judge, Console(stderr=True)))
    path = study.folder / "reads.jsonl"
    files.write_text(reads.to_json(orient="records", lines=True, force_ascii=False), path)
    _print(reads, as_json=as_json)
    same, asked = library.same_again(study, reads)
    if asked:
        typer.echo(
            f"Asked again in the order of the log, the judge gives {same} of {asked} recorded scores.", err=as_json
        )
    typer.echo(f"Reads: {path}", err=as_json)


def _print(reads: "pd.DataFrame", *, as_json: bool) -> None:
    from rubric_order.commands import audit
    from rubric_order.library import results

    cards = results.bias_card(reads)
    if as_json:
        typer.echo("[\n" + ",\n".join(commands.as_json(card) for card in cards.to_dicts()) + "\n]")
    else:
        audit.print_cards(cards)
