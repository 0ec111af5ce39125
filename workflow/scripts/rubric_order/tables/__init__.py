"""Tables for reading and for papers: each as CSV (every digit), Markdown, LaTeX and HTML (rounded).

The module of a result's table chooses and lays out its rows (`table`), rounds them (`for_print`), and says what they
are (`CAPTION`). Here is what tables share, and the tables of the status rules.
"""

import html
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from rubric_order.base import files
from rubric_order.base.keys import FEW_CLUSTERS

READOUT_NAMES = {"hard": "selected option", "soft": "option probabilities"}
ACCURACY_NAMES = {"spearman": "ρ", "pearson": "r", "kappa": "kappa", "mean_absolute_error": "MAE"}
SIGNIFICANT = 0.05


def with_interval(value: float, low: float, high: float, *, form: str = ".3f", times: float = 1) -> str:
    """An estimate with its interval, where it has one.

    Args:
        form: how numbers are written.
        times: what they are multiplied with first, such as 100 for percentages.
    """
    if pd.isna(value):
        return "undefined"
    value, low, high = (f"{times * number:{form}}" if pd.notna(number) else None for number in (value, low, high))
    return f"{value} [{low}, {high}]" if low and high else f"{value} [undefined]"


def intervals(rows: pd.DataFrame, name: str, *, form: str = ".3f", times: float = 1) -> list[str]:
    """The estimates in columns `name`, `name`_low and `name`_high, see `with_interval`."""
    ends = rows[[name, f"{name}_low", f"{name}_high"]].itertuples(index=False)
    return [with_interval(*row, form=form, times=times) for row in ends]


def numbers(values: Iterable[float], *, form: str = ".3f", times: float = 1) -> list[str]:
    """Numbers that have no interval; `form` and `times` as in `with_interval`."""
    return [f"{times * value:{form}}" if pd.notna(value) else "undefined" for value in values]


def p_values(p: Iterable[float], holm: Iterable[float], least: Iterable[float] | None = None) -> list[str]:
    """p-values as they are, with a star where one is significant after Holm's adjustment.

    Args:
        least: what each can be at least, where it comes from so many random draws; it is then written as less than.
    """
    p = list(p)
    floors = [0.0] * len(p) if least is None else least
    return [_p_value(*row) for row in zip(p, holm, floors, strict=True)]


def _p_value(p: float, holm: float, least: float) -> str:
    if pd.isna(p):
        return "undefined"
    written = f"< {least:.2g}" if p <= least * (1 + 1e-9) else f"{p:.3g}"
    return written + ("*" if pd.notna(holm) and holm < SIGNIFICANT else "")


def card_tests(order_tests: pd.DataFrame, keys: list[str], **where: str) -> pd.Series:
    """Adjusted p-values of tests that are findings of bias cards, by the keys; others are not there.

    Args:
        order_tests: see `estimate` of `order_tests`.
        keys: columns that name a row of the table.
        where: values of columns, such as the `test`.
    """
    chosen = order_tests[order_tests["finding"]]
    for name, value in where.items():
        chosen = chosen[chosen[name] == value]
    return chosen.groupby(keys)["p_card"].min().astype(float)


def p_with_card(p: Iterable[float], p_card: Iterable[float]) -> list[str]:
    """p-values as they are, with a star where a bias card has one for a finding.

    Args:
        p_card: see `card_tests`; NaN where there is no finding.
    """
    return [_p_of_order(*pair) for pair in zip(p, p_card, strict=True)]


def _p_of_order(p: float, p_card: float) -> str:
    if pd.isna(p):
        return "undefined"
    return ("<.001" if p < 0.001 else f"{p:.3f}") + ("*" if pd.notna(p_card) else "")


def flags(n_clusters: Iterable[float], *others: Iterable[str]) -> list[str]:
    """Warnings on each row: few clusters, and whatever else is named; empty where there is nothing.

    With fewer clusters than `FEW_CLUSTERS`, intervals and tests depend on how the few happen to be.
    """
    few = ["few clusters" if number < FEW_CLUSTERS else "" for number in n_clusters]
    return [", ".join(filter(None, row)) for row in zip(few, *others, strict=True)]


