"""Tables as CSV (every digit), Markdown, LaTeX and HTML (rounded), from each result's `TABLE`, see `spec`; its record
explains them.
"""

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rubric_order.base import files
from rubric_order.base.labels import Labels, replace_ids
from rubric_order.tables.spec import Table


def study_rows(
    table: Table, statistics: Mapping[str, pd.DataFrame], settings: Mapping[str, Any]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of a table as in its CSV file, and as printed. Rows of the studies in `also` follow, with a column
    `study`.
    """
    settings = dict(settings)
    further = settings.pop("also", [])
    rows, printed = [], []
    for study in dict.fromkeys([settings.get("study"), *further]):
        part_rows = table.table(**statistics, **settings | ({"study": study} if further else {}))
        rows.append(part_rows.drop(columns=list(table.hidden)))
        printed.append(table.printout(part_rows))
        for part in (rows[-1], printed[-1]) if further else ():
            if "study" not in part:
                part.insert(0, "study", study)
    return pd.concat(rows, ignore_index=True), pd.concat(printed, ignore_index=True)


def write(table: pd.DataFrame, printed: pd.DataFrame, stem: Path, caption: str) -> None:
    """Write `table` as ``stem.csv``, which is data alone. Write `printed` with its caption as ``stem.md``, ``stem.tex``
    and ``stem.html``.
    """
    files.write_csv(table, stem.with_suffix(".csv"))
    rows = printed.rename(columns=_markdown).map(_markdown).to_markdown(index=False, disable_numparse=True)
    files.write_text(f"{rows}\n\nTable: {_markdown(caption)}\n", stem.with_suffix(".md"))
    files.write_text(_latex(printed, caption), stem.with_suffix(".tex"))
    files.write_text(_html(printed, caption), stem.with_suffix(".html"))


def report(table: pd.DataFrame, printed: pd.DataFrame, labels: Labels, output: Path, caption: str) -> str:
    """Write a table with labels in place of ids, see `write`, and return it as a terminal prints it."""
    labelled = replace_ids(printed, labels)
    write(table, labelled, output.with_suffix(""), caption)
    return labelled.to_markdown(index=False, disable_numparse=True)


def _markdown(value: object) -> object:
    """No text begins an element of HTML or a further cell."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", value).replace("|", r"\|") if isinstance(value, str) else value


_LATEX_NAMES = {"chi2": r"$\chi^2$", "rho": r"$\rho$"}
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "≈": r"$\approx$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": r"$-$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "<": r"$<$",
    ">": r"$>$",
} | {character: f"\\{character}" for character in "&%$#_{}"}


_GAPS = ("", "-", "undefined", "unknown")  # texts in a column of numbers for a missing number
_NUMBER = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?|[+-]?[0-9]*\.?[0-9]+")


# Width and height of a page's text in LaTeX points, with margins of an inch or with both columns of a paper. The height
# limits the width of tables that are turned.
PAGE_WIDTH, PAGE_HEIGHT = 455, 650
# Width of a character, and the space on either side of a column (tabcolsep), in the usual size and in small print.
USUAL, SMALL = (5.0, 6.0), (4.25, 3.0)


# The rows, shrunk to the width of the page where they are wider.
SHRUNK = r"\resizebox{\ifdim\width>\linewidth \linewidth\else\width\fi}{!}{%"


def _latex(printed: pd.DataFrame, caption: str) -> str:
    """Table for LaTeX with booktabs, graphicx and siunitx, and rotating if turned; numbers are aligned at the point.

    The caption's first sentence stands above, the others are notes. Too wide a table is in small print, then turned,
    then shrunk.
    """

    def cell(value: object) -> str:
        text = str(value)
        for name, symbol in _LATEX_NAMES.items():
            if text == name or text.endswith(f" {name}"):
                return cell(text.removesuffix(name)) + symbol
        return "".join(_LATEX_SPECIAL.get(character, character) for character in text)

    formats = [_number_format(printed.iloc[:, place]) for place in range(len(printed.columns))]
    heads = [
        f"{{{cell(name)}}}" if number_format else cell(name)
        for name, number_format in zip(printed.columns, formats, strict=True)
    ]
    lines = [
        " & ".join(_siunitx_cell(cell(value), number_format) for value, number_format in zip(row, formats, strict=True))
        + r" \\"
        for row in printed.itertuples(index=False)
    ]
    first, notes = _first_sentence(caption)
    small, turned = (_width(printed, *size) > PAGE_WIDTH for size in (USUAL, SMALL))
    cut = _width(printed, *SMALL) > PAGE_HEIGHT
    environment = "sidewaystable" if turned else "table"
    notes_size = r"\footnotesize" if small else r"\small"
    return "\n".join(
        [
            rf"% \usepackage{{booktabs, graphicx, siunitx{', rotating' if turned else ''}}}",
            *(["% Wider than a page, and shrunk to it: leave columns out."] if cut else []),
            rf"\begin{{{environment}}}",
            r"\centering",
            *([rf"\footnotesize\setlength{{\tabcolsep}}{{{SMALL[1]:g}pt}}"] if small else []),
            rf"\caption{{{cell(first)}}}",
            SHRUNK,
            rf"\begin{{tabular}}{{{''.join(number_format or 'l' for number_format in formats)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            *([rf"\par\smallskip\parbox{{\linewidth}}{{{notes_size} {cell(notes)}}}"] if notes else []),
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _width(printed: pd.DataFrame, character: float, space: float) -> float:
    """Approximate width in points."""
    texts = ([name, *printed.iloc[:, place]] for place, name in enumerate(printed.columns))
    longest = [max(len(str(text)) for text in column) for column in texts]
    return sum(character * length + 2 * space for length in longest)


def _first_sentence(text: str) -> tuple[str, str]:
    end = re.search(r"(?<!et al)(?<!e\.g)\.\s+(?=[A-Z])", text)
    return (text[: end.start() + 1], text[end.end() :]) if end else (text, "")


def _number_format(column: pd.Series) -> str:
    """The column type of siunitx for a column of numbers and gaps; empty for a column of texts."""
    texts = [str(value) for value in column if str(value) not in _GAPS]
    if not texts or not all(_NUMBER.fullmatch(text) for text in texts):
        return ""
    digits = [text.lstrip("+-").replace(",", "").partition(".") for text in texts]
    whole, decimals = (max(len(part[place]) for part in digits) for place in (0, 2))
    sign = "+" if any(text[0] in "+-" for text in texts) else ""
    return f"S[table-format={sign}{max(whole, 1)}.{decimals}]" if decimals else f"S[table-format={sign}{whole}]"


def _siunitx_cell(text: str, known: str) -> str:
    """The form that siunitx reads, in a column of numbers (`known` is not empty)."""
    if not known:
        return text
    return text.replace(",", "") if _NUMBER.fullmatch(text) else f"{{{text}}}"


_STYLE = """body { font-family: system-ui, sans-serif; margin: 1.5rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
caption { caption-side: top; text-align: left; padding-bottom: 0.75rem; max-width: 48rem; }
th { border-bottom: 2px solid #222; text-align: left; }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; white-space: nowrap; }
th:first-child, td:first-child { position: sticky; left: 0; background: #fff; }
tbody tr:nth-child(even) td { background: #f4f4f4; }"""


def _html(printed: pd.DataFrame, caption: str) -> str:
    body = printed.to_html(index=False, border=0, escape=True).replace("<th>", '<th scope="col">')
    body = body.replace("<thead>", f"<caption>{html.escape(caption)}</caption>\n  <thead>", 1)
    return f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<style>\n{_STYLE}\n</style>\n{body}\n</html>\n'
