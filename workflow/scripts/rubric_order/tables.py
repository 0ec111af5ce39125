"""Tables for reading and for papers: each as CSV (every digit), Markdown, LaTeX and HTML (rounded)."""

import html
from pathlib import Path

import pandas as pd

from rubric_order import files

READOUT_NAMES = {"hard": "selected option", "soft": "option probabilities"}
SIGNIFICANT = 0.05

POSITION_SELECTION_CAPTION = (
    "Which positions of the prompt are selected. Chi-square against uniform; V: Cramer's V with a bootstrap interval "
    "over items. † not significant at 5% in the test that takes items, not reads, as the sample."
)
HUMAN_AGREEMENT_CAPTION = (
    "Correlation of each item's mean score with its human score, with bootstrap intervals over items."
)
PARSE_FAILURES_CAPTION = "Reads whose answer gives no score, by reason."


def position_selection(statistics: pd.DataFrame, *, study: str, strategy: str, n: int) -> pd.DataFrame:
    """One row a judge, dataset and readout: chi-square, both p-values, V with its interval, share of each position.

    Args:
        statistics: see `bias.position_selection`.
    """
    chosen = statistics.query("study == @study and strategy == @strategy and n == @n")
    keys = ["judge", "dataset", "strategy", "n", "readout"]
    rows = []
    for key, block in chosen.groupby(keys, sort=False):
        chi2 = block[block["quantity"] == "chi2"].iloc[0]
        v = block[block["quantity"] == "cramers_v"].iloc[0]
        row = dict(zip(keys, key, strict=True)) | {name: chi2[name] for name in ("n_items", "n_reads", "n_failed")}
        row |= {"chi2": chi2["estimate"], "p": chi2["p"], "p_cluster": chi2["p_cluster"]}
        row |= {"cramers_v": v["estimate"], "cramers_v_low": v["ci_low"], "cramers_v_high": v["ci_high"]}
        for share in block[block["quantity"] == "share"].itertuples():
            name = f"pos{share.position}"
            row |= {name: share.estimate, f"{name}_low": share.ci_low, f"{name}_high": share.ci_high}
        rows.append(row)
    counts = ["n_items", "n_reads", "n_failed"]
    estimates = ["chi2", "p", "p_cluster", "cramers_v", "cramers_v_low", "cramers_v_high"]
    shares = [f"pos{p}{end}" for p in range(1, n + 1) for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*keys, *counts, *estimates, *shares])


def position_selection_for_print(table: pd.DataFrame) -> pd.DataFrame:
    """The columns of Xu et al. (2026), Table 2, and V: chi-square and the shares of the first and last position.

    A dagger marks a chi-square that is not significant at 5% in the test that takes items as the sample.
    """
    if table.empty:
        return pd.DataFrame(columns=["judge", "dataset", "readout"])
    last = f"pos{table['n'].iloc[0]}"
    dagger = ["†" if not p < SIGNIFICANT else "" for p in table["p_cluster"]]
    interval = zip(table["cramers_v"], table["cramers_v_low"], table["cramers_v_high"], strict=True)
    return pd.DataFrame(
        {
            "judge": table["judge"],
            "dataset": table["dataset"],
            "readout": table["readout"].map(READOUT_NAMES),
            "reads": table["n_reads"],
            "chi2": [f"{value:.1f}{mark}" for value, mark in zip(table["chi2"], dagger, strict=True)],
            "V": [_with_interval(*ends) for ends in interval],
            "Pos1 %": [f"{100 * value:.1f}" for value in table["pos1"]],
            f"Pos{last[3:]} %": [f"{100 * value:.1f}" for value in table[last]],
        }
    )


def _with_interval(value: float, low: float, high: float) -> str:
    """An estimate with its interval, where it has one."""
    if pd.isna(value):
        return "undefined"
    return f"{value:.3f} [{low:.3f}, {high:.3f}]" if pd.notna(low) and pd.notna(high) else f"{value:.3f} [undefined]"


def human_agreement(statistics: pd.DataFrame, *, study: str, n: int) -> pd.DataFrame:
    """One row a judge, dataset, criterion, strategy and readout, see `agreement.human_agreement`."""
    columns = ["judge", "dataset", "criterion", "strategy", "readout", "n_items", "n_failed"]
    columns += ["pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"]
    return statistics.query("study == @study and n == @n")[columns].reset_index(drop=True)


def human_agreement_for_print(table: pd.DataFrame) -> pd.DataFrame:
    def interval(name: str) -> list[str]:
        ends = zip(table[name], table[f"{name}_low"], table[f"{name}_high"], strict=True)
        return [_with_interval(*row) for row in ends]

    printed = table[["judge", "dataset", "criterion", "strategy"]].copy()
    printed["readout"] = table["readout"].map(READOUT_NAMES)
    printed["items"] = table["n_items"]
    printed["failed reads"] = table["n_failed"]
    return printed.assign(**{"Pearson r": interval("pearson"), "Spearman rho": interval("spearman")})


def parse_failures(statistics: pd.DataFrame, *, study: str) -> pd.DataFrame:
    """One row a judge, dataset, strategy, scale, position of the highest score and reason."""
    table = statistics.query("study == @study").drop(columns="study")
    return table.assign(share=table["n_failed"] / table["n_reads"]).reset_index(drop=True)