def with_flags_of(rows: pd.DataFrame, others: pd.DataFrame, keys: list[str], name: str) -> list[str]:
    """Column `flag` of the rows, with the flags of other estimates of the same rows, each after their name.

    Args:
        others: estimates with the keys and `flag`, at most one a row.
        name: what they are called. What is said of the whole row is not said again of them.
    """
    index = pd.MultiIndex.from_frame(rows[keys])
    of_others = others.set_index(keys)["flag"].reindex(index).fillna("")
    joined = []
    for flag, other in zip(rows["flag"].fillna(""), of_others, strict=True):
        said = [part for part in flag.split(", ") if part]
        joined.append(
            ", ".join([*said, *(f"{name} {part}" for part in other.split(", ") if part and part not in said)])
        )
    return joined


def of_studies(
    module: ModuleType, statistics: Mapping[str, pd.DataFrame], settings: Mapping
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of a table, and the same as they are printed.

    Args:
        module: has `table` and `for_print`.
        statistics, settings: arguments of `table`. Where `also` of the settings names further studies, their rows
            follow those of `study`, and a column `study` says whose each row is.
    """
    settings = dict(settings)
    further = settings.pop("also", [])
    if not further:
        rows = module.table(**statistics, **settings)
        return rows, module.for_print(rows)
    rows, printed = [], []
    for study in dict.fromkeys([settings["study"], *further]):
        rows.append(module.table(**statistics, **settings | {"study": study}))
        printed.append(module.for_print(rows[-1]))
        for table in (rows[-1], printed[-1]):
            if "study" not in table:
                table.insert(0, "study", study)
    return pd.concat(rows, ignore_index=True), pd.concat(printed, ignore_index=True)


def widen(estimates: pd.DataFrame, keys: list[str], quantities: list[str]) -> pd.DataFrame:
    """One row for each value of the keys, in the order of the table, with each quantity beside its interval.

    Args:
        estimates: a table with the keys, `quantity`, `estimate`, `ci_low` and `ci_high`.

    Returns:
        The keys, and for each quantity columns of its name, with ``_low`` and with ``_high``; NaN where there is none.
    """
    ends = {"": "estimate", "_low": "ci_low", "_high": "ci_high"}
    wide = estimates[keys].drop_duplicates().set_index(keys)
    for quantity in quantities:
        of_quantity = estimates[estimates["quantity"] == quantity].set_index(keys)
        for end, column in ends.items():
            wide[f"{quantity}{end}"] = of_quantity[column].astype(float)
    return wide.reset_index()


# Parts of a difference between strategies (`strategy_comparison.paired_differences`), each with the other side's name.
PARTS = {"order": "order", "averaging": "averaging_baseline", "averaging_baseline": "averaging"}


def from_strategy(differences: pd.DataFrame, strategy: str) -> pd.DataFrame:
    """Differences of a strategy from others, of which the statistics have each pair once, in either order.

    Args:
        differences: rows of `strategy_comparison.estimate`.

    Returns:
        The rows about it, with `strategy` the first: where it was the baseline, estimates are turned round.
    """
    turned = differences[differences["baseline"] == strategy]
    sign = np.where(turned["quantity"].isin(["averaging", "averaging_baseline"]), 1, -1)
    low, high = (
        np.where(sign > 0, *(turned[end] for end in ends)) for ends in (("ci_low", "ci_high"), ("ci_high", "ci_low"))
    )
    turned = turned.assign(
        strategy=strategy,
        baseline=turned["strategy"],
        quantity=turned["quantity"].replace(PARTS),
        estimate=sign * turned["estimate"],
        ci_low=sign * low,
        ci_high=sign * high,
    )
    return pd.concat([differences[differences["strategy"] == strategy], turned], ignore_index=True)


def count(number: float) -> str:
    """A whole number, where there is one."""
    return "" if pd.isna(number) else f"{number:,.0f}"


def percent(part: float, whole: float) -> str:
    """A share, where there is one."""
    return "" if pd.isna(part) or pd.isna(whole) or not whole else f"{100 * part / whole:.0f} %"


def write(table: pd.DataFrame, printed: pd.DataFrame, stem: Path, caption: str) -> None:
    """Write `table` as ``stem.csv``, which is data alone, and `printed` with its caption as ``stem.md``, ``stem.tex``
    and ``stem.html``.
    """
    files.write_text(table.to_csv(index=False), stem.with_suffix(".csv"))
    rows = printed.to_markdown(index=False, disable_numparse=True)
    files.write_text(f"{rows}\n\nTable: {caption}\n", stem.with_suffix(".md"))
    files.write_text(_latex(printed, caption), stem.with_suffix(".tex"))
    files.write_text(_html(printed, caption), stem.with_suffix(".html"))


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


_GAPS = ("", "-", "undefined", "unknown")  # what stands in a column of numbers where there is none
_NUMBER = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?|[+-]?[0-9]*\.?[0-9]+")


# Points of LaTeX. A page: with margins of an inch, or both columns of a paper; its height is the width when turned.
PAGE_WIDTH, PAGE_HEIGHT = 455, 650
# Width of a character, and the space on either side of a column (tabcolsep), in the usual size and in small print.
USUAL, SMALL = (5.0, 6.0), (4.25, 3.0)


def _latex(printed: pd.DataFrame, caption: str) -> str:
    """A table for LaTeX; it needs the packages booktabs, siunitx and threeparttable, and rotating where it is turned.

    Columns of numbers are lined up at the decimal point. The first sentence of the caption stands above the table, the
    others are its notes. A table that would be wider than a page is in small print, and is turned where that is not
    enough.
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
        " & ".join(_in_column(cell(value), number_format) for value, number_format in zip(row, formats, strict=True))
        + r" \\"
        for row in printed.itertuples(index=False)
    ]
    first, notes = _first_sentence(caption)
    small, turned = (_width(printed, *size) > PAGE_WIDTH for size in (USUAL, SMALL))
    cut = _width(printed, *SMALL) > PAGE_HEIGHT
    environment = "sidewaystable" if turned else "table"
    begin_notes = r"\begin{tablenotes}" + ("" if small else r"\small")
    return "\n".join(
        [
            rf"% \usepackage{{booktabs, siunitx, threeparttable{', rotating' if turned else ''}}}",
            *(["% Wider than a page: leave columns out."] if cut else []),
            rf"\begin{{{environment}}}",
            r"\centering",
            *([rf"\footnotesize\setlength{{\tabcolsep}}{{{SMALL[1]:g}pt}}"] if small else []),
            r"\begin{threeparttable}",
            rf"\caption{{{cell(first)}}}",
            rf"\begin{{tabular}}{{{''.join(number_format or 'l' for number_format in formats)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *([begin_notes, rf"\item {cell(notes)}", r"\end{tablenotes}"] if notes else []),
            r"\end{threeparttable}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _width(printed: pd.DataFrame, character: float, space: float) -> float:
    """About how wide a table is in LaTeX, in points, from the longest text of each column."""
    texts = ([name, *printed.iloc[:, place]] for place, name in enumerate(printed.columns))
    longest = [max(len(str(text)) for text in column) for column in texts]
    return sum(character * length + 2 * space for length in longest)


def _first_sentence(text: str) -> tuple[str, str]:
    """A text in two parts: its first sentence, and the others."""
    end = re.search(r"(?<!et al)(?<!e\.g)\.\s+(?=[A-Z])", text)
    return (text[: end.start() + 1], text[end.end() :]) if end else (text, "")


def _number_format(column: pd.Series) -> str:
    """The column type of siunitx for a column of numbers and gaps; empty for one of texts."""
    texts = [str(value) for value in column if str(value) not in _GAPS]
    if not texts or not all(_NUMBER.fullmatch(text) for text in texts):
        return ""
    digits = [text.lstrip("+-").replace(",", "").partition(".") for text in texts]
    whole, decimals = (max(len(part[place]) for part in digits) for place in (0, 2))
    sign = "+" if any(text[0] in "+-" for text in texts) else ""
    return f"S[table-format={sign}{max(whole, 1)}.{decimals}]" if decimals else f"S[table-format={sign}{whole}]"


def _in_column(text: str, known: str) -> str:
    """A cell of LaTeX: in a column of numbers as siunitx reads it."""
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
