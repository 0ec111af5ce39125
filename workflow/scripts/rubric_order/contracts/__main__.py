"""Write the page on contracts: ``python -m rubric_order.contracts > docs/contracts.md``."""

import sys
from collections.abc import Iterator

from rubric_order.contracts.contract import Column, Contract
from rubric_order.contracts.estimates import ESTIMATES
from rubric_order.contracts.items import ITEMS, PAIRS, REFERENCES, RUBRICS
from rubric_order.contracts.reads import PLAN, REQUESTS
from rubric_order.contracts.responses import RESPONSES, STORE
from rubric_order.contracts.scores import SCORES

CONTRACTS = (ITEMS, RUBRICS, PAIRS, REFERENCES, PLAN, REQUESTS, STORE, RESPONSES, SCORES, ESTIMATES)
HEAD = """# What each stage hands on

This page is made from `rubric_order/contracts/` by `make contracts-page`; change it there. Which rule writes which
file: [`architecture.md`](architecture.md).

All files are Parquet. A stage checks what it writes and what it reads. A table that its contract does not allow is not
written. A file of another version, without a column or with one of another type is an error that names file and column.
The metadata of each file (key `rubric_order`) hold the version of its schema and that of the program, and the settings
that it was made with.

In column *missing*, `values` may be null and `column` may be absent; where nothing stands, neither may be.

Where types are not exact, a type stands for its kind. Whole numbers have any width, and are floating-point numbers
where some are missing. A text may be a `large_string` or stand in a dictionary. A column without values may have the
type `null`.
"""
COLUMNS = ("column", "type", "missing", "unit or range", "meaning")


def page() -> str:
    """The contracts as Markdown, with one table for each contract."""
    return "\n".join([HEAD, *(line for contract in CONTRACTS for line in _section(contract))])


def _section(contract: Contract) -> Iterator[str]:
    kind = "Types are exact." if contract.exact else ""
    others = "Other columns may follow." if contract.open else ""
    yield f"## {contract.name}\n"
    yield " ".join(filter(None, (f"`{contract.path}`, version {contract.version}. {contract.meaning}", kind, others)))
    yield f"\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
    for column in contract.columns:
        yield from _rows(column)
    yield ""


def _rows(column: Column, inside: str = "") -> Iterator[str]:
    missing = "column" if column.optional else "values" if column.nullable else ""
    yield f"| `{inside}{column.name}` | `{column.type}` | {missing} | {column.unit} | {column.meaning} |"
    for field in column.fields:
        yield from _rows(field, f"{inside}{column.name}/")


if __name__ == "__main__":
    sys.stdout.write(page())
