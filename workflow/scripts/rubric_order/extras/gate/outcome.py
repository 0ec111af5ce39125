"""Findings of a gate for pipelines: Markdown for a step summary or a comment, and JUnit XML."""

from collections.abc import Iterable, Sequence
from xml.sax import saxutils

from rubric_order.base.errors import printable
from rubric_order.extras.gate.limits import CANNOT_TELL, FAILED, PASSED, Finding

MARKS = {PASSED: "✅", FAILED: "❌", CANNOT_TELL: "⚠️"}
MEANING = {
    PASSED: "every limit is kept",
    FAILED: "at least one limit is broken",
    CANNOT_TELL: "no limit is broken, and at least one is undecided",
}
MARKUP = {ord(character): f"&#{ord(character)};" for character in "&<>\\`*_[]#|~@"}
SUITE = "rubric-order check"


def headline(findings: Sequence[Finding], outcome: str) -> str:
    """The outcome of a gate in one sentence, with the numbers of findings."""
    counts = {word: sum(finding.outcome == word for finding in findings) for word in (FAILED, CANNOT_TELL, PASSED)}
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    return f"{outcome.capitalize()}: {MEANING[outcome]} ({', '.join(parts) or 'nothing was looked at'})."


def markdown(findings: Sequence[Finding], outcome: str, *, title: str = "Judge gate", notes: Iterable[str] = ()) -> str:
    """Findings as Markdown, failures first; texts of judges and files become no markup, link or mention."""
    lines = [f"## {MARKS[outcome]} {_cell(title)}: {outcome}", "", _cell(headline(findings, outcome)), ""]
    for note in notes:
        lines += [_cell(note), ""]
    if findings:
        lines += ["| | card | limit | found |", "|:--|:--|:--|:--|"]
        order = {FAILED: 0, CANNOT_TELL: 1, PASSED: 2}
        for finding in sorted(findings, key=lambda each: order[each.outcome]):
            cells = (_cell(value) for value in (finding.card, finding.limit, finding.found))
            lines.append(f"| {MARKS[finding.outcome]} {finding.outcome} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def junit(findings: Iterable[Finding]) -> str:
    """The findings as JUnit XML, one test case per finding. Outcome *cannot tell* is an error, not a pass."""
    cases, counts = [], {FAILED: 0, CANNOT_TELL: 0, PASSED: 0}
    for finding in findings:
        counts[finding.outcome] += 1
        element = {FAILED: "failure", CANNOT_TELL: "error"}.get(finding.outcome)
        message = saxutils.quoteattr(_xml(f"{finding.outcome}: {finding.found}"))
        inner = f"<{element} message={message}/>" if element else f"<system-out>{_text(finding.found)}</system-out>"
        attributes = f"classname={_attribute(finding.card)} name={_attribute(finding.limit)}"
        cases.append(f'    <testcase {attributes} time="0">{inner}</testcase>\n')
    numbers = f'tests="{len(cases)}" failures="{counts[FAILED]}" errors="{counts[CANNOT_TELL]}"'
    suite = f'  <testsuite name="{SUITE}" {numbers} skipped="0" time="0">\n{"".join(cases)}  </testsuite>\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {numbers}>\n{suite}</testsuites>\n'


def refusal_markdown(message: str, *, title: str = "Judge gate") -> str:
    """The reason why nothing was compared, as Markdown."""
    return f"## {MARKS[CANNOT_TELL]} {_cell(title)}: {CANNOT_TELL}\n\nNothing was compared: {_cell(message)}\n"


def refusal_junit(message: str) -> str:
    """The reason why nothing was compared, as JUnit XML: one test case that is an error."""
    return junit([Finding(SUITE, "comparison", CANNOT_TELL, message)])


def _cell(text: str) -> str:
    escaped = printable(text).replace("\n", " ").translate(MARKUP)
    return escaped.replace("://", "&#58;//").replace("www.", "www&#46;")


def _xml(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return "".join(
        character if character >= " " and character not in "\ufffe\uffff" else " " for character in printable(text)
    )


def _attribute(text: str) -> str:
    return saxutils.quoteattr(_xml(text))


def _text(text: str) -> str:
    return saxutils.escape(_xml(text))