def parse_failures_for_print(table: pd.DataFrame) -> pd.DataFrame:
    """The pooled rows; where the highest score stood is left to the CSV file."""
    pooled = table[table["position"] == "all"].drop(columns="position").reset_index(drop=True)
    return pooled.assign(share=[f"{100 * value:.2f} %" for value in pooled["share"]])


def write(table: pd.DataFrame, printed: pd.DataFrame, stem: Path, caption: str) -> None:
    """Write `table` as ``stem.csv`` and `printed` as ``stem.md``, ``stem.tex`` and ``stem.html``."""
    files.write_text(table.to_csv(index=False), stem.with_suffix(".csv"))
    files.write_text(printed.to_markdown(index=False, disable_numparse=True) + "\n", stem.with_suffix(".md"))
    files.write_text(_latex(printed, caption), stem.with_suffix(".tex"))
    files.write_text(_html(printed, caption), stem.with_suffix(".html"))


_LATEX_NAMES = {"chi2": r"$\chi^2$", "rho": r"$\rho$"}
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "†": r"$^\dagger$",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def _latex(printed: pd.DataFrame, caption: str) -> str:
    """A booktabs table; no LaTeX package is needed beyond that one."""

    def cell(value: object) -> str:
        text = str(value)
        for name, symbol in _LATEX_NAMES.items():
            if text == name or text.endswith(f" {name}"):
                return cell(text.removesuffix(name)) + symbol
        return "".join(_LATEX_SPECIAL.get(character, character) for character in text)

    lines = [" & ".join(map(cell, row)) + r" \\" for row in printed.itertuples(index=False)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{cell(caption)}}}",
            rf"\begin{{tabular}}{{{'l' * len(printed.columns)}}}",
            r"\toprule",
            " & ".join(map(cell, printed.columns)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


_STYLE = """body { font-family: system-ui, sans-serif; margin: 1.5rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
caption { caption-side: top; text-align: left; padding-bottom: 0.75rem; max-width: 48rem; }
th { border-bottom: 2px solid #222; text-align: left; }
th, td { padding: 0.25rem 0.7rem 0.25rem 0; white-space: nowrap; }
tbody tr:nth-child(even) { background: #f4f4f4; }"""


def _html(printed: pd.DataFrame, caption: str) -> str:
    body = printed.to_html(index=False, border=0, escape=True)
    body = body.replace("<thead>", f"<caption>{html.escape(caption)}</caption>\n  <thead>", 1)
    return f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<style>\n{_STYLE}\n</style>\n{body}\n</html>\n'


DATASETS_CAPTION = (
    "Datasets. Alpha: Krippendorff's alpha (ordinal) of all raters. One against the rest: Pearson's r of one rater "
    "with the mean of the others, averaged over raters. Both pool the criteria and have bootstrap intervals over "
    "groups; a rater is a place in an item's list of scores, which need not be the same person throughout. Reference "
    "labels come from another judge: where it gave all of them, their agreement is its agreement with itself."
)


def datasets(statistics: pd.DataFrame) -> pd.DataFrame:
    """One row a dataset, source of scores and criterion, see `cards.describe`."""
    return statistics.drop(columns=["method", "confidence", "seed"]).reset_index(drop=True)


def datasets_for_print(table: pd.DataFrame) -> pd.DataFrame:
    """The pooled rows: one a dataset and source of scores. Criteria and characters are left to the CSV file."""
    pooled = table[table["criterion"] == "all"]
    scored = pooled["n_scores"] > 0
    sources = {"human": "raters", "reference": "reference labels"}
    given_by = zip(pooled["n_raters"], pooled["source"].map(sources), strict=True)
    shares = pooled[[f"share_{score}" for score in range(1, 6)]].to_numpy()
    printed = pd.DataFrame({"dataset": pooled["dataset"]})
    for name in ("items", "groups", "candidates", "criteria", "pairs"):
        printed[name] = pooled[f"n_{name}"]
    lengths = zip(pooled["words_mean"], pooled["words_min"], pooled["words_max"], strict=True)
    printed["words (min, max)"] = [f"{mean:.0f} ({low:.0f}, {high:.0f})" for mean, low, high in lengths]
    given = [f"{n} {source}" if known else "none" for known, (n, source) in zip(scored, given_by, strict=True)]
    printed["scored by"] = [text.removesuffix("s") if text.startswith("1 ") else text for text in given]
    printed["mean score"] = [f"{mean:.2f}" if pd.notna(mean) else "" for mean in pooled["score_mean"]]
    printed["% of scores 1 to 5"] = [
        " / ".join(f"{100 * share:.0f}" for share in row) if known else ""
        for known, row in zip(scored, shares, strict=True)
    ]
    for name, title in (("alpha", "alpha"), ("rater_vs_rest", "one against the rest, r")):
        ends = zip(pooled[name], pooled[f"{name}_low"], pooled[f"{name}_high"], strict=True)
        printed[title] = [_with_interval(*row) for row in ends]
    return printed.reset_index(drop=True)
