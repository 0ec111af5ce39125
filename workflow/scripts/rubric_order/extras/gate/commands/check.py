"""``rubric-order check``: compare a run with limits and with a baseline, and give a pipeline the result as a status."""

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rubric_order import commands
from rubric_order.base import command_line, locks
from rubric_order.base.errors import InputError, printable
from rubric_order.commands import options

if TYPE_CHECKING:
    from rubric_order.cards.record import CardRecord
    from rubric_order.extras.gate.limits import Finding

NO_SUMMARY = 2  # without a readable summary, the outcome is "cannot tell"


def check(
    summary: Annotated[Path, typer.Argument(help="results/summary.json, or what 'rubric-order audit --json' prints.")],
    max_v: Annotated[float | None, typer.Option(min=0, max=1, help="Greatest Cramér's V.")] = None,
    max_points: Annotated[
        float | None, typer.Option(min=0, help="Greatest shift of the mean score by the usual ordering, either way.")
    ] = None,
    max_log_odds: Annotated[
        float | None, typer.Option(min=0, help="Greatest preference for a position, either way.")
    ] = None,
    max_failed: Annotated[
        float | None, typer.Option(min=0, max=1, help="Greatest share of reads without a score.")
    ] = None,
    min_agreement: Annotated[
        float | None, typer.Option(min=-1, max=1, help="Least Pearson's r with human scores, of the mean of all reads.")
    ] = None,
    min_groups: Annotated[
        int | None, typer.Option(min=1, help="Fewest groups of items; with fewer, nothing can be told.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="An earlier summary of the same items: fail where the judge has changed since.")
    ] = None,
    max_drift: Annotated[
        float | None,
        typer.Option(
            min=0, help="Greatest drift of the mean score from the baseline, in points; without it any change fails."
        ),
    ] = None,
    history: Annotated[
        Path | None, typer.Option(help="File of the runs that were compared with the baseline; by default beside it.")
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Compare two versions of a judge, and neither read nor write a history.")
    ] = False,
    run: Annotated[
        str | None,
        typer.Option(help="Name of this run in the history; checked again, it counts once. By default its time."),
    ] = None,
    new_reads: Annotated[
        bool,
        typer.Option(
            "--new-reads",
            help="The judge was asked anew: reads that equal those of an earlier run count as another run.",
        ),
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Make the summary the new baseline, and compare nothing. The old one and its history are kept beside.",
        ),
    ] = False,
    judge: options.JudgeOfCards = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what each limit says as a JSON list.")] = False,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the findings as Markdown too, for a step summary or a comment.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the findings as JUnit XML too.")] = None,
    title: Annotated[str, typer.Option(help="Heading of the Markdown.")] = "Judge gate",
) -> None:
    """Compare the cards of a run with limits, and with the cards of a baseline.

    Status 0 is passed: every interval lies inside its limit. Status 1 is failed: an interval lies outside its limit.
    Status 2 is cannot tell: an interval reaches across its limit or is not known, a judge is saturated, groups are too
    few, or the summary cannot be read. With --baseline, the status is also 1 if a test finds that the judge has
    changed. Over all runs of a gate, this happens to at most 5% of the judges that have not changed.

    Examples: [green]rubric-order check results/summary.json --max-v 0.1 --max-points 0.2 --min-groups 30[/],
    [green]rubric-order check today.json --baseline baseline.json --markdown "$GITHUB_STEP_SUMMARY"[/]
    """
    from rubric_order.extras.gate import history as runs
    from rubric_order.extras.gate import limits as rules
    from rubric_order.extras.gate import outcome as written

    limits = rules.Limits(max_v, max_points, max_log_odds, max_failed, min_agreement, min_groups)
    if limits == rules.Limits() and baseline is None:
        listed = "--max-v, --max-points, --max-log-odds, --max-failed, --min-agreement or --min-groups"
        raise typer.BadParameter(f"name a limit: {listed}; or --baseline")
    needing: dict[str, object] = {"--max-drift": max_drift, "--history": history, "--run": run}
    flags = {"--once": once, "--new-reads": new_reads, "--accept": accept}
    _refuse_without(baseline, needing | {flag: setting or None for flag, setting in flags.items()})
    if once and (history is not None or run is not None):
        raise typer.BadParameter("--once has no history: expected no --history and no --run")
    if accept and baseline is not None:
        if (limits, max_drift, run, once, new_reads, judge) != (rules.Limits(), None, None, False, False, None):
            raise typer.BadParameter("--accept compares nothing: expected --baseline, and --history, alone")
        _accept(summary, baseline, history or runs.beside(baseline))
        return
    try:
        cards = _chosen(summary, judge)
        findings = rules.check(cards, limits)
        notes: list[str] = []
        if baseline is not None:
            past = None if once else history or runs.beside(baseline)
            compared, notes = _compared(cards, summary, baseline, past, run, max_drift, new_reads)
            findings += compared
            if rules.status(compared) == rules.STATUS[rules.FAILED]:
                notes += _next_steps(summary, baseline, history)
        status = rules.status(findings)
        outcome = {value: word for word, value in rules.STATUS.items()}[status]
        _write(written.markdown(findings, outcome, title=title, notes=notes), markdown)
        _write(written.junit(findings), junit)
    except (InputError, OSError) as error:
        refusal = _refusal(error)
        with contextlib.suppress(OSError):  # the message of the refusal is more important than this file
            _write(written.refusal_markdown(str(refusal), title=title), markdown)
        with contextlib.suppress(OSError):
            _write(written.refusal_junit(str(refusal)), junit)
        raise refusal from None
    if as_json:
        typer.echo(commands.as_json([finding._asdict() for finding in findings], indent=1))
        for note in notes:
            typer.echo(printable(note), err=True)
    else:
        _print(findings, notes, outcome)
    raise typer.Exit(status)


def _refuse_without(baseline: Path | None, values: dict[str, object]) -> None:
    names = [name for name, value in values.items() if value is not None]
    if names and baseline is None:
        raise typer.BadParameter(f"{names[0]} needs --baseline")


def _refusal(error: InputError | OSError) -> InputError:
    """One line, with the status for "cannot tell"; a defect of the program is raised unchanged."""
    if isinstance(error, OSError):
        if error.errno not in command_line.OF_THE_DISK | command_line.OF_A_PATH:
            raise error
        error = InputError(command_line.told(error))
    error.status = NO_SUMMARY
    return error


def _write(text: str, path: Path | None) -> None:
    """Write a report completely or not at all. A path that is no regular file, such as a pipe, gets it directly."""
    from rubric_order.base import files

    if path is None:
        return
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
    else:
        files.write_text(text, path)


def _compared(
    cards: "list[CardRecord]",
    summary: Path,
    baseline: Path,
    history: Path | None,
    run: str | None,
    max_drift: float | None,
    new_reads: bool,
) -> "tuple[list[Finding], list[str]]":
    """Findings of a run in comparison with its baseline, and notes. The run is added to the history."""
    from rubric_order.cards import summary as summaries
    from rubric_order.extras.gate import gate
    from rubric_order.extras.gate import history as runs

    before = summaries.read(baseline)
    with contextlib.nullcontext() if history is None else locks.only_writer(history):
        past = [] if history is None else runs.read(history, runs.digest(before))
        notes = [] if history is None or history.exists() else [_no_history(history)]
        checked = gate.check(
            cards,
            before,
            past,
            where=summary,
            baseline_where=baseline,
            run=run,
            daily=history is not None,
            max_drift=max_drift,
            new_reads=new_reads,
        )
        if history is not None and checked.line is not None:
            runs.append(checked.line, history)
    return checked.findings, notes + checked.notes


def _next_steps(summary: Path, baseline: Path, history: Path | None) -> list[str]:
    """Advice after a change was found: how to distinguish a changed text from a changed judge, and the next step."""
    words = ["rubric-order", "check", str(summary), "--baseline", str(baseline)]
    words += ["--history", str(history)] if history is not None else []
    return [
        "Items are known by their names alone, so a changed text or prompt looks like a changed judge. "
        "Compare both with those of the baseline (such as with git diff), first in the groups that moved most. "
        "If they are the same, the judge has changed.",
        f"To take these reads as the new baseline: {shlex.join([*words, '--accept'])}. Until then the gate fails.",
    ]


def _accept(summary: Path, baseline: Path, history: Path) -> None:
    from rubric_order.extras.gate import gate
    from rubric_order.extras.gate import history as runs

    try:
        for card in _chosen(summary, None):
            gate.anchors_of(card, summary)
        with locks.only_writer(history):
            copies = runs.accept(summary, baseline, history)
    except (InputError, OSError) as error:
        raise _refusal(error) from None
    before = f", the one before is kept: {', '.join(map(str, copies))}" if copies else ""
    typer.echo(printable(f"{baseline} is now {summary}{before}"))


def _no_history(history: Path) -> str:
    return (
        f"No history: {history} is not there, so this is the first run after the baseline. "
        "If there were runs before, restore the file: what they found is not known here."
    )


def _chosen(summary: Path, judge: str | None) -> "list[CardRecord]":
    from rubric_order.cards import summary as summaries

    cards = summaries.read(summary)
    chosen = [card for card in cards if judge in (None, card["judge"])]
    if not chosen:
        whose = f" of judge {judge!r:.60}" if judge else ""
        raise InputError(f"{summary}: no card{whose}; found {', '.join(card['judge'] for card in cards) or 'none'}")
    return chosen


def _print(findings: list[Any], notes: list[str], outcome: str) -> None:
    from rich.console import Console

    console = Console()
    rows = [(finding.card, finding.limit, finding.found, finding.outcome) for finding in findings]
    console.print(commands.table(rows, "card", "limit", "found", "outcome"))
    for note in notes:
        console.print(commands.text(note), soft_wrap=True)
    console.print(commands.text(outcome, style="bold"))
